//! Several allocators, where one takes over from another.

use xoff_control::{Endpoint, EndpointConfig, EndpointId, Rate, Refused, Sessions, SessionsConfig};

use crate::world::{MILLI, QUIET, World, key};

fn paced(world: &World) -> usize {
    let rates = world.servers.iter().flat_map(|server| server.live.values());
    rates.filter(|rate| matches!(rate, Rate::Paced(_))).count()
}

fn two_allocators() -> World {
    let mut world = World::new(5, 3, 2, QUIET);
    (0..30).for_each(|flowlet| world.start(flowlet % 3));
    world.time_to_agree(0, 100 * MILLI);
    world
}

#[test]
fn rates_outlive_an_allocator_for_their_lifetime_and_then_the_backup_gives_them() {
    let mut world = two_allocators();
    world.allocators[0].is_up = false;
    // Renewed at most 25 ms ago, for 100 ms.
    world.run(74 * MILLI);
    assert_eq!(paced(&world), 30);
    world.run(27 * MILLI);
    assert_eq!(paced(&world), 0);
    // 10 ms later three hellos to the first allocator, 10 and 20 ms apart or up to half of it more;
    // 40 ms later, one to the next.
    world.run(130 * MILLI);
    assert!(world.agrees(1));
    assert!(world.servers.iter().all(|server| server.endpoint.allocator() == Some(1)));
}

#[test]
fn the_first_allocator_is_used_again_when_it_returns() {
    let mut world = two_allocators();
    world.allocators[0].is_up = false;
    world.run(300 * MILLI);
    assert!(world.agrees(1));
    world.restart_allocator(0);
    // Endpoints probe it each 50 ms; their rates stay in force meanwhile.
    for _ in 0..80 * 10 {
        world.tick();
        assert_eq!(paced(&world), 30);
    }
    assert!(world.agrees(0));
    world.run(1100 * MILLI);
    assert_eq!(world.allocators[1].sessions.flowlets(), 0, "the backup forgets silent endpoints");
}

#[test]
fn a_restarted_allocator_resets_its_endpoints_at_once() {
    let mut world = two_allocators();
    world.restart_allocator(0);
    world.start(0);
    // A report, its reset, a hello, its welcome, a report, its rates: three iterations, and one
    // endpoint's news is another's renewal.
    let mut fell_back = false;
    for _ in 0..10 * 10 {
        world.tick();
        fell_back |= paced(&world) < 30;
    }
    assert!(!fell_back, "rates of the old connection stay in force");
    assert_eq!(world.servers[0].endpoint.stats.resets, 1);
    assert_eq!(world.servers[0].endpoint.stats.expiries, 0);
}

#[test]
fn without_any_allocator_flowlets_are_under_their_own_control() {
    let mut world = two_allocators();
    world.allocators.iter_mut().for_each(|allocator| allocator.is_up = false);
    world.run(300 * MILLI);
    assert_eq!(paced(&world), 0);
    world.start(1);
    world.end(1);
    world.run(300 * MILLI);
    assert_eq!(paced(&world), 0);
    let hellos: u64 = world.servers.iter().map(|server| server.endpoint.stats.hellos).sum();
    // 10, 20, 40 and then 50 ms apart, and up to half of it more.
    assert!((18..=3 * 18).contains(&hellos), "{hellos}");
}

#[test]
fn an_allocator_that_stands_by_sends_its_endpoints_away() {
    let mut world = two_allocators();
    let mut events = Vec::new();
    world.allocators[1].sessions.stand_by(true, &mut events);
    world.allocators[0].is_up = false;
    world.run(300 * MILLI);
    assert_eq!((paced(&world), world.allocators[1].sessions.connections()), (0, 0));
    assert!(world.allocators[1].sessions.refused.standby > 0);
    world.allocators[1].sessions.stand_by(false, &mut events);
    world.time_to_agree(1, 100 * MILLI);
    // The first one returns, and the second one learns it.
    world.restart_allocator(0);
    world.allocators[1].sessions.stand_by(true, &mut events);
    world.allocators[1].flows.clear();
    world.time_to_agree(0, 300 * MILLI);
}

#[test]
fn an_allocator_that_is_late_gets_no_flowlets_again() {
    let mut world = two_allocators();
    let before = world.allocators[0].sessions.stats;
    for _ in 0..3 {
        world.allocators[0].is_up = false;
        world.run(105 * MILLI);
        assert_eq!(paced(&world), 0);
        world.allocators[0].is_up = true;
        world.run(5 * MILLI);
        assert_eq!(paced(&world), 30, "its rates are valid again");
    }
    let since = world.allocators[0].sessions.stats.since(&before);
    assert_eq!((since.starts, since.connections), (0, 0));
    assert!(world.agrees(0));
}

/// A process that does not run for a while finds the hellos of that time in its socket.
#[test]
fn an_allocator_that_reads_late_hellos_gets_no_flowlets_again() {
    let mut world = two_allocators();
    let before = world.allocators[0].sessions.stats;
    for pause in [105, 115, 125, 150] {
        world.allocators[0].is_late = true;
        world.run(pause * MILLI);
        assert_eq!(paced(&world), 0);
        world.allocators[0].is_late = false;
        world.run(5 * MILLI);
        assert_eq!(paced(&world), 30, "its rates are valid again after {pause} ms");
    }
    let since = world.allocators[0].sessions.stats.since(&before);
    assert_eq!((since.starts, since.ends, since.connections), (0, 0, 0));
    let hellos: u64 = world.servers.iter().map(|server| server.endpoint.stats.hellos).sum();
    assert!(hellos > 10, "{hellos}");
    assert!(world.agrees(0));
}

/// All allocators have the endpoint's key: whoever copies a report to another allocator gets an
/// authentic reset of the connection.
#[test]
fn a_report_copied_to_the_backup_ends_no_connection() {
    let mut world = two_allocators();
    let (now, mut events, mut buffer) = (world.now, Vec::new(), [0; 1500]);
    let is_report = |datagram: &&Vec<u8>| datagram[3] == 4 && datagram[4..8] == [0; 4];
    let report = world.recorded.iter().rfind(is_report).unwrap().clone();
    let backup = &mut world.allocators[1].sessions;
    assert_eq!(backup.receive(&report, now, &mut events), Err(Refused::Connection));
    let (id, length) = backup.transmit(now, &mut buffer).expect("a reset");
    assert_eq!((id, buffer[3]), (EndpointId(0), 3));
    let endpoint = &mut world.servers[0].endpoint;
    assert_eq!(endpoint.receive(1, &buffer[..length], now), Err(Refused::Connection));
    assert_eq!((endpoint.allocator(), endpoint.stats.resets), (Some(0), 0));
}

#[test]
fn an_endpoint_that_has_probed_for_long_says_hello_as_soon_as_others() {
    let config = EndpointConfig { allocators: 2, ..EndpointConfig::new(EndpointId(0)) };
    let mut endpoint = Endpoint::new(config, &key(0), [1; 32]);
    let keys = [(EndpointId(0), key(0))];
    let mut backup = Sessions::new(SessionsConfig::default(), &keys, [2; 32]).unwrap();
    let (mut events, mut buffer, mut hellos) = (Vec::new(), [0; 1500], Vec::new());
    for now in (0..10_500).map(|milli| milli * MILLI) {
        if now == 10_000 * MILLI {
            assert_eq!(endpoint.allocator(), Some(1));
            backup.stand_by(true, &mut events);
        }
        while let Some((to, length)) = endpoint.transmit(now, &mut buffer) {
            if endpoint.stats.resets > 0 {
                hellos.push(now / MILLI);
            }
            if to == 1 {
                let _ = backup.receive(&buffer[..length], now, &mut events);
            }
        }
        while let Some((_, length)) = backup.transmit(now, &mut buffer) {
            endpoint.receive(1, &buffer[..length], now).unwrap();
        }
    }
    // 10 and 20 ms apart, and up to half of it more.
    assert!(hellos.len() >= 3 && hellos[2] - hellos[0] <= 46, "{hellos:?}");
}
