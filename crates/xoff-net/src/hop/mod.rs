//! Hop-by-hop flow control: a switch tells its neighbour to pause or resume queues.
//!
//! Each file of this folder decides *when*; the frame is the same for all: a [`Signal`] names queues
//! of the neighbour's port and becomes a frame on the wire, which the neighbour (switch or NIC)
//! obeys by changing the mask of paused queues ([`obey`]). A traffic class is a queue of a FIFO port,
//! so PFC and BFC need no other frame.
//!
//! To add one: a file here with its settings, what they say about it ([`HopSettings`]) and its state
//! ([`HopControl`]); its lines in [`HopConfig`] and [`AnyHop`] below; and the schedulers that it works
//! with, in `sched/mod.rs`.

mod bfc;
pub(crate) mod capfc;
mod carried;
mod elide;
mod frame_sender;
mod ingress;
mod nic_queues;
mod none;
pub(crate) mod pfc;
mod settings;
mod sfc;

use xoff_core::Rng;

use crate::division::Division;
use crate::packet::{Kind, Packet};
use crate::sched::{QueueMask, Scheduler};

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
pub use pfc::{Pfc, PfcConfig, PfcPort};
pub(crate) use settings::CLASS_QUEUES;
pub use settings::{
    AssignedQueues, Derived, HopContext, HopPort, HopQueues, HopSettings, HopSite, NetworkSize,
};
pub use sfc::{Deployment, FilterKey, Sfc, SfcConfig, SfcPort, SfcStats, SignalAt};

/// Bytes of a link-control frame, unless a setting says otherwise: the smallest Ethernet frame
/// (IEEE 802.1Qbb frames are 64 bytes; BFC's are not specified).
pub const FRAME_BYTES: u16 = 64;

/// What a link-control frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ask {
    /// Pause these queues too.
    Pause = 0,
    /// Resume these queues.
    Resume = 1,
    /// Pause exactly these queues.
    Exactly = 2,
    /// Pause these queues for so long, from now on.
    PauseFor = 3,
    /// Pause one flow.
    PauseFlow = 4,
    /// Resume one flow.
    ResumeFlow = 5,
}

impl Ask {
    /// All of them, by their numbers in frames.
    pub(crate) const ALL: [Self; 6] = [
        Self::Pause,
        Self::Resume,
        Self::Exactly,
        Self::PauseFor,
        Self::PauseFlow,
        Self::ResumeFlow,
    ];
}

/// Bits of one quantum of a pause (IEEE 802.1Qbb: 512 bit times of the link).
pub const QUANTUM_BITS: u64 = 512;

/// A pause in quanta, as many of them as it has in full; a frame can ask for up to 65 535.
#[must_use]
pub fn quanta(pause_ps: u64, rate: u64) -> u16 {
    let bits = u128::from(pause_ps) * u128::from(rate) / 1_000_000_000_000;
    (bits / u128::from(QUANTUM_BITS)).min(u128::from(u16::MAX)) as u16
}

/// A frame to be sent to the neighbour on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Port number to send it by: the ingress concerned.
    pub port: u16,
    /// What it asks for.
    pub ask: Ask,
    /// The neighbour's queues it speaks of; of a single flow, the two numbers that [`Self::flow`] reads.
    pub queues: QueueMask,
    /// For `PauseFor`: quanta of 512 bit times.
    pub quanta: u16,
}

impl Signal {
    /// Asks for something that lasts until the next frame.
    #[must_use]
    pub fn new(port: u16, ask: Ask, queues: QueueMask) -> Self {
        Self { port, ask, queues, quanta: 0 }
    }

    /// Pauses a traffic class for so many quanta.
    #[must_use]
    pub fn pause_for(port: u16, class: u8, quanta: u16) -> Self {
        Self { quanta, ..Self::new(port, Ask::PauseFor, 1 << class) }
    }

    /// Pauses the flow of a packet where it came from.
    #[must_use]
    pub fn pause_flow(packet: &Packet) -> Self {
        let numbers = QueueMask::from(packet.sender) << 32 | QueueMask::from(packet.flow);
        Self::new(packet.ingress, Ask::PauseFlow, numbers)
    }

    /// Resumes it.
    #[must_use]
    pub fn resume_flow(packet: &Packet) -> Self {
        Self { ask: Ask::ResumeFlow, ..Self::pause_flow(packet) }
    }

    /// The flow it speaks of, and its sender's number for it, if it speaks of one.
    #[must_use]
    pub fn flow(&self) -> Option<(u32, u32)> {
        let of_flow = matches!(self.ask, Ask::PauseFlow | Ask::ResumeFlow);
        of_flow.then_some((self.queues as u32, (self.queues >> 32) as u32))
    }

    /// The frame of so many bytes on the wire.
    #[must_use]
    pub fn frame(&self, bytes: u16) -> Packet {
        let mut packet = Packet::new(Kind::LinkControl, bytes);
        packet.as_link_control_mut().set_ask(self.ask, self.quanta);
        if let Some(flow) = self.flow() {
            (packet.flow, packet.sender) = flow;
        } else {
            packet.as_link_control_mut().set_queues(self.queues);
        }
        packet
    }
}

/// For how long at least one queue of a port has been paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct PausedTime {
    since: Option<u64>,
    total: u64,
    pauses: u64,
}

impl PausedTime {
    /// From now on some queue is paused, or none.
    pub fn set(&mut self, now: u64, paused: bool) {
        match (self.since, paused) {
            (None, true) => {
                self.since = Some(now);
                self.pauses += 1;
            }
            (Some(since), false) => {
                self.total += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// The time so far (ps).
    #[must_use]
    pub fn total(&self, now: u64) -> u64 {
        self.total + self.since.map_or(0, |since| now - since)
    }

    /// How often a port without a paused queue came to have one.
    #[must_use]
    pub fn pauses(&self) -> u64 {
        self.pauses
    }
}

/// What a frame that pauses queues for a while asks for: the queues, and for how long (ps) on a link
/// of `rate` bit/s.
#[must_use]
pub fn timed_pause(frame: &Packet, rate: u64) -> Option<(QueueMask, u64)> {
    let frame = frame.as_link_control();
    let bits = u128::from(frame.quanta()) * u128::from(QUANTUM_BITS);
    let pause = (bits * 1_000_000_000_000 / u128::from(rate)) as u64;
    (frame.ask() == Ask::PauseFor).then(|| (frame.queues(), pause))
}

/// What a frame that speaks of one flow asks for: whether it pauses.
#[must_use]
pub fn flow_pause(frame: &Packet) -> Option<bool> {
    match frame.as_link_control().ask() {
        Ask::PauseFlow => Some(true),
        Ask::ResumeFlow => Some(false),
        Ask::Pause | Ask::Resume | Ask::Exactly | Ask::PauseFor => None,
    }
}

/// The mask of paused queues after a frame arrived.
///
/// # Panics
/// If the frame does not ask for queues to be paused until the next one: that is a bug.
#[must_use]
pub fn obey(frame: &Packet, paused: QueueMask) -> QueueMask {
    let frame = frame.as_link_control();
    match frame.ask() {
        Ask::Pause => paused | frame.queues(),
        Ask::Resume => paused & !frame.queues(),
        Ask::Exactly => frame.queues(),
        other => panic!("link-control frame that asks for {other:?}"),
    }
}

/// What becomes of the copy of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyUse {
    /// It has served its purpose.
    Nothing,
    /// Now a frame to the sender, it leaves.
    ToSender,
    /// It calls for a frame to a neighbour.
    Signal(Signal),
}

/// What a hop control does. Everything but the name of a packet's queue has a default: nothing.
pub trait HopControl {
    /// Whether a data packet for port `egress` may enter by its ingress.
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

    /// A data packet finds its queue empty and leaves at once, the only one at its port that may.
    /// Returns false, having done nothing, if it may not enter, or if its joining and leaving would
    /// send a signal.
    #[inline]
    fn pass(&mut self, _now: u64, _egress: u16, _packet: &Packet) -> bool {
        true
    }

    /// A data packet starts to leave.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, _egress: u16, _packet: &mut Packet) -> Option<Signal> {
        None
    }

    /// Another signal to send, beside the one just returned.
    fn next_signal(&mut self) -> Option<Signal> {
        None
    }

    /// Whether `mirror_arrival` is to be asked at all.
    fn mirrors_arrivals(&self) -> bool {
        false
    }

    /// A data packet has arrived for port `egress` and has not joined its queue yet: the copy of its
    /// header, if one is wanted. It is of use `mirror_delay` later.
    #[inline]
    fn mirror_arrival(&mut self, _now: u64, _egress: u16, _packet: &Packet) -> Option<Packet> {
        None
    }

    /// The same when a packet of any kind has started to leave.
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

    /// How long the copy that was made now takes (ps). No copy overtakes another.
    fn mirror_delay(&self, _now: u64) -> u64 {
        0
    }

    /// A copy has come to where it is of use.
    fn use_copy(&mut self, _now: u64, _copy: &mut Packet) -> CopyUse {
        CopyUse::Nothing
    }

    /// A frame from another switch to a sender passes through.
    fn remember(&mut self, _now: u64, _signal: &Packet) {}

    /// The frame to a neighbour that takes the place of a frame to a sender about to leave by
    /// `egress`.
    fn convert(&mut self, _egress: u16, _signal: &Packet) -> Option<Signal> {
        None
    }

    /// A packet will enter by an ingress soon.
    #[inline]
    fn prefetch(&self, _ingress: u16) {}

    /// When the timer of an ingress port should next fire, once a signal has been sent there.
    fn next_timer(&self, _now: u64) -> Option<u64> {
        None
    }

    /// The timer of an ingress port fires: a frame to send, and whether the timer goes on.
    fn on_timer(&mut self, _ingress: u16) -> (Option<Signal>, bool) {
        (None, false)
    }

    /// Flows with packets at an egress port, where the hop control tells flows apart.
    fn active_flows(&self, _egress: u16) -> Option<u32> {
        None
    }

    /// Of these flows, those that share their queue with another one.
    fn sharing_flows(&self, _egress: u16) -> Option<u32> {
        None
    }

    /// The link of a port has gone down, and what was said by it is void: the neighbour has forgotten
    /// which of its queues are paused.
    fn on_link_down(&mut self, _ingress: u16) {}

    /// The neighbour's queues that this switch holds paused at an ingress port, for the watchdog.
    fn holds_paused(&self, _ingress: u16) -> QueueMask {
        0
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
    /// The hop control of one switch. BFC has a variant for each form that packets pass through.
    #[derive(Debug)]
    #[repr(u8)]
    pub enum AnyHop in crate::hop, each by each_hop {
        /// None.
        None(Uncontrolled),
        /// Priority flow control.
        Pfc(Pfc),
        /// Backpressure flow control.
        Bfc(Bfc<PauseCounters>),
        /// The same with queues divided among classes.
        BfcClasses(Bfc<PauseCounters<Division>, Division>),
        /// The same with pauses by queue length.
        BfcOccupancy(Bfc<Occupancy>),
        /// The same with pauses of flows.
        BfcFlows(Bfc<FlowPauses>),
        /// Its queue assignment alone.
        BfcSilent(Bfc<Silent>),
        /// Backpressure flow control within the limits of its hardware.
        Tofino(Tofino),
        /// Source flow control.
        Sfc(Sfc),
        /// None, with queue numbers that packets carry.
        Carried(Carried),
        /// Priority flow control with pairs of ports left out.
        ElidingPfc(Eliding<Pfc>),
        /// Backpressure flow control with pairs of ports left out.
        ElidingBfc(Eliding<Bfc<PauseCounters>>),
    }
}
pub(crate) use each_hop;

impl AnyHop {
    /// What was left out, if pairs of ports are.
    #[must_use]
    pub fn elision(&self) -> Option<ElisionStats> {
        match self {
            Self::ElidingPfc(eliding) => Some(eliding.stats()),
            Self::ElidingBfc(eliding) => Some(eliding.stats()),
            _ => None,
        }
    }

    /// Flows with packets at an egress port, where the hop control tells flows apart.
    #[must_use]
    pub fn active_flows(&self, egress: u16) -> Option<u32> {
        each_hop!(self, hop => hop.active_flows(egress))
    }

    /// Of these flows, those that share their queue with another one.
    #[must_use]
    pub fn sharing_flows(&self, egress: u16) -> Option<u32> {
        each_hop!(self, hop => hop.sharing_flows(egress))
    }

    /// What BFC has done, whatever its backpressure.
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

    /// The neighbour's queues that this switch holds paused at an ingress port.
    #[must_use]
    pub fn holds_paused(&self, ingress: u16) -> QueueMask {
        each_hop!(self, hop => hop.holds_paused(ingress))
    }
}
