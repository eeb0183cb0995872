//! Transports in which the receiver says what is sent.
//!
//! One folder a transport, a variant of [`AnyDriven`] each. A transport keeps both halves of every flow
//! at the hosts of a partition: it is told when a flow begins, a packet leaves or comes, and a time
//! that it asked for is due. What it lets a sender send it adds to the sender's
//! [`credit`](crate::flow::Sender::credit); all else that it wants goes through its [`TransportContext`].
//!
//! To add one: a folder here, and its lines in [`DriverConfig`] and [`AnyDriven`] below. What its
//! settings say about it is [`DriverSettings`].

mod address;
mod arrived;
mod context;
pub mod expresspass;
pub mod homa;
pub mod ndp;
mod settings;
mod shape;
mod waiting;

use xoff_core::TimerId;
use xoff_net::Packet;

use self::expresspass::{ExpressPassConfig, ExpressPassHosts};
use self::homa::{HomaHosts, HomaSettings};
use self::ndp::{NdpConfig, NdpHosts};
use crate::flow::Sender;
use crate::receiver::RxProgress;
use crate::recovery::SenderHalf;

pub use self::address::Address;
pub use self::context::TransportContext;
pub(crate) use self::context::{Action, sender_of};
pub use self::settings::{Context, DriverSettings, FlowSizes, SenderDriven};
pub use self::shape::Shape;
pub use self::waiting::Waiting;

/// What the hosts of a transport share.
#[derive(Clone, Copy, Debug)]
pub struct DrivenSetup {
    /// Payload of a full packet.
    pub payload: u64,
    /// Bytes of a data packet beside its payload.
    pub overhead: u16,
    /// Bytes of any other packet.
    pub control_bytes: u16,
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// How long a flow waits in vain (ps); 0: for ever.
    pub timeout: u64,
    /// Seed of the run.
    pub seed: u64,
}

/// A host that joins.
#[derive(Clone, Copy, Debug)]
pub struct DrivenHost {
    /// Its number in the network.
    pub host: u32,
    /// Its number in the partition.
    pub nic: u32,
    /// Bits per second of its link.
    pub line_rate: u64,
    /// A timer for what it has to do as a receiver; its number is that of the NIC.
    pub timer: TimerId,
}

/// What every receiver-driven transport does.
pub trait Driven {
    /// One host more.
    fn add_host(&mut self, host: &DrivenHost);

    /// How the sender of a flow finds what to send again.
    fn half(&self) -> SenderHalf {
        SenderHalf::Driven(Waiting::default())
    }

    /// A flow begins in the place `id`: what it may send without being asked is its credit.
    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32);

    /// The data packet of flow `id` that leaves now, with what all transports write into it.
    fn on_sent(&mut self, id: u32, flow: &Sender, packet: &mut Packet, payload: u64);

    /// A packet has come to host `nic`, which now belongs to the transport.
    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32);

    /// A timer with this number is due.
    fn on_timer(&mut self, context: &mut TransportContext<'_>, number: u32);

    /// Whether a flow waits for its receiver, so that its timeout comes nearer.
    fn waits(&self, flow: &Sender) -> bool {
        !flow.may_send()
    }

    /// Flow `id` has waited in vain for a timeout.
    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32);

    /// What has come of a flow, while something of it is missing.
    fn rx_progress(&self, flow: u32) -> Option<RxProgress>;
}

xoff_core::seam! {
    /// Ends of a flow that decide what is sent.
    pub enum DriverConfig: dyn DriverSettings, named by TransportKind {
        /// The sender: a congestion control, a window, or nothing.
        Sender(SenderDriven) = "sender",
        /// NDP: the receiver pulls what does not go at once, section `ndp`.
        Ndp(NdpConfig) = "ndp",
        /// Homa: the receiver grants what does not go at once, section `homa`.
        Homa(HomaSettings) = "homa",
        /// ExpressPass: a packet for each credit of the receiver, section `expresspass`.
        ExpressPass(ExpressPassConfig) = "expresspass",
    }
}

xoff_core::dispatch! {
    /// One of the receiver-driven transports, with its state of all flows.
    #[derive(Debug)]
    pub enum AnyDriven in crate::driven, each by each_driven {
        /// NDP.
        Ndp(NdpHosts),
        /// Homa.
        Homa(HomaHosts),
        /// ExpressPass.
        ExpressPass(ExpressPassHosts),
    }
}

impl Driven for AnyDriven {
    fn add_host(&mut self, host: &DrivenHost) {
        each_driven!(self, driven => driven.add_host(host));
    }

    fn half(&self) -> SenderHalf {
        each_driven!(self, driven => driven.half())
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32) {
        each_driven!(self, driven => driven.on_start(context, id));
    }

    fn on_sent(&mut self, id: u32, flow: &Sender, packet: &mut Packet, payload: u64) {
        each_driven!(self, driven => driven.on_sent(id, flow, packet, payload));
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32) {
        each_driven!(self, driven => driven.on_packet(context, nic, packet));
    }

    fn on_timer(&mut self, context: &mut TransportContext<'_>, number: u32) {
        each_driven!(self, driven => driven.on_timer(context, number));
    }

    fn waits(&self, flow: &Sender) -> bool {
        each_driven!(self, driven => driven.waits(flow))
    }

    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32) {
        each_driven!(self, driven => driven.on_timeout(context, id));
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        each_driven!(self, driven => driven.rx_progress(flow))
    }
}
