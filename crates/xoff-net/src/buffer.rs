//! A switch's packet memory: who may still enqueue.

use xoff_core::{Bytes, choices, knobs};

choices! {
    /// Kinds of buffer.
    pub enum BufferKind {
        /// One memory for all ports; a queue may take a share of what is free (Choudhury and Hahne).
        Shared = "shared",
        /// Never full.
        Unlimited = "unlimited",
    }
}

knobs! {
    /// A switch's packet buffer.
    pub struct BufferConfig in "buffer" {
        /// Shared by all ports with a dynamic threshold a queue, or unlimited.
        kind: BufferKind = BufferKind::Shared,
        /// Size of the memory (BFC §6.2.1: 12 MB).
        size: Bytes = Bytes(12_000_000),
        /// Dynamic threshold: a queue may hold up to alpha x the free bytes; 0: no limit a queue.
        /// With 1, a single queue gets half of the memory.
        alpha: f64 = 1.0,
    }
}

/// The state of one switch's buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    size: u64,
    /// alpha in millionths; `None`: no threshold.
    alpha_ppm: Option<u64>,
    used: u64,
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub fn new(config: &BufferConfig) -> Self {
        let shared = config.kind == BufferKind::Shared;
        Self {
            size: if shared { config.size.0 } else { u64::MAX / 2_000_000 },
            alpha_ppm: (shared && config.alpha > 0.0).then_some((config.alpha * 1e6) as u64),
            used: 0,
        }
    }

    /// Whether `bytes` more may join a queue that holds `queue_bytes`.
    #[inline]
    #[must_use]
    pub fn admits(&self, queue_bytes: u32, bytes: u16) -> bool {
        let free = self.size.saturating_sub(self.used);
        let within = match self.alpha_ppm {
            // T(t) = alpha (B - Q(t)): the queue's threshold moves with what is free.
            Some(alpha) => u64::from(queue_bytes) * 1_000_000 < alpha * free,
            None => true,
        };
        within && u64::from(bytes) <= free
    }

    /// Counts an admitted packet.
    #[inline]
    pub fn take(&mut self, bytes: u16) {
        self.used += u64::from(bytes);
    }

    /// Counts a packet that left.
    ///
    /// # Panics
    /// If more leaves than came: that is a bug.
    #[inline]
    pub fn release(&mut self, bytes: u16) {
        self.used =
            self.used.checked_sub(u64::from(bytes)).expect("buffer accounting went negative");
    }

    /// Bytes in use.
    #[inline]
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }
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
                        buffer.take(1000);
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
    fn unlimited_never_refuses() {
        let config = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        let mut buffer = Buffer::new(&config);
        for _ in 0..100_000 {
            buffer.take(u16::MAX);
        }
        assert!(buffer.admits(u32::MAX, u16::MAX));
        assert_eq!(buffer.used(), 100_000 * u64::from(u16::MAX));
    }
}
