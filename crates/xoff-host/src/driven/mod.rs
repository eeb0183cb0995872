//! Transports in which the receiver says what is sent.
//!
//! One folder a transport, a variant of [`AnyDriven`] each. A transport keeps both halves of every flow
//! at the hosts of a partition: it is told when a flow begins, a packet leaves or comes, and a time
//! that it asked for is due. What it lets a sender send it adds to the sender's
//! [`credit`](crate::flow::Sender::credit); all else that it wants goes through its [`TransportContext`].
//!
//! To add one: a folder here, a variant of [`DrivenConfig`] and of [`AnyDriven`] with its line in each
//! `match`, and a name in [`TransportKind`](crate::transport::TransportKind).

mod address;
mod arrived;
mod context;
pub mod expresspass;
pub mod homa;
pub mod ndp;
mod shape;
mod waiting;

use xoff_core::{Bytes, TimerId};
use xoff_net::Packet;
use xoff_net::credit::CreditShape;

use self::expresspass::{ExpressPassConfig, ExpressPassHosts};
use self::homa::{HomaConfig, HomaHosts, Levels};
use self::ndp::{NdpConfig, NdpHosts};
use crate::flow::Sender;
use crate::receiver::RxProgress;
use crate::recovery::SenderHalf;

pub use self::address::Address;
pub use self::context::TransportContext;
pub(crate) use self::context::{Action, sender_of};
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

/// One of the transports, with its settings.
#[derive(Clone, Debug)]
pub enum DrivenConfig {
    /// NDP.
    Ndp(NdpConfig),
    /// Homa, and what its priorities are for.
    Homa(HomaConfig, Levels),
    /// ExpressPass.
    ExpressPass(ExpressPassConfig),
}

impl DrivenConfig {
    /// What people call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ndp(_) => "NDP",
            Self::Homa(..) => "Homa",
            Self::ExpressPass(_) => "ExpressPass",
        }
    }

    /// With those settings derived that are to be one bandwidth-delay product unless said otherwise.
    #[must_use]
    pub fn settled(self, bandwidth_delay_product: Bytes) -> Self {
        match self {
            Self::Ndp(config) => Self::Ndp(config.settled(bandwidth_delay_product)),
            Self::Homa(config, levels) => {
                Self::Homa(config.settled(bandwidth_delay_product), levels)
            }
            Self::ExpressPass(_) => self,
        }
    }

    /// How ports shape credits that bring packets of up to so many bytes on the wire, if receivers send any.
    #[must_use]
    pub fn credits(&self, full_packet: u64) -> Option<CreditShape> {
        match self {
            Self::Ndp(_) | Self::Homa(..) => None,
            Self::ExpressPass(config) => Some(config.shape(full_packet)),
        }
    }

    /// The transport, without hosts.
    #[must_use]
    pub fn build(&self, setup: &DrivenSetup) -> AnyDriven {
        match self {
            Self::Ndp(config) => AnyDriven::Ndp(NdpHosts::new(config, setup)),
            Self::Homa(config, levels) => {
                AnyDriven::Homa(HomaHosts::new(config, levels.clone(), setup))
            }
            Self::ExpressPass(config) => {
                AnyDriven::ExpressPass(ExpressPassHosts::new(config, setup))
            }
        }
    }
}

/// One of the transports, with what it knows of all flows.
#[derive(Debug)]
pub enum AnyDriven {
    /// NDP.
    Ndp(NdpHosts),
    /// Homa.
    Homa(HomaHosts),
    /// ExpressPass.
    ExpressPass(ExpressPassHosts),
}

/// Applies an expression to whichever transport it is.
macro_rules! each_driven {
    ($self:expr, $driven:ident => $call:expr) => {
        match $self {
            AnyDriven::Ndp($driven) => $call,
            AnyDriven::Homa($driven) => $call,
            AnyDriven::ExpressPass($driven) => $call,
        }
    };
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
