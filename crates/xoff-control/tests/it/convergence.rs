//! The allocator gets the true set of flowlets, and endpoints the true rates.

use proptest::prelude::*;

use crate::world::{MILLI, Network, QUIET, World};

fn lossy(loss_percent: u64) -> Network {
    Network { loss_percent, twice_percent: 10, most_delay: MILLI }
}

/// Flowlets come and go, and both sides may restart.
fn churn(world: &mut World, steps: u64, restarts: bool) {
    for _ in 0..steps {
        for server in 0..world.servers.len() {
            match world.random.below(100) {
                0..8 => world.start(server),
                8..14 => world.end(server),
                14 if restarts && world.random.percent(30) => world.restart_endpoint(server),
                15 if restarts && world.random.percent(10) => world.restart_allocator(0),
                _ => {}
            }
        }
        world.tick();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn both_sides_agree_in_the_end(seed: u64, loss in prop::sample::select(vec![10u64, 30, 50])) {
        let mut world = World::new(seed, 5, 1, lossy(loss));
        churn(&mut world, 1500, false);
        world.time_to_agree(0, 20_000 * MILLI);
    }

    #[test]
    fn restarts_at_any_time_are_survived(seed: u64, loss in prop::sample::select(vec![0u64, 30])) {
        let mut world = World::new(seed, 5, 1, lossy(loss));
        churn(&mut world, 2000, true);
        world.time_to_agree(0, 20_000 * MILLI);
    }
}

#[test]
fn without_loss_a_rate_takes_two_round_trips_and_two_iterations() {
    let mut world = World::new(1, 2, 1, QUIET);
    world.start(0);
    assert!(world.time_to_agree(0, 100 * MILLI) <= 3 * MILLI);
    // With a connection, it is the next iteration.
    world.start(1);
    assert!(world.time_to_agree(0, 100 * MILLI) <= 2 * MILLI);
}

#[test]
fn thousands_of_flowlets_take_several_datagrams() {
    let mut world = World::new(2, 2, 1, QUIET);
    (0..3000).for_each(|_| world.start(0));
    assert!(world.time_to_agree(0, 100 * MILLI) <= 10 * MILLI);
    let before = world.allocators[0].sessions.stats;
    (0..2990).for_each(|_| world.end(0));
    assert!(world.time_to_agree(0, 100 * MILLI) <= 10 * MILLI);
    let since = world.allocators[0].sessions.stats.since(&before);
    assert_eq!((since.starts, since.ends), (0, 2990));
}

#[test]
fn a_quiet_connection_costs_a_few_datagrams() {
    let mut world = World::new(3, 1, 1, QUIET);
    world.start(0);
    world.run(10 * MILLI);
    let before = world.recorded.len();
    world.run(1000 * MILLI);
    // A renewal each 25 ms; a report each 250 ms and its answer.
    assert!((40..=50).contains(&(world.recorded.len() - before)), "{}", world.recorded.len());
    assert!(world.agrees(0));
}

/// An allocator that iterates faster than endpoints acknowledge is not stopped by its window.
#[test]
fn every_eighth_datagram_is_acknowledged_at_once() {
    let mut world = World::new(4, 1, 1, QUIET);
    world.iteration = 1;
    world.start(0);
    world.run(5 * MILLI);
    let before = world.servers[0].endpoint.stats;
    for _ in 0..160 {
        world.version += 1;
        world.tick();
    }
    world.tick();
    let since = world.servers[0].endpoint.stats.since(&before);
    assert_eq!(since.rates, 160);
    assert_eq!(since.reports, 20);
    assert!(world.agrees(0));
}

/// All that was sent changes while the window is full: nothing is in flight any more, and no report
/// comes, as the endpoint has nothing to say.
#[test]
fn new_rates_do_not_wait_for_a_report_behind_a_full_window() {
    let mut world = World::new(5, 1, 1, QUIET);
    world.start(0);
    world.run(5 * MILLI);
    world.is_up_cut = true;
    for _ in 0..40 {
        world.version += 1;
        world.run(MILLI);
    }
    world.is_up_cut = false;
    world.version += 1;
    let most = 3 * world.sessions_config.resend;
    assert!(world.time_to_agree(0, 400 * MILLI) <= most);
}

#[test]
fn ends_do_not_wait_for_an_answer_behind_a_full_window() {
    let mut world = World::new(6, 1, 1, QUIET);
    world.start(0);
    world.run(5 * MILLI);
    world.is_down_cut = true;
    // A report each, before the first one counts as lost. All answers are lost.
    for _ in 0..32 {
        world.start(0);
        world.tick();
    }
    (0..12).for_each(|_| world.tick());
    (0..33).for_each(|_| world.end(0));
    world.is_down_cut = false;
    // The allocator sends its rates again only after 10 ms.
    assert!(world.time_to_agree(0, 400 * MILLI) <= 5 * MILLI);
}
