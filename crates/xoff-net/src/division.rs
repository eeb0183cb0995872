//! Queues of a port divided statically among traffic classes: "we assume queues at a port are
//! statically assigned to different priority levels" (BFC App. A.3).

use crate::packet::{CLASSES, Packet, QueueMask};

/// The assignment of queues to classes.
pub trait Divided: Copy + core::fmt::Debug {
    /// The class of a packet.
    fn class_of(self, packet: &Packet) -> u8;
    /// The first queue of a class, and the number of its queues.
    fn range(self, class: u8) -> (u8, u8);

    /// The queues of a class.
    #[inline]
    fn queues(self, class: u8) -> QueueMask {
        let (first, count) = self.range(class);
        QueueMask::MAX >> (128 - u32::from(count)) << first
    }

    /// The queues that share the link with a packet's class.
    #[inline]
    fn beside(self, packet: &Packet) -> QueueMask {
        self.queues(self.class_of(packet))
    }
}

/// All packets share the same queues.
#[derive(Clone, Copy, Debug)]
pub struct Undivided {
    /// The first queue.
    pub first: u8,
    /// The number of queues.
    pub count: u8,
}

impl Divided for Undivided {
    #[inline(always)]
    fn class_of(self, _packet: &Packet) -> u8 {
        0
    }

    #[inline(always)]
    fn range(self, _class: u8) -> (u8, u8) {
        (self.first, self.count)
    }

    #[inline(always)]
    fn beside(self, _packet: &Packet) -> QueueMask {
        QueueMask::MAX
    }
}

/// Classes with equal numbers of queues, the queues of the most important class first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    classes: u8,
    each: u8,
}

impl Division {
    /// Divides `queues` queues among `classes` classes. The number of classes must divide the
    /// number of queues.
    ///
    /// # Panics
    /// If it does not; settings are checked earlier.
    #[must_use]
    pub fn new(queues: u8, classes: u8) -> Self {
        assert!(
            (1..=CLASSES as u8).contains(&classes) && queues > 0 && queues.is_multiple_of(classes),
            "{queues} queues cannot be divided among {classes} classes"
        );
        Self { classes, each: queues / classes }
    }

    /// The number of all queues.
    #[must_use]
    pub fn count(self) -> u8 {
        self.classes * self.each
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(self) -> u8 {
        self.classes
    }

    /// The class of packets of a priority. Larger priority numbers count as the last class.
    #[inline]
    #[must_use]
    pub fn class(self, priority: u8) -> u8 {
        priority.min(self.classes - 1)
    }

    /// The class of a queue.
    #[inline]
    #[must_use]
    pub fn class_of_queue(self, queue: u8) -> u8 {
        queue / self.each
    }
}

impl Divided for Division {
    #[inline]
    fn class_of(self, packet: &Packet) -> u8 {
        self.class(packet.class())
    }

    #[inline]
    fn range(self, class: u8) -> (u8, u8) {
        (class * self.each, self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_belongs_to_one_class() {
        for (queues, classes) in [(32, 4), (128, 4), (128, 8), (31, 1), (8, 8), (128, 1)] {
            let division = Division::new(queues, classes);
            let mut all = 0;
            for class in 0..classes {
                let mask = division.queues(class);
                assert_eq!((mask & all, mask.count_ones()), (0, u32::from(queues / classes)));
                assert!((0..queues).all(|queue| {
                    (mask >> queue & 1 == 1) == (division.class_of_queue(queue) == class)
                }));
                all |= mask;
            }
            assert_eq!(all.count_ones(), u32::from(queues));
            assert_eq!((division.count(), division.class(7)), (queues, classes.min(8) - 1));
        }
    }
}
