//! What ports may hold of a switch's memory: the same for all classes ([`Alike`]), or by class
//! ([`ClassLimits`](super::ClassLimits)).

use std::fmt::Debug;

use crate::packet::Packet;
use crate::recount::Checked;

/// What one class may hold at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Guaranteed bytes, outside the pool.
    pub(super) reserve: u64,
    /// Dynamic threshold: a share of the free bytes, in millionths.
    pub(super) threshold_ppm: u64,
    /// How far below the threshold a neighbour is resumed.
    pub(super) resume_offset: u64,
    /// Bytes above the threshold.
    pub(super) headroom: u64,
}

/// Bytes of one class at one port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Bytes counted against reserve and pool.
    pub(super) bytes: u64,
    /// Bytes counted against the headroom.
    pub(super) headroom: u64,
}

impl Count {
    /// Bytes in the pool.
    #[inline(always)]
    pub(super) fn shared(&self, share: &Share) -> u64 {
        self.bytes.saturating_sub(share.reserve)
    }
}

/// The limits of a switch's ports.
pub trait Limits: Debug {
    /// Whether they are rarely used.
    const RARE: bool = false;
    /// Those of one port.
    type OfPort: Debug;

    /// The limits of a class at a port.
    fn share(&self, port: &Self::OfPort, class: u8) -> Share;

    /// Whether a class pauses no neighbour.
    #[inline(always)]
    fn is_lossy(&self, _class: u8) -> bool {
        false
    }

    /// The port that counts a packet for port `egress`.
    #[inline(always)]
    fn port_of(&self, _egress: u16, packet: &Packet) -> u16 {
        packet.ingress
    }

    /// Whether `bytes` are at most the share `ppm` of `free` bytes: by products, without division.
    #[inline(always)]
    fn is_within(bytes: u64, free: u64, ppm: u64) -> bool {
        bytes * 1_000_000 <= free * ppm
    }

    /// Whether an admitted packet of `bytes` goes into the pool. Its class then holds `shared`
    /// bytes of the pool. Otherwise the packet goes into the headroom.
    #[inline(always)]
    fn pool_takes(&self, _class: u8, bytes: (u64, u64), free: u64, share: &Share) -> bool {
        let (_, shared) = bytes;
        Self::is_within(shared, free, share.threshold_ppm)
    }

    /// Whether a packet of `bytes` may enter a class with these counts.
    fn admits(
        &self,
        class: u8,
        bytes: u64,
        free: impl FnOnce() -> u64,
        count: &Count,
        share: &Share,
    ) -> bool;

    /// A packet of a class has found no room.
    fn on_refused(&mut self, _class: u8, _bytes: u64, _free: u64, _count: &Count, _share: &Share) {}

    /// Bytes join the headroom of a port.
    #[inline(always)]
    fn take_headroom(&mut self, _bytes: u64) {}

    /// Bytes leave it.
    #[inline(always)]
    fn release_headroom(&mut self, _bytes: u64) {}

    /// Compares the headroom in use with that of all ports, counted again.
    ///
    /// # Errors
    /// If they differ.
    fn recount(&self, _headroom_used: u64) -> Checked {
        Ok(())
    }
}

/// The same limits for all classes, by the rules of the HPCC simulator.
#[derive(Debug)]
pub struct Alike {
    pub(super) reserve: u64,
    pub(super) resume_offset: u64,
}

/// Those of a port.
#[derive(Debug)]
#[repr(C)]
pub struct OfPort {
    pub(super) headroom_bytes: u64,
    pub(super) threshold_ppm: u64,
}

impl Limits for Alike {
    type OfPort = OfPort;

    #[inline(always)]
    fn share(&self, port: &OfPort, _class: u8) -> Share {
        Share {
            reserve: self.reserve,
            threshold_ppm: port.threshold_ppm,
            resume_offset: self.resume_offset,
            headroom: port.headroom_bytes,
        }
    }

    #[inline(always)]
    fn admits(
        &self,
        _class: u8,
        bytes: u64,
        free: impl FnOnce() -> u64,
        count: &Count,
        share: &Share,
    ) -> bool {
        count.headroom + bytes <= share.headroom
            || Self::is_within(count.shared(share) + bytes, free(), share.threshold_ppm)
    }
}
