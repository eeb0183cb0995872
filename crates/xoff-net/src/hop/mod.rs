//! Hop-by-hop flow control: a switch asks its neighbour to pause or resume queues.
//!
//! Each file of this folder decides *when*. The frame is the same for all: a [`Signal`]
//! (`pauses.rs`).
//!
//! To add a hop control, write a file here with its settings, their properties ([`HopSettings`])
//! and its state ([`HopControl`]). Add its lines to [`HopConfig`] and [`AnyHop`] below, and to the
//! schedulers that it works with, in `sched/mod.rs`.

mod bfc;
pub(crate) mod capfc;
mod carried;
mod elide;
mod frame_sender;
#[cfg(test)]
mod history_tests;
mod ingress;
mod nic_queues;
mod none;
pub(crate) mod pfc;
mod settings;
mod sfc;

use xoff_core::Rng;

use crate::division::Division;
use crate::packet::{Packet, QueueMask};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::Scheduler;

pub use crate::header::Ask;
pub use crate::pauses::{PausedTime, QUANTUM_BITS, Signal, flow_pause, obey, quanta, timed_pause};
pub use crate::sched::{AssignedQueues, HopQueues};
pub use bfc::{
    Assignment, AssignmentStats, Backpressure, BackpressureKind, Bfc, BfcConfig, BfcPort,
    BfcSettings, BfcStats, EmptyQueueOrder, FlowPauses, Hardware, Occupancy, PauseCounters,
    PauseFrames, RecirculationStats, Silent, ThresholdRule, Tofino, TofinoConfig, TofinoStats,
};
pub use carried::Carried;
pub use elide::{Eliding, ElisionStats};
pub(crate) use frame_sender::FrameSender;
pub(crate) use ingress::IngressControl;
pub use nic_queues::NicQueues;
pub use none::{NoHopConfig, Uncontrolled};
pub use pfc::{
    ClassPfc, ClassStats, Pfc, PfcConfig, Reaction, Refused, StuckQueue, Watchdog, Watched,
};
pub use settings::{Derived, HopContext, HopPort, HopSettings, HopSite, NetworkSize, PfcPort};
pub use sfc::{Deployment, FilterKey, Sfc, SfcConfig, SfcPort, SfcStats, SignalAt};

/// Bytes of a link-control frame, unless a setting overrides it: the smallest Ethernet frame (IEEE
/// 802.1Qbb frames are 64 bytes; BFC's are not specified).
pub const FRAME_BYTES: u16 = 64;

/// The use of a header's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyUse {
    /// None: the copy is discarded.
    Nothing,
    /// It has become a frame to the sender and leaves.
    ToSender,
    /// It causes a frame to a neighbour.
    Signal(Signal),
}

/// A hop control's reactions to events. All have a default that does nothing, except the choice of
/// a packet's queue.
pub trait HopControl {
    /// Whether its packet path with a scheduler is rarely used. Such a path is compiled out of
    /// line, so that the paths of others stay short.
    fn is_apart<S: Scheduler>() -> bool {
        false
    }

    /// Whether a data packet for port `egress` may enter at its ingress.
    #[inline]
    fn admits(&self, _egress: u16, _packet: &Packet) -> bool {
        true
    }

    /// Chooses the data queue of a packet at its egress port.
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        packet: &Packet,
        _queues: &S,
        _rng: &mut Rng,
    ) -> u8 {
        packet.class()
    }

    /// A data packet has joined its queue.
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        _packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        None
    }

    /// A data packet finds its queue empty, and every other queue of the port empty or paused: it
    /// passes at once. Returns false, and does nothing, if the packet may not enter, or if its
    /// joining and leaving would send a signal.
    #[inline]
    fn pass(&mut self, _now: u64, _egress: u16, _packet: &Packet) -> bool {
        true
    }

    /// A data packet starts to leave.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, _egress: u16, _packet: &mut Packet) -> Option<Signal> {
        None
    }

    /// A data packet for port `egress` has found no room and is dropped.
    fn on_refused(&mut self, _egress: u16, _packet: &Packet) {}

    /// The next signal to send, after one was returned.
    fn next_signal(&mut self) -> Option<Signal> {
        None
    }

    /// Whether the switch has to call `mirror_arrival`.
    fn mirrors_arrivals(&self) -> bool {
        false
    }

    /// A data packet has arrived for port `egress` and has not joined its queue yet. Returns a copy
    /// of its header, if the control needs one. The copy is used `mirror_delay` later.
    #[inline]
    fn mirror_arrival(&mut self, _now: u64, _egress: u16, _packet: &Packet) -> Option<Packet> {
        None
    }

    /// A packet of any kind has started to leave. Returns a copy of its header, as `mirror_arrival`
    /// does.
    #[inline]
    fn mirror_departure<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        _packet: &mut Packet,
        _queues: &S,
    ) -> Option<Packet> {
        None
    }

    /// Time (ps) from now until the copy that was just made is used. No copy overtakes another.
    fn mirror_delay(&self, _now: u64) -> u64 {
        0
    }

    /// A copy has arrived where it is used.
    fn use_copy(&mut self, _now: u64, _copy: &mut Packet) -> CopyUse {
        CopyUse::Nothing
    }

    /// A frame from another switch to a sender passes through.
    fn remember(&mut self, _now: u64, _signal: &Packet) {}

    /// The frame to a neighbour that replaces a frame to a sender about to leave at `egress`.
    fn convert(&mut self, _egress: u16, _signal: &Packet) -> Option<Signal> {
        None
    }

    /// A packet will soon enter at an ingress.
    #[inline]
    fn prefetch(&self, _ingress: u16) {}

    /// When the timer of an ingress port fires next, after a signal was sent there.
    fn next_timer(&self, _now: u64) -> Option<u64> {
        None
    }

    /// The timer of an ingress port fires. Returns a frame to send, and whether the timer
    /// continues.
    fn on_timer(&mut self, _ingress: u16) -> (Option<Signal>, bool) {
        (None, false)
    }

    /// Flows with packets at an egress port, if the hop control distinguishes flows.
    fn active_flows(&self, _egress: u16) -> Option<u32> {
        None
    }

    /// The number of these flows that share their queue with another flow.
    fn sharing_flows(&self, _egress: u16) -> Option<u32> {
        None
    }

    /// The link of a port has gone down. Frames sent there are void: the neighbour has forgotten
    /// which of its queues are paused.
    fn on_link_down(&mut self, _ingress: u16) {}

    /// An egress port works at `rate` (bit/s) from now on. Thresholds that the operator sets for a
    /// kind of link do not depend on it.
    fn on_rate(&mut self, _egress: u16, _rate: u64) {}

    /// The neighbour's queues that this switch holds paused at an ingress port, for the watchdog.
    fn holds_paused(&self, _ingress: u16) -> QueueMask {
        0
    }

    /// Counts what it counts again, from all data packets that wait at the switch, and the copies
    /// of headers on their way inside it.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount(&self, _waiting: &[WaitingPacket<'_>], _copies: &[&Packet]) -> Checked {
        Ok(())
    }
}

xoff_core::seam! {
    /// Hop controls.
    pub enum HopConfig: dyn HopSettings, named by HopKind {
        /// None: a full buffer drops.
        None(NoHopConfig) = "none",
        /// Priority flow control, section `pfc`.
        Pfc(PfcConfig) = "pfc",
        /// Backpressure flow control, section `bfc`.
        Bfc(BfcSettings) = "bfc",
        /// Source flow control, section `sfc`.
        Sfc(SfcConfig) = "sfc",
    }
}

xoff_core::dispatch! {
    /// The hop control of one switch. BFC has a variant for each form of its packet path.
    #[derive(Debug)]
    #[repr(u8)]
    pub enum AnyHop in crate::hop, each by each_hop {
        /// None.
        None(Uncontrolled),
        /// Priority flow control.
        Pfc(Pfc),
        /// The same with limits by class. Lossy classes have them without priority flow control,
        /// too.
        PfcByClass(ClassPfc),
        /// Backpressure flow control.
        Bfc(Bfc<PauseCounters>),
        /// The same with queues divided among classes.
        BfcClasses(Bfc<PauseCounters<Division>, Division>),
        /// The same with pauses by queue length.
        BfcOccupancy(Bfc<Occupancy>),
        /// The same with pauses of flows.
        BfcFlows(Bfc<FlowPauses>),
        /// Only the queue assignment of BFC.
        BfcSilent(Bfc<Silent>),
        /// Backpressure flow control within the limits of its hardware.
        Tofino(Tofino),
        /// Source flow control.
        Sfc(Sfc),
        /// None, with queue numbers in packets.
        Carried(Carried),
        /// Priority flow control with a watchdog.
        WatchedPfc(Watched),
        /// Priority flow control with some pairs of ports left out.
        ElidingPfc(Eliding<Pfc>),
        /// Backpressure flow control with some pairs of ports left out.
        ElidingBfc(Eliding<Bfc<PauseCounters>>),
    }
}
pub(crate) use each_hop;

impl AnyHop {
    /// Counts of packets without backpressure, if pairs of ports are left out.
    #[must_use]
    pub fn elision(&self) -> Option<ElisionStats> {
        match self {
            Self::ElidingPfc(eliding) => Some(eliding.stats()),
            Self::ElidingBfc(eliding) => Some(eliding.stats()),
            _ => None,
        }
    }

    /// The queues that the watchdog of priority flow control has found stuck, if there is one.
    #[must_use]
    pub fn stuck_queues(&self) -> Option<&[StuckQueue]> {
        match self {
            Self::WatchedPfc(watched) => Some(watched.stuck()),
            _ => None,
        }
    }

    /// Counts of its classes, if they have limits of their own.
    #[must_use]
    pub fn class_stats(&self) -> Option<&ClassStats> {
        match self {
            Self::PfcByClass(pfc) => Some(pfc.class_stats()),
            Self::WatchedPfc(watched) => Some(watched.inner().class_stats()),
            _ => None,
        }
    }

    /// The queues of an egress port that its neighbour asks to pause, if the port does not obey all
    /// of these pauses.
    #[must_use]
    pub fn asked(&self, egress: u16) -> Option<QueueMask> {
        match self {
            Self::WatchedPfc(watched) => Some(watched.asked(egress)),
            _ => None,
        }
    }

    /// Flows with packets at an egress port, if the hop control distinguishes flows.
    #[must_use]
    pub fn active_flows(&self, egress: u16) -> Option<u32> {
        each_hop!(self, hop => hop.active_flows(egress))
    }

    /// The number of these flows that share their queue with another flow.
    #[must_use]
    pub fn sharing_flows(&self, egress: u16) -> Option<u32> {
        each_hop!(self, hop => hop.sharing_flows(egress))
    }

    /// Counts of BFC, with any backpressure.
    #[must_use]
    pub fn bfc_stats(&self) -> Option<BfcStats> {
        match self {
            Self::Bfc(bfc) => Some(bfc.stats()),
            Self::BfcClasses(bfc) => Some(bfc.stats()),
            Self::BfcOccupancy(bfc) => Some(bfc.stats()),
            Self::BfcFlows(bfc) => Some(bfc.stats()),
            Self::BfcSilent(bfc) => Some(bfc.stats()),
            Self::Tofino(bfc) => Some(bfc.stats()),
            Self::ElidingBfc(eliding) => Some(eliding.inner().stats()),
            _ => None,
        }
    }

    /// Counts what it counts again. See [`HopControl::recount`].
    pub(crate) fn recount(&self, waiting: &[WaitingPacket<'_>], copies: &[&Packet]) -> Checked {
        each_hop!(self, hop => hop.recount(waiting, copies))
    }

    /// Whether `holds_paused` names the queues that its neighbours should have paused, after all
    /// its frames have arrived.
    #[must_use]
    pub fn names_pauses(&self) -> bool {
        matches!(
            self,
            Self::Pfc(_)
                | Self::PfcByClass(_)
                | Self::WatchedPfc(_)
                | Self::ElidingPfc(_)
                | Self::Bfc(_)
                | Self::BfcClasses(_)
                | Self::BfcOccupancy(_)
                | Self::ElidingBfc(_)
        )
    }

    /// The neighbour's queues that this switch holds paused at an ingress port.
    #[must_use]
    pub fn holds_paused(&self, ingress: u16) -> QueueMask {
        each_hop!(self, hop => hop.holds_paused(ingress))
    }
}

#[cfg(test)]
mod tests;
