//! How packets cross a switch.
//!
//! One file an architecture. A switch is driven by four calls: a packet arrives, a port may pick its
//! next packet, a timer fires, and, at the edges of the sampling grid, its state is read.

mod mirror;
mod output_queued;

pub use output_queued::{Destination, InBand, OutputQueued, Parts, SwitchStats};
