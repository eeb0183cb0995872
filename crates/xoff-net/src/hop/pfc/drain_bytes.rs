//! Drain bytes (DeTail §5.2, §5.4, §6.1): the bytes of a class and of more important classes at an
//! ingress. The class is paused when they reach XOFF and resumed when they fall below XON.

use super::{Accounting, Pfc, Recountable, Scope, Thresholds};
use crate::packet::CLASSES;

/// Drain bytes with fixed thresholds.
#[derive(Debug)]
pub(crate) struct DrainBytes {
    /// The neighbour's classes that each class covers. The last class also covers the classes that
    /// are not distinguished. With one pause for all classes, the last class covers them all.
    queues: [u8; CLASSES],
    /// Classes that can be paused.
    pausable: u8,
}

/// Bytes at one ingress.
#[derive(Debug)]
pub(crate) struct Held {
    /// Bytes in all.
    total: u32,
    xoff: u32,
    xon: u32,
    bytes: [u32; CLASSES],
}

impl DrainBytes {
    /// Drain bytes of ingresses with `classes` classes.
    fn new(scope: Scope, classes: u8) -> Self {
        let last = classes - 1;
        let mut queues = std::array::from_fn(|class| 1 << class);
        let pausable = match scope {
            Scope::None => 0,
            // The drain bytes of the least important class are all bytes.
            Scope::Port => 1 << last,
            Scope::Class => u8::MAX >> (8 - classes),
        };
        queues[last as usize] = if scope == Scope::Port { u8::MAX } else { u8::MAX << last };
        Self { queues, pausable }
    }
}

impl Pfc<DrainBytes> {
    /// For ingresses with these thresholds and `classes` classes.
    pub(crate) fn by_drain_bytes(scope: Scope, classes: u8, thresholds: &[Thresholds]) -> Self {
        Self::of(DrainBytes::new(scope, classes), thresholds.iter().map(Held::new))
    }

    /// Bytes at an ingress.
    #[inline]
    pub(crate) fn held(&self, ingress: u16) -> u32 {
        self.accounts(ingress).total
    }
}

impl Held {
    fn new(thresholds: &Thresholds) -> Self {
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let (xoff, xon) = (bounded(thresholds.xoff), bounded(thresholds.xon));
        Self { total: 0, xoff, xon, bytes: [0; CLASSES] }
    }

    /// Classes with drain bytes of `limit` or more.
    fn drain_reaches(&self, limit: u32) -> u8 {
        let mut drain = 0;
        let mut reached = 0;
        for (class, bytes) in self.bytes.iter().enumerate() {
            drain += bytes;
            reached |= u8::from(drain >= limit) << class;
        }
        reached
    }
}

impl Accounting for DrainBytes {
    type Ingress = Held;

    #[inline]
    fn add(&mut self, _number: u16, ingress: &mut Held, class: u8, bytes: u16, paused: u8) -> u8 {
        ingress.total += u32::from(bytes);
        ingress.bytes[class as usize] += u32::from(bytes);
        if ingress.total < ingress.xoff || self.pausable == 0 {
            return 0;
        }
        self.pausable & ingress.drain_reaches(ingress.xoff) & !paused
    }

    /// # Panics
    /// If more bytes leave than arrived, which is a bug.
    #[inline]
    fn remove(
        &mut self,
        _number: u16,
        ingress: &mut Held,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let held = &mut ingress.bytes[class as usize];
        *held = held.checked_sub(u32::from(bytes)).expect("an ingress's bytes went negative");
        ingress.total -= u32::from(bytes);
        if paused == 0 {
            return 0;
        }
        paused & !ingress.drain_reaches(ingress.xon)
    }

    fn queues(&self, classes: u8) -> u8 {
        let each = (0..CLASSES).filter(|class| classes >> class & 1 == 1);
        each.fold(0, |all, class| all | self.queues[class])
    }
}

impl Recountable for DrainBytes {
    fn bytes(&self, _number: u16, ingress: &Held, class: u8) -> u32 {
        ingress.bytes[usize::from(class)]
    }

    fn reached(&self, _number: u16, ingress: &Held) -> [u8; 2] {
        let xoff = self.pausable & ingress.drain_reaches(ingress.xoff);
        [xoff, ingress.drain_reaches(ingress.xon)]
    }
}

#[cfg(test)]
#[path = "drain_bytes_tests.rs"]
mod tests;
