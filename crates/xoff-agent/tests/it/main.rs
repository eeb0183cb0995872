//! Agents on hosts of this machine, and the eBPF objects of the package.
#![cfg(target_os = "linux")]

#[cfg(feature = "bpf")]
mod bpf;
mod hosts;
#[cfg(feature = "bpf")]
mod objects;
mod programs;
mod sockets;
