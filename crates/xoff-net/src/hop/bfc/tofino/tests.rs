use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Ps, Rng};

use super::super::Bfc;
use super::*;
use crate::packet::{Kind, Pool};
use crate::recount;
use crate::sched::TrafficManager;

const PORT: BfcPort = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
const PORTS: u16 = 8;

/// A switch of eight ports, two per pipeline, that forwards every packet to port 0.
struct Bench<H> {
    hop: H,
    queues: TrafficManager,
    pool: Pool,
    rng: Rng,
    /// Headers on their way back, with the time of their arrival.
    headers: VecDeque<(u64, Packet)>,
    signals: Vec<Signal>,
}

fn config() -> BfcConfig {
    BfcConfig { queues: 16, reserve_control_queue: false, ..BfcConfig::default() }
}

fn tofino(config: &BfcConfig, hardware: Option<&TofinoConfig>) -> Bench<Tofino> {
    let rng = Rng::stream(1, Purpose::Recirculation, 0);
    Bench::new(Tofino::new(config, hardware, &[PORT; PORTS as usize], rng))
}

impl<H: HopControl> Bench<H> {
    fn new(hop: H) -> Self {
        Self {
            hop,
            queues: TrafficManager::new(16, 1048, 176, 0),
            pool: Pool::default(),
            rng: Rng::stream(1, Purpose::QueueAssignment, 0),
            headers: VecDeque::new(),
            signals: Vec::new(),
        }
    }

    fn enqueue(&mut self, now: u64, flow: u32, ingress: u16) -> u8 {
        self.headers_until(now);
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.label = flow.wrapping_mul(0x0101_0193);
        (packet.ingress, packet.upstream) = (ingress, (flow % 16) as u8);
        packet.queue = self.hop.queue_of(now, 0, &packet, &self.queues, &mut self.rng);
        let id = self.pool.insert(packet);
        self.queues.push(&mut self.pool, id);
        let signal = self.hop.on_enqueue(now, 0, &mut self.pool[id], &self.queues);
        self.signals.extend(signal);
        self.check();
        packet.queue
    }

    /// Its counts equal a recount, which misses each packet and each header that they contain.
    fn check(&self) {
        let waiting = recount::waiting(0, &self.queues, &self.pool);
        let headers: Vec<&Packet> = self.headers.iter().map(|(_, header)| header).collect();
        assert_eq!(self.hop.recount(&waiting, &headers), Ok(()));
        assert!(headers.is_empty() || self.hop.recount(&waiting, &headers[1..]).is_err());
        let counts = |held: &&WaitingPacket<'_>| held.packet.has(flag::RECIRCULATED);
        let others: Vec<_> = waiting.iter().filter(|held| !counts(held)).copied().collect();
        let is_equal = self.hop.recount(&others, &headers).is_ok();
        assert_eq!(is_equal, others.len() == waiting.len());
    }

    fn dequeue(&mut self, now: u64) -> Option<Packet> {
        self.headers_until(now);
        let id = self.queues.pop(&mut self.pool)?;
        let packet = &mut self.pool[id];
        self.signals.extend(self.hop.on_dequeue(now, 0, packet));
        if let Some(header) = self.hop.mirror_departure(now, 0, packet, &self.queues) {
            self.headers.push_back((now + self.hop.mirror_delay(now), header));
        }
        let packet = *packet;
        assert!(!packet.has(flag::RECIRCULATED | flag::COUNTED), "the next switch counts again");
        self.pool.remove(id);
        self.check();
        Some(packet)
    }

    /// Headers arrive.
    fn headers_until(&mut self, now: u64) {
        while let Some(&(due, mut header)) = self.headers.front()
            && due <= now
        {
            self.headers.pop_front();
            match self.hop.use_copy(due, &mut header) {
                CopyUse::Nothing => {}
                CopyUse::Signal(signal) => self.signals.push(signal),
                CopyUse::ToSender => panic!("BFC sends nothing to senders"),
            }
        }
    }
}

#[test]
fn a_resume_waits_for_the_header_of_the_last_packet() {
    let mut bench = tofino(&config(), Some(&TofinoConfig::default()));
    // Th = 25 000 B: 23 packets of 1056 B in cells are below it; 24 exceed it by 344 B.
    (0..24).for_each(|_| _ = bench.enqueue(0, 3, 5));
    assert_eq!((bench.signals.len(), bench.hop.holds_paused(5)), (1, 1 << 3));
    for packet in 1..=24 {
        bench.dequeue(packet * 100_000);
    }
    // The header takes 500 ns, and 4 ns on the link: 384 bits at 12 % of 800 Gb/s.
    bench.headers_until(2_903_999);
    assert_eq!(bench.hop.holds_paused(5), 1 << 3);
    assert_eq!(bench.hop.active_flows(0), Some(1));
    bench.headers_until(2_904_000);
    assert_eq!((bench.signals.len(), bench.hop.holds_paused(5)), (2, 0));
    assert_eq!(bench.hop.active_flows(0), Some(0));
    let recirculation = bench.hop.hardware_stats().recirculation;
    let stats = RecirculationStats { headers: 24, bytes: 24 * 48, longest_wait_ps: 0 };
    assert_eq!(recirculation, stats);
}

/// Two flows of the same entry share a queue, unless they arrive at different pipelines.
#[test]
fn each_pipeline_has_a_table_of_its_own() {
    let one_entry = BfcConfig { table_factor: 1, queues: 4, ..config() };
    let hardware = TofinoConfig { bitmap_period: Ps(0), ..TofinoConfig::default() };
    let mut bench = tofino(&one_entry, Some(&hardware));
    let of = |bench: &mut Bench<Tofino>, ingress| {
        (0..4).map(|flow| bench.enqueue(0, flow, ingress)).collect::<BTreeSet<u8>>().len()
    };
    assert_eq!(of(&mut bench, 0), 1, "four queues and four pipelines: one entry each");
    assert_eq!(of(&mut bench, 1), 1, "port 1 is of the same pipeline");
    assert_eq!(bench.hop.active_flows(0), Some(1));
    assert_eq!([2, 4, 6].map(|ingress| of(&mut bench, ingress)), [1; 3]);
    assert_eq!((bench.hop.active_flows(0), bench.queues.occupied().count_ones()), (Some(4), 4));
    // An ideal switch's table has four entries.
    let mut ideal = tofino(&one_entry, None);
    assert!(of(&mut ideal, 0) > 1);
}

/// "with a different rotating starting point per pipeline to avoid new flows from being assigned to
/// the same empty queue".
#[test]
fn pipelines_that_know_nothing_of_each_other_begin_elsewhere() {
    let mut bench = tofino(&config(), Some(&TofinoConfig::default()));
    let queues = [0, 2, 4, 6].map(|ingress| {
        [0, 1, 2].map(|flow| bench.enqueue(0, 10 * u32::from(ingress) + flow, ingress))
    });
    assert_eq!(queues, [[0, 1, 2], [4, 5, 6], [8, 9, 10], [12, 13, 14]]);
    assert_eq!(bench.hop.hardware_stats().unseen_collisions, 0);
}

/// Two pipelines may take the same queue while the bitmap does not show the other's assignment.
#[test]
fn a_stale_bitmap_lets_two_pipelines_take_one_queue() {
    let fill = |bitmap_period| {
        let hardware = TofinoConfig { bitmap_period, ..TofinoConfig::default() };
        let mut bench = tofino(&config(), Some(&hardware));
        for flow in 0..16 {
            bench.enqueue(u64::from(flow), flow, (flow % 2) as u16 * 2);
        }
        (bench.hop.hardware_stats().unseen_collisions, bench.hop.stats().assignment.collisions)
    };
    // Eight flows each: pipeline 0 takes queues 0 to 7, pipeline 1 takes queues 4 to 11.
    assert_eq!(fill(Ps::from_us(1)), (4, 0));
    assert_eq!(fill(Ps(0)), (0, 0));
}

/// "Only increment the pause counter and size in the flow table for packets that should be
/// recirculated."
#[test]
fn only_sampled_packets_count() {
    let half = BfcConfig { sampling: 0.5, ..config() };
    let mut bench = tofino(&half, Some(&TofinoConfig::default()));
    for round in 0..100 {
        let now = round * 100_000_000;
        (0..40).for_each(|_| _ = bench.enqueue(now, 3, 5));
        (0..40).for_each(|packet| _ = bench.dequeue(now + packet * 100_000));
    }
    bench.headers_until(u64::MAX);
    let headers = bench.hop.hardware_stats().recirculation.headers;
    assert!(headers.abs_diff(2000) < 150, "{headers}");
}

/// "size can be zero even when a flow has packets in the switch. This means a flow's queue
/// assignment can change when it already has packets in the switch": App. A.8.
#[test]
fn a_flow_of_which_nothing_is_sampled_may_be_reordered() {
    let none = BfcConfig { sampling: 1e-9, ..config() };
    let mut bench = tofino(&none, None);
    let first = bench.enqueue(0, 3, 5);
    assert_eq!(bench.hop.active_flows(0), Some(0));
    // Sticky assignment keeps the queue for 4 us, but not for longer.
    assert_eq!(bench.enqueue(3_900_000, 3, 5), first);
    assert_ne!(bench.enqueue(9_000_000, 3, 5), first);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue { flow: u32, ingress: u16 },
    Dequeue,
    Pause(u16),
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        5 => (0u32..60, 0..PORTS).prop_map(|(flow, ingress)| Step::Enqueue { flow, ingress }),
        4 => Just(Step::Dequeue),
        1 => any::<u16>().prop_map(Step::Pause),
    ];
    prop::collection::vec((0u64..400_000, step), 1..500)
}

/// The outcome of the steps: the queues of flows, and the number of frames.
fn play<H: HopControl>(bench: &mut Bench<H>, steps: &[(u64, Step)]) -> (Vec<u8>, u64) {
    let (mut queues, mut now) = (Vec::new(), 0);
    for &(wait, step) in steps {
        now += wait;
        match step {
            Step::Enqueue { flow, ingress } => queues.push(bench.enqueue(now, flow, ingress)),
            Step::Dequeue => _ = bench.dequeue(now),
            Step::Pause(mask) => bench.queues.set_paused(mask.into()),
        }
    }
    (queues, now)
}

proptest! {
    /// Reference: without limits Tofino2 equals the ideal switch.
    #[test]
    fn without_limits_it_is_the_ideal_switch(steps in steps()) {
        let mut ideal = Bench::new(Bfc::new(&config(), &[PORT; PORTS as usize]));
        let mut bench = tofino(&config(), None);
        prop_assert_eq!(play(&mut bench, &steps), play(&mut ideal, &steps));
        prop_assert_eq!(&bench.signals, &ideal.signals);
        prop_assert_eq!(bench.hop.sharing_flows(0), ideal.hop.sharing_flows(0));
    }

    /// For any limits: once the switch is empty and all headers are back, every counter is zero,
    /// and each pause was followed by a resume of the same queue.
    #[test]
    fn nothing_is_left_of_packets_that_have_gone(
        steps in steps(),
        sampling in prop_oneof![Just(1.0), 0.01f64..1.0],
        pipelines in prop_oneof![Just(1u8), Just(2), Just(4), Just(8)],
        bitmap_period in prop_oneof![Just(0u64), 1..5_000_000u64],
        recirculation_share in 0.0001f64..1.0,
    ) {
        let hardware = TofinoConfig {
            pipelines,
            bitmap_period: Ps(bitmap_period),
            recirculation_share,
            ..TofinoConfig::default()
        };
        let mut bench = tofino(&BfcConfig { sampling, ..config() }, Some(&hardware));
        let (_, mut now) = play(&mut bench, &steps);
        bench.queues.set_paused(0);
        while bench.dequeue(now).is_some() {
            now += 83_840;
        }
        bench.headers_until(u64::MAX);
        prop_assert_eq!(bench.hop.active_flows(0), Some(0));
        prop_assert_eq!(bench.hop.sharing_flows(0), Some(0));
        prop_assert!((0..PORTS).all(|ingress| bench.hop.holds_paused(ingress) == 0));
        let mut paused = BTreeSet::new();
        for signal in &bench.signals {
            let queue = (signal.port, signal.queues);
            match signal.ask {
                crate::hop::Ask::Pause => prop_assert!(paused.insert(queue)),
                _ => prop_assert!(paused.remove(&queue)),
            }
        }
        prop_assert!(paused.is_empty());
    }
}

/// Th = 2 us x 50 Gb/s = 12 500 B: 11 packets of 1056 B in cells are below it.
#[test]
fn the_threshold_follows_the_rate_of_its_port() {
    let mut bench = tofino(&config(), None);
    bench.hop.on_rate(0, PORT.rate / 2);
    let pauses = (1..50).find(|_| {
        bench.enqueue(0, 3, 5);
        !bench.signals.is_empty()
    });
    assert_eq!(pauses, Some(12));
}

/// With recirculation the dequeue operations come after the departure. Without it a packet passes
/// if it is within the threshold, which is 250 B at 1 Gb/s.
#[test]
fn a_packet_passes_only_without_recirculation_and_within_the_threshold() {
    let hardware = TofinoConfig::default();
    for (hardware, rate, passes) in
        [(Some(&hardware), PORT.rate, false), (None, PORT.rate, true), (None, 1_000_000_000, false)]
    {
        let rng = Rng::stream(1, Purpose::Recirculation, 0);
        let mut hop = Tofino::new(&config(), hardware, &[BfcPort { rate, ..PORT }; 8], rng);
        assert_eq!(hop.pass(0, 0, &Packet::new(Kind::Data, 1048)), passes, "{rate}");
    }
}

#[test]
fn counts_of_switches_add_up() {
    let of = |unit: u64| TofinoStats {
        recirculation: RecirculationStats { headers: unit, bytes: 2 * unit, longest_wait_ps: 0 },
        unseen_collisions: 3 * unit,
    };
    let mut all = TofinoStats::default();
    [of(10), of(3)].iter().for_each(|other| all.add(other));
    assert_eq!(all, of(13));
    let wait = |longest_wait_ps| RecirculationStats { longest_wait_ps, ..Default::default() };
    let mut longest = wait(5);
    [wait(9), wait(7)].iter().for_each(|other| longest.add(other));
    assert_eq!(longest, wait(9), "the longest wait of all");
}
