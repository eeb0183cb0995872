//! How NICs assign their flows to queues.

use crate::division::Division;

/// How a NIC assigns its flows to queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicQueues {
    /// One queue for each of this many traffic classes. The last one takes in the classes after it;
    /// the lowest class is served first.
    Classes(u8),
    /// This many queues: a new flow gets an empty one if there is one, otherwise a random one.
    /// Queues take turns (BFC §3.3.1, at the source NIC).
    Dynamic(u8),
    /// The same, except that all labelled flows use queue 0 and the others the rest (BFC App. A.7).
    DynamicBesideIncast(u8),
    /// This many queues, by a hash of the flow.
    Hashed(u8),
    /// Queues divided among classes, dynamic within a class: strict priority between classes, turns
    /// within one (BFC App. A.3).
    DynamicByClass(Division),
    /// The same by a hash of the flow within its class.
    HashedByClass(Division),
}

impl NicQueues {
    /// True if the traffic class of a packet decides where it waits. NICs and switches agree on
    /// this: NICs assign flows to queues as switches do.
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

    /// The class of a queue, where classes have strict priority.
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
