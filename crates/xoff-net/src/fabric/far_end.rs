//! What a port has in place of its other end's partition if its packets do not simply arrive there:
//! it then uses the path of packets for another partition, which checks. Other ports need no check.

use crate::packet::NONE;

/// The link loses packets, or is down.
pub(super) const IMPAIRED: u32 = NONE - 1;
/// The port keeps a packet until its last bit has been sent.
pub(super) const KEEPS: u32 = NONE - 2;
/// The events of one instant happen in the order of setting. Smaller numbers are partitions.
pub(super) const IN_SEQUENCE: u32 = NONE - 3;
