//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) over a fixed number of queues. Empty
//! and paused queues are skipped.
//!
//! If traffic classes divide the queues ([`StrictClasses`]), the most important class with a packet
//! to send goes first, and turns go round within it: "Queues at the same priority level follow fair
//! scheduling" (BFC App. A.3).

mod flows;
mod traffic_manager;

use xoff_core::knobs;

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use super::{AnyScheduler, QueueMask, SchedulerSettings, SchedulerSite};
use crate::division::{Divided, Division};
use crate::packet::{CLASSES, Pool};
use crate::sched::{CLASS_QUEUES, HopQueues};

pub use flows::DrrFlows;
pub use traffic_manager::TrafficManager;

knobs! {
    /// Deficit round robin over the queues of the hop control.
    pub struct DrrConfig;
}

impl SchedulerSettings for DrrConfig {
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Assigned(_) => Ok(()),
            HopQueues::Classes => Err("has no queue for each class in order of arrival".into()),
        }
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        let quantum = site.quantum;
        let HopQueues::Assigned(queues) = &site.queues else {
            return AnyScheduler::Drr(Drr::new(CLASS_QUEUES, quantum));
        };
        if let Some(tofino) = &queues.tofino {
            return AnyScheduler::TrafficManager(TrafficManager::new(
                queues.count,
                quantum,
                tofino.cell_bytes,
                tofino.fifo_bytes,
            ));
        }
        match queues.division {
            Some(division) => AnyScheduler::DrrClasses(Drr::with_classes(division, quantum)),
            None if queues.pauses_flows => {
                AnyScheduler::DrrFlows(DrrFlows::new(queues.count, quantum))
            }
            None => AnyScheduler::Drr(Drr::new(queues.count, quantum)),
        }
    }
}

/// The queues that take turns with each other.
pub trait Rounds {
    /// Of the non-empty set of queues that may send: the queues among which the next turn is, and
    /// the one of them that had the last turn.
    fn next(&mut self, ready: QueueMask) -> (QueueMask, &mut u8);
}

/// All queues.
#[derive(Debug, Default)]
pub struct OneRound {
    /// The queue with the current turn.
    current: u8,
}

impl Rounds for OneRound {
    #[inline(always)]
    fn next(&mut self, ready: QueueMask) -> (QueueMask, &mut u8) {
        (ready, &mut self.current)
    }
}

/// The queues of the most important class. A class that was interrupted continues at its last
/// position.
#[derive(Debug)]
pub struct StrictClasses {
    division: Division,
    /// The queue with the current turn, for each class.
    current: [u8; CLASSES],
}

impl Rounds for StrictClasses {
    #[inline]
    fn next(&mut self, ready: QueueMask) -> (QueueMask, &mut u8) {
        let class = self.division.class_of_queue(ready.trailing_zeros() as u8);
        (ready & self.division.queues(class), &mut self.current[class as usize])
    }
}

/// Each queue sends in turn, as many bytes as its credit: its deficit.
#[derive(Debug)]
pub struct RoundRobin<R> {
    rounds: R,
    quantum_bytes: u32,
}

/// Up to 128 queues.
pub type Drr<R = OneRound> = FixedQueues<RoundRobin<R>>;

impl Drr {
    /// `queues` empty queues. Each turn adds `quantum_bytes` of credit. With a quantum of one full
    /// packet, every turn sends a packet.
    #[must_use]
    pub fn new(queues: u8, quantum_bytes: u32) -> Self {
        Self::in_rounds(queues, OneRound::default(), quantum_bytes)
    }
}

impl Drr<StrictClasses> {
    /// The same, with queues divided among classes.
    #[must_use]
    pub fn with_classes(division: Division, quantum_bytes: u32) -> Self {
        let rounds = StrictClasses { division, current: [0; CLASSES] };
        Self::in_rounds(division.count(), rounds, quantum_bytes)
    }
}

impl<R: Rounds> Drr<R> {
    fn in_rounds(queues: u8, rounds: R, quantum_bytes: u32) -> Self {
        let lines = vec![Line::default(); queues as usize].into_boxed_slice();
        Self::of(RoundRobin { rounds, quantum_bytes }, lines)
    }
}

impl<R: Rounds> Discipline for RoundRobin<R> {
    type Mask = QueueMask;
    /// The deficit (bytes).
    type State = u32;
    const TAKES_TURNS: bool = true;

    #[inline]
    fn pick(&mut self, ready: QueueMask, lines: &mut [Line<u32>], pool: &Pool) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        let (ready, current) = self.rounds.next(ready);
        let mut queue = *current;
        let mut has_turn = ready.has(queue);
        loop {
            if !has_turn {
                queue = ready.next_after(queue);
                lines[queue as usize].state += self.quantum_bytes;
            }
            let line = &mut lines[queue as usize];
            let bytes = u32::from(pool[line.queue.head()?].wire_bytes);
            has_turn = line.state >= bytes;
            if has_turn {
                line.state -= bytes;
                *current = queue;
                return Some(queue);
            }
        }
    }

    /// An idle queue keeps no credit.
    #[inline]
    fn on_empty(&mut self, deficit: &mut u32, _queue: u8) {
        *deficit = 0;
    }

    #[inline]
    fn on_pass(&mut self, queue: u8) {
        *self.rounds.next(1 << queue).1 = queue;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Kind, Packet};
    use crate::sched::Scheduler;

    fn push(pool: &mut Pool, drr: &mut impl Scheduler, queue: u8, bytes: u16) {
        let mut packet = Packet::new(Kind::Data, bytes);
        packet.queue = queue;
        let id = pool.insert(packet);
        drr.push(pool, id);
    }

    #[test]
    fn a_paused_queue_is_passed_over() {
        let mut pool = Pool::default();
        let mut drr = Drr::new(128, 1000);
        push(&mut pool, &mut drr, 127, 500);
        push(&mut pool, &mut drr, 3, 500);
        drr.set_paused(1 << 3);
        let id = drr.pop(&mut pool).unwrap();
        assert_eq!(pool[id].queue, 127);
        assert_eq!(drr.pop(&mut pool), None);
        assert!(!drr.is_ready());
        drr.set_paused(0);
        assert!(drr.pop(&mut pool).is_some());
    }

    proptest! {
        /// Backlogged queues share to within one quantum plus one packet, for any packet sizes
        /// (Shreedhar and Varghese, Lemma 2).
        #[test]
        fn backlogged_queues_share_equally(
            sizes in prop::collection::vec(64u16..1048, 2..6),
            rounds in 50usize..400,
        ) {
            let mut pool = Pool::default();
            let mut drr = Drr::new(8, 1048);
            let mut sent = vec![0u64; sizes.len()];
            for (queue, &bytes) in sizes.iter().enumerate() {
                for _ in 0..2 {
                    push(&mut pool, &mut drr, queue as u8, bytes);
                }
            }
            for _ in 0..rounds {
                let id = drr.pop(&mut pool).unwrap();
                let packet = pool[id];
                pool.remove(id);
                sent[packet.queue as usize] += u64::from(packet.wire_bytes);
                push(&mut pool, &mut drr, packet.queue, packet.wire_bytes);
            }
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            prop_assert!(most - least <= 2 * 1048, "{sent:?}");
        }

        /// Classes are strict: the next packet belongs to the most important class with a packet in
        /// an unpaused queue.
        #[test]
        fn the_most_important_class_goes_first(
            steps in prop::collection::vec((0u8..32, any::<QueueMask>(), 0usize..3), 1..200),
        ) {
            let mut pool = Pool::default();
            let mut drr = Drr::with_classes(Division::new(32, 4), 1048);
            let mut held = [0u32; 32];
            for (queue, mask, pops) in steps {
                push(&mut pool, &mut drr, queue, 64 + 30 * u16::from(queue));
                held[queue as usize] += 1;
                drr.set_paused(mask);
                for _ in 0..pops {
                    let may = |queue: &u8| held[*queue as usize] > 0 && mask >> queue & 1 == 0;
                    let first = (0..32).find(may);
                    let queue = drr.pop(&mut pool).map(|id| pool[id].queue);
                    prop_assert_eq!(queue.map(|queue| queue / 8), first.map(|queue| queue / 8));
                    let Some(queue) = queue else { continue };
                    prop_assert!(may(&queue));
                    held[queue as usize] -= 1;
                }
            }
        }

        /// Backlogged queues of a class share equally, even if a more important class interrupts
        /// them often. That class gets all of its packets through.
        #[test]
        fn interrupted_queues_share_equally(
            sizes in prop::collection::vec(64u16..1048, 2..6),
            interruptions in prop::collection::vec(any::<bool>(), 50..400),
        ) {
            let mut pool = Pool::default();
            let mut drr = Drr::with_classes(Division::new(16, 2), 1048);
            let mut sent = vec![0u64; sizes.len()];
            for (place, &bytes) in sizes.iter().enumerate() {
                push(&mut pool, &mut drr, 8 + place as u8, bytes);
                push(&mut pool, &mut drr, 8 + place as u8, bytes);
            }
            for interrupts in interruptions {
                if interrupts {
                    push(&mut pool, &mut drr, 3, 1048);
                    let id = drr.pop(&mut pool).unwrap();
                    prop_assert_eq!(pool[id].queue, 3);
                    pool.remove(id);
                }
                let id = drr.pop(&mut pool).unwrap();
                let packet = pool[id];
                pool.remove(id);
                sent[packet.queue as usize - 8] += u64::from(packet.wire_bytes);
                push(&mut pool, &mut drr, packet.queue, packet.wire_bytes);
            }
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            prop_assert!(most - least <= 2 * 1048, "{sent:?}");
        }
    }
}
