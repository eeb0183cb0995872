//! ECN marking by queue length (RED without averaging, as in DCTCP and DCQCN).

use std::sync::{Arc, Mutex, PoisonError};

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Bytes, FirstOfStreams, Rng, choices, knobs};

choices! {
    /// When the queue length is checked.
    pub enum MarkAt {
        /// When a packet leaves: the signal is newer by one queueing delay.
        Dequeue = "dequeue",
        /// When a packet arrives.
        Enqueue = "enqueue",
    }
}

knobs! {
    /// ECN marking at switches. BFC §6.2.1: Kmin 100 KB, Kmax 400 KB for DCQCN and DCTCP at 100
    /// Gb/s.
    pub struct EcnConfig in "ecn" {
        /// No packet is marked while its queue holds no more than this.
        kmin: Bytes = Bytes(100_000),
        /// Every packet is marked while its queue holds more than this.
        kmax: Bytes = Bytes(400_000),
        /// Marking probability at Kmax; linear from 0 at Kmin.
        pmax: f64 = 0.2 => [Effect::Unless(|ecn| because(
            ecn.kmin == ecn.kmax,
            "ecn.kmin = ecn.kmax is a single threshold: no queue is between them",
        ))],
        /// Whether the queue length is checked when a packet arrives or when it leaves.
        at: MarkAt = MarkAt::Dequeue,
    }
}

impl EcnConfig {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        if self.kmin > self.kmax {
            return Err(("kmin", "kmin must not be larger than kmax".into()));
        }
        if self.pmax > 1.0 {
            return Err(("pmax", "pmax is a probability: 0 to 1".into()));
        }
        Ok(())
    }
}

/// The source of a switch's random marks.
#[derive(Clone, Debug)]
pub enum Draws {
    /// Its own stream.
    Own(Rng),
    /// One sequence for all switches, in the order of their draws. Only for a network in one
    /// partition.
    Shared(Arc<Mutex<FirstOfStreams>>),
}

impl Draws {
    /// A number below 1.
    #[inline]
    fn unit(&mut self) -> f64 {
        match self {
            Draws::Own(rng) => rng.unit(),
            Draws::Shared(streams) => streams.lock().unwrap_or_else(PoisonError::into_inner).unit(),
        }
    }

    /// Skips a number of the shared sequence, used for another purpose.
    pub(crate) fn skip_shared(&mut self) {
        if let Draws::Shared(streams) = self {
            streams.lock().unwrap_or_else(PoisonError::into_inner).skip();
        }
    }
}

/// The thresholds of one port.
#[derive(Clone, Copy, Debug)]
pub struct RedEcn {
    kmin_bytes: u32,
    kmax_bytes: u32,
    pmax: f64,
}

impl RedEcn {
    /// From the settings.
    #[must_use]
    pub fn new(config: &EcnConfig) -> Self {
        Self {
            kmin_bytes: u32::try_from(config.kmin.0).unwrap_or(u32::MAX),
            kmax_bytes: u32::try_from(config.kmax.0).unwrap_or(u32::MAX),
            pmax: config.pmax,
        }
    }

    /// Whether to mark a packet of a queue of `queue_bytes`.
    #[inline(always)]
    pub fn marks(&self, queue_bytes: u32, draws: &mut Draws) -> bool {
        queue_bytes > self.kmin_bytes && self.marks_above_kmin(queue_bytes, draws)
    }

    #[inline(never)]
    fn marks_above_kmin(&self, queue_bytes: u32, draws: &mut Draws) -> bool {
        if queue_bytes > self.kmax_bytes {
            return true;
        }
        let above = f64::from(queue_bytes - self.kmin_bytes);
        let range = f64::from(self.kmax_bytes - self.kmin_bytes);
        draws.unit() < self.pmax * above / range
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::*;

    #[test]
    fn probability_is_linear_between_the_thresholds() {
        let red = RedEcn::new(&EcnConfig::default());
        let mut draws = Draws::Own(Rng::stream(1, Purpose::Marking, 0));
        let mut share = |bytes| {
            let marked = (0..20_000).filter(|_| red.marks(bytes, &mut draws)).count();
            marked as f64 / 20_000.0
        };
        assert_eq!(share(100_000), 0.0);
        assert_eq!(share(400_001), 1.0);
        assert!((share(250_000) - 0.1).abs() < 0.01);
        assert!((share(400_000) - 0.2).abs() < 0.015);
    }
}
