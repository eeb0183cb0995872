//! The clock of the agent and of the eBPF program.

use rustix::time::{ClockId, clock_gettime};

/// The time of `CLOCK_MONOTONIC`, which the eBPF program reads too.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
