//! A switch's packet memory: the admission of packets to queues.

use xoff_core::knobs::{CLASSES as TELLS_CLASSES, Checked, Effect, because};
use xoff_core::{Bytes, choices, knobs};

use crate::by_class::ByClass;
use crate::capability::{CLASS_MEMORY, DYNAMIC_THRESHOLD, GATEWAYS};

pub use by_class::Profile;

mod by_class;

choices! {
    /// Kinds of buffer.
    pub enum BufferKind {
        /// One memory for all ports. A queue may take a share of the free bytes (Choudhury and
        /// Hahne).
        Shared = "shared",
        /// Never full, but a port holds at most 4.29 GB.
        Unlimited = "unlimited",
        /// Each queue has its own memory.
        Dedicated = "dedicated",
    }
}

knobs! {
    /// A switch's packet buffer.
    pub struct BufferConfig in "buffer" {
        /// The kind of memory: shared by all ports with a dynamic threshold per queue, unlimited,
        /// or dedicated to a queue.
        kind: BufferKind = BufferKind::Shared,
        /// Size of the memory (BFC §6.2.1: 12 MB). If dedicated: size per queue, or per port if the
        /// scheduler does not divide it. 0: with scheduler = "pfabric", two bandwidth-delay
        /// products of the base RTT and the hosts' rate (pFabric §5: 36 KB at 10 Gb/s).
        size: Bytes = Bytes(12_000_000) => [Effect::Unless(unlimited)],
        /// Size of the memory at gateways between data centres; 0: as at other switches. PFC
        /// reserves the bytes in flight on every link, and a long link holds more than the memory
        /// of a switch.
        gateway_size: Bytes = Bytes(0) => [Effect::Unless(unlimited), Effect::Needs(GATEWAYS)],
        /// Dynamic threshold: a queue may hold up to alpha x the free bytes; 0: no limit per queue.
        /// With 1, a single queue gets half of the memory.
        alpha: f64 = 1.0 => [
            Effect::Unless(unlimited),
            Effect::Unless(dedicated),
            Effect::Unless(|buffer| because(
                buffer.by_class.every(|own| own.alpha.is_some()),
                "buffer.by_class gives every class its own alpha",
            )),
            Effect::Needs(DYNAMIC_THRESHOLD),
        ],
        /// Shares of single traffic classes, as "0: lossy alpha 1, 3: alpha 0.25 reserve 8KB
        /// headroom 60KB". Under PFC, classes without the word `lossy` are lossless; without
        /// PFC all are lossy. `alpha` is the dynamic threshold, of a lossy class at each egress
        /// queue, of a lossless one at each ingress, where it pauses the neighbour. `reserve` is
        /// guaranteed to each such queue or ingress. `headroom` is that of each ingress, and
        /// `resume_offset` says when the neighbour is resumed. What a class does not name is that
        /// of all classes: `buffer.alpha` and no reserve if lossy, else the settings of `pfc`.
        /// SONiC has such profiles (BUFFER_PROFILE).
        by_class: ByClass<Profile> = ByClass::default() => [
            Effect::Unless(unlimited),
            Effect::Unless(dedicated),
            Effect::Needs(CLASS_MEMORY),
            Effect::Needs(TELLS_CLASSES),
        ],
    }
}

/// The reason that settings of a limit have no effect, if they have none.
fn unlimited(buffer: &BufferConfig) -> Option<String> {
    because(buffer.kind == BufferKind::Unlimited, "buffer.kind = \"unlimited\"")
}

/// The reason that settings of a shared memory have no effect, if they have none.
fn dedicated(buffer: &BufferConfig) -> Option<String> {
    because(buffer.kind == BufferKind::Dedicated, "buffer.kind = \"dedicated\"")
}

/// The size of a memory that never fills up.
const ENDLESS: u64 = u64::MAX / 2_000_000;

/// The largest memory (bytes). A million times as much fits into 63 bits.
const LARGEST: u64 = 9_000_000_000_000;

/// The smallest share above 0. Shares are counted in whole millionths: a smaller one would be none.
const LEAST_SHARE: f64 = 1e-6;

/// Checks a share that may be 0.
///
/// # Errors
/// The key, and what to write instead.
pub(crate) fn check_ppm(key: &'static str, share: f64) -> Checked {
    if share > 0.0 && share < LEAST_SHARE {
        return Err((key, format!("{key} is {share}: write 0, or at least {LEAST_SHARE}")));
    }
    Ok(())
}

/// The limit of a single queue.
#[derive(Clone, Copy, Debug)]
enum QueueLimit {
    /// None.
    None,
    /// A share of the free bytes (alpha), in millionths.
    FreePpm(i64),
    /// A fixed number of bytes.
    Bytes(u64),
}

impl BufferConfig {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        for (key, size) in [("size", self.size), ("gateway_size", self.gateway_size)] {
            if size.0 > LARGEST {
                let message = format!(
                    "{key} is {size}: write at most {}, or kind = \"unlimited\"",
                    Bytes(LARGEST)
                );
                return Err((key, message));
            }
        }
        check_ppm("alpha", self.alpha)?;
        self.by_class.check()
    }

    /// True if queues have no limit.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        self.kind == BufferKind::Unlimited
    }

    /// True if each queue has a memory of its own.
    #[must_use]
    pub fn is_dedicated(&self) -> bool {
        self.kind == BufferKind::Dedicated
    }

    /// The buffer of a gateway, or of any other switch.
    #[must_use]
    pub fn of(&self, gateway: bool) -> Self {
        let own = gateway && self.gateway_size > Bytes(0);
        Self { size: if own { self.gateway_size } else { self.size }, ..self.clone() }
    }

    /// The most that one queue can hold while all others are empty.
    #[must_use]
    pub fn queue_limit(&self) -> Option<Bytes> {
        match self.kind {
            BufferKind::Unlimited => None,
            BufferKind::Dedicated => Some(self.size),
            BufferKind::Shared if self.limits_queues() => {
                Some(Bytes((self.size.0 as f64 * self.alpha / (1.0 + self.alpha)) as u64))
            }
            BufferKind::Shared => Some(self.size),
        }
    }

    /// True if one threshold limits each queue of a shared memory. If classes have shares of their
    /// own, the hop control keeps their accounts.
    fn limits_queues(&self) -> bool {
        self.alpha > 0.0 && self.by_class.is_empty()
    }
}

/// The state of one switch's buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    size: i64,
    queue: QueueLimit,
    /// Bytes not in use. Negative if packets that need no admission exceed the memory.
    free: i64,
    /// The least that was free after any instant since the last read, except after the last instant
    /// with a change, and the time of that instant (ps).
    least_free: i64,
    changed: u64,
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub fn new(config: &BufferConfig) -> Self {
        let (size, queue) = match config.kind {
            BufferKind::Shared if config.limits_queues() => {
                // Bounded, so that a product with the free bytes fits.
                let most = i64::MAX / (config.size.0.max(1) as i64);
                (config.size.0, QueueLimit::FreePpm(((config.alpha * 1e6) as i64).min(most)))
            }
            BufferKind::Shared => (config.size.0, QueueLimit::None),
            BufferKind::Unlimited => (ENDLESS, QueueLimit::None),
            BufferKind::Dedicated => (ENDLESS, QueueLimit::Bytes(config.size.0)),
        };
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        Self { size, queue, free: size, least_free: size, changed: 0 }
    }

    /// Whether `bytes` more may join a queue of `queue_bytes`.
    #[inline(always)]
    #[must_use]
    pub fn admits(&self, queue_bytes: u32, bytes: u16) -> bool {
        let within = match self.queue {
            // T(t) = alpha (B - Q(t)): the threshold of the queue moves with the free bytes.
            QueueLimit::FreePpm(alpha) => i64::from(queue_bytes) * 1_000_000 < alpha * self.free,
            QueueLimit::None => true,
            QueueLimit::Bytes(limit) => fits(limit, queue_bytes, bytes),
        };
        within && i64::from(bytes) <= self.free
    }

    /// Counts an admitted packet.
    #[inline]
    pub fn take(&mut self, now: u64, bytes: u16) {
        self.settle(now);
        self.free -= i64::from(bytes);
    }

    /// Subtracts a packet that left.
    ///
    /// # Panics
    /// If more bytes leave than arrived, which is a bug.
    #[inline]
    pub fn release(&mut self, now: u64, bytes: u16) {
        self.settle(now);
        self.free += i64::from(bytes);
        assert!(self.free <= self.size, "buffer accounting went negative");
    }

    /// A change happens now, so the occupancy until now has lasted. A packet that arrives and
    /// leaves at one instant may as well pass the buffer by, so the occupancy in between does not
    /// count.
    #[inline]
    fn settle(&mut self, now: u64) {
        if self.free < self.least_free && now > self.changed {
            self.least_free = self.free;
        }
        self.changed = now;
    }

    /// The most bytes that were in use after any instant since the last call.
    pub fn take_watermark(&mut self) -> u64 {
        let least_free = self.least_free.min(self.free);
        self.least_free = self.free;
        (self.size - least_free) as u64
    }

    /// Whether neither it nor a queue can fill up.
    pub(crate) fn is_endless(&self) -> bool {
        self.size == ENDLESS as i64 && matches!(self.queue, QueueLimit::None)
    }

    /// Bytes in use.
    #[inline]
    #[must_use]
    pub fn used(&self) -> u64 {
        (self.size - self.free) as u64
    }
}

/// Whether `bytes` more fit into a queue's own memory. A separate function, so that the answer for
/// a shared memory is a jump and not computed both ways.
#[cold]
fn fits(limit: u64, queue_bytes: u32, bytes: u16) -> bool {
    u64::from(queue_bytes) + u64::from(bytes) <= limit
}

#[cfg(test)]
mod tests;
