//! Flowtune's allocator as a daemon: [`xoff_alloc`] behind UDP.
//!
//! [`Allocation`] joins the protocol's sessions with the optimizer, and has no clock and no
//! sockets. [`Daemon`] gives it both: it receives reports, iterates at a set interval, and sends
//! rates. It serves metrics, writes a log, and gives up its privileges. [`load`] measures it.
//!
//! `docs/deploy.md` describes its use. It runs on Linux.

mod allocation;
mod check;
pub mod config;
#[cfg(target_os = "linux")]
mod daemon;
pub mod fuzz;
#[cfg(target_os = "linux")]
pub mod load;
mod metrics;
#[cfg(target_os = "linux")]
mod standby;
mod topology;
#[cfg(target_os = "linux")]
mod udp;

pub use allocation::{Allocation, AllocationStats};
pub use config::Config;
#[cfg(target_os = "linux")]
pub use daemon::Daemon;
pub use topology::{Link, PAYLOAD, Topology};
