//! What every other crate of xoff stands on: time in integer picoseconds, units that cannot be
//! confused, the event wheel, one random stream per entity, the run digest, the declaration of
//! settings ("knobs") from which reading, defaults, documentation and the schema are made, and the
//! declaration of tables of results.
//!
//! Nothing here knows what travels on a link.

pub mod counts;
pub mod digest;
pub mod knobs;
pub mod math;
pub mod mrg32k3a;
pub mod prefetch;
pub mod rng;
pub mod sync;
pub mod table;
pub mod tournament;
pub mod units;
pub mod wheel;

pub use digest::Digest;
pub use mrg32k3a::FirstOfStreams;
pub use rng::Rng;
pub use units::{BitRate, Bytes, Ps};
pub use wheel::{Event, TimerId, Wheel};
