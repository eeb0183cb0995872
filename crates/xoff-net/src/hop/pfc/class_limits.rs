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

use xoff_core::Bytes;
use xoff_core::invariant::{Checker, Violation, equal, holds};

use super::limits::{Limits, Share};
use super::shared_pool::{Count, SharedPool};
use super::{Pfc, PfcConfig, PfcPort};
use crate::buffer::{BufferConfig, Profile};
use crate::packet::{CLASSES, Packet};
use crate::recount::Checked;

/// Packets of one class that found no room.
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
    fn admits(&self, class: u8, bytes: u64, free: u64, count: &Count, share: &Share) -> bool {
        matches!(self.verdict(class, bytes, free, count, share), Verdict::Fits)
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

/// The division of a switch's memory among classes. Without PFC all classes are lossy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryPlan<'a> {
    pub(crate) pfc: Option<&'a PfcConfig>,
    pub(crate) buffer: &'a BufferConfig,
}

/// Bytes of a memory that are not in the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aside {
    reserves: u64,
    pub(crate) headrooms: u64,
}

impl Aside {
    pub(crate) fn bytes(self) -> u64 {
        self.reserves + self.headrooms
    }
}

impl MemoryPlan<'_> {
    /// Whether classes need accounts of their own.
    pub(crate) fn is_by_class(self) -> bool {
        let shares = self.pfc.is_some_and(|pfc| pfc.headroom_oversubscription > 0.0);
        shares || !self.buffer.by_class.is_empty()
    }

    /// What a class may hold at a port. A threshold follows rates above `nic_rate`, if so set.
    pub(super) fn share(self, own: Option<Profile>, port: &PfcPort, nic_rate: u64) -> Share {
        let Profile { lossy, alpha, reserve, headroom, resume_offset } = own.unwrap_or_default();
        let Some(pfc) = self.pfc.filter(|_| !lossy) else {
            let alpha = alpha.unwrap_or(self.buffer.alpha);
            // 0: no limit.
            let threshold_ppm = if alpha > 0.0 { (alpha * 1e6) as u64 } else { u64::MAX };
            let reserve = reserve.unwrap_or_default().0;
            return Share { reserve, threshold_ppm, ..Share::default() };
        };
        let headroom = headroom.map_or_else(|| pfc.headroom_bytes(port), |bytes| bytes.0);
        let threshold = alpha.unwrap_or(pfc.threshold);
        Share {
            reserve: reserve.unwrap_or(pfc.reserve).0,
            threshold_ppm: pfc.threshold_ppm(threshold, port.rate, nic_rate),
            resume_offset: resume_offset.unwrap_or(pfc.resume_offset).0,
            headroom,
        }
    }

    /// What is set aside for these ports: for each class of `buffer.by_class`, and once for the
    /// others.
    pub(crate) fn aside<'p>(self, ports: impl IntoIterator<Item = &'p PfcPort>) -> Aside {
        let by_class = &self.buffer.by_class;
        let others = (!by_class.is_complete()).then_some(None);
        let mut aside = Aside::default();
        for port in ports {
            for own in by_class.iter().map(|(_, own)| Some(own)).chain(others) {
                let share = self.share(own, port, u64::MAX);
                aside.reserves += share.reserve;
                aside.headrooms += share.headroom;
            }
        }
        let times = self.pfc.map_or(0.0, |pfc| pfc.headroom_oversubscription);
        if times > 0.0 {
            aside.headrooms = (aside.headrooms as f64 / times) as u64;
        }
        aside
    }

    /// Pool and thresholds of a switch with this memory and these ports: names and bytes. A lone
    /// ingress or queue holds its share of what it leaves free, and its reserve.
    pub(crate) fn explain(self, ports: &[PfcPort]) -> Vec<(String, u64)> {
        let Some(first) = ports.first() else { return Vec::new() };
        let aside = self.aside(ports);
        let pool = self.buffer.size.0.saturating_sub(aside.bytes());
        let alone = |own: Option<Profile>| {
            let share = self.share(own, first, u64::MAX);
            let alpha = share.threshold_ppm as f64 / 1e6;
            (pool as f64 * (alpha / (1.0 + alpha))) as u64 + share.reserve
        };
        let name =
            |text: &str| if self.pfc.is_some() { format!("pfc_{text}") } else { text.into() };
        let mut found = vec![(name("pool"), pool)];
        if self.pfc.is_some_and(|pfc| pfc.headroom_oversubscription > 0.0) {
            found.push((name("headroom_pool"), aside.headrooms));
        }
        let limit = |lossy: bool| match lossy {
            false => name("pause_of_a_lone_ingress"),
            true => "most_in_a_queue".to_owned(),
        };
        if !self.buffer.by_class.is_complete() {
            found.push((limit(self.pfc.is_none()), alone(None)));
        }
        for (class, own) in self.buffer.by_class.iter() {
            let lossy = own.lossy || self.pfc.is_none();
            found.push((format!("class{class}_{}", limit(lossy)), alone(Some(own))));
        }
        found
    }

    /// The bytes of the pool.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the memory.
    pub(super) fn pool(self, aside: Aside) -> Result<u64, String> {
        self.buffer.size.0.checked_sub(aside.bytes()).ok_or_else(|| {
            format!(
                "reserves and headrooms take {} of a buffer of {}",
                Bytes(aside.bytes()),
                self.buffer.size
            )
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
