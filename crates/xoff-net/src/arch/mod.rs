//! How packets cross a switch.
//!
//! Each architecture has a file or folder, and a variant of [`AnySwitch`]. Four calls drive a
//! switch: a packet arrives; a port may pick its next packet; something it requested is due (a
//! timer, or a packet that has passed a stage inside); and its state is read at the edges of the
//! sampling grid.

mod cioq;
mod crossbar;
mod forwarding;
mod mirror;
mod output_queued;
mod pipelined;
mod recount;
mod settings;

use crate::credit::CreditQueue;
use crate::fabric::Fabric;
use crate::hop::AnyHop;
use crate::packet::{Packet, Pool};
use crate::recount::{Checked, Contents};
use crate::sched::{Delays, Egress, QueueMask};
use crate::topo::Route;

pub use cioq::CioqParts;
pub use crossbar::{Crossbar, CrossbarConfig, CrossbarParts, CrossbarSettings, EgressOverflow};
pub use forwarding::Forwarding;
pub use output_queued::{InBand, OutputQueued, OutputQueuedConfig, Parts};
pub use settings::{ArchitectureSettings, Problem};

pub use crate::destination::Destination;
pub use crate::hop::capfc::{CapfcConfig, Policy};
pub use crate::hop::pfc::{PauseConfig, Reaction, Scope, Thresholds};
pub use crate::switch_stats::SwitchStats;
pub use pipelined::{
    MemoryKind, OnFull, PipelineConfig, PipelineStats, Pipelined, PipelinedParts, PipelinedSettings,
};

xoff_core::seam! {
    /// Switch architectures: how packets cross a switch.
    pub enum ArchitectureConfig: dyn ArchitectureSettings, named by ArchitectureKind {
        /// A packet joins its egress queue when it arrives.
        OutputQueued(OutputQueuedConfig) = "output-queued",
        /// A packet waits at its ingress, crosses, and waits at its egress, section `crossbar`.
        Crossbar(CrossbarSettings) = "crossbar",
        /// A packet waits at its ingress, passes a processor of a fixed rate, and waits at its
        /// egress, section `pipeline`.
        Pipelined(PipelinedSettings) = "pipelined",
    }
}

/// Operations of every switch. A call that drops packets returns one of them; [`Packet::next`]
/// links to the others.
pub trait Switch {
    /// A packet has arrived at port `ingress`.
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32>;

    /// Port `number` may send: it picks its next packet.
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32>;

    /// The timer of port `number` fires. Returns a dropped packet, if there is one;
    /// [`Packet::next`](crate::Packet::next) links to the others.
    fn on_port_timer(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32>;

    /// A delay of the switch ends: of copies of headers, or of frames being generated or obeyed.
    fn on_delay_timer(&mut self, fabric: &mut Fabric, destinations: &[Destination]);

    /// A packet has passed a stage inside a switch with stages: an event that the switch posted at
    /// port `number`.
    fn on_stage(
        &mut self,
        _fabric: &mut Fabric,
        _destinations: &[Destination],
        _number: u16,
        _id: u32,
    ) -> Option<u32> {
        None
    }

    /// A packet will arrive soon.
    fn prefetch(&self, packet: &Packet, destinations: &[Destination], ingress: u16);

    /// Replaces the routes of packets that arrive from now on: by destination group, and the ports
    /// of these routes.
    fn set_routes(&mut self, routes: &[Route], choices: &[u16]);

    /// The link of port `number` has gone down: its pauses end, and pause frames that wait are
    /// lost.
    fn on_link_down(&mut self, _fabric: &mut Fabric, _number: u16) {}

    /// Port `number` sends at `rate` (bit/s) from now on.
    fn on_rate(&mut self, _number: u16, _rate: u64) {}

    /// The neighbour at port `number` sends at `rate` (bit/s) from now on.
    fn on_peer_rate(&mut self, _fabric: &mut Fabric, _number: u16, _rate: u64) {}

    /// Its egress ports.
    fn egress(&self) -> &[Egress];

    /// The same, mutable.
    fn egress_mut(&mut self) -> &mut [Egress];

    /// Calls `visit` with each packet that waits in the switch, except at its egress ports and on
    /// the way between its stages.
    fn each_inside(&self, _pool: &Pool, _visit: &mut dyn FnMut(u32)) {}

    /// Counts what its flow control counts again, from its packets.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount_control(&self, contents: &Contents<'_>) -> Checked;

    /// Bytes that wait in the switch.
    fn used_bytes(&self) -> u64;

    /// Whether no packets wait and no port has active flows.
    fn is_empty(&self) -> bool {
        self.used_bytes() == 0
    }

    /// The most bytes that waited in the switch after any instant since the last call.
    fn take_watermark(&mut self) -> u64;

    /// The neighbour's queues that the switch holds paused at an ingress port.
    fn holds_paused(&self, ingress: u16) -> QueueMask;

    /// Flows with packets at an egress port, or queues if flows are not distinguished.
    fn active_flows(&self, number: u16) -> u32;

    /// Counts so far.
    fn stats(&self) -> &SwitchStats;

    /// Hash of all packets sent and dropped.
    fn digest(&self) -> u64;
}

/// One of the architectures. The most frequent one is stored inline, so that packets reach it
/// without an indirection.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a network has switches of one kind")]
#[repr(u8)] // A tag of its own is read faster than a spare value of a field.
pub enum AnySwitch {
    /// Packets wait at their egress, in memory shared by the ports.
    OutputQueued(OutputQueued),
    /// Packets wait at their ingress, cross, and wait at their egress.
    Crossbar(Box<Crossbar>),
    /// Packets pass a processor of a fixed rate between ingress and egress.
    Pipelined(Box<Pipelined>),
}

/// Applies an expression to the switch of any architecture.
macro_rules! each_switch {
    ($self:expr, $switch:ident => $call:expr) => {
        match $self {
            AnySwitch::OutputQueued($switch) => $call,
            AnySwitch::Crossbar($switch) => $call,
            AnySwitch::Pipelined($switch) => $call,
        }
    };
}

impl AnySwitch {
    /// Its hop control, if it has one.
    #[must_use]
    pub fn hop(&self) -> Option<&AnyHop> {
        match self {
            Self::OutputQueued(switch) => Some(switch.hop()),
            Self::Crossbar(_) | Self::Pipelined(_) => None,
        }
    }

    /// Whether its memory cannot fill up.
    pub(crate) fn is_endless(&self) -> bool {
        matches!(self, Self::OutputQueued(switch) if switch.is_endless())
    }

    /// Flows with packets at an egress port, counted packet by packet if necessary.
    #[must_use]
    pub fn flows(&self, number: u16, pool: &Pool) -> u32 {
        let counted = self.hop().and_then(|hop| hop.active_flows(number));
        counted.unwrap_or_else(|| self.egress()[number as usize].flows(pool))
    }

    /// The credit queues of its ports, if it shapes credits.
    #[must_use]
    pub fn credits(&self) -> &[CreditQueue] {
        match self {
            Self::OutputQueued(switch) => switch.credits(),
            Self::Crossbar(_) | Self::Pipelined(_) => &[],
        }
    }

    /// Counts up to `now` (ps) that only a pipelined switch has.
    #[must_use]
    pub fn pipeline_stats(&self, now: u64) -> Option<PipelineStats> {
        match self {
            Self::Pipelined(switch) => Some(switch.pipeline_stats(now)),
            Self::OutputQueued(_) | Self::Crossbar(_) => None,
        }
    }

    /// The reason why it pauses the neighbour of a port, if known, for a run that is stuck.
    #[must_use]
    pub fn reasons(&self, number: u16) -> String {
        match self {
            Self::Pipelined(switch) => switch.reasons(number),
            Self::OutputQueued(_) | Self::Crossbar(_) => String::new(),
        }
    }

    /// Starts to record the queueing delay of every data packet at a port, from its enqueue to the
    /// start of its transmission (ps), for each of these sets of queues.
    pub fn watch_delays(&mut self, number: u16, groups: &[QueueMask]) {
        self.egress_mut()[number as usize].watch_delays(groups);
    }

    /// Stops that and returns the records.
    pub fn take_delays(&mut self, number: u16) -> Option<Delays> {
        self.egress_mut()[number as usize].take_delays()
    }
}

/// A packet has arrived at a switch with events inside, where a packet takes several times as long.
/// One test tells the other switches.
#[cold]
#[inline(never)]
fn arrive_inside(
    switch: &mut impl Switch,
    fabric: &mut Fabric,
    destinations: &[Destination],
    ingress: u16,
    id: u32,
) -> Option<u32> {
    switch.on_packet(fabric, destinations, ingress, id)
}

impl Switch for AnySwitch {
    #[inline(always)]
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        match self {
            Self::OutputQueued(switch) => switch.on_packet(fabric, destinations, ingress, id),
            Self::Crossbar(switch) => {
                arrive_inside(&mut **switch, fabric, destinations, ingress, id)
            }
            Self::Pipelined(switch) => {
                arrive_inside(&mut **switch, fabric, destinations, ingress, id)
            }
        }
    }

    #[inline(always)]
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        each_switch!(self, switch => switch.pick(fabric, number))
    }

    fn on_port_timer(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        each_switch!(self, switch => switch.on_port_timer(fabric, number))
    }

    fn on_delay_timer(&mut self, fabric: &mut Fabric, destinations: &[Destination]) {
        each_switch!(self, switch => switch.on_delay_timer(fabric, destinations));
    }

    #[inline]
    fn on_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        number: u16,
        id: u32,
    ) -> Option<u32> {
        each_switch!(self, switch => switch.on_stage(fabric, destinations, number, id))
    }

    #[inline(always)]
    fn prefetch(&self, packet: &Packet, destinations: &[Destination], ingress: u16) {
        each_switch!(self, switch => switch.prefetch(packet, destinations, ingress));
    }

    fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        each_switch!(self, switch => switch.set_routes(routes, choices));
    }

    fn on_link_down(&mut self, fabric: &mut Fabric, number: u16) {
        each_switch!(self, switch => switch.on_link_down(fabric, number));
    }

    fn on_rate(&mut self, number: u16, rate: u64) {
        each_switch!(self, switch => switch.on_rate(number, rate));
    }

    fn on_peer_rate(&mut self, fabric: &mut Fabric, number: u16, rate: u64) {
        each_switch!(self, switch => switch.on_peer_rate(fabric, number, rate));
    }

    fn egress(&self) -> &[Egress] {
        each_switch!(self, switch => switch.egress())
    }

    fn egress_mut(&mut self) -> &mut [Egress] {
        each_switch!(self, switch => switch.egress_mut())
    }

    fn each_inside(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        each_switch!(self, switch => switch.each_inside(pool, visit));
    }

    fn recount_control(&self, contents: &Contents<'_>) -> Checked {
        each_switch!(self, switch => switch.recount_control(contents))
    }

    fn used_bytes(&self) -> u64 {
        each_switch!(self, switch => switch.used_bytes())
    }

    fn is_empty(&self) -> bool {
        each_switch!(self, switch => switch.is_empty())
    }

    fn take_watermark(&mut self) -> u64 {
        each_switch!(self, switch => switch.take_watermark())
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        each_switch!(self, switch => switch.holds_paused(ingress))
    }

    fn active_flows(&self, number: u16) -> u32 {
        each_switch!(self, switch => switch.active_flows(number))
    }

    fn stats(&self) -> &SwitchStats {
        each_switch!(self, switch => switch.stats())
    }

    fn digest(&self) -> u64 {
        each_switch!(self, switch => switch.digest())
    }
}
