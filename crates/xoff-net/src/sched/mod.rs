//! Where packets of one egress port wait, and which goes next.
//!
//! Every port has a control queue that is served first and that no pause of a queue stops. Behind it
//! stands one of the schedulers of this folder; each keeps its queues and obeys a mask of paused
//! ones.
//!
//! To add one: a file here with its settings, what they say about it ([`SchedulerSettings`]) and its
//! queues ([`Scheduler`]); its lines in [`SchedulerConfig`] and [`AnyScheduler`] below; and the hop
//! controls that it works with, in `each_pair`.

mod delays;
mod drr;
mod ets;
mod fifo;
mod fixed_queues;
mod per_flow;
mod per_flow_queues;
mod per_flow_srf;
mod pfabric;
mod settings;
mod sfqcodel;
mod srf;
mod strict;

use crate::hop::{AnyHop, PausedTime, flow_pause, obey};
use crate::packet::{CONTROL_QUEUE, NONE, Packet, Pool, Queue};

pub use delays::Delays;
pub use drr::{
    Drr, DrrConfig, DrrFlows, OneRound, RoundRobin, Rounds, StrictClasses, TrafficManager,
};
pub use ets::{Ets, EtsConfig, EtsPlan};
pub use fifo::{Fifo, FifoConfig};
pub use per_flow::{PerFlow, PerFlowConfig};
pub use per_flow_srf::{PerFlowSrf, PerFlowSrfConfig};
pub use pfabric::{PFabric, PFabricSchedulerConfig};
pub use settings::{SchedulerSettings, SchedulerSite};
pub use sfqcodel::{SfqCodel, SfqCodelConfig};
pub use srf::{Srf, SrfConfig};
pub use strict::{PRIORITIES_MAX, Priorities, StrictConfig};

/// A set of queues, one bit each.
pub type QueueMask = u128;

/// What every scheduler of data queues does.
pub trait Scheduler {
    /// Appends a packet to the queue its record names.
    fn push(&mut self, pool: &mut Pool, id: u32);
    /// Takes the next packet of a queue that is not paused.
    fn pop(&mut self, pool: &mut Pool) -> Option<u32>;
    /// Whether `pop` would find a packet.
    fn is_ready(&self) -> bool;
    /// Whether `pop` would find a packet that joined `queue` now, and no other.
    fn may_pass(&self, queue: u8) -> bool;
    /// A packet that may pass does: all is as if it had joined the queue its record names and left.
    #[inline]
    fn pass(&mut self, _packet: &Packet) {}
    /// There is no room for `arriving`, which has not joined: takes out the packet to be dropped in its
    /// place. `None`: none here gives way to it.
    fn evict(&mut self, _pool: &mut Pool, _arriving: u32) -> Option<u32> {
        None
    }
    /// Takes out what is dropped at `now` (ps) rather than sent, so that the next `pop` finds what is
    /// sent.
    #[inline]
    fn shed(&mut self, _pool: &mut Pool, _now: u64, _shed: &mut Queue) {}
    /// Bytes in one queue.
    fn queue_bytes(&self, queue: u8) -> u32;
    /// Bytes of memory that a packet of so many on the wire takes up.
    #[inline]
    fn memory_bytes(&self, wire_bytes: u16) -> u16 {
        wire_bytes
    }
    /// Queues that hold something, paused or not.
    fn occupied(&self) -> QueueMask;
    /// Queues paused by the neighbour.
    fn paused(&self) -> QueueMask;
    /// Whether a pause stops this packet where it is at the head of its queue.
    fn holds_back(&self, packet: &Packet) -> bool {
        self.paused() >> packet.queue & 1 == 1
    }
    /// Changes which queues are paused.
    fn set_paused(&mut self, mask: QueueMask);
    /// Pauses or resumes one flow. Returns how many flows are paused then.
    fn set_flow_paused(&mut self, _flow: u32, _paused: bool) -> usize {
        unreachable!("a neighbour pauses a flow, but this port tells no flows apart")
    }
    /// Flows (or queues, where flows are not told apart) with packets here.
    fn active(&self) -> u32;
    /// Flows with packets here, told apart packet by packet if need be: for ports that are watched.
    fn flows(&self, _pool: &Pool) -> u32 {
        self.active()
    }
    /// The packet that leaves a queue next, where queues can be paused: [`Packet::next`] leads from it
    /// to those behind it.
    fn head(&self, _queue: u8) -> Option<u32> {
        None
    }
}

xoff_core::seam! {
    /// Schedulers of data queues.
    pub enum SchedulerConfig: dyn SchedulerSettings, named by SchedulerKind {
        /// First in, first out, by class.
        Fifo(FifoConfig) = "fifo",
        /// Deficit round robin over the queues of the hop control.
        Drr(DrrConfig) = "drr",
        /// Deficit round robin with a queue for every flow.
        PerFlow(PerFlowConfig) = "per-flow",
        /// Shortest remaining flow first over the queues of the hop control: the queue whose first packet
        /// belongs to the flow with the fewest bytes left (BFC App. A.2).
        Srf(SrfConfig) = "srf",
        /// Shortest remaining flow first with a queue for every flow.
        PerFlowSrf(PerFlowSrfConfig) = "per-flow-srf",
        /// pFabric: sends the flow with the fewest bytes left, and drops from a full port the one with the
        /// most.
        PFabric(PFabricSchedulerConfig) = "pfabric",
        /// Stochastic fair queueing with CoDel, section `sfqcodel`.
        SfqCodel(SfqCodelConfig) = "sfqcodel",
        /// Enhanced transmission selection: strict and weighted classes, section `ets`.
        Ets(EtsConfig) = "ets",
        /// Strict priorities that packets carry.
        Strict(StrictConfig) = "strict",
    }
}

xoff_core::dispatch! {
    /// The scheduler of one port. Deficit round robin has a variant for each form that packets pass
    /// through.
    #[derive(Debug)]
    #[repr(u8)]
    pub enum AnyScheduler in crate::sched, each by each_scheduler {
        /// First in, first out, by class.
        Fifo(Fifo),
        /// Deficit round robin over a fixed number of queues.
        Drr(Drr),
        /// The same; a queue waits while the flow at its head is paused.
        DrrFlows(DrrFlows),
        /// The same in cells, before a FIFO that no pause reaches: Tofino2.
        TrafficManager(TrafficManager),
        /// Deficit round robin over a queue for every flow.
        PerFlow(PerFlow),
        /// Deficit round robin within strict classes.
        DrrClasses(Drr<StrictClasses>),
        /// Shortest remaining flow first over a fixed number of queues.
        Srf(Srf),
        /// Shortest remaining flow first over a queue for every flow.
        PerFlowSrf(PerFlowSrf),
        /// pFabric.
        PFabric(PFabric),
        /// Stochastic fair queueing with CoDel.
        SfqCodel(SfqCodel),
        /// Enhanced transmission selection: strict and weighted classes.
        Ets(Ets),
        /// Strict priorities that packets carry.
        Priorities(Priorities),
    }
}
pub(crate) use each_scheduler;

/// Applies an expression to a hop control and the scheduler of a port. The table has the pairs that a
/// scenario can ask for: the packet path is compiled for each, so more pairs make it longer for all.
macro_rules! each_pair {
    ($hop:expr, $scheduler:expr, ($control:ident, $queues:ident) => $call:expr) => {
        $crate::sched::match_pairs!(
            ($hop, $scheduler, ($control, $queues) => $call),
            None Fifo,
            None Drr,
            None PerFlow,
            None PerFlowSrf,
            None PFabric,
            None SfqCodel,
            None Ets,
            Carried Priorities,
            // Queues of classes.
            Pfc Fifo,
            Sfc Fifo,
            ElidingPfc Fifo,
            // Queues that flows are assigned to.
            Bfc Drr,
            Bfc Srf,
            BfcOccupancy Drr,
            BfcOccupancy Srf,
            BfcFlows DrrFlows,
            BfcSilent Drr,
            BfcSilent Srf,
            BfcClasses DrrClasses,
            ElidingBfc Drr,
            ElidingBfc Srf,
            // A sample of the packets needs no hardware.
            Tofino Drr,
            Tofino Srf,
            Tofino TrafficManager,
        )
    };
}
pub(crate) use each_pair;

macro_rules! match_pairs {
    (
        ($hop:expr, $scheduler:expr, ($control:ident, $queues:ident) => $call:expr),
        $($of_hop:ident $of_scheduler:ident),* $(,)?
    ) => {
        match ($hop, $scheduler) {
            $((
                $crate::hop::AnyHop::$of_hop($control),
                $crate::sched::AnyScheduler::$of_scheduler($queues),
            ) => $call,)*
            (hop, scheduler) => $crate::sched::no_pair(hop, scheduler),
        }
    };
}
pub(crate) use match_pairs;

/// A switch was built of parts that cannot be combined.
#[cold]
#[inline(never)]
pub(crate) fn no_pair(hop: &AnyHop, scheduler: &AnyScheduler) -> ! {
    panic!("{hop:?} has no use for the queues of {scheduler:?}")
}

/// What an egress port has whatever its scheduler.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) control: Queue,
    /// Queueing delays of data packets (ps), where somebody wants them.
    pub(crate) delays: Option<Box<Delays>>,
    /// Bytes in all data queues.
    pub(crate) data_bytes: u32,
}

impl Common {
    /// Bytes waiting in all queues.
    #[inline]
    pub(crate) fn total_bytes(&self) -> u32 {
        self.data_bytes + self.control.bytes()
    }
}

/// Packets that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// How many.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Drops {
    /// A packet is lost.
    pub fn add(&mut self, wire_bytes: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire_bytes);
    }
}

/// An egress port: the control queue and a scheduler. What a packet needs that does not have to wait
/// shares a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Egress {
    pub(crate) common: Common,
    pub(crate) scheduler: AnyScheduler,
    paused_time: PausedTime,
    drops: Drops,
}

impl Egress {
    /// An empty port.
    #[must_use]
    pub fn new(scheduler: AnyScheduler) -> Self {
        let (paused_time, drops) = (PausedTime::default(), Drops::default());
        Self { common: Common::default(), scheduler, paused_time, drops }
    }

    /// Appends a packet to the control queue.
    #[inline]
    pub fn push_control(&mut self, pool: &mut Pool, id: u32) {
        pool[id].queue = CONTROL_QUEUE;
        self.common.control.push(pool, id);
    }

    /// Whether there is a packet that may be sent.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.common.control.is_empty()
            || each_scheduler!(&self.scheduler, queues => queues.is_ready())
    }

    /// Bytes waiting in data queues.
    #[must_use]
    pub fn data_bytes(&self) -> u32 {
        self.common.data_bytes
    }

    /// Bytes waiting in all queues.
    #[must_use]
    pub fn total_bytes(&self) -> u32 {
        self.common.total_bytes()
    }

    /// Data queues that are paused.
    #[must_use]
    pub fn paused(&self) -> QueueMask {
        each_scheduler!(&self.scheduler, queues => queues.paused())
    }

    /// The packets that wait in paused queues.
    #[must_use]
    pub fn held<'a>(&self, pool: &'a Pool) -> Vec<&'a Packet> {
        let mut held = Vec::new();
        each_scheduler!(&self.scheduler, queues => {
            let paused = queues.paused() & queues.occupied();
            for queue in (0..128).filter(|queue| paused >> queue & 1 == 1) {
                let mut next = queues.head(queue);
                while let Some(id) = next {
                    held.push(&pool[id]);
                    next = Some(pool[id].next).filter(|&id| id != NONE);
                }
            }
        });
        held
    }

    /// Flows or queues with packets here.
    #[must_use]
    pub fn active(&self) -> u32 {
        each_scheduler!(&self.scheduler, queues => queues.active())
    }

    /// Flows with packets here, told apart packet by packet if need be.
    #[must_use]
    pub fn flows(&self, pool: &Pool) -> u32 {
        each_scheduler!(&self.scheduler, queues => queues.flows(pool))
    }

    /// Pauses exactly the queues of `mask` from now on.
    pub fn set_paused(&mut self, now: u64, mask: QueueMask) {
        self.paused_time.set(now, mask != 0);
        each_scheduler!(&mut self.scheduler, queues => queues.set_paused(mask));
    }

    /// Does what a neighbour's frame asks for.
    pub(crate) fn obey(&mut self, now: u64, frame: &Packet) {
        if let Some(pause) = flow_pause(frame) {
            let paused = each_scheduler!(&mut self.scheduler, queues =>
                queues.set_flow_paused(frame.flow, pause));
            self.paused_time.set(now, paused > 0);
        } else {
            self.set_paused(now, obey(frame, self.paused()));
        }
    }

    /// When its queues were paused.
    #[must_use]
    pub fn paused_time(&self) -> &PausedTime {
        &self.paused_time
    }

    /// Starts recording the queueing delays of data packets (ps), for each of these sets of queues.
    pub fn watch_delays(&mut self, groups: &[QueueMask]) {
        self.common.delays = Some(Box::new(Delays::new(groups)));
    }

    /// Ends that and returns what was recorded.
    pub fn take_delays(&mut self) -> Option<Delays> {
        self.common.delays.take().map(|delays| *delays)
    }

    /// A packet for this port is dropped.
    pub(crate) fn count_drop(&mut self, wire_bytes: u16) {
        self.drops.add(wire_bytes);
    }

    /// Packets for this port that were dropped.
    #[must_use]
    pub fn drops(&self) -> Drops {
        self.drops
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ets::tests::ets;
    use super::*;
    use crate::packet::{Kind, Packet};

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8),
        Pause(QueueMask),
        Pop,
    }

    fn steps(queues: u8) -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..queues).prop_map(Step::Push),
            1 => any::<QueueMask>().prop_map(Step::Pause),
            3 => Just(Step::Pop),
        ];
        prop::collection::vec(step, 1..200)
    }

    /// Who looks for what waits for whom finds it, whatever the scheduler.
    #[test]
    fn what_waits_in_paused_queues_is_held() {
        for scheduler in [
            AnyScheduler::Drr(Drr::new(4, 1000)),
            AnyScheduler::DrrFlows(DrrFlows::new(4, 1000)),
            AnyScheduler::TrafficManager(TrafficManager::new(4, 1000, 176, 0)),
            AnyScheduler::Srf(Srf::new(4)),
            AnyScheduler::Fifo(Fifo::default()),
            AnyScheduler::Priorities(Priorities::new(4)),
            AnyScheduler::Ets(ets("2,0", "1,3,1,1,2,1,1,1")),
        ] {
            let (mut pool, mut port) = (Pool::default(), Egress::new(scheduler));
            for (queue, flow) in [(1, 5), (2, 6), (1, 7)] {
                let mut packet = Packet::new(Kind::Data, 1000);
                (packet.queue, packet.flow) = (queue, flow);
                let id = pool.insert(packet);
                each_scheduler!(&mut port.scheduler, queues => queues.push(&mut pool, id));
            }
            port.set_paused(0, 1 << 1);
            let held = port.held(&pool).into_iter().map(|packet| packet.flow);
            assert_eq!(held.collect::<Vec<_>>(), [5, 7], "{:?}", port.scheduler);
            port.set_paused(10, 0);
            assert!(port.held(&pool).is_empty() && port.paused() == 0);
        }
    }

    /// What is popped never comes from a paused queue, and a pop finds something exactly if a queue
    /// that is not paused has something.
    fn obeys_pauses(mut scheduler: impl Scheduler, queues: u8, steps: &[Step]) {
        let mut pool = Pool::default();
        let mut held = vec![0u32; queues as usize];
        let mut mask = 0;
        for &step in steps {
            match step {
                Step::Push(queue) => {
                    let mut packet = Packet::new(Kind::Data, 1048);
                    packet.queue = queue;
                    let id = pool.insert(packet);
                    scheduler.push(&mut pool, id);
                    held[queue as usize] += 1;
                }
                Step::Pause(paused) => {
                    mask = paused & (QueueMask::MAX >> (128 - u32::from(queues)));
                    scheduler.set_paused(mask);
                }
                Step::Pop => {
                    let may = (0..queues).any(|q| held[q as usize] > 0 && mask >> q & 1 == 0);
                    assert_eq!(scheduler.is_ready(), may);
                    let popped = scheduler.pop(&mut pool);
                    assert_eq!(popped.is_some(), may);
                    if let Some(id) = popped {
                        let queue = pool[id].queue;
                        assert_eq!(mask >> queue & 1, 0, "queue {queue} is paused");
                        held[queue as usize] -= 1;
                        pool.remove(id);
                    }
                }
            }
        }
    }

    /// Two schedulers see the same, but in one of them packets pass where they may, in the other they
    /// always join and leave: what is popped afterwards is the same.
    fn passing_is_joining_and_leaving<S: Scheduler>(make: impl Fn() -> S, steps: &[Step]) {
        let (mut passed, mut joined) = (make(), make());
        let mut pool = Pool::default();
        for &step in steps {
            match step {
                Step::Push(queue) => {
                    let mut packet = Packet::new(Kind::Data, 64 + 100 * u16::from(queue % 10));
                    packet.queue = queue;
                    packet.flow = u32::from(queue);
                    let passes = passed.may_pass(queue);
                    let ids = [packet; 2].map(|packet| pool.insert(packet));
                    joined.push(&mut pool, ids[0]);
                    if passes {
                        passed.pass(&packet);
                        assert_eq!(joined.pop(&mut pool), Some(ids[0]));
                    } else {
                        passed.push(&mut pool, ids[1]);
                    }
                }
                Step::Pause(paused) => {
                    passed.set_paused(paused);
                    joined.set_paused(paused);
                }
                Step::Pop => {
                    let mut queue_of = |scheduler: &mut S| {
                        scheduler.pop(&mut pool).map(|id| (pool[id].queue, pool[id].wire_bytes))
                    };
                    assert_eq!(queue_of(&mut passed), queue_of(&mut joined));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn passing_round_robin_changes_no_turn(steps in steps(31)) {
            passing_is_joining_and_leaving(|| Drr::new(31, 500), &steps);
        }

        #[test]
        fn passing_a_traffic_manager_changes_no_turn(steps in steps(31), behind in 0u32..3000) {
            passing_is_joining_and_leaving(|| TrafficManager::new(31, 500, 176, behind), &steps);
        }

        #[test]
        fn passing_classes_changes_no_turn(steps in steps(8)) {
            passing_is_joining_and_leaving(Fifo::default, &steps);
        }

        #[test]
        fn passing_priorities_changes_no_turn(steps in steps(32)) {
            passing_is_joining_and_leaving(|| Priorities::new(32), &steps);
        }

        #[test]
        fn priorities_never_serve_a_paused_one(steps in steps(32)) {
            obeys_pauses(Priorities::new(32), 32, &steps);
        }

        #[test]
        fn passing_flows_changes_no_turn(steps in steps(16)) {
            passing_is_joining_and_leaving(|| PerFlow::new(500), &steps);
        }

        #[test]
        fn passing_classes_in_turns_changes_no_turn(steps in steps(32)) {
            let division = crate::division::Division::new(32, 4);
            passing_is_joining_and_leaving(|| Drr::with_classes(division, 500), &steps);
        }

        #[test]
        fn passing_by_size_changes_no_turn(steps in steps(31)) {
            passing_is_joining_and_leaving(|| Srf::new(31), &steps);
        }

        #[test]
        fn passing_flows_by_size_changes_no_turn(steps in steps(16)) {
            passing_is_joining_and_leaving(PerFlowSrf::default, &steps);
        }

        #[test]
        fn passing_pfabric_changes_no_turn(steps in steps(16)) {
            passing_is_joining_and_leaving(PFabric::default, &steps);
        }

        #[test]
        fn passing_strict_and_weighted_classes_changes_no_turn(steps in steps(8)) {
            passing_is_joining_and_leaving(|| ets("2,0", "1,3,1,1,2,1,1,1"), &steps);
        }

        #[test]
        fn strict_and_weighted_classes_never_serve_a_paused_one(steps in steps(8)) {
            obeys_pauses(ets("2,0", "1,3,1,1,2,1,1,1"), 8, &steps);
        }

        #[test]
        fn round_robin_never_serves_a_paused_queue(steps in steps(31)) {
            obeys_pauses(Drr::new(31, 1048), 31, &steps);
        }

        #[test]
        fn round_robin_in_cells_never_serves_a_paused_queue(steps in steps(31)) {
            obeys_pauses(TrafficManager::new(31, 1048, 176, 0), 31, &steps);
        }

        #[test]
        fn round_robin_over_all_queues_never_serves_a_paused_one(steps in steps(128)) {
            obeys_pauses(Drr::new(128, 1048), 128, &steps);
        }

        #[test]
        fn classes_never_serve_a_paused_one(steps in steps(8)) {
            obeys_pauses(Fifo::default(), 8, &steps);
        }
    }
}
