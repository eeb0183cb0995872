//! The phases of one instant, in order. The phase is part of every event's rank.

/// Arrivals and messages.
pub const ARRIVAL: u64 = 1 << SHIFT;
/// Timers.
pub const TIMER: u64 = 2 << SHIFT;
/// Ports that pick their next packet.
pub const ARBITRATION: u64 = 3 << SHIFT;

const SHIFT: u32 = 51;
const KIND_SHIFT: u32 = 47;

const _: () = assert!(ARBITRATION + kind(15) + NUMBERS <= xoff_core::wheel::MAX_RANK);

/// Largest number of a flow, host, switch or port in a rank.
pub const NUMBERS: u64 = (1 << KIND_SHIFT) - 1;

/// Sixteen kinds of events follow each other in a phase, each ordered by number.
#[must_use]
pub const fn kind(kind: u64) -> u64 {
    kind << KIND_SHIFT
}
