//! Hosts: NICs and transports.
//!
//! A flow has two halves, one at each host: a sender ([`flow::Sender`] with a congestion control
//! from [`cc`]) and a receiver ([`receiver`]). Packets carry all information between them.
//! [`hosts::Hosts`] holds all hosts of a partition. The simulation calls it when a packet arrives,
//! a port may send, or a timer fires.
//!
//! Not modelled: processing time in hosts, PCIe, the limits of NIC caches.

pub mod cc;
pub mod flow;
pub mod flowtune;
pub mod frame;
pub mod hosts;
pub mod intake;
pub mod nic;
pub mod onramp;
pub mod receiver;
pub mod receiver_driven;
pub mod recovery;
pub mod stats;
pub mod tcp;
pub mod transport;

#[doc(hidden)]
pub use inventory;

pub use flow::{Finished, FlowStart, FlowStop};
pub use frame::FrameConfig;
pub use hosts::Hosts;
pub use transport::TransportConfig;
