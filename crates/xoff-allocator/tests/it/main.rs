//! The allocator's configuration, and its daemon on the loopback interface.
#![cfg(target_os = "linux")]

mod configuration;
mod convergence;
mod daemon;
mod load;
mod place;
