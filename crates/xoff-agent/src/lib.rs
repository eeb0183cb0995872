//! Flowtune's endpoint on a Linux host (Perry, Balakrishnan and Shah, NSDI 2017, §5.1).
//!
//! [`run`] is `xoff agent`. A *keeper* (`keeper.rs`) changes the host and undoes it. It starts a
//! process without privileges (`worker.rs`), which brings flowlets of a [data plane](plane) to the
//! allocator, and rates back. With the feature `bpf`, the data plane is a congestion control in the
//! kernel (`plane/bpf.rs`, `bpf/flowtune.bpf.c`).
//!
//! The machine keeps working without the agent: rates in the kernel end with the agent's lease, and
//! CUBIC, which is under them all the time, goes on. [`host`] has what is changed on a host, and
//! [`state`] has the file that lets [`cleanup`] undo it after `kill -9`.
#![cfg(target_os = "linux")]

mod clock;
mod closer;
pub mod config;
mod flowlets;
pub mod host;
mod keeper;
mod limits;
mod metrics;
pub mod name;
pub mod plane;
mod process;
mod restore;
#[cfg(feature = "bpf")]
mod retire;
pub mod state;
mod sys;
mod worker;

pub use config::Config;
pub use keeper::run;
pub use restore::cleanup;

/// True if this build has the eBPF data plane.
pub const HAS_BPF: bool = cfg!(feature = "bpf");
