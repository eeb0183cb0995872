//! A switch's packet memory: the admission of packets to queues.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, choices, knobs};

use crate::capability::{DYNAMIC_THRESHOLD, GATEWAYS};

choices! {
    /// Kinds of buffer.
    pub enum BufferKind {
        /// One memory for all ports. A queue may take a share of the free bytes (Choudhury and
        /// Hahne).
        Shared = "shared",
        /// Never full.
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
            Effect::Unless(|buffer| because(
                buffer.kind == BufferKind::Dedicated,
                "buffer.kind = \"dedicated\"",
            )),
            Effect::Needs(DYNAMIC_THRESHOLD),
        ],
    }
}

/// The reason that settings of a limit have no effect, if they have none.
fn unlimited(buffer: &BufferConfig) -> Option<String> {
    because(buffer.kind == BufferKind::Unlimited, "buffer.kind = \"unlimited\"")
}

/// The size of a memory that never fills up.
const ENDLESS: u64 = u64::MAX / 2_000_000;

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
            BufferKind::Shared if self.alpha > 0.0 => {
                Some(Bytes((self.size.0 as f64 * self.alpha / (1.0 + self.alpha)) as u64))
            }
            BufferKind::Shared => Some(self.size),
        }
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
            BufferKind::Shared if config.alpha > 0.0 => {
                // Limited, so that a product with the free bytes fits.
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
mod tests {
    use super::*;

    /// n greedy queues under threshold alpha settle at alpha B / (1 + n alpha) each (Choudhury and
    /// Hahne 1998, eq. 3).
    #[test]
    fn greedy_queues_settle_at_the_fixed_point() {
        for (alpha, queues) in [(1.0, 1usize), (1.0, 3), (0.5, 4), (2.0, 8), (0.125, 16)] {
            let config = BufferConfig { alpha, size: Bytes(12_000_000), ..BufferConfig::default() };
            let mut buffer = Buffer::new(&config);
            let mut held = vec![0u32; queues];
            let mut grown = true;
            while grown {
                grown = false;
                for queue in &mut held {
                    if buffer.admits(*queue, 1000) {
                        buffer.take(0, 1000);
                        *queue += 1000;
                        grown = true;
                    }
                }
            }
            let fixed_point = alpha * 12e6 / (1.0 + queues as f64 * alpha);
            for queue in held {
                assert!((f64::from(queue) - fixed_point).abs() <= 2000.0, "{queue} {fixed_point}");
            }
        }
    }

    #[test]
    fn a_watermark_starts_from_what_is_there() {
        let mut buffer = Buffer::new(&BufferConfig::default());
        let mut watermark = |changes: &[(u64, i32)]| {
            for &(now, bytes) in changes {
                let size = bytes.unsigned_abs() as u16;
                if bytes > 0 { buffer.take(now, size) } else { buffer.release(now, size) }
            }
            buffer.take_watermark()
        };
        assert_eq!(watermark(&[(1, 1000), (2, 500), (3, -1000)]), 1500);
        assert_eq!(watermark(&[(7, -200)]), 500);
        // Bytes that arrive and leave at one instant do not count; the occupancy before does.
        assert_eq!(watermark(&[(8, 400), (9, 1000), (9, -1000), (9, -500)]), 700);
        assert_eq!(watermark(&[]), 200);
    }

    #[test]
    fn a_dedicated_memory_is_full_on_its_own() {
        let config = BufferConfig {
            kind: BufferKind::Dedicated,
            size: Bytes(3000),
            ..BufferConfig::default()
        };
        let mut buffer = Buffer::new(&config);
        buffer.take(0, 60_000);
        let admitted = [0, 2000, 2001, 3000].map(|queued| buffer.admits(queued, 1000));
        assert_eq!(admitted, [true, true, false, false]);
    }

    #[test]
    fn unlimited_never_refuses() {
        let config = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        let mut buffer = Buffer::new(&config);
        for _ in 0..100_000 {
            buffer.take(0, u16::MAX);
        }
        assert!(buffer.admits(u32::MAX, u16::MAX));
        assert_eq!(buffer.used(), 100_000 * u64::from(u16::MAX));
    }
}
