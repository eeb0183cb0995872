//! Packets, links and switches.
//!
//! A folder is a seam: its `mod.rs` says what every implementation does, each other file is one
//! implementation with its settings and their defaults. A switch is put together from them: an
//! architecture ([`arch`]) with a buffer ([`buffer`]), a scheduler a port ([`sched`]), a marker
//! ([`mark`]), a load balancer ([`balance`]) and a hop control ([`hop`]).
//!
//! What this crate does not model: links that corrupt or reorder, forwarding delays inside an
//! output-queued switch, preambles and inter-frame gaps.

pub mod arch;
pub mod balance;
pub mod buffer;
pub mod capability;
pub mod credit;
pub mod division;
pub mod fabric;
pub mod header;
pub mod hop;
pub mod mark;
pub mod packet;
pub mod ports;
pub mod record;
pub mod sched;
pub mod sequence;
pub mod telemetry;
pub mod topo;
pub mod trim;
pub mod xcp;

pub use fabric::Fabric;
pub use packet::{Kind, Packet, Pool, Queue};
pub use record::Record;
