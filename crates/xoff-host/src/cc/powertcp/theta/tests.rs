use super::super::super::PATH;
use super::*;

/// The power and the pace after acknowledgements at these times with these RTTs (us). Each is of
/// 100 KB more.
fn after(config: &ThetaPowerTcpConfig, acks: &[(u64, u64)]) -> (f64, Pace) {
    let (mut control, mut pace) = config.start(&PATH, &TcpConfig::default());
    for (round, &(now, rtt)) in (1..).zip(acks) {
        let ack = Ack {
            now: now * 1_000_000,
            rtt: rtt * 1_000_000,
            seq: round * 100_000,
            snd_nxt: round * 100_000 + 50_000,
            ..Ack::default()
        };
        control.on_ack(&PATH, &ack, &mut pace);
    }
    (control.law.power, pace)
}

/// "Gamma_norm = (theta' + 1) theta / tau", with tau = 8 us.
#[test]
fn power_follows_from_the_rtt_and_its_gradient() {
    let config = ThetaPowerTcpConfig { min_current: 0.0, ..ThetaPowerTcpConfig::default() };
    for (rtts, expected) in [
        ([8, 8], 1.0),
        ([12, 12], 1.5),
        ([8, 12], 1.5 * 1.5),
        ([12, 8], 0.5),
        // The path empties faster than time passes: no power is below zero.
        ([24, 8], 0.0),
    ] {
        let (power, _) = after(&config, &[(100, rtts[0]), (108, rtts[1])]);
        assert!((power - expected).abs() < 1e-9, "{rtts:?}: {power} against {expected}");
    }
}

/// A queue that INT reports and the RTT that it causes have the same power.
#[test]
fn it_is_the_power_of_a_busy_bottleneck() {
    // From 50 KB to 100 KB in 8 us at 100 Gb/s: current 1.5, voltage 2.
    let (power, _) = after(&ThetaPowerTcpConfig::default(), &[(100, 12), (108, 16)]);
    assert!((power - 3.0).abs() < 1e-9);
}

#[test]
fn a_round_trip_has_one_update_of_the_window() {
    let (mut control, mut pace) =
        ThetaPowerTcpConfig::default().start(&PATH, &TcpConfig::default());
    let mut rates = Vec::new();
    for packet in 1..=201 {
        let ack = Ack {
            now: packet * 80_000,
            rtt: 12_000_000,
            seq: packet * 1_000,
            snd_nxt: (packet + 99) * 1_000,
            ..Ack::default()
        };
        let before = pace;
        control.on_ack(&PATH, &ack, &mut pace);
        assert_eq!(control.rebases_pacing(), pace != before);
        if pace != before {
            rates.push((packet, pace.rate));
        }
    }
    // The first acknowledgement ends at 100 KB, so the first update is at 101 KB. Its power has
    // come near to 1.5 in 100 steps of a hundredth of the round trip.
    let at: Vec<u64> = rates.iter().map(|&(packet, _)| packet).collect();
    assert_eq!(at, [101, 201]);
    let power = 1.5 - 0.5 * 0.99f64.powi(100);
    let expected = (0.9 * (1e11 / power + 1e10) + 0.1 * 1e11) as u64;
    assert!(rates[0].1.abs_diff(expected) < 1_000, "{} against {expected}", rates[0].1);
}

#[test]
fn the_floor_and_the_target_are_those_of_the_settings() {
    let config = ThetaPowerTcpConfig::default();
    assert!((after(&config, &[(100, 24), (108, 8)]).0 - 0.5).abs() < 1e-9);
    let config = ThetaPowerTcpConfig {
        target_power: 1.5,
        expected_flows: 1e6,
        ..ThetaPowerTcpConfig::default()
    };
    let (_, pace) = after(&config, &[(100, 12), (108, 12)]);
    assert_eq!(pace.rate, PATH.line_rate);
}

#[test]
fn settings_without_sense_are_refused() {
    let config = ThetaPowerTcpConfig { gamma: 2.0, ..ThetaPowerTcpConfig::default() };
    assert_eq!(config.check().unwrap_err().0, "gamma");
}
