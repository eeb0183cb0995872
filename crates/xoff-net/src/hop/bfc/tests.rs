use xoff_core::rng::Purpose;

use super::*;
use crate::hop::{Ask, obey};
use crate::packet::{Kind, Pool, flag};
use crate::recount;
use crate::sched::Drr;

const PORT: BfcPort = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };

/// A switch that forwards every packet to port 0.
pub(super) struct Bench<B> {
    pub(super) bfc: Bfc<B>,
    pub(super) queues: Drr,
    pool: Pool,
    rng: Rng,
}

impl Bench<PauseCounters> {
    fn new(config: &BfcConfig) -> Self {
        Self::of(config, Bfc::new(config, &[PORT; 4]))
    }
}

impl<B: Backpressure> Bench<B> {
    pub(super) fn of(config: &BfcConfig, bfc: Bfc<B>) -> Self {
        let (pool, rng) = (Pool::default(), Rng::stream(1, Purpose::QueueAssignment, 0));
        Self { bfc, queues: Drr::new(config.data_queues(), 1048), pool, rng }
    }

    fn enqueue(&mut self, now: u64, flow: u32, ingress: u16, upstream: u8) -> (u8, Option<Signal>) {
        self.send(now, data(flow, ingress, upstream))
    }

    /// A packet arrives and waits. Returns its queue, and the signal to neighbours.
    pub(super) fn send(&mut self, now: u64, mut packet: Packet) -> (u8, Option<Signal>) {
        packet.queue = self.bfc.queue_of(now, 0, &packet, &self.queues, &mut self.rng);
        let id = self.pool.insert(packet);
        self.queues.push(&mut self.pool, id);
        let signal = self.bfc.on_enqueue(now, 0, &mut self.pool[id], &self.queues);
        self.check();
        (packet.queue, signal)
    }

    /// Its counts equal a recount, which misses each packet that they contain.
    fn check(&self) {
        let waiting = recount::waiting(0, &self.queues, &self.pool);
        assert_eq!(self.bfc.recount(&waiting, &[]), Ok(()));
        assert!(waiting.is_empty() || self.bfc.flows.recount(&waiting[1..]).is_err());
        let counted = |waits: &&WaitingPacket<'_>| waits.packet.has(flag::COUNTED);
        let others: Vec<_> = waiting.iter().filter(|waits| !counted(waits)).copied().collect();
        let is_equal = self.bfc.backpressure.recount(&others).is_ok();
        assert_eq!(is_equal, others.len() == waiting.len());
    }

    fn dequeue(&mut self, now: u64) -> Option<Signal> {
        self.leave(now).1
    }

    /// The next packet leaves.
    pub(super) fn leave(&mut self, now: u64) -> (Packet, Option<Signal>) {
        let id = self.queues.pop(&mut self.pool).unwrap();
        let signal = self.bfc.on_dequeue(now, 0, &mut self.pool[id]);
        self.pool.remove(id);
        self.check();
        (self.pool[id], signal)
    }
}

/// A packet of a flow, from the neighbour's queue.
pub(in crate::hop) fn data(flow: u32, ingress: u16, upstream: u8) -> Packet {
    let mut packet = Packet::new(Kind::Data, 1048);
    packet.label = flow.wrapping_mul(0x0101_0193);
    (packet.flow, packet.sender) = (flow, flow + 100);
    (packet.ingress, packet.upstream) = (ingress, upstream);
    packet
}

#[test]
fn flows_get_empty_queues_and_collide_only_when_there_is_none() {
    let mut bench = Bench::new(&BfcConfig::default());
    let queues: std::collections::BTreeSet<u8> =
        (0..31).map(|flow| bench.enqueue(0, flow, 1, 0).0).collect();
    assert_eq!((queues.len(), bench.bfc.stats().assignment.collisions), (31, 0));
    assert_eq!(bench.bfc.active_flows(0), Some(31));
    bench.enqueue(0, 31, 1, 0);
    assert_eq!(bench.bfc.stats().assignment.collisions, 1);
}

#[test]
fn a_flow_keeps_its_queue_for_two_one_hop_rtts() {
    let mut bench = Bench::new(&BfcConfig::default());
    let (first, _) = bench.enqueue(0, 9, 1, 0);
    bench.dequeue(1_000_000);
    assert_eq!(bench.enqueue(4_900_000, 9, 1, 0).0, first);
    bench.dequeue(5_000_000);
    assert_ne!(bench.enqueue(9_100_000, 9, 1, 0).0, first);
}

#[test]
fn pause_at_the_first_excess_and_resume_with_the_last() {
    let mut bench = Bench::new(&BfcConfig::default());
    // Th = 2 us x 100 Gb/s = 25 000 B: the 24th packet of 1048 B is the first above it.
    for _ in 0..23 {
        assert_eq!(bench.enqueue(0, 5, 2, 7).1, None);
    }
    let pause = Signal::new(2, Ask::Pause, 1 << 7);
    assert_eq!(bench.enqueue(0, 5, 2, 7).1, Some(pause));
    assert_eq!(bench.enqueue(0, 5, 2, 7).1, None);
    assert_eq!(bench.bfc.holds_paused(2), 1 << 7);
    for _ in 0..24 {
        assert_eq!(bench.dequeue(0), None);
    }
    let resume = Signal::new(2, Ask::Resume, 1 << 7);
    assert_eq!(bench.dequeue(0), Some(resume));
    assert_eq!(bench.bfc.holds_paused(2), 0);
}

#[test]
fn the_threshold_is_shared_among_active_queues() {
    let bench = Bench::new(&BfcConfig::default());
    let at = |active| bench.bfc.backpressure.thresholds().at(0, active);
    assert_eq!([0, 1, 2, 5, 31].map(at), [25_000, 25_000, 12_500, 5_000, 806]);
}

#[test]
fn the_threshold_follows_the_rate_of_its_port() {
    let mut bench = Bench::new(&BfcConfig::default());
    bench.bfc.on_rate(0, PORT.rate / 2);
    let at = |egress, active| bench.bfc.backpressure.thresholds().at(egress, active);
    assert_eq!([0, 1, 2, 31].map(|active| at(0, active)), [12_500, 12_500, 6_250, 403]);
    assert_eq!(at(1, 1), 25_000, "another port");
    bench.bfc.on_rate(1, PORT.rate / 2);
    bench.bfc.on_rate(0, PORT.rate);
    let at = |egress| bench.bfc.backpressure.thresholds().at(egress, 2);
    assert_eq!([0, 1, 2].map(at), [12_500, 6_250, 12_500]);
}

#[test]
fn the_bitmap_is_refreshed_while_paused_and_a_few_times_after() {
    let mut bench = Bench::new(&BfcConfig { empty_refreshes: 2, ..BfcConfig::default() });
    assert_eq!(bench.bfc.on_timer(2), (None, false));
    for _ in 0..24 {
        bench.enqueue(0, 5, 2, 7);
    }
    let map = |queues| Some(Signal::new(2, Ask::Exactly, queues));
    for _ in 0..5 {
        assert_eq!(bench.bfc.on_timer(2), (map(1 << 7), true));
    }
    for _ in 0..24 {
        bench.dequeue(0);
    }
    assert_eq!(bench.bfc.on_timer(2), (map(0), true));
    assert_eq!(bench.bfc.on_timer(2), (map(0), false));
    assert_eq!(bench.bfc.on_timer(2), (None, false));
}

/// The neighbour's paused queues after these signals.
fn heard(signals: &[Option<Signal>]) -> QueueMask {
    signals.iter().flatten().fold(0, |paused, signal| obey(&signal.frame(64), paused))
}

#[test]
fn a_lost_pause_and_a_lost_resume_heal_by_the_next_bitmap() {
    let mut bench = Bench::new(&BfcConfig::default());
    let pauses: Vec<_> = (0..24).map(|_| bench.enqueue(0, 5, 2, 7).1).collect();
    let (refresh, _) = bench.bfc.on_timer(2);
    assert_eq!((heard(&pauses), heard(&[refresh])), (1 << 7, 1 << 7));
    let resumes: Vec<_> = (0..24).map(|_| bench.dequeue(0)).collect();
    let (last, _) = bench.bfc.on_timer(2);
    assert!(resumes.iter().any(Option::is_some));
    assert_eq!(heard(&[refresh, last]), 0);
}

#[test]
fn single_and_stochastic_ignore_empty_queues() {
    let single = BfcConfig { assignment: Assignment::Single, ..BfcConfig::default() };
    let mut bench = Bench::new(&single);
    assert!((0..9).all(|flow| bench.enqueue(0, flow, 1, 0).0 == 0));
    let stochastic = BfcConfig { assignment: Assignment::Stochastic, ..BfcConfig::default() };
    let mut bench = Bench::new(&stochastic);
    for flow in 0..31 {
        bench.enqueue(0, flow, 1, 0);
    }
    // 31 flows over 31 queues by hash: about 31/e of them share a queue.
    assert!(bench.bfc.stats().assignment.collisions >= 4, "{:?}", bench.bfc.stats());
}

#[test]
fn all_queues_carry_data_where_control_needs_none() {
    let config = BfcConfig { reserve_control_queue: false, ..BfcConfig::default() };
    assert_eq!((config.data_queues(), BfcConfig::default().data_queues()), (32, 31));
    let wide = BfcConfig { queues: 128, reserve_control_queue: false, ..BfcConfig::default() };
    let mut bench = Bench::new(&wide);
    let queues: std::collections::BTreeSet<u8> =
        (0..128).map(|flow| bench.enqueue(0, flow * 7, 1, 0).0).collect();
    // A few of 128 flows share one of 12 800 entries: about 128 x 127 / 2 / 12 800.
    assert!(queues.len() > 124, "{}", queues.len());
}

/// A packet that passes leaves the same state as one that joins and leaves.
#[test]
fn passing_is_joining_and_leaving() {
    let config = BfcConfig { threshold: ThresholdRule::Fixed, ..BfcConfig::default() };
    passes_as_if_joined(&config, |ports| Bfc::new(&config, ports));
    passes_as_if_joined(&config, |ports| Bfc::by_occupancy(&config, ports));
    passes_as_if_joined(&config, |ports| Bfc::by_flow(&config, ports));
    passes_as_if_joined(&config, |ports| Bfc::silent(&config, ports));
    // A packet larger than the threshold does not pass, unless BFC pauses nothing.
    let slow = [BfcPort { rate: 1_000_000_000, delay_ps: 1_000_000 }];
    let packet = Packet::new(Kind::Data, 1048);
    assert!(!Bfc::new(&config, &slow).pass(0, 0, &packet));
    assert!(!Bfc::by_occupancy(&config, &slow).pass(0, 0, &packet));
    assert!(!Bfc::by_flow(&config, &slow).pass(0, 0, &packet));
    assert!(Bfc::silent(&config, &slow).pass(0, 0, &packet));
}

fn passes_as_if_joined<B: Backpressure + std::fmt::Debug>(
    config: &BfcConfig,
    make: impl Fn(&[BfcPort]) -> Bfc<B>,
) {
    let bench = || Bench::of(config, make(&[PORT; 4]));
    let (mut passed, mut joined) = (bench(), bench());
    for turn in 0..500u64 {
        let (now, flow) = (turn * 700_000, (turn * 7 % 40) as u32);
        let mut packet = data(flow, 1, 0);
        packet.queue = passed.bfc.queue_of(now, 0, &packet, &passed.queues, &mut passed.rng);
        assert!(passed.bfc.pass(now, 0, &packet));
        assert_eq!(joined.send(now, packet), (packet.queue, None));
        assert_eq!(joined.leave(now).1, None);
        assert_eq!(format!("{:?}", passed.bfc), format!("{:?}", joined.bfc));
    }
}

/// Three packets are reasons to pause. Without one of them the pause is the same, but not the
/// count.
#[test]
fn a_recount_misses_one_reason_of_several() {
    let mut bench = Bench::new(&BfcConfig::default());
    (0..26).for_each(|_| _ = bench.enqueue(0, 5, 2, 7));
    let waiting = recount::waiting(0, &bench.queues, &bench.pool);
    assert_eq!(bench.bfc.backpressure.recount(&waiting), Ok(()));
    assert!(bench.bfc.backpressure.recount(&waiting[..25]).is_err());
}

/// 25 packets of 1000 B are as long as the threshold, which is no excess.
#[test]
fn a_queue_as_long_as_the_threshold_pauses_nobody() {
    let config = BfcConfig { threshold: ThresholdRule::Fixed, ..BfcConfig::default() };
    let first = |pauses: &mut dyn FnMut() -> bool| (1..50).find(|_| pauses());
    let packet = || Packet { wire_bytes: 1000, ..data(5, 2, 7) };
    let mut by_count = Bench::of(&config, Bfc::new(&config, &[PORT; 4]));
    assert_eq!(first(&mut || by_count.send(0, packet()).1.is_some()), Some(26));
    let mut by_length = Bench::of(&config, Bfc::by_occupancy(&config, &[PORT; 4]));
    assert_eq!(first(&mut || by_length.send(0, packet()).1.is_some()), Some(26));
    assert_eq!(by_length.leave(0).1, Some(Signal::new(2, Ask::Resume, 1 << 7)));
    // Th = 2 us x 4.192 Gb/s = 1048 B.
    let slow = [BfcPort { rate: 4_192_000_000, ..PORT }];
    assert!(Bfc::new(&config, &slow).pass(0, 0, &data(5, 0, 7)));
    assert!(Bfc::by_occupancy(&config, &slow).pass(0, 0, &data(5, 0, 7)));
}
