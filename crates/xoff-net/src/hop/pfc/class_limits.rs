//! Limits by class, as the buffer profiles of SONiC set them: some classes are lossless and pause
//! their neighbours, the others are lossy, and each has a dynamic threshold and guaranteed bytes of
//! its own.
//!
//! A packet counts once, against one pool. One of a lossless class counts at its ingress, where it
//! may use the headroom. One of a lossy class counts at its egress queue, and is dropped above the
//! threshold. Switches count both at both ends. SONiC's default profiles give the other end a limit
//! that it hardly reaches (`ingress_lossy_profile`: alpha 8, `egress_lossless_profile`: the pool).
//!
//! The headrooms of all ports may be drawn from one pool that is smaller than their sum (SONiC's
//! shared headroom pool): "only all PGs suffer congestion at the same time can all the headroom
//! buffer be occupied".

use xoff_core::invariant::{Checker, Violation, equal, holds};

use super::Pfc;
use super::limits::{Count, Limits, Share};
use super::memory_plan::MemoryPlan;
use super::shared_pool::SharedPool;
use crate::hop::PfcPort;
use crate::packet::{CLASSES, Packet};
use crate::recount::Checked;

/// The packets of a class that found no room, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Lossy: the queue had reached its dynamic threshold.
    pub threshold: u64,
    /// Lossless: the headroom of the ingress was full.
    pub headroom: u64,
    /// Lossless: the pool of all headrooms was used up.
    pub headroom_pool: u64,
    /// The memory was full, because more classes used headroom than it was set aside for.
    pub memory: u64,
}

impl Refused {
    /// The same of more switches.
    pub fn add(&mut self, other: &Self) {
        self.threshold += other.threshold;
        self.headroom += other.headroom;
        self.headroom_pool += other.headroom_pool;
        self.memory += other.memory;
    }
}

/// Counts of a switch whose classes have limits of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// The most bytes of headroom in use at once.
    pub headroom_max: u64,
    /// Packets that found no room, by class.
    pub refused: [Refused; CLASSES],
}

/// The limits of a switch by class, and the headroom that its ports draw from one pool.
#[derive(Debug)]
pub struct ClassLimits {
    /// Classes that pause no neighbour, as a set.
    lossy: u8,
    headroom_pool: u64,
    headroom_used: u64,
    stats: ClassStats,
}

enum Verdict {
    Fits,
    Threshold,
    Headroom,
    HeadroomPool,
}

impl ClassLimits {
    fn verdict(&self, class: u8, bytes: u64, free: u64, count: &Count, share: &Share) -> Verdict {
        let shared = (count.bytes + bytes).saturating_sub(share.reserve);
        if shared == 0 {
            return Verdict::Fits;
        }
        if self.is_lossy(class) {
            // T(t) = alpha (B - Q(t)), as for queues without classes (`buffer`).
            let threshold = share.threshold_ppm.saturating_mul(free);
            let below = count.shared(share) * 1_000_000 < threshold;
            let fits = below && bytes.min(shared) <= free;
            return if fits { Verdict::Fits } else { Verdict::Threshold };
        }
        if self.pool_takes(class, (bytes, shared), free, share) {
            Verdict::Fits
        } else if count.headroom + bytes > share.headroom {
            Verdict::Headroom
        } else if self.headroom_used + bytes > self.headroom_pool {
            Verdict::HeadroomPool
        } else {
            Verdict::Fits
        }
    }

    /// Its counts.
    pub(super) fn stats(&self) -> &ClassStats {
        &self.stats
    }
}

impl Limits for ClassLimits {
    const RARE: bool = true;
    type OfPort = [Share; CLASSES];

    #[inline]
    fn share(&self, port: &Self::OfPort, class: u8) -> Share {
        port[usize::from(class)]
    }

    #[inline]
    fn is_lossy(&self, class: u8) -> bool {
        self.lossy >> class & 1 == 1
    }

    #[inline]
    fn port_of(&self, egress: u16, packet: &Packet) -> u16 {
        if self.is_lossy(packet.class()) { egress } else { packet.ingress }
    }

    /// A threshold may be several times the free bytes.
    #[inline]
    fn is_within(bytes: u64, free: u64, ppm: u64) -> bool {
        bytes * 1_000_000 <= free.saturating_mul(ppm)
    }

    #[inline]
    fn pool_takes(&self, class: u8, bytes: (u64, u64), free: u64, share: &Share) -> bool {
        let (bytes, shared) = bytes;
        let within = Self::is_within(shared, free, share.threshold_ppm);
        self.is_lossy(class) || within && bytes.min(shared) <= free
    }

    #[inline]
    fn admits(
        &self,
        class: u8,
        bytes: u64,
        free: impl FnOnce() -> u64,
        count: &Count,
        share: &Share,
    ) -> bool {
        matches!(self.verdict(class, bytes, free(), count, share), Verdict::Fits)
    }

    #[cold]
    fn on_refused(&mut self, class: u8, bytes: u64, free: u64, count: &Count, share: &Share) {
        let verdict = self.verdict(class, bytes, free, count, share);
        let refused = &mut self.stats.refused[usize::from(class)];
        match verdict {
            Verdict::Threshold => refused.threshold += 1,
            Verdict::Headroom => refused.headroom += 1,
            Verdict::HeadroomPool => refused.headroom_pool += 1,
            Verdict::Fits => refused.memory += 1,
        }
    }

    #[inline]
    fn take_headroom(&mut self, bytes: u64) {
        self.headroom_used += bytes;
        self.stats.headroom_max = self.stats.headroom_max.max(self.headroom_used);
    }

    #[inline]
    fn release_headroom(&mut self, bytes: u64) {
        self.headroom_used -= bytes;
    }

    fn recount(&self, headroom_used: u64) -> Checked {
        let place = || "bytes of headroom in use".to_owned();
        equal(Checker::Buffers, headroom_used, self.headroom_used, place)?;
        holds(self.headroom_used <= self.headroom_pool, || {
            let expected = format!("at most the pool of {}", self.headroom_pool);
            Violation::new(Checker::Buffers, "bytes of headroom in use", expected, headroom_used)
        })
    }
}

impl Pfc<SharedPool<ClassLimits>> {
    /// For a switch with these ports. `nic_rate` is the hosts' rate.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the buffer.
    pub(crate) fn by_class(
        plan: MemoryPlan<'_>,
        ports: &[PfcPort],
        nic_rate: u64,
    ) -> Result<Self, String> {
        let aside = plan.aside(ports);
        let own = |class| plan.buffer.by_class.of(class);
        let is_lossy = |class| plan.pfc.is_none() || own(class).is_some_and(|own| own.lossy);
        let classes = (0..CLASSES as u8).filter(|&class| is_lossy(class));
        let limits = ClassLimits {
            lossy: classes.fold(0, |all, class| all | 1 << class),
            headroom_pool: match plan.pfc {
                Some(pfc) if pfc.headroom_oversubscription > 0.0 => aside.headrooms,
                _ => u64::MAX,
            },
            headroom_used: 0,
            stats: ClassStats::default(),
        };
        let shares =
            |port| std::array::from_fn(|class| plan.share(own(class as u8), port, nic_rate));
        let pool = SharedPool::new(plan.pool(aside)?, limits);
        Ok(Self::sharing(pool, ports.iter().map(shares)))
    }

    /// Counts of its classes.
    pub(crate) fn class_stats(&self) -> &ClassStats {
        self.accounting().limits().stats()
    }
}

#[cfg(test)]
#[path = "class_limits_tests.rs"]
mod tests;
