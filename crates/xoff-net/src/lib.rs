//! Packets, links and switches.
//!
//! Each folder holds a trait in its `mod.rs`, and one implementation per other file, with its
//! settings and their defaults. A switch consists of an architecture ([`arch`]) with a buffer
//! ([`buffer`]), a scheduler per port ([`sched`]), a marker ([`mark`]), a load balancer
//! ([`balance`]) and a hop control ([`hop`]).
//!
//! This crate does not model links that corrupt or reorder, forwarding delays inside an
//! output-queued switch, preambles and inter-frame gaps.

pub mod arch;
pub mod balance;
pub mod buffer;
pub mod by_class;
pub mod capability;
pub mod credit;
mod destination;
pub mod division;
mod drops;
pub mod fabric;
pub mod fuzz;
pub mod header;
pub mod hop;
pub mod mark;
pub mod packet;
mod pauses;
pub mod phase;
pub mod pint;
pub mod ports;
pub mod record;
pub mod recount;
pub mod sched;
pub mod sequence;
mod switch_stats;
pub mod telemetry;
pub mod topo;
pub mod trim;
pub mod xcp;

pub use fabric::Fabric;
pub use packet::{Kind, Packet, Pool, Queue};
pub use record::Record;
