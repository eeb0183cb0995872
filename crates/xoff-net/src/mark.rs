//! ECN marking by queue length (RED without averaging, as in DCTCP and DCQCN).

use std::sync::{Arc, Mutex, PoisonError};

use xoff_core::knobs::{CLASSES as TELLS_CLASSES, Checked, Effect, because};
use xoff_core::{Bytes, FirstOfStreams, Rng, choices, knobs};

pub use by_class::OfClass;

use crate::by_class::ByClass;
use crate::packet::{CLASSES, Packet};

mod by_class;

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
        kmin: Bytes = Bytes(100_000) => [Effect::Unless(of_no_class)],
        /// Every packet is marked while its queue holds more than this.
        kmax: Bytes = Bytes(400_000) => [Effect::Unless(of_no_class)],
        /// Marking probability at Kmax; linear from 0 at Kmin.
        pmax: f64 = 0.2 => [Effect::Unless(EcnConfig::has_no_use_for_pmax)],
        /// Thresholds of single traffic classes, as "3: 20KB-80KB, 5: never": Kmin and Kmax, then
        /// optionally the probability at Kmax, or `never`. Switches have such a profile for each
        /// of their queues. Classes that are not named have the thresholds above.
        by_class: ByClass<OfClass> = ByClass::default() => [Effect::Needs(TELLS_CLASSES)],
        /// Whether the queue length is checked when a packet arrives or when it leaves.
        at: MarkAt = MarkAt::Dequeue,
    }
}

/// The reason that the thresholds of all classes have no effect, if they have none.
fn of_no_class(ecn: &EcnConfig) -> Option<String> {
    because(ecn.by_class.is_complete(), "ecn.by_class names every class")
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
        if (0..CLASSES as u8).all(|class| self.of_class(class).is_none()) {
            let message = "no class is ever marked: set switch.ecn = false";
            return Err(("by_class", message.into()));
        }
        Ok(())
    }

    /// The thresholds of a class: Kmin, Kmax and the probability at Kmax; `None` if its packets are
    /// never marked.
    #[must_use]
    pub fn of_class(&self, class: u8) -> Option<(Bytes, Bytes, f64)> {
        match self.by_class.of(class) {
            None => Some((self.kmin, self.kmax, self.pmax)),
            Some(OfClass::Between(kmin, kmax, pmax)) => {
                Some((kmin, kmax, pmax.unwrap_or(self.pmax)))
            }
            Some(OfClass::Never) => None,
        }
    }

    fn has_no_use_for_pmax(&self) -> Option<String> {
        let uses = |class| match self.by_class.of(class) {
            None => self.kmin < self.kmax,
            Some(OfClass::Between(kmin, kmax, pmax)) => kmin < kmax && pmax.is_none(),
            Some(OfClass::Never) => false,
        };
        let reason = match self.by_class.is_empty() {
            true => "ecn.kmin = ecn.kmax is a single threshold: no queue is between them",
            false => "each class has a single threshold, its own probability, or no marks",
        };
        because(!(0..CLASSES as u8).any(uses), reason)
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

/// The marking probability over the queue length.
#[derive(Clone, Copy, Debug)]
struct Curve {
    kmin_bytes: u32,
    kmax_bytes: u32,
    pmax: f64,
}

impl Curve {
    const NEVER: Self = Self { kmin_bytes: u32::MAX, kmax_bytes: u32::MAX, pmax: 0.0 };

    fn new((kmin, kmax, pmax): (Bytes, Bytes, f64)) -> Self {
        let bytes = |size: Bytes| u32::try_from(size.0).unwrap_or(u32::MAX);
        Self { kmin_bytes: bytes(kmin), kmax_bytes: bytes(kmax), pmax }
    }

    /// Whether to mark a packet of a queue of more than Kmin.
    fn marks(&self, queue_bytes: u32, draws: &mut Draws) -> bool {
        if queue_bytes > self.kmax_bytes {
            return true;
        }
        let above = f64::from(queue_bytes - self.kmin_bytes);
        let range = f64::from(self.kmax_bytes - self.kmin_bytes);
        draws.unit() < self.pmax * above / range
    }
}

/// The thresholds of one port.
#[derive(Clone, Debug)]
pub struct RedEcn {
    /// The lowest Kmin of any class.
    kmin_bytes: u32,
    of_all: Curve,
    /// By class, if they differ. The ports of a network share them.
    by_class: Option<Arc<[Curve; CLASSES]>>,
}

impl RedEcn {
    /// From the settings.
    #[must_use]
    pub fn new(config: &EcnConfig) -> Self {
        let of_all = Curve::new((config.kmin, config.kmax, config.pmax));
        if config.by_class.is_empty() {
            return Self { kmin_bytes: of_all.kmin_bytes, of_all, by_class: None };
        }
        let curves: [Curve; CLASSES] = std::array::from_fn(|class| {
            config.of_class(class as u8).map_or(Curve::NEVER, Curve::new)
        });
        let kmin_bytes = curves.iter().map(|curve| curve.kmin_bytes).min().unwrap_or(u32::MAX);
        Self { kmin_bytes, of_all, by_class: Some(Arc::new(curves)) }
    }

    /// Whether to mark a packet in a queue of `queue_bytes`.
    #[inline(always)]
    pub fn marks(&self, packet: &Packet, queue_bytes: u32, draws: &mut Draws) -> bool {
        queue_bytes > self.kmin_bytes && self.marks_above_kmin(packet.class(), queue_bytes, draws)
    }

    #[inline(never)]
    fn marks_above_kmin(&self, class: u8, queue_bytes: u32, draws: &mut Draws) -> bool {
        let Some(curves) = &self.by_class else { return self.of_all.marks(queue_bytes, draws) };
        let curve = &curves[usize::from(class)];
        queue_bytes > curve.kmin_bytes && curve.marks(queue_bytes, draws)
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::knobs::{Knob as _, Knobs as _, Value};
    use xoff_core::rng::Purpose;

    use super::*;
    use crate::packet::{Kind, flag};

    fn packet(class: u8) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1000);
        packet.flags = class << flag::CLASS_SHIFT;
        packet
    }

    #[test]
    fn probability_is_linear_between_the_thresholds() {
        let red = RedEcn::new(&EcnConfig::default());
        let mut draws = Draws::Own(Rng::stream(1, Purpose::Marking, 0));
        let mut share = |bytes| {
            let marked = (0..20_000).filter(|_| red.marks(&packet(0), bytes, &mut draws)).count();
            marked as f64 / 20_000.0
        };
        assert_eq!(share(100_000), 0.0);
        assert_eq!(share(400_001), 1.0);
        assert!((share(250_000) - 0.1).abs() < 0.01);
        assert!((share(400_000) - 0.2).abs() < 0.015);
    }

    #[test]
    fn a_class_has_its_own_thresholds() {
        let by_class = "3: 20KB-80KB 0.5, 4: 9KB-9KB, 5: never";
        let by_class = ByClass::read(&Value::Text(by_class.into())).unwrap();
        let red = RedEcn::new(&EcnConfig { by_class, ..EcnConfig::default() });
        let mut draws = Draws::Own(Rng::stream(1, Purpose::Marking, 0));
        let mut share = |class, bytes| {
            let marked =
                (0..20_000).filter(|_| red.marks(&packet(class), bytes, &mut draws)).count();
            marked as f64 / 20_000.0
        };
        assert_eq!((share(3, 20_000), share(3, 80_001)), (0.0, 1.0));
        assert!((share(3, 50_000) - 0.25).abs() < 0.015);
        assert_eq!((share(4, 9_000), share(4, 9_001)), (0.0, 1.0));
        assert_eq!(share(5, u32::MAX), 0.0);
        assert_eq!((share(0, 100_000), share(0, 400_001)), (0.0, 1.0));
        assert!((share(0, 250_000) - 0.1).abs() < 0.01);
    }

    #[test]
    fn a_setting_that_no_class_uses_has_no_effect() {
        let dead = |by_class: &str, kmax| {
            let by_class = ByClass::read(&Value::Text(by_class.into())).unwrap();
            let config = EcnConfig { by_class, kmax: Bytes(kmax), ..EcnConfig::default() };
            let dead: Vec<_> = config.without_effect().into_iter().map(|(key, _)| key).collect();
            (dead, config.check().err().map(|(key, _)| key))
        };
        let all = |of_class: &str| {
            (0..8).map(|class| format!("{class}: {of_class}")).collect::<Vec<_>>().join(",")
        };
        assert_eq!(dead("3: 1KB-2KB", 400_000), (vec![], None));
        assert_eq!(dead("", 100_000), (vec!["pmax"], None));
        assert_eq!(dead("3: 1KB-2KB", 100_000), (vec![], None));
        assert_eq!(dead("3: 1KB-2KB 0.1", 100_000), (vec!["pmax"], None));
        assert_eq!(dead(&all("1KB-2KB"), 400_000), (vec!["kmin", "kmax"], None));
        assert_eq!(dead(&all("1KB-1KB"), 400_000).0, ["kmin", "kmax", "pmax"]);
        assert_eq!(dead(&all("never"), 400_000).1, Some("by_class"));
    }
}
