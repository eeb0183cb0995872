//! Foundations shared by all crates of xoff: time in integer picoseconds, typed units, the event
//! wheel, one random stream per entity, the run digest, and declarations. Settings ("knobs") are
//! declared once, with their parser, default, documentation and schema; so are the implementations
//! of a seam and the tables of results.
//!
//! This crate knows nothing about packets.

pub mod counts;
pub mod crew;
pub mod digest;
pub mod files;
pub mod glibc_rand;
pub mod ids;
pub mod invariant;
pub mod knobs;
pub mod math;
pub mod mrg32k3a;
pub mod prefetch;
pub mod program;
pub mod quoted;
pub mod rng;
pub mod seam;
pub mod sync;
pub mod table;
pub mod tournament;
pub mod units;
pub mod wheel;

pub use digest::Digest;
pub use files::Files;
pub use glibc_rand::GlibcRand;
pub use ids::{FlowId, HostId, NodeId, PortId};
pub use mrg32k3a::{FirstOfStreams, Mrg32k3a};
pub use rng::Rng;
pub use units::{BitRate, Bytes, Ps};
pub use wheel::{Event, TimerId, Wheel};
