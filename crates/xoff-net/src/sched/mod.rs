//! The queues of an egress port, and the choice of the next packet.
//!
//! Every port has a control queue that is served first and never paused. Behind it is one of the
//! schedulers of this folder. Each has its own queues and obeys a mask of paused queues.
//!
//! To add a scheduler, write a file here with its settings, their properties
//! ([`SchedulerSettings`]) and its queues ([`Scheduler`]). Add its lines to [`SchedulerConfig`] and
//! [`AnyScheduler`] below, and to the hop controls that it works with, in `each_pair`.

mod delays;
mod drr;
#[cfg(test)]
mod egress_tests;
mod ets;
mod fifo;
mod fixed_queues;
mod hop_queues;
mod per_flow;
mod per_flow_queues;
mod per_flow_srf;
mod pfabric;
#[cfg(test)]
mod seam_tests;
mod settings;
mod sfqcodel;
mod srf;
mod strict;
#[cfg(test)]
mod tests;

use crate::fabric::Fabric;
use crate::packet::{CONTROL_QUEUE, NONE, Packet, Pool, Queue};
use crate::pauses::{PausedTime, flow_pause, obey};

pub use crate::drops::Drops;
pub use crate::packet::QueueMask;
pub use delays::Delays;
pub use drr::{
    Drr, DrrConfig, DrrFlows, OneRound, RoundRobin, Rounds, StrictClasses, TrafficManager,
};
pub use ets::{Ets, EtsConfig, EtsPlan};
pub use fifo::{Fifo, FifoConfig};
pub(crate) use hop_queues::CLASS_QUEUES;
pub use hop_queues::{AssignedQueues, HopQueues, TofinoMemory};
pub use per_flow::{PerFlow, PerFlowConfig};
pub use per_flow_srf::{PerFlowSrf, PerFlowSrfConfig};
pub use pfabric::{PFabric, PFabricSchedulerConfig};
pub use settings::{SchedulerSettings, SchedulerSite};
pub use sfqcodel::{SfqCodel, SfqCodelConfig};
pub use srf::{Srf, SrfConfig};
pub use strict::{PRIORITIES_MAX, Priorities, StrictConfig};

/// Operations of every scheduler of data queues.
pub trait Scheduler {
    /// Whether its queues take turns.
    const TAKES_TURNS: bool = false;

    /// Appends a packet to the queue named in its record.
    fn push(&mut self, pool: &mut Pool, id: u32);
    /// Takes the next packet of an unpaused queue.
    fn pop(&mut self, pool: &mut Pool) -> Option<u32>;
    /// Whether `pop` would return a packet.
    fn is_ready(&self) -> bool;
    /// Whether `pop` would return a packet that joined `queue` now, and no other.
    fn may_pass(&self, queue: u8) -> bool;
    /// A packet that may pass does. The state becomes what it would be if the packet had joined the
    /// queue in its record and left.
    #[inline]
    fn pass(&mut self, _packet: &Packet) {}
    /// There is no room for `arriving`, which has not joined. Removes the packet to drop instead of
    /// it. `None`: no packet here gives way to it.
    fn evict(&mut self, _pool: &mut Pool, _arriving: u32) -> Option<u32> {
        None
    }
    /// Removes the packets that are dropped at `now` (ps), so that the next `pop` returns a packet
    /// to send.
    #[inline]
    fn shed(&mut self, _pool: &mut Pool, _now: u64, _shed: &mut Queue) {}
    /// Bytes in one queue.
    fn queue_bytes(&self, queue: u8) -> u32;
    /// Bytes on the wire of the packets in one queue, also if its length is counted in cells.
    fn queue_wire_bytes(&self, queue: u8) -> u32 {
        self.queue_bytes(queue)
    }
    /// Bytes of memory for a packet of `wire_bytes`.
    #[inline]
    fn memory_bytes(&self, wire_bytes: u16) -> u16 {
        wire_bytes
    }
    /// Queues that hold packets, paused or not.
    fn occupied(&self) -> QueueMask;
    /// Queues paused by the neighbour.
    fn paused(&self) -> QueueMask;
    /// Whether a pause stops this packet if it is at the head of its queue.
    fn holds_back(&self, packet: &Packet) -> bool {
        self.paused() >> packet.queue & 1 == 1
    }
    /// Changes which queues are paused.
    fn set_paused(&mut self, mask: QueueMask);
    /// Pauses or resumes one flow. Returns the number of paused flows.
    fn set_flow_paused(&mut self, _flow: u32, _paused: bool) -> usize {
        unreachable!("a neighbour pauses a flow, but this port does not distinguish flows")
    }
    /// Flows (or queues, if flows are not distinguished) with packets here.
    fn active(&self) -> u32;
    /// Flows with packets here, counted packet by packet if necessary, for monitored ports.
    fn flows(&self, _pool: &Pool) -> u32 {
        self.active()
    }
    /// Calls `visit` with each packet here, in the order of each queue, and with the queue that
    /// counts it in `queue_wire_bytes`, if one does.
    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>));
    /// The packet that leaves a queue next, if queues can be paused. [`Packet::next`] links to the
    /// packets behind it.
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
        /// Deficit round robin with one queue per flow.
        PerFlow(PerFlowConfig) = "per-flow",
        /// Shortest remaining flow first over the queues of the hop control: the queue whose first
        /// packet belongs to the flow with the fewest bytes left (BFC App. A.2).
        Srf(SrfConfig) = "srf",
        /// Shortest remaining flow first with one queue per flow.
        PerFlowSrf(PerFlowSrfConfig) = "per-flow-srf",
        /// pFabric: sends the flow with the fewest bytes left, and drops from a full port the one
        /// with the most.
        PFabric(PFabricSchedulerConfig) = "pfabric",
        /// Stochastic fair queueing with CoDel, section `sfqcodel`.
        SfqCodel(SfqCodelConfig) = "sfqcodel",
        /// Enhanced transmission selection: strict and weighted classes, section `ets`.
        Ets(EtsConfig) = "ets",
        /// Strict priorities in packets.
        Strict(StrictConfig) = "strict",
    }
}

xoff_core::dispatch! {
    /// The scheduler of one port. Deficit round robin has a variant for each form of its packet
    /// path.
    #[derive(Debug)]
    #[repr(u8)]
    pub enum AnyScheduler in crate::sched, each by each_scheduler {
        /// First in, first out, by class.
        Fifo(Fifo),
        /// Deficit round robin over a fixed number of queues.
        Drr(Drr),
        /// The same; a queue waits while the flow at its head is paused.
        DrrFlows(DrrFlows),
        /// The same in cells, before a FIFO that pauses do not reach: Tofino2.
        TrafficManager(TrafficManager),
        /// Deficit round robin with one queue per flow.
        PerFlow(PerFlow),
        /// Deficit round robin within strict classes.
        DrrClasses(Drr<StrictClasses>),
        /// Shortest remaining flow first over a fixed number of queues.
        Srf(Srf),
        /// Shortest remaining flow first with one queue per flow.
        PerFlowSrf(PerFlowSrf),
        /// pFabric.
        PFabric(PFabric),
        /// Stochastic fair queueing with CoDel.
        SfqCodel(SfqCodel),
        /// Enhanced transmission selection: strict and weighted classes.
        Ets(Ets),
        /// Strict priorities in packets.
        Priorities(Priorities),
    }
}
pub(crate) use each_scheduler;

/// Calls a macro with the pairs of hop control and scheduler that a scenario can ask for, each by
/// the names of their variants. The packet path is compiled for each pair, so more pairs make it
/// longer for all.
macro_rules! each_pair {
    ([$($then:tt)+] $arguments:tt) => {
        $($then)+!(
            $arguments,
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
            Pfc Ets,
            Sfc Fifo,
            Sfc Ets,
            ElidingPfc Fifo,
            ElidingPfc Ets,
            WatchedPfc Fifo,
            WatchedPfc Ets,
            PfcByClass Fifo,
            PfcByClass Ets,
            // Queues to which flows are assigned.
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
            // Sampling of packets does not need hardware limits.
            Tofino Drr,
            Tofino Srf,
            Tofino TrafficManager,
        )
    };
}
pub(crate) use each_pair;

/// The state of an egress port with any scheduler.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) control: Queue,
    /// Queueing delays of data packets (ps), if they are recorded.
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

/// An egress port: the control queue and a scheduler. The state used by a packet that does not wait
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

    /// Whether there is a packet that may be sent. Audits call it too, so that the compiler would
    /// not copy it to every call.
    #[inline(always)]
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

    /// Calls `visit` with each data packet here, as [`Scheduler::each_packet`].
    pub fn each_data(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        each_scheduler!(&self.scheduler, queues => queues.each_packet(pool, visit));
    }

    /// Bytes waiting in paused data queues.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        each_scheduler!(&self.scheduler, queues => {
            let held = queues.paused() & queues.occupied();
            let bytes = |queue: u8| u64::from(queues.queue_wire_bytes(queue));
            (0..128).filter(|queue| held >> queue & 1 == 1).map(bytes).sum()
        })
    }

    /// Flows or queues with packets here.
    #[must_use]
    pub fn active(&self) -> u32 {
        each_scheduler!(&self.scheduler, queues => queues.active())
    }

    /// Flows with packets here, counted packet by packet if necessary.
    #[must_use]
    pub fn flows(&self, pool: &Pool) -> u32 {
        each_scheduler!(&self.scheduler, queues => queues.flows(pool))
    }

    /// Pauses exactly the queues of `mask` from now on.
    pub fn set_paused(&mut self, now: u64, mask: QueueMask) {
        self.paused_time.set(now, mask != 0);
        each_scheduler!(&mut self.scheduler, queues => queues.set_paused(mask));
    }

    /// Obeys a neighbour's frame.
    pub(crate) fn obey(&mut self, now: u64, frame: &Packet) {
        if let Some(pause) = flow_pause(frame) {
            let paused = each_scheduler!(&mut self.scheduler, queues =>
                queues.set_flow_paused(frame.flow, pause));
            self.paused_time.set(now, paused > 0);
        } else {
            self.set_paused(now, obey(frame, self.paused()));
        }
    }

    /// The port `own` has lost its link for good: no pause holds any more, and what waits is lost.
    /// The switch's memory and its hop control go on counting it, as in the HPCC simulator.
    pub fn lose_all(&mut self, fabric: &mut Fabric, own: u32) {
        self.set_paused(fabric.now, 0);
        while let Some(id) = self.common.control.pop(&fabric.packets) {
            fabric.lose(own, id);
        }
        each_scheduler!(&mut self.scheduler, queues => {
            while let Some(id) = queues.pop(&mut fabric.packets) {
                fabric.lose(own, id);
            }
        });
        self.common.data_bytes = 0;
    }

    /// The time for which its queues were paused.
    #[must_use]
    pub fn paused_time(&self) -> &PausedTime {
        &self.paused_time
    }

    /// Starts to record the queueing delays of data packets (ps), for each of these sets of queues.
    pub fn watch_delays(&mut self, groups: &[QueueMask]) {
        self.common.delays = Some(Box::new(Delays::new(groups)));
    }

    /// Stops that and returns the records.
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
