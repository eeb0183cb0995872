//! Hosts: NICs and transports.
//!
//! A flow has two halves, each owned by its host: a sender ([`flow::Sender`] with a congestion
//! control from [`cc`]) and a receiver ([`receiver`]). What the receiver needs travels in the packet.
//! [`hosts::Hosts`] holds all hosts of a partition and is driven by the simulation: a packet arrives,
//! a port may pick, a timer fires.
//!
//! What this crate does not model: processing time in hosts, PCIe, the limits of a NIC's caches.

pub mod cc;
pub mod driven;
pub mod flow;
pub mod flowtune;
pub mod hosts;
pub mod intake;
pub mod nic;
pub mod onramp;
pub mod receiver;
pub mod recovery;
pub mod transport;

pub use flow::{Finished, FlowStart, FlowStop};
pub use hosts::Hosts;
pub use transport::{FrameConfig, TransportConfig};
