//! Compares an agent with the paper's own form of the arithmetic, and tests its consequences.

use std::collections::VecDeque;

use proptest::prelude::*;
use xoff_core::Ps;

use super::{Agent, Clocks, Form, XcpConfig, XcpHeader};

const RATE: u64 = 10_000_000_000;
/// Bytes per ps.
const CAPACITY: f64 = 1.25e-3;
const RTT_PS: f64 = 20e6;
const FULL: u16 = 1500;

fn config() -> XcpConfig {
    XcpConfig::default().derived(Ps::from_us(20))
}

/// A packet from its sender's view.
#[derive(Clone, Copy, Debug)]
struct Packet {
    bytes: u16,
    rtt_ps: f64,
    window: f64,
    /// The sender's wish, as a change of the window (bytes).
    wish: f64,
}

impl Packet {
    fn header(&self) -> XcpHeader {
        XcpHeader {
            rtt_ps: self.rtt_ps,
            spacing_ps: f64::from(self.bytes) * self.rtt_ps / self.window,
            feedback: if self.rtt_ps > 0.0 { self.wish / self.rtt_ps } else { 0.0 },
        }
    }
}

/// §3.5 literally: bytes, windows and a list of all packets of an interval; periods end in a loop
/// over time.
struct Reference {
    config: XcpConfig,
    /// Begin and end of the control interval.
    interval: Option<(u64, u64)>,
    arrivals: Vec<Packet>,
    mean_rtt: f64,
    /// xi_p and xi_n, and the rest of both sums, in bytes/ps.
    xi: (f64, f64),
    left: (f64, f64),
    /// The largest term of phi and h, in bytes/ps. Their differences are as exact as it: an
    /// interval that ends a picosecond later, by the rounding of d, changes y by some 1e-7.
    terms: f64,
    search_end: Option<u64>,
    /// The queue at the beginning of the search, and after each departure since.
    seen: Vec<u32>,
    happened: bool,
    persistent: u32,
}

impl Reference {
    fn new(config: XcpConfig) -> Self {
        Self {
            mean_rtt: config.initial_interval.0 as f64,
            config,
            interval: None,
            arrivals: Vec::new(),
            xi: (0.0, 0.0),
            left: (0.0, 0.0),
            terms: 0.0,
            search_end: None,
            seen: Vec::new(),
            happened: false,
            persistent: 0,
        }
    }

    fn search(&self, queue: u32) -> u64 {
        let time = (self.mean_rtt - f64::from(queue) / CAPACITY) / 2.0;
        time.max(self.config.min_interval.0 as f64) as u64
    }

    fn pass_time(&mut self, now: u64, queue: u32) {
        loop {
            let search = self.search_end.unwrap_or(u64::MAX);
            let interval = self.interval.map_or(u64::MAX, |(_, end)| end);
            if search.min(interval) > now {
                break;
            }
            if search <= interval {
                self.persistent = self.seen.drain(..).min().unwrap_or(queue);
                self.seen.push(queue);
                self.search_end = self.happened.then(|| search + self.search(queue));
                self.happened = false;
            } else {
                self.decide();
            }
        }
        if self.search_end.is_none() {
            self.seen = vec![queue];
            self.search_end = Some(now + self.search(queue));
        }
        self.happened = true;
    }

    fn decide(&mut self) {
        let (begin, end) = self.interval.expect("an interval ends");
        let arrivals = std::mem::take(&mut self.arrivals);
        let known: Vec<&Packet> = arrivals.iter().filter(|packet| packet.rtt_ps > 0.0).collect();
        let bytes = |packet: &Packet| f64::from(packet.bytes);
        let rtt_by_window: f64 = known.iter().map(|p| p.rtt_ps * bytes(p) / p.window).sum();
        let square: f64 = known.iter().map(|p| p.rtt_ps * p.rtt_ps * bytes(p) / p.window).sum();
        let d = if known.is_empty() {
            self.config.initial_interval.0 as f64
        } else {
            square / rtt_by_window
        };
        self.mean_rtt = d;
        if arrivals.is_empty() {
            (self.xi, self.left, self.interval) = ((0.0, 0.0), (0.0, 0.0), None);
            return;
        }
        let y = arrivals.iter().map(bytes).sum::<f64>() / (end - begin) as f64 * d;
        let spare = CAPACITY - y / d;
        let phi = self.config.alpha * d * spare - self.config.beta * f64::from(self.persistent);
        let h = (self.config.gamma * y - phi.abs()).max(0.0);
        if known.is_empty() {
            (self.xi, self.left) = ((0.0, 0.0), (0.0, 0.0));
        } else {
            let sum: f64 = known.iter().map(|packet| bytes(packet)).sum();
            let (more, less) = (h + phi.max(0.0), h + (-phi).max(0.0));
            self.xi = (more / (d * rtt_by_window), less / (d * sum));
            self.left = (more / d, less / d);
            let config = &self.config;
            let queue = config.beta * f64::from(self.persistent);
            self.terms = (config.gamma * y).max(config.alpha * d * CAPACITY).max(queue) / d;
        }
        self.interval = Some((end, end + d.max(self.config.min_interval.0 as f64) as u64));
    }

    fn arrive(&mut self, now: u64, queue: u32, packet: Packet) {
        self.pass_time(now, queue);
        let first = self.config.initial_interval.0;
        self.interval.get_or_insert((now, now + first));
        self.arrivals.push(packet);
    }

    /// The change of the window.
    fn depart(&mut self, now: u64, before: u32, packet: &Packet) -> f64 {
        self.pass_time(now, before);
        self.seen.push(before - u32::from(packet.bytes));
        let (rtt, bytes) = (packet.rtt_ps, f64::from(packet.bytes));
        if rtt == 0.0 {
            return 0.0;
        }
        // "p_i = xi_p rtt^2 s / cwnd" and "n_i = xi_n rtt s".
        let mut p = (self.xi.0 * rtt * rtt * bytes / packet.window).min(self.left.0 * rtt);
        let mut n = (self.xi.1 * rtt * bytes).min(self.left.1 * rtt);
        let feedback = packet.wish.min(p - n);
        if feedback < p - n {
            n = (p - feedback).min(self.left.1 * rtt);
            p = (feedback + n).max(0.0);
        }
        self.left = ((self.left.0 - p / rtt).max(0.0), (self.left.1 - n / rtt).max(0.0));
        feedback
    }
}

/// An event at a port, and its time (ps) after the event before.
#[derive(Clone, Debug)]
enum Step {
    Arrive(u64, Packet),
    Depart(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let gap = || prop_oneof![8 => 0u64..2_000_000, 1 => 10_000_000u64..90_000_000];
    let rtt = prop_oneof![1 => Just(0.0), 4 => (5_000_000u64..60_000_000).prop_map(|ps| ps as f64)];
    let wish = prop_oneof![4 => Just(1e9), 1 => -3000.0..3000.0];
    let packet = (64u16..1500, rtt, 1500.0..60_000.0, wish)
        .prop_map(|(bytes, rtt_ps, window, wish)| Packet { bytes, rtt_ps, window, wish });
    prop_oneof![
        (gap(), packet).prop_map(|(gap, packet)| Step::Arrive(gap, packet)),
        gap().prop_map(Step::Depart)
    ]
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert_close_among(found, expected, expected.abs(), what);
}

/// Compares with an error of 1e-6 of the terms that the expected value is a difference of.
fn assert_close_among(found: f64, expected: f64, terms: f64, what: &str) {
    let scale = expected.abs().max(terms).max(1e-3);
    assert!((found - expected).abs() < 1e-6 * scale, "{what}: {found} instead of {expected}");
}

proptest! {
    /// Compares step by step, for any arrivals and departures, with idle periods and with flows
    /// that are limited elsewhere.
    #[test]
    fn an_agent_does_what_the_paper_says(steps in prop::collection::vec(step(), 1..400)) {
        let mut agent = Agent::new(&config(), RATE);
        let mut reference = Reference::new(config());
        let (mut now, mut waiting, mut queue) = (1_000_000, VecDeque::new(), 0u32);
        for step in steps {
            match step {
                Step::Arrive(gap, packet) => {
                    now += gap;
                    agent.on_arrival(now, queue, packet.bytes, Some(&packet.header()));
                    reference.arrive(now, queue, packet);
                    queue += u32::from(packet.bytes);
                    waiting.push_back(packet);
                }
                Step::Depart(gap) => {
                    let Some(packet) = waiting.pop_front() else { continue };
                    now += gap;
                    let expected = reference.depart(now, queue, &packet);
                    queue -= u32::from(packet.bytes);
                    let mut header = packet.header();
                    agent.on_departure(now, queue, packet.bytes, Some(&mut header));
                    let terms = reference.terms * packet.rtt_ps;
                    let found = header.feedback * packet.rtt_ps;
                    assert_close_among(found, expected, terms, "feedback");
                }
            }
        }
    }

    /// A switch never gives more than the sender or an earlier switch allows, and never divides by
    /// zero.
    #[test]
    fn feedback_only_falls(steps in prop::collection::vec(step(), 1..200)) {
        let mut agent = Agent::new(&config(), RATE);
        let (mut now, mut waiting) = (0, VecDeque::new());
        for step in steps {
            match step {
                Step::Arrive(gap, packet) => {
                    now += gap;
                    agent.on_arrival(now, 0, packet.bytes, Some(&packet.header()));
                    waiting.push_back(packet);
                }
                Step::Depart(gap) => {
                    let Some(packet) = waiting.pop_front() else { continue };
                    now += gap;
                    let mut header = packet.header();
                    agent.on_departure(now, 0, packet.bytes, Some(&mut header));
                    prop_assert!(header.feedback <= packet.header().feedback, "{header:?}");
                    prop_assert!(agent.mean_rtt_ps() > 0.0 && agent.mean_rtt_ps().is_finite());
                }
            }
        }
    }
}

/// Feeds an agent `rounds` control intervals of 20 us, in which flows of these windows (in packets)
/// send evenly and nothing waits. Returns the feedback of the last interval for each flow: the
/// change of its throughput.
fn steady(agent: &mut Agent, windows: &[u32], rounds: u64, wish: f64, queue: u32) -> Vec<f64> {
    let rtt = RTT_PS as u64;
    let mut changes = vec![0.0; windows.len()];
    for round in 0..rounds {
        changes.fill(0.0);
        let mut packets: Vec<(u64, usize)> = (windows.iter().enumerate())
            .flat_map(|(flow, &count)| {
                (0..u64::from(count)).map(move |number| (number * rtt / u64::from(count), flow))
            })
            .collect();
        packets.sort_unstable();
        for (time, flow) in packets {
            let now = round * rtt + time;
            let mut header = XcpHeader {
                rtt_ps: RTT_PS,
                spacing_ps: RTT_PS / f64::from(windows[flow]),
                feedback: wish,
            };
            agent.on_arrival(now, queue, FULL, Some(&header));
            agent.on_departure(now, queue, FULL, Some(&mut header));
            changes[flow] += header.feedback;
        }
    }
    changes
}

#[test]
fn spare_bandwidth_is_shared_equally_and_none_is_lost() {
    // Half of the link's 25 kB in 20 us: 8 packets of 1500 B, of three flows.
    let windows = [1, 2, 5];
    let changes = steady(&mut Agent::new(&config(), RATE), &windows, 10, 1.0, 0);
    let y = 8.0 * 1500.0 / RTT_PS;
    let change = 0.4 * (CAPACITY - y);
    for changes in &changes {
        assert_close(*changes, change / 3.0, "a third of alpha times the spare bandwidth");
    }
    // After an idle period the first interval has no feedback, because nothing is known.
    let mut agent = Agent::new(&config(), RATE);
    assert_eq!(steady(&mut agent, &windows, 1, 1.0, 0), [0.0; 3]);
}

#[test]
fn an_overload_is_taken_in_proportion_to_throughput() {
    // 24 packets, 36 kB with a capacity of 25 kB: phi = 0.4 x -11 kB, and nothing is shuffled.
    let windows = [4, 8, 12];
    let changes = steady(&mut Agent::new(&config(), RATE), &windows, 10, 1.0, 0);
    let phi = 0.4 * (25_000.0 - 36_000.0);
    for (changes, window) in changes.iter().zip(windows) {
        assert_close(changes * RTT_PS, phi * f64::from(window) / 24.0, "a share of phi");
    }
}

/// Flows that fill half of a link fill a link of half the rate.
#[test]
fn a_port_at_half_its_rate_distributes_half() {
    let windows = [1, 2, 5];
    let mut slowed = Agent::new(&config(), RATE);
    slowed.set_rate(RATE / 2);
    let slow = steady(&mut Agent::new(&config(), RATE / 2), &windows, 10, 1.0, 0);
    assert_eq!(steady(&mut slowed, &windows, 10, 1.0, 0), slow);
    assert_ne!(steady(&mut Agent::new(&config(), RATE), &windows, 10, 1.0, 0), slow);
}

#[test]
fn a_standing_queue_is_drained() {
    // 24 kB with a capacity of 25 kB, and 12 kB that never leave the queue.
    let changes = steady(&mut Agent::new(&config(), RATE), &[16], 10, 1.0, 12_000);
    let phi: f64 = 0.4 * (25_000.0 - 24_000.0) - 0.226 * 12_000.0;
    assert_close(changes[0] * RTT_PS, phi, "phi");
}

#[test]
fn a_tenth_of_the_traffic_changes_hands_on_a_full_link() {
    // 20 packets of 1500 B in 20 us are 12 Gb/s.
    let mut agent = Agent::new(&config(), 12_000_000_000);
    let windows = [5, 15];
    let changes = steady(&mut agent, &windows, 10, 1.0, 0);
    let shuffled = 0.1 * 30_000.0;
    for (changes, window) in changes.iter().zip(windows) {
        let share = shuffled / 2.0 - shuffled * f64::from(window) / 20.0;
        assert_close(changes * RTT_PS, share, "half of the shuffled bandwidth for its share");
    }
}

#[test]
fn packets_that_know_no_rtt_are_told_nothing_and_count_as_traffic() {
    let mut agent = Agent::new(&config(), RATE);
    let mut blank = XcpHeader { feedback: 7.0, ..XcpHeader::default() };
    for packet in 0..40 {
        let now = packet * 1_000_000;
        agent.on_arrival(now, 0, FULL, Some(&blank));
        agent.on_departure(now, 0, FULL, Some(&mut blank));
        assert_eq!(blank.feedback, 0.0);
    }
    assert_eq!(agent.mean_rtt_ps(), RTT_PS);
}

/// Acknowledgements, for example, that take the whole link: only shuffled bandwidth can be given.
#[test]
fn what_carries_no_header_takes_bandwidth_too() {
    let mut agent = Agent::new(&config(), RATE);
    let (mut given, mut header) = (0.0, XcpHeader::default());
    for packet in 0..170u64 {
        let now = packet * 1_200_000;
        agent.on_arrival(now, 0, FULL, None);
        header = XcpHeader { rtt_ps: RTT_PS, spacing_ps: RTT_PS, feedback: 1.0 };
        agent.on_arrival(now, 0, 1, Some(&header));
        agent.on_departure(now, 0, 1, Some(&mut header));
        given = f64::max(given, header.feedback);
    }
    assert!(given > 0.0 && given < 0.11 * CAPACITY && header.feedback < 0.11 * CAPACITY);
}

#[test]
fn a_mix_of_rtts_sets_the_interval_by_its_flows_not_by_their_packets() {
    let mut agent = Agent::new(&config(), RATE);
    let mut now = 0;
    // One flow of 10 us with 10 packets, one of 30 us with 3, in every 30 us: 30 packets for 3.
    for _ in 0..10 {
        for (count, rtt, window) in [(30, 10e6, 10.0), (3, 30e6, 3.0)] {
            for _ in 0..count {
                let header = XcpHeader { rtt_ps: rtt, spacing_ps: rtt / window, feedback: 1.0 };
                agent.on_arrival(now, 0, FULL, Some(&header));
            }
        }
        now += 30_000_000;
    }
    assert_close(agent.mean_rtt_ps(), 20e6, "mean over flows");
}

/// Clocks that run all the time: intervals end at 30, 80, 130 us and so on while nothing arrives.
/// The first packets come at 200 us, so the first decision about them is at 230 us, and it averages
/// their bytes over 50 us.
#[test]
fn free_clocks_let_a_new_flow_wait() {
    let config = XcpConfig {
        clocks: Clocks::Free,
        first_interval_end: Ps::from_us(30),
        initial_interval: Ps::from_us(50),
        ..XcpConfig::default()
    };
    let mut agent = Agent::new(&config.derived(Ps::from_us(20)), RATE);
    let mut given = Vec::new();
    for packet in 0..40u64 {
        let now = 200_000_000 + packet * 1_000_000;
        let spacing_ps = 10e6;
        let mut header = XcpHeader { rtt_ps: RTT_PS, spacing_ps, feedback: 1.0 };
        agent.on_arrival(now, 0, FULL, Some(&header));
        agent.on_departure(now, 0, FULL, Some(&mut header));
        given.push(header.feedback);
    }
    let first = given.iter().position(|&feedback| feedback > 0.0);
    assert_eq!(first, Some(30));
    // 30 packets in 50 us.
    let change = 0.4 * (CAPACITY - 30.0 * 1500.0 / 50e6);
    assert_close(given[30], change / 30.0, "a packet's part of alpha times the spare bandwidth");
}

/// ns-2 counts the departing packet as queued, takes from all bytes, and gives by seconds while no
/// RTT is known.
#[test]
fn the_arithmetic_of_ns2() {
    let config = XcpConfig { router: Form::Ns2, ..config() };
    let mut agent = Agent::new(&config, RATE);
    let blank = XcpHeader::default();
    agent.on_arrival(0, 0, FULL, Some(&blank));
    let mut header = XcpHeader { rtt_ps: RTT_PS, spacing_ps: 10e6, feedback: 1.0 };
    let now = 20_000_000;
    agent.on_arrival(now, 0, FULL, Some(&header));
    agent.on_departure(now, 0, FULL, Some(&mut header));
    let input = 1500.0 / 20e6;
    // A hundred-thousandth of a second between packets takes that part of the increase.
    assert_close(header.feedback, 0.4 * (CAPACITY - input) * 10e6 / 1e12, "by seconds");
    // A queue of one full packet that leaves in each interval never looks empty.
    let (draft, ns2) = (XcpConfig { router: Form::Draft, ..config.clone() }, config);
    let persistent = [draft, ns2].map(|config| {
        let mut agent = Agent::new(&config, RATE);
        for packet in 0..100 {
            let now = packet * 1_000_000;
            agent.on_arrival(now, 1500, FULL, Some(&header));
            agent.on_departure(now, 0, FULL, Some(&mut header));
        }
        agent.persistent_queue
    });
    assert_eq!(persistent, [0, 1500]);
}

#[test]
fn settings_of_an_unstable_control_are_refused() {
    let wrong = |config: XcpConfig| config.check().unwrap_err().0;
    let with = |alpha, beta| XcpConfig { alpha, beta, ..XcpConfig::default() };
    assert_eq!(XcpConfig::default().check(), Ok(()));
    assert_eq!(with(0.5, 0.3536).check(), Ok(()));
    assert_eq!(wrong(with(0.5554, 0.4363)), "alpha");
    assert_eq!(wrong(with(0.5, 0.226)), "beta");
    assert_eq!(wrong(with(0.4, 0.0)), "beta");
    let given = XcpConfig { initial_interval: Ps::from_us(3), ..XcpConfig::default() };
    assert_eq!(given.derived(Ps::from_us(9)).initial_interval, Ps::from_us(3));
    assert_eq!(XcpConfig::default().derived(Ps(5)).initial_interval, Ps::from_us(1));
}
