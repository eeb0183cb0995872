//! Fuzz targets: what no file, datagram or frame may do to its reader.
//!
//! [`TARGETS`] is the only list of them. `cargo test` runs each target over its seeds and some
//! thousand changes of them ([`mutate`]). The program `fuzz` goes on with more changes. `fuzz/` has
//! the same for cargo-fuzz, which follows the coverage.
//!
//! The laws of a reader are a function in the module `fuzz` of its crate: it panics where a law is
//! broken. [`Target::check`] adds those of all readers: no panic, no overflow, memory bounded by
//! the input, and errors that name the file and the place.

mod memory;
pub mod mutate;
mod seeds;
mod target;
mod targets;

pub use target::{Input, Reading, Target};
pub use targets::{TARGETS, named};
