//! The daemon on the loopback interface.
#![cfg(target_os = "linux")]
mod quick;
