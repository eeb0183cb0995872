//! Receiver-driven transports.
//!
//! Each transport has a folder here and a variant of [`AnyDriven`]. It keeps both halves of every
//! flow at the hosts of a partition. It is called when a flow begins, a packet leaves or arrives,
//! and one of its timers is due. It adds the bytes that a sender may send to the sender's
//! [`credit`](crate::flow::Sender::credit). All other actions go through its [`TransportContext`].
//!
//! To add a transport: a folder here, and its lines in [`DriverConfig`] and [`AnyDriven`] below.
//! Its settings implement [`DriverSettings`].

mod address;
mod arrived;
mod context;
pub mod eqds;
pub mod expresspass;
mod halves;
pub mod homa;
mod levels;
pub mod ndp;
mod settings;
mod shape;

use xoff_core::{HostId, TimerId};
use xoff_net::{Packet, Pool};

use self::eqds::{EqdsConfig, EqdsHosts};
use self::expresspass::{ExpressPassConfig, ExpressPassHosts};
use self::homa::{HomaHosts, HomaSettings};
use self::ndp::{NdpConfig, NdpHosts};
use crate::flow::Sender;
use crate::recovery::{RxProgress, SenderHalf, Waiting};

pub use self::address::Address;
pub use self::context::TransportContext;
pub(crate) use self::context::{Action, sender_of};
pub use self::levels::Levels;
pub use self::settings::{Context, DriverSettings, FlowSizes, SenderDriven};
pub use self::shape::Shape;

/// Settings of all hosts of a transport.
#[derive(Clone, Copy, Debug)]
pub struct DrivenSetup {
    /// Payload of a full packet.
    pub payload: u64,
    /// Size of a data packet without its payload.
    pub overhead: u16,
    /// Size of any other packet.
    pub control_bytes: u16,
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// Timeout of a flow without progress (ps); 0: none.
    pub timeout: u64,
    /// Seed of the run.
    pub seed: u64,
}

/// A new host.
#[derive(Clone, Copy, Debug)]
pub struct DrivenHost {
    /// Its number in the network.
    pub host: HostId,
    /// Its index in the partition.
    pub nic: u32,
    /// Rate of its link (bit/s).
    pub line_rate: u64,
    /// A timer for its tasks as a receiver; the timer's number is the NIC's index.
    pub timer: TimerId,
}

/// The behaviour of a receiver-driven transport.
pub trait Driven {
    /// Adds a host.
    fn add_host(&mut self, host: &DrivenHost);

    /// The sender's half of the recovery.
    fn half(&self) -> SenderHalf {
        SenderHalf::Driven(Waiting::default())
    }

    /// The flow of a sender begins; the transport sets the flow's initial credit.
    fn on_start(&mut self, context: &mut TransportContext<'_>, sender: u32);

    /// A data packet of a sender's flow leaves; the transport fills in its own fields. Its payload
    /// is taken from the flow's credit.
    fn on_sent(&mut self, sender: u32, flow: &mut Sender, packet: &mut Packet, payload: u64);

    /// A packet has arrived at host `nic`; the transport owns it now.
    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32);

    /// The timer with this number is due.
    fn on_timer(&mut self, context: &mut TransportContext<'_>, number: u32);

    /// True if a flow waits for its receiver, so that its timeout runs.
    fn waits(&self, flow: &Sender) -> bool {
        !flow.may_send()
    }

    /// The timeout of a sender's flow has expired.
    fn on_timeout(&mut self, context: &mut TransportContext<'_>, sender: u32);

    /// The neighbour of host `nic` sends at `rate` (bit/s) from now on.
    fn on_peer_rate(&mut self, _context: &mut TransportContext<'_>, _nic: u32, _rate: u64) {}

    /// Calls `visit` with each packet that waits in its own queues.
    fn each_packet(&self, _pool: &Pool, _visit: &mut dyn FnMut(u32)) {}

    /// Receive progress of an incomplete flow.
    fn rx_progress(&self, flow: u32) -> Option<RxProgress>;
}

xoff_core::seam! {
    /// Ends of a flow that decide what is sent.
    pub enum DriverConfig: dyn DriverSettings, named by TransportKind {
        /// The sender: a congestion control, a window, or nothing.
        Sender(SenderDriven) = "sender",
        /// NDP: the sender transmits the first window, and the receiver pulls the rest, section
        /// `ndp`.
        Ndp(NdpConfig) = "ndp",
        /// Homa: the sender transmits unscheduled data, and the receiver grants the rest, section
        /// `homa`.
        Homa(HomaSettings) = "homa",
        /// ExpressPass: the sender transmits one packet per credit of the receiver, section
        /// `expresspass`.
        ExpressPass(ExpressPassConfig) = "expresspass",
        /// EQDS: the sender transmits with speculative credit, and the receiver pulls the rest,
        /// section `eqds`.
        Eqds(EqdsConfig) = "eqds",
    }
}

xoff_core::dispatch! {
    /// One of the receiver-driven transports, with its state of all flows.
    #[derive(Debug)]
    pub enum AnyDriven in crate::receiver_driven, each by each_driven {
        /// NDP.
        Ndp(NdpHosts),
        /// Homa.
        Homa(HomaHosts),
        /// ExpressPass.
        ExpressPass(ExpressPassHosts),
        /// EQDS.
        Eqds(EqdsHosts),
    }
}

impl Driven for AnyDriven {
    fn add_host(&mut self, host: &DrivenHost) {
        each_driven!(self, transport => transport.add_host(host));
    }

    fn half(&self) -> SenderHalf {
        each_driven!(self, transport => transport.half())
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, sender: u32) {
        each_driven!(self, transport => transport.on_start(context, sender));
    }

    fn on_sent(&mut self, sender: u32, flow: &mut Sender, packet: &mut Packet, payload: u64) {
        each_driven!(self, transport => transport.on_sent(sender, flow, packet, payload));
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32) {
        each_driven!(self, transport => transport.on_packet(context, nic, packet));
    }

    fn on_timer(&mut self, context: &mut TransportContext<'_>, number: u32) {
        each_driven!(self, transport => transport.on_timer(context, number));
    }

    fn waits(&self, flow: &Sender) -> bool {
        each_driven!(self, transport => transport.waits(flow))
    }

    fn on_timeout(&mut self, context: &mut TransportContext<'_>, sender: u32) {
        each_driven!(self, transport => transport.on_timeout(context, sender));
    }

    fn on_peer_rate(&mut self, context: &mut TransportContext<'_>, nic: u32, rate: u64) {
        each_driven!(self, transport => transport.on_peer_rate(context, nic, rate));
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        each_driven!(self, transport => transport.each_packet(pool, visit));
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        each_driven!(self, transport => transport.rx_progress(flow))
    }
}
