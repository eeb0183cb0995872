//! Assignment of a NIC's flows to queues.

use crate::division::Division;

/// The assignment of a NIC's flows to queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicQueues {
    /// One queue per traffic class, for this many classes. Higher classes count as the last one.
    /// The lowest class is served first.
    Classes(u8),
    /// This many queues. A new flow gets an empty queue if there is one, otherwise a random queue.
    /// Queues take turns (BFC §3.3.1, at the source NIC).
    Dynamic(u8),
    /// The same, except that all labelled flows use queue 0 and the others share the rest (BFC App.
    /// A.7).
    DynamicBesideIncast(u8),
    /// This many queues, by a hash of the flow.
    Hashed(u8),
    /// Queues divided among classes, with dynamic assignment within a class. Classes have strict
    /// priority; queues of a class take turns (BFC App. A.3).
    DynamicByClass(Division),
    /// The same, with a hash of the flow within its class.
    HashedByClass(Division),
}

impl NicQueues {
    /// True if the traffic class of a packet decides its queue. NICs and switches agree, because
    /// both assign flows to queues in the same way.
    #[must_use]
    pub fn tell_classes(self) -> bool {
        match self {
            NicQueues::Classes(classes) => classes > 1,
            NicQueues::DynamicByClass(_) | NicQueues::HashedByClass(_) => true,
            NicQueues::Dynamic(_) | NicQueues::DynamicBesideIncast(_) | NicQueues::Hashed(_) => {
                false
            }
        }
    }

    /// The number of queues.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            NicQueues::Classes(queues)
            | NicQueues::Dynamic(queues)
            | NicQueues::DynamicBesideIncast(queues)
            | NicQueues::Hashed(queues) => queues as usize,
            NicQueues::DynamicByClass(division) | NicQueues::HashedByClass(division) => {
                division.count() as usize
            }
        }
    }

    /// The class of a queue, if classes have strict priority.
    #[inline]
    #[must_use]
    pub fn class_of(self, queue: u8) -> u8 {
        match self {
            NicQueues::Classes(_) => queue,
            NicQueues::DynamicByClass(division) | NicQueues::HashedByClass(division) => {
                division.class_of_queue(queue)
            }
            NicQueues::Dynamic(_) | NicQueues::DynamicBesideIncast(_) | NicQueues::Hashed(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_assignment_has_the_queues_that_it_names() {
        use NicQueues::{Classes, Dynamic, DynamicBesideIncast, Hashed};
        for kind in [Classes, Dynamic, DynamicBesideIncast, Hashed] {
            assert_eq!([1, 8, 128].map(|queues| kind(queues).count()), [1, 8, 128]);
        }
    }
}
