//! Deficit round robin (Shreedhar and Varghese, SIGCOMM 1995) over a fixed number of queues, among
//! those that hold something and are not paused.

use super::{QueueMask, Scheduler};
use crate::packet::{Packet, Pool, Queue};

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    queue: Queue,
    deficit: u32,
}

/// Up to 128 queues.
#[derive(Debug)]
pub struct Drr {
    turns: Vec<Turn>,
    occupied: QueueMask,
    paused: QueueMask,
    /// The queue whose turn it is.
    current: u8,
    quantum_bytes: u32,
}

impl Drr {
    /// `queues` empty queues; each turn allows `quantum_bytes` more. A quantum of one full packet
    /// makes every turn send something.
    #[must_use]
    pub fn new(queues: u8, quantum_bytes: u32) -> Self {
        Self {
            turns: vec![Turn::default(); queues as usize],
            occupied: 0,
            paused: 0,
            current: 0,
            quantum_bytes,
        }
    }

    /// The packet at the head of a queue.
    pub(super) fn head(&self, queue: u8) -> Option<u32> {
        self.turns[queue as usize].queue.head()
    }

    /// The first queue of `ready` after the current one, going round.
    fn next_turn(&self, ready: QueueMask) -> u8 {
        let later = ready & (QueueMask::MAX << self.current << 1);
        let from = if later != 0 { later } else { ready };
        from.trailing_zeros() as u8
    }
}

impl Scheduler for Drr {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        self.turns[queue as usize].queue.push(pool, id);
        self.occupied |= 1 << queue;
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let ready = self.occupied & !self.paused;
        if ready == 0 {
            return None;
        }
        loop {
            let turn = &mut self.turns[self.current as usize];
            if ready >> self.current & 1 == 1 {
                let head = turn.queue.head()?;
                let bytes = u32::from(pool[head].wire_bytes);
                if turn.deficit >= bytes {
                    turn.deficit -= bytes;
                    turn.queue.pop(pool);
                    if turn.queue.is_empty() {
                        // An idle queue keeps no credit.
                        turn.deficit = 0;
                        self.occupied &= !(1 << self.current);
                    }
                    return Some(head);
                }
            }
            self.current = self.next_turn(ready);
            self.turns[self.current as usize].deficit += self.quantum_bytes;
        }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.occupied & !self.paused != 0
    }

    #[inline]
    fn may_pass(&self, queue: u8) -> bool {
        !self.is_ready() && self.paused >> queue & 1 == 0
    }

    #[inline]
    fn pass(&mut self, packet: &Packet) {
        self.current = packet.queue;
    }

    #[inline]
    fn queue_bytes(&self, queue: u8) -> u32 {
        self.turns[queue as usize].queue.bytes()
    }

    #[inline]
    fn occupied(&self) -> QueueMask {
        self.occupied
    }

    #[inline]
    fn paused(&self) -> QueueMask {
        self.paused
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask;
    }

    fn active(&self) -> u32 {
        self.occupied.count_ones()
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.turns[queue as usize].queue.head()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::Kind;

    fn push(pool: &mut Pool, drr: &mut Drr, queue: u8, bytes: u16) {
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
        /// Queues that never run dry share to within one quantum plus one packet, whatever the
        /// sizes of their packets (Shreedhar and Varghese, Lemma 2).
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
    }
}
