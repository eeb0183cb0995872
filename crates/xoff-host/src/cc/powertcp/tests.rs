use super::super::PATH;
use super::*;

/// A report of a link of 100 Gb/s; its bandwidth-delay product is 100 KB in 8 us.
fn report(time_us: u64, tx_bytes: u64, queue_bytes: u32) -> IntHop {
    IntHop { time_ps: time_us * 1_000_000, tx_bytes, queue_bytes, rate_mbps: 100_000 }
}

fn stack(hops: &[IntHop]) -> Record {
    let mut stack = IntStack::default();
    for hop in hops {
        stack.push(*hop);
    }
    Record::Int(stack)
}

fn exact() -> PowerTcpConfig {
    PowerTcpConfig {
        int_bytes_unit: Bytes(1),
        int_queue_unit: Bytes(1),
        int_time_unit: Ps(1),
        min_current: 0.0,
        ..PowerTcpConfig::default()
    }
}

/// The smoothed power and the pace after two acknowledgements, the second of a new round.
fn after(config: &PowerTcpConfig, reports: [&[IntHop]; 2]) -> (f64, Pace) {
    let (mut control, mut pace) = config.start(&PATH, &TcpConfig::default());
    for (round, hops) in (1..).zip(reports) {
        let record = stack(hops);
        let ack = Ack {
            seq: round * 100_000,
            snd_nxt: round * 100_000 + 50_000,
            record: Some(&record),
            ..Ack::default()
        };
        control.on_ack(&PATH, &ack, &mut pace);
    }
    (control.law.power, pace)
}

/// Gamma / (b^2 tau) = lambda / b x (q / (b tau) + 1), with lambda = q' + mu.
fn power(queues: [u32; 2], sent: u64) -> f64 {
    let reports = [[report(0, 0, queues[0])], [report(8, sent, queues[1])]];
    after(&exact(), [&reports[0], &reports[1]]).0
}

#[test]
fn power_is_current_times_voltage() {
    for (queues, sent, current, voltage) in [
        ([0, 0], 100_000, 1.0, 1.0),
        ([50_000, 50_000], 100_000, 1.0, 1.5),
        ([0, 50_000], 100_000, 1.5, 1.5),
        ([50_000, 0], 100_000, 0.5, 1.0),
        ([0, 0], 30_000, 0.3, 1.0),
    ] {
        let expected = current * voltage;
        let found = power(queues, sent);
        assert!((found - expected).abs() < 1e-9, "{queues:?}: {found} against {expected}");
    }
}

/// The paper's reason for power: a control of the voltage alone cannot tell queues that grow from
/// queues that drain, one of the current alone cannot tell long queues from short ones. Power can.
#[test]
fn power_tells_apart_what_voltage_or_current_alone_does_not() {
    let grows = power([20_000, 60_000], 100_000);
    let drains = power([100_000, 60_000], 100_000);
    let grows_high = power([60_000, 100_000], 100_000);
    assert!(grows > 1.4 * drains, "equal voltage: {grows} against {drains}");
    assert!(grows_high > 1.2 * grows, "equal current: {grows_high} against {grows}");
}

#[test]
fn the_window_is_divided_by_the_power() {
    let begin = report(0, 0, 50_000);
    let (smoothed, pace) = after(&exact(), [&[begin], &[report(8, 100_000, 50_000)]]);
    assert!((smoothed - 1.5).abs() < 1e-9);
    // beta is a tenth of the link: 0.9 (100 / 1.5 + 10) + 0.1 x 100 Gb/s.
    assert!(pace.rate.abs_diff(79_000_000_000) <= 1, "{}", pace.rate);
    assert_eq!(pace.window, 100_000 * pace.rate / PATH.line_rate);
}

#[test]
fn a_short_time_counts_for_its_share_of_the_round_trip() {
    let begin = report(0, 0, 50_000);
    let (smoothed, _) = after(&exact(), [&[begin], &[report(2, 25_000, 50_000)]]);
    assert!((smoothed - (0.75 + 0.25 * 1.5)).abs() < 1e-9);
    // More than a round trip counts as one.
    let (smoothed, _) = after(&exact(), [&[begin], &[report(80, 1_000_000, 50_000)]]);
    assert!((smoothed - 1.5).abs() < 1e-9);
}

#[test]
fn the_hop_with_the_most_power_decides() {
    let quiet = [report(0, 0, 0), report(8, 40_000, 0)];
    let busy = [report(0, 0, 50_000), report(8, 100_000, 50_000)];
    let one = after(&exact(), [&[busy[0]], &[busy[1]]]);
    assert_eq!(after(&exact(), [&[quiet[0], busy[0]], &[quiet[1], busy[1]]]), one);
    assert_eq!(after(&exact(), [&[busy[0], quiet[0]], &[busy[1], quiet[1]]]), one);
}

/// Theorems 1 and 2 of the paper: with the power of its own window, b w, a flow reaches w = b tau +
/// beta, and the distance from it falls by 1 - gamma per update.
#[test]
fn a_window_converges_exponentially_to_the_bandwidth_delay_product_and_beta() {
    let config = PowerTcpConfig { expected_flows: 20.0, ..exact() };
    let (mut control, _) = config.start(&PATH, &TcpConfig::default());
    let (bottleneck, increase) = (40e9, 5e9);
    for begin in [1_000_000_000, 100_000_000_000] {
        let mut rate: u64 = begin;
        let mut distance = rate as f64 - (bottleneck + increase);
        for _ in 0..6 {
            control.law.power = rate as f64 / bottleneck;
            rate = control.law.rate(&PATH, rate, rate);
            distance *= 1.0 - config.gamma;
            assert!((rate as f64 - (bottleneck + increase + distance)).abs() < 8.0);
        }
    }
}

#[test]
fn the_floor_of_the_current_bounds_the_growth() {
    let floored = PowerTcpConfig { min_current: 0.5, ..exact() };
    let reports = [[report(0, 0, 0)], [report(8, 0, 0)]];
    // Without a floor no power remains, and the rate is that of the link.
    let (power, pace) = after(&exact(), [&reports[0], &reports[1]]);
    assert_eq!((power, pace.rate), (0.0, PATH.line_rate));
    assert_eq!(after(&floored, [&reports[0], &reports[1]]).0, 0.5);
}

#[test]
fn the_target_moves_the_balance() {
    let config = PowerTcpConfig { target_power: 0.95, expected_flows: 1e6, ..exact() };
    let (_, pace) = after(&config, [&[report(0, 0, 0)], &[report(8, 100_000, 0)]]);
    // 0.9 (95 + 0.0001) + 0.1 x 100 Gb/s.
    assert!(pace.rate.abs_diff(95_500_090_000) <= 1, "{}", pace.rate);
}

#[test]
fn an_overtaken_acknowledgement_changes_nothing() {
    let late = [[report(8, 100_000, 50_000)], [report(0, 0, 50_000)]];
    let (power, pace) = after(&exact(), [&late[0], &late[1]]);
    assert_eq!((power, pace.rate), (1.0, PATH.line_rate));
}

#[test]
fn the_reports_have_the_resolution_of_the_header() {
    // 100 100 bytes arrive: 782 units of 128 B. The queue of 50 100 B has 626 units of 80 B.
    let reports = [[report(0, 0, 50_000)], [report(8, 100_000, 50_100)]];
    let (power, _) = after(&PowerTcpConfig::default(), [&reports[0], &reports[1]]);
    let arrived = f64::from((150_100 / 128 - 50_000 / 128) * 128);
    assert!((power - arrived / 1e5 * (1.0 + 50_080.0 / 1e5)).abs() < 1e-9, "{power}");
}

#[test]
fn settings_without_sense_are_refused() {
    let wrong = |change: fn(&mut PowerTcpConfig)| {
        let mut config = PowerTcpConfig::default();
        change(&mut config);
        config.check().unwrap_err().0
    };
    assert_eq!(wrong(|powertcp| powertcp.gamma = 0.0), "gamma");
    assert_eq!(wrong(|powertcp| powertcp.gamma = 1.1), "gamma");
    assert_eq!(wrong(|powertcp| powertcp.expected_flows = 0.0), "expected_flows");
    assert_eq!(wrong(|powertcp| powertcp.target_power = 0.0), "target_power");
    assert_eq!(wrong(|powertcp| powertcp.min_current = 1.5), "min_current");
    assert_eq!(wrong(|powertcp| powertcp.int_overhead = Bytes(5000)), "int_overhead");
}
