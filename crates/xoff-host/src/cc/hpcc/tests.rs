use super::super::PATH;
use super::*;

/// The switches of the HPCC simulator count in units: the last whole one is seen.
#[test]
fn telemetry_is_seen_in_whole_units() {
    for (value, unit) in [(0, 1), (7, 1), (1999, 1000), (2000, 1000), (127, 128), (300, 80)] {
        let seen = whole(value, unit);
        assert!(seen.is_multiple_of(unit) && seen <= value && value - seen < unit, "{seen}");
    }
}

fn stack(time_us: u64, tx_bytes: u64, queue_bytes: u32) -> Record {
    let mut stack = IntStack::default();
    stack.push(IntHop { time_ps: time_us * 1_000_000, tx_bytes, queue_bytes, rate_mbps: 100_000 });
    Record::Int(stack)
}

fn ack(control: &mut Hpcc, pace: &mut Pace, seq: u64, int: &Record) {
    let ack = Ack { seq, snd_nxt: seq + 100_000, record: Some(int), ..Ack::default() };
    control.on_ack(&PATH, &ack, pace);
}

fn exact() -> HpccConfig {
    HpccConfig { int_bytes_unit: Bytes(1), int_queue_unit: Bytes(1), ..HpccConfig::default() }
}

#[test]
fn a_full_link_with_a_queue_brings_the_rate_down_to_the_target() {
    let mut control = Hpcc::new(&exact(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    ack(&mut control, &mut pace, 1000, &stack(0, 0, 50_000));
    // One base RTT at line rate with half a BDP queued: U = 1 + 0.5.
    ack(&mut control, &mut pace, 101_001, &stack(8, 100_000, 50_000));
    assert!((control.u - 1.5).abs() < 1e-12);
    assert_eq!(pace.rate, (1e11 / (1.5 / 0.95)) as u64 + 40_000_000);
    assert_eq!(pace.window, 100_000 * pace.rate / PATH.line_rate);
}

#[test]
fn an_idle_link_is_filled_after_five_additive_steps() {
    let mut control = Hpcc::new(&exact(), &PATH);
    let mut pace = PATH.pace(PATH.line_rate);
    control.reference_rate = 10_000_000_000;
    for round in 0..7u64 {
        ack(&mut control, &mut pace, 1000 + round * 200_000, &stack(round * 8, round * 10_000, 0));
    }
    // The first acknowledgement measures nothing. Five rounds add, the sixth multiplies by eta
    // / U = 9.5.
    let expected = (10_200_000_000.0 / (control.u / 0.95)) as u64 + 40_000_000;
    assert_eq!((pace.rate, control.stage), (expected, 0));
    assert!((control.u - 0.1).abs() < 1e-9);
}

/// A division by no load, and a load that is no number, as on the processors of the simulator.
#[test]
fn what_is_no_rate_becomes_what_the_simulator_makes_of_it() {
    let reaction =
        Reaction { eta: 0.95, max_stage: 0, increase: 40_000_000, min_rate: 1_000_000_000 };
    let react = |u| reaction.react(&PATH, u, 50_000_000_000, 0);
    assert_eq!(react(0.0), (1_000_000_000, 0));
    assert_eq!(react(f64::NAN), (PATH.line_rate, 0));
    let half = (1u64 << 63) as f64;
    for (rate, whole) in [(1.5, 3 << 62), (2.0, 0), (f64::INFINITY, 0), (f64::NAN, 1 << 63)] {
        assert_eq!(as_rate(rate * half), whole, "{rate}");
    }
}
