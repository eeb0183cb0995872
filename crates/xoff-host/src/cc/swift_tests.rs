//! Tests of Swift: closed forms, and Algorithm 1 in plain form.

use proptest::prelude::*;
use xoff_core::knobs::Knobs as _;

use super::*;

/// 100 packets per BDP at a base RTT of 8 us, without a window limit.
const PATH: Path = Path { window: u64::MAX, ..super::super::PATH };
/// The target without flow-based scaling, and the most that scaling adds (ps).
const BASE: u64 = 16_000_000;
const RANGE: u64 = 80_000_000;

fn config() -> SwiftConfig {
    let mut config = SwiftConfig::default();
    config.derive(Ps(PATH.base_rtt));
    config
}

fn flow(cwnd: f64) -> (Swift, Pace) {
    Swift::start(&SwiftConfig { initial_cwnd: cwnd, ..config() }, &PATH)
}

fn ack(now: u64, rtt: u64) -> Ack<'static> {
    Ack { now, rtt, acked: PATH.payload, ..Ack::default() }
}

fn loss(now: u64) -> Loss {
    Loss { now, flight: PATH.payload, again: false }
}

fn close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-9
}

#[test]
fn a_flow_starts_with_one_bandwidth_delay_product_at_line_rate() {
    let (control, pace) = flow(0.0);
    assert_eq!(pace, Pace { rate: PATH.line_rate, window: 100_000 });
    // The base target is two base RTTs, at which two BDPs are in flight.
    assert_eq!((control.target.base, control.max_cwnd), (BASE as f64, 200.0));
    let narrow = Path { window: 30_000, ..PATH };
    assert_eq!(control.pace(&narrow).window, 30_000);
}

/// n acknowledgements of ai / cwnd each take the window from w to sqrt(w^2 + 2 n ai), up to the
/// change of cwnd between them: ai / w at most.
#[test]
fn a_round_trip_below_the_target_adds_ai_packets() {
    for (first, ai) in [(2.0, 1.0), (20.0, 1.0), (50.0, 4.0)] {
        let settings = SwiftConfig { initial_cwnd: first, ai, ..config() };
        let (mut control, mut pace) = Swift::start(&settings, &PATH);
        for _ in 0..first as u64 {
            control.on_ack(&PATH, &ack(0, PATH.base_rtt), &mut pace);
        }
        let expected = f64::sqrt(first * first + 2.0 * first * ai);
        assert!((control.cwnd - expected).abs() < ai / first, "{first} became {}", control.cwnd);
        assert!((control.cwnd - first - ai).abs() < 2.0 * ai * ai / first);
    }
    let (mut control, mut pace) = flow(0.25);
    control.on_ack(&PATH, &ack(0, PATH.base_rtt), &mut pace);
    assert_eq!(control.cwnd, 1.25);
}

#[test]
fn a_decrease_follows_the_excess_over_the_target_up_to_its_bound() {
    // 4 us above 16 us are a fifth of 20 us; 0.8 of that is removed.
    for (rtt, left) in [(20_000_000, 84.0), (BASE, 100.0), (BASE * 1000, 50.0)] {
        let (mut control, mut pace) = flow(100.0);
        control.on_ack(&PATH, &ack(rtt, rtt), &mut pace);
        assert!(close(control.cwnd, left), "{}", control.cwnd);
        assert_eq!(control.last_decrease, rtt);
        assert_eq!(pace.window, (left as u64) * 1000);
    }
}

/// "Swift does not react to the same congestion event multiple times" (§3.2), whether delay, losses
/// or timeouts show it.
#[test]
fn only_one_decrease_happens_in_a_round_trip() {
    let (mut control, mut pace) = flow(100.0);
    let (begin, rtt) = (50_000_000, 20_000_000);
    control.on_ack(&PATH, &ack(begin, rtt), &mut pace);
    for later in [1, rtt / 2, rtt - 1] {
        control.on_ack(&PATH, &ack(begin + later, rtt), &mut pace);
        control.on_loss(&PATH, &loss(begin + later), &mut pace);
        control.on_timeout(&PATH, &loss(begin + later), &mut pace);
        assert!(close(control.cwnd, 84.0), "{}", control.cwnd);
    }
    let excess = 1.0 - control.target.at(control.cwnd) / rtt as f64;
    control.on_ack(&PATH, &ack(begin + rtt, rtt), &mut pace);
    let again = 84.0 * (1.0 - 0.8 * excess);
    assert!(close(control.cwnd, again), "{}", control.cwnd);
    control.on_loss(&PATH, &loss(begin + 2 * rtt), &mut pace);
    assert!(close(control.cwnd, again / 2.0), "{}", control.cwnd);
}

/// §3.5: the whole range at fs_min_cwnd and below, nothing from fs_max_cwnd on, and in between
/// proportional to 1 / sqrt(cwnd).
#[test]
fn the_target_scales_with_the_window() {
    let target = Target::new(&config(), &PATH);
    let (base, range) = (BASE as f64, RANGE as f64);
    for (cwnd, expected) in [
        (0.001, base + range),
        (0.1, base + range),
        // (1 - 1 / 10) / (sqrt(10) - 1 / 10) of the range.
        (1.0, base + range * 0.9 / (f64::sqrt(10.0) - 0.1)),
        // (1 / 5 - 1 / 10) / (sqrt(10) - 1 / 10) of the range.
        (25.0, base + range * 0.1 / (f64::sqrt(10.0) - 0.1)),
        (100.0, base),
        (200.0, base),
    ] {
        assert!(close(target.at(cwnd), expected), "{cwnd}: {}", target.at(cwnd));
    }
    let fixed = SwiftConfig { fs_range: 0.0, ..config() };
    assert_eq!(Target::new(&fixed, &PATH).at(0.001), base);
    assert_eq!(fixed.without_effect().len(), 2);
}

#[test]
fn timeouts_in_a_row_reset_the_window() {
    let (mut control, mut pace) = flow(100.0);
    let step = 1_000_000_000;
    for time in 1..=4 {
        control.on_timeout(&PATH, &loss(time * step), &mut pace);
    }
    assert_eq!((control.cwnd, pace.window), (6.25, 6000));
    control.on_timeout(&PATH, &loss(5 * step), &mut pace);
    assert_eq!((control.cwnd, control.timeouts), (0.001, 5));
    // An acknowledgement, or a loss that one reports, ends the row.
    control.on_ack(&PATH, &ack(6 * step, PATH.base_rtt), &mut pace);
    control.on_timeout(&PATH, &loss(7 * step), &mut pace);
    assert_eq!((control.cwnd, control.timeouts), (1.001 / 2.0, 1));
    control.on_loss(&PATH, &loss(8 * step), &mut pace);
    assert_eq!((control.cwnd, control.timeouts), (1.001 / 4.0, 0));
}

/// "A cwnd of 0.5 results in sending a packet after a delay of 2 x RTT" (§3.4).
#[test]
fn a_window_below_one_packet_paces() {
    for (cwnd, rtts) in [(0.5, 2), (0.1, 10), (0.001, 1000)] {
        let (_, pace) = flow(cwnd);
        let delay = PATH.full_packet as f64 * 8e12 / pace.rate as f64;
        let expected = (rtts * PATH.base_rtt) as f64;
        assert!((delay / expected - 1.0).abs() < 1e-5, "{cwnd}: {delay} ps");
        assert_eq!(pace.window, PATH.payload);
    }
    for (cwnd, packets) in [(1.0, 1), (1.9, 1), (57.5, 57)] {
        let (_, pace) = flow(cwnd);
        assert_eq!(pace, Pace { rate: PATH.line_rate, window: packets * PATH.payload });
    }
}

#[test]
fn settings_that_cannot_work_are_rejected() {
    let good = SwiftConfig::default;
    for (config, key) in [
        (SwiftConfig { ai: 0.0, ..good() }, "ai"),
        (SwiftConfig { beta: 0.0, ..good() }, "beta"),
        (SwiftConfig { max_mdf: 0.0, ..good() }, "max_mdf"),
        (SwiftConfig { max_mdf: 1.0, ..good() }, "max_mdf"),
        (SwiftConfig { fs_min_cwnd: 0.0, ..good() }, "fs_min_cwnd"),
        (SwiftConfig { fs_min_cwnd: 100.0, ..good() }, "fs_min_cwnd"),
        (SwiftConfig { min_cwnd: 0.0, ..good() }, "min_cwnd"),
        (SwiftConfig { min_cwnd: 1.5, ..good() }, "min_cwnd"),
        (SwiftConfig { max_cwnd: 0.5, ..good() }, "max_cwnd"),
        (SwiftConfig { retx_reset_threshold: 0, ..good() }, "retx_reset_threshold"),
    ] {
        assert_eq!(config.check().unwrap_err().0, key);
    }
    assert!(good().check().is_ok());
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The round trip, and the number of packets acknowledged.
    Ack(u64, u64),
    Timeout,
    FastRecovery,
}

/// Algorithm 1 with all its variables.
#[derive(Debug)]
struct Algorithm {
    config: SwiftConfig,
    max_cwnd: f64,
    cwnd: f64,
    retransmit_cnt: u32,
    t_last_decrease: u64,
    rtt: u64,
    pacing_delay: f64,
}

impl Algorithm {
    fn target_delay(&self) -> f64 {
        let config = &self.config;
        let fs_range = RANGE as f64;
        let steps = 1.0 / config.fs_min_cwnd.sqrt() - 1.0 / config.fs_max_cwnd.sqrt();
        let alpha = fs_range / steps;
        let beta = -alpha / config.fs_max_cwnd.sqrt();
        BASE as f64 + f64::max(0.0, f64::min(alpha / self.cwnd.sqrt() + beta, fs_range))
    }

    fn step(&mut self, now: u64, event: Event) {
        if let Event::Ack(rtt, _) = event {
            self.rtt = rtt;
        }
        let (ai, beta, max_mdf) = (self.config.ai, self.config.beta, self.config.max_mdf);
        let can_decrease = now - self.t_last_decrease >= self.rtt;
        let mut decreased = false;
        match event {
            Event::Ack(rtt, num_acked) => {
                self.retransmit_cnt = 0;
                let (delay, target_delay) = (rtt as f64, self.target_delay());
                if delay < target_delay {
                    if self.cwnd >= 1.0 {
                        self.cwnd += ai / self.cwnd * num_acked as f64;
                    } else {
                        self.cwnd += ai * num_acked as f64;
                    }
                } else if can_decrease {
                    let factor = 1.0 - beta * ((delay - target_delay) / delay);
                    self.cwnd *= f64::max(factor, 1.0 - max_mdf);
                    decreased = true;
                }
            }
            Event::Timeout => {
                self.retransmit_cnt += 1;
                if self.retransmit_cnt >= self.config.retx_reset_threshold {
                    self.cwnd = self.config.min_cwnd;
                    decreased = true;
                } else if can_decrease {
                    self.cwnd *= 1.0 - max_mdf;
                    decreased = true;
                }
            }
            Event::FastRecovery => {
                self.retransmit_cnt = 0;
                if can_decrease {
                    self.cwnd *= 1.0 - max_mdf;
                    decreased = true;
                }
            }
        }
        self.cwnd = self.cwnd.clamp(self.config.min_cwnd, self.max_cwnd);
        if decreased {
            self.t_last_decrease = now;
        }
        self.pacing_delay = if self.cwnd < 1.0 { self.rtt as f64 / self.cwnd } else { 0.0 };
    }
}

proptest! {
    #[test]
    fn any_history_follows_algorithm_1(
        first in prop_oneof![0.001..1.0, 1.0..200.0],
        history in prop::collection::vec((
            0u64..60_000_000,
            prop_oneof![
                8 => (8_000_000u64..120_000_000, 0u64..4)
                    .prop_map(|(rtt, packets)| Event::Ack(rtt, packets)),
                2 => Just(Event::Timeout),
                1 => Just(Event::FastRecovery),
            ],
        ), 1..300),
    ) {
        let config = SwiftConfig { initial_cwnd: first, retx_reset_threshold: 3, ..config() };
        let (mut control, mut pace) = Swift::start(&config, &PATH);
        let mut model = Algorithm {
            config,
            max_cwnd: 200.0,
            cwnd: first,
            retransmit_cnt: 0,
            t_last_decrease: 0,
            rtt: PATH.base_rtt,
            pacing_delay: 0.0,
        };
        let mut now = 0;
        for (later, event) in history {
            now += later;
            model.step(now, event);
            match event {
                Event::Ack(rtt, packets) => {
                    let acked = packets * PATH.payload;
                    let ack = Ack { acked, ..ack(now, rtt) };
                    control.on_ack(&PATH, &ack, &mut pace);
                }
                Event::Timeout => control.on_timeout(&PATH, &loss(now), &mut pace),
                Event::FastRecovery => {
                    control.on_loss(&PATH, &loss(now), &mut pace);
                    pace = control.pace(&PATH);
                }
            }
            prop_assert!(close(control.cwnd, model.cwnd), "{} {model:?}", control.cwnd);
            if model.cwnd < 1.0 {
                let delay = PATH.full_packet as f64 * 8e12 / pace.rate as f64;
                prop_assert!((delay / model.pacing_delay - 1.0).abs() < 1e-3, "{model:?}");
            } else {
                prop_assert_eq!(pace.rate, PATH.line_rate);
            }
        }
    }
}

/// htsim's Swift on packets of 1500 B, as its preset sets it.
fn htsim() -> (Swift, Pace, Path) {
    let path = Path { payload: 1500, full_packet: 1500, base_rtt: 10_000_000, ..PATH };
    let settings = SwiftConfig {
        queueing: Ps(10_000_000),
        initial_cwnd: 15.0,
        max_cwnd: 1000.0,
        whole_bytes: true,
        smoothed_rtt: true,
        ..SwiftConfig::default()
    };
    let (control, pace) = Swift::start(&settings, &path);
    (control, pace, path)
}

/// 20 us + 32.655432 us / sqrt(n) - 3.265543 us for n whole packets, and 120 us below one.
#[test]
fn the_target_of_whole_packets_is_that_of_htsim() {
    let (mut control, ..) = htsim();
    for (bytes, target) in
        [(1499.0, 120_000_000), (1500.0, 49_389_889), (2999.0, 49_389_889), (6000.0, 33_062_173)]
    {
        control.cwnd = bytes / 1500.0;
        assert!((control.target_delay() - f64::from(target)).abs() <= 1.0, "{bytes}");
    }
    control.cwnd = 150.0;
    assert_eq!(control.target_delay(), 20_000_000.0);
}

#[test]
fn windows_of_whole_bytes_change_as_in_htsim() {
    let (mut control, mut pace, path) = htsim();
    let mut bytes = 15.0 * 1500.0;
    for _ in 0..200 {
        let ack = Ack { acked: 1500, ..ack(0, 10_000_000) };
        control.on_ack(&path, &ack, &mut pace);
        bytes = f64::floor(bytes + 1500.0 * 1500.0 / bytes);
        assert_eq!((control.cwnd * 1500.0).round(), bytes);
        assert_eq!(pace.window, bytes as u64 / 1500 * 1500);
    }
    // The next decrease waits for the smoothed RTT before its own sample.
    let (smoothed, before) = (control.rtt, control.cwnd);
    let late = |now| Ack { acked: 1500, ..ack(now, 80_000_000) };
    control.on_ack(&path, &late(1_000_000_000), &mut pace);
    assert!(control.cwnd < before);
    let (after, limit) = (control.cwnd, control.rtt);
    assert_eq!(limit, 7 * smoothed / 8 + 10_000_000);
    control.on_ack(&path, &late(1_000_000_000 + limit - 1), &mut pace);
    assert_eq!(control.cwnd, after);
    control.on_ack(&path, &late(1_000_000_000 + 2 * limit), &mut pace);
    assert!(control.cwnd < after);
}
