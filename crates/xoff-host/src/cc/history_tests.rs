//! What every control does in a flow of random events.

use xoff_core::Rng;
use xoff_core::knobs::Knob as _;
use xoff_core::rng::Purpose;
use xoff_core::seam::Seam as _;
use xoff_net::telemetry::{IntHop, IntStack};

use super::*;

/// What a control answers after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Answer {
    now: u64,
    pace: Pace,
    window_bytes: u64,
    timer: Option<u64>,
    timer_set: u64,
    rebases: bool,
}

/// The record of a data packet after one switch, which counts its bytes.
fn record(carries: Carries, rng: &mut Rng, now: u64, tx_bytes: u64) -> Option<Record> {
    let mut stack = IntStack::default();
    let queue_bytes = rng.below(200_000) as u32;
    stack.push(IntHop { time_ps: now, tx_bytes, queue_bytes, rate_mbps: 100_000 });
    let feedback = (rng.unit() - 0.5) * 1e-6;
    match carries {
        Carries::Nothing => None,
        Carries::Int => Some(Record::Int(stack)),
        Carries::Pint => Some(Record::Pint(rng.below(1 << 12) as u16)),
        Carries::Xcp => Some(Record::Xcp(XcpHeader { rtt_ps: 8e6, spacing_ps: 8e4, feedback })),
    }
}

/// The answers to 3,000 events of a flow. Timers fire when they are due. Packets are sent and
/// acknowledged in order; a quarter is marked, and one in 50 tells of a loss.
fn history(control: &mut dyn CongestionControl, pace: Pace, of: &ControlConfig) -> Vec<Answer> {
    let mut rng = Rng::stream(1, Purpose::Transport, 7);
    let (mut pace, mut now, mut seq, mut answers) = (pace, 0, 0, Vec::new());
    for _ in 0..3_000 {
        now += 1 + rng.below(1_000_000);
        while let Some(due) = control.next_timer().filter(|&due| due <= now) {
            control.on_timer(&PATH, due, &mut pace);
            assert!(control.next_timer().is_none_or(|next| next > due), "the timer stands still");
        }
        let loss = Loss { now, flight: pace.window.min(50_000), again: false };
        match rng.below(100) {
            0 => control.on_timeout(&PATH, &loss, &mut pace),
            1 => control.on_loss(&PATH, &loss, &mut pace),
            2 if of.shrinks_in_recovery() => control.shrink(&PATH, Shrink::By(5_000)),
            3 if of.has_tcp_window() => control.reopen(&PATH, 50_000, &mut pace),
            4..8 => control.on_notification(&PATH, now, &mut pace),
            8..40 => control.on_sent(&PATH, PATH.full_packet, &mut pace),
            _ => {
                seq += PATH.payload;
                let record = record(of.carries(), &mut rng, now, seq);
                let ack = Ack {
                    now,
                    set: now - 1,
                    seq,
                    acked: PATH.payload,
                    snd_nxt: seq + pace.window.min(PATH.bdp),
                    rtt: PATH.base_rtt + rng.below(20 * PATH.base_rtt),
                    in_flight: pace.window.min(PATH.bdp),
                    marked: rng.below(4) == 0,
                    record: record.as_ref(),
                    ..Ack::default()
                };
                control.on_ack(&PATH, &ack, &mut pace);
            }
        }
        answers.push(Answer {
            now,
            pace,
            window_bytes: control.window_bytes(),
            timer: control.next_timer(),
            timer_set: control.timer_set(),
            rebases: control.rebases_pacing(),
        });
    }
    answers
}

/// The control itself, in place of the enum of all.
trait Own {
    fn own(&mut self) -> &mut dyn CongestionControl;
}

impl<C: CongestionControl> Own for C {
    fn own(&mut self) -> &mut dyn CongestionControl {
        self
    }
}

impl Own for Box<dyn AddedControl> {
    fn own(&mut self) -> &mut dyn CongestionControl {
        &mut **self
    }
}

/// Whichever control a flow has, it gets all events, and the flow all its answers.
#[test]
fn a_flow_hears_its_control() {
    for config in ControlConfig::all() {
        let (mut any, pace) = config.start(&PATH, &TcpConfig::default());
        let own = each_control!(&mut any.clone(), control => history(control.own(), pace, &config));
        assert_eq!(history(&mut any, pace, &config), own, "{}", config.kind().show());
    }
}

/// Rates stay between the lowest one and that of the link, and a window is never closed. Timers
/// fire after they are set.
#[test]
fn no_control_stops_a_flow_or_exceeds_its_link() {
    for config in ControlConfig::all() {
        let name = config.kind().show();
        let (mut control, pace) = config.start(&PATH, &TcpConfig::default());
        let least = config.min_rate().map_or(1, |(_, rate)| rate.0);
        let answers = history(&mut control, pace, &config);
        for answer in &answers {
            let Answer { now, pace, timer, timer_set, .. } = *answer;
            assert!((least..=PATH.line_rate).contains(&pace.rate), "{name}: {answer:?}");
            assert!(pace.window > 0, "{name}: {answer:?}");
            assert!(timer.is_none_or(|timer| timer > now.max(timer_set)), "{name}: {answer:?}");
        }
        let changes = answers.windows(2).filter(|pair| pair[0].pace != pair[1].pace).count();
        assert_eq!(changes > 0, config.controls(), "{name}");
        assert_eq!(
            answers.iter().any(|answer| answer.timer.is_some()),
            config.has_timers(),
            "{name}"
        );
    }
}
