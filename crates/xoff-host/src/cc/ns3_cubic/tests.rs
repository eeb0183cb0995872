use super::super::window::tests::{Driver, PATH, loss_of};
use super::*;

fn flow(config: &Ns3CubicConfig) -> Driver<Ns3Cubic> {
    let handshake_rtt = Ps::from_us(7);
    let (control, pace) = config.start(&PATH, &TcpConfig { handshake_rtt, ..TcpConfig::default() });
    Driver::new(control, pace)
}

/// Acknowledgements are spread over a round trip of 8 us, so the train of the first round with
/// 16 packets or more outlasts the shortest, of 7 us.
#[test]
fn hystart_ends_slow_start_when_a_train_fills_the_round_trip() {
    let mut without = flow(&Ns3CubicConfig { hystart: false, ..Ns3CubicConfig::default() });
    let mut with = flow(&Ns3CubicConfig::default());
    for _ in 0..6 {
        without.round(8_000_000);
        with.round(8_000_000);
    }
    assert_eq!((without.packets(), without.control.window_bytes()), (640, 640_000));
    assert!(with.packets() < 100, "{}", with.packets());
}

/// Delays end slow start from the ninth sample of a round on, if all eight before were longer
/// than the shortest round trip by its own length (4 to 8 ms here).
#[test]
fn hystart_ends_slow_start_when_round_trips_grow() {
    let ends = |rtt: u64| {
        let mut hystart = HyStart::new(&Ns3CubicConfig::default());
        hystart.begin(0, 0);
        // Far apart, so that no train is seen.
        let samples = (1..=9).map(|sample| sample * 10_000_000_000);
        samples.map(|now| hystart.ends(now, rtt, 6_000_000_000)).collect::<Vec<bool>>()
    };
    assert_eq!(ends(12_000_000_000), [false; 9]);
    let found = ends(12_000_000_001);
    assert_eq!(found, [false, false, false, false, false, false, false, false, true]);
}

/// At round trips of microseconds the window stays at its maximum.
#[test]
fn the_window_is_flat_after_a_loss() {
    let mut driver = flow(&Ns3CubicConfig { hystart: false, ..Ns3CubicConfig::default() });
    (0..4).for_each(|_| driver.round(8_000_000));
    assert_eq!(driver.packets(), 160);
    driver.control.on_loss(&PATH, &loss_of(160), &mut driver.pace);
    assert_eq!(driver.packets(), 112);
    let before = driver.packets();
    (0..20).for_each(|_| driver.round(8_000_000));
    assert!(driver.packets() - before <= 1, "{}", driver.packets());
}

const MS: u64 = 1_000_000_000;

/// A flow in congestion avoidance with this window in packets.
fn avoiding(packets: u32) -> Driver<Ns3Cubic> {
    let initial_ssthresh = xoff_core::Bytes(1);
    let tcp =
        TcpConfig { initial_window_packets: packets, initial_ssthresh, ..TcpConfig::default() };
    let (control, pace) = Ns3CubicConfig::default().start(&PATH, &tcp);
    Driver::new(control, pace)
}

/// With round trips of 100 ms the window follows the closed form, as it is a round trip later,
/// through its plateau. Whole packets and counts leave 2.5 %.
#[test]
fn the_window_is_the_cubic_of_the_time_since_the_loss() {
    let mut driver = avoiding(160);
    driver.control.on_loss(&PATH, &loss_of(160), &mut driver.pace);
    assert_eq!((driver.packets(), driver.control.maximum), (112, 160));
    let began = driver.now + 100 * MS;
    let flat_after = (48.0 / 0.4f64).cbrt();
    while driver.now < 12_000 * MS {
        driver.round(100 * MS);
        let seconds = (driver.now - began + 100 * MS) as f64 / PS_PER_S;
        let expected = 0.4 * (seconds - flat_after).powi(3) + 160.0;
        let off = (driver.packets() as f64 - expected).abs() / expected;
        assert!(off < 0.025, "{seconds} s: {} for {expected}", driver.packets());
    }
    assert!(driver.packets() > 280);
}

/// Before a loss a window grows by a packet for every 20 acknowledged ones, and at most for every
/// second one after it.
#[test]
fn the_counts_between_increases_are_bounded() {
    let mut driver = avoiding(100);
    (0..20).for_each(|_| driver.packet(false));
    assert_eq!(driver.packets(), 101);
    assert_eq!(driver.control.counted, 0);
    (0..19).for_each(|_| driver.packet(false));
    assert_eq!(driver.packets(), 101);
    driver.control.maximum = 10_000;
    driver.control.epoch = Some(Epoch { began: 0, flat_after: 0.0, origin: 10_000 });
    driver.control.counted = 0;
    (0..6).for_each(|_| driver.packet(false));
    assert_eq!(driver.packets(), 104);
}

/// 100, then 70 packets: 70 (1 + 0.7) / 2 in whole packets.
#[test]
fn fast_convergence_lowers_the_maximum() {
    let mut driver = avoiding(100);
    driver.control.on_loss(&PATH, &loss_of(100), &mut driver.pace);
    assert_eq!((driver.control.maximum, driver.packets()), (100, 70));
    driver.control.on_loss(&PATH, &loss_of(70), &mut driver.pace);
    assert_eq!((driver.control.maximum, driver.packets()), (59, 49));
    (0..20).for_each(|_| driver.control.on_loss(&PATH, &loss_of(1), &mut driver.pace));
    assert_eq!(driver.packets(), 2, "no loss cuts below two packets");
}

/// A timeout forgets the maximum. Another one of the same packet does not cut the threshold again.
#[test]
fn a_timeout_goes_back_to_one_packet() {
    let mut driver = avoiding(100);
    for again in [false, true] {
        let loss = Loss { again, ..loss_of(100) };
        driver.control.on_timeout(&PATH, &loss, &mut driver.pace);
        let control = &driver.control;
        assert_eq!((control.maximum, control.shortest), (0, None));
        assert_eq!((driver.packets(), control.window.threshold), (1, 70_000));
    }
}

/// Round trips in the first 10 ms after a loss are not taken for the shortest.
#[test]
fn the_shortest_round_trip_is_not_measured_while_the_queue_drains() {
    let mut driver = avoiding(10);
    driver.round(8 * MS);
    let began = driver.now;
    driver.control.epoch = Some(Epoch { began, flat_after: 0.0, origin: 10 });
    let mut shortest = |now, rtt| {
        let ack = Ack { now, rtt, ..Ack::default() };
        driver.control.observe(&PATH, &ack);
        driver.control.shortest.unwrap()
    };
    assert_eq!(shortest(began + SETTLING - 1, 1), 8 * MS);
    assert!(shortest(began + SETTLING, 1) < 8 * MS);
}
