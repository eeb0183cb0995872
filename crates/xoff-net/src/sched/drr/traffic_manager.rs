//! The traffic manager of a Tofino2 egress port (BFC §6.1): deficit round robin over queues
//! measured in cells, followed by a small FIFO after the egress pipeline that pauses do not reach.
//!
//! The FIFO takes the next packet when one arrives or leaves. Packets in it occupy memory but are
//! in no queue. In the model, frames to neighbours pass it, as they pass the queues.

use super::Drr;
use crate::packet::{Packet, Pool, Queue};
use crate::sched::{QueueMask, Scheduler};

/// The queues of one port. They are boxed, so that ports of other schedulers are no larger.
#[derive(Debug)]
pub struct TrafficManager(Box<State>);

#[derive(Debug)]
struct State {
    queues: Drr,
    /// Memory of each queue in bytes.
    lengths: Vec<u32>,
    cell_bytes: u16,
    /// Packets that have left their queue but not the port, and the bytes from which no more move
    /// on.
    behind: Queue,
    behind_bytes: u32,
}

impl TrafficManager {
    /// Empty queues in cells of `cell_bytes`. The FIFO behind them accepts packets while it holds
    /// less than `behind_bytes`.
    #[must_use]
    pub fn new(queues: u8, quantum_bytes: u32, cell_bytes: u16, behind_bytes: u32) -> Self {
        Self(Box::new(State {
            queues: Drr::new(queues, quantum_bytes),
            lengths: vec![0; queues as usize],
            cell_bytes,
            behind: Queue::default(),
            behind_bytes,
        }))
    }
}

impl State {
    fn in_cells(&self, wire_bytes: u16) -> u16 {
        wire_bytes.next_multiple_of(self.cell_bytes)
    }

    /// A packet leaves its queue.
    fn take(&mut self, pool: &mut Pool) -> Option<u32> {
        let id = self.queues.pop(pool)?;
        let packet = &pool[id];
        self.lengths[packet.queue as usize] -= u32::from(self.in_cells(packet.wire_bytes));
        Some(id)
    }

    /// Moves packets behind the egress pipeline.
    fn move_on(&mut self, pool: &mut Pool) {
        while self.behind.bytes() < self.behind_bytes
            && let Some(id) = self.take(pool)
        {
            self.behind.push(pool, id);
        }
    }
}

impl Scheduler for TrafficManager {
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let state = &mut *self.0;
        let packet = &pool[id];
        state.lengths[packet.queue as usize] += u32::from(state.in_cells(packet.wire_bytes));
        state.queues.push(pool, id);
        state.move_on(pool);
    }

    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let state = &mut *self.0;
        // Queues may have resumed since a packet arrived or left.
        state.move_on(pool);
        let id = if state.behind_bytes == 0 { state.take(pool) } else { state.behind.pop(pool) };
        state.move_on(pool);
        id
    }

    fn is_ready(&self) -> bool {
        !self.0.behind.is_empty() || self.0.queues.is_ready()
    }

    fn may_pass(&self, queue: u8) -> bool {
        self.0.behind.is_empty() && self.0.queues.may_pass(queue)
    }

    fn pass(&mut self, packet: &Packet) {
        self.0.queues.pass(packet);
    }

    fn queue_bytes(&self, queue: u8) -> u32 {
        self.0.lengths[queue as usize]
    }

    fn queue_wire_bytes(&self, queue: u8) -> u32 {
        self.0.queues.queue_bytes(queue)
    }

    fn memory_bytes(&self, wire_bytes: u16) -> u16 {
        self.0.in_cells(wire_bytes)
    }

    fn occupied(&self) -> QueueMask {
        self.0.queues.occupied()
    }

    fn paused(&self) -> QueueMask {
        self.0.queues.paused()
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.0.queues.set_paused(mask);
    }

    /// "Tofino2 has small hardware queues after the egress pipeline, and a pause from the
    /// downstream cannot pause packets already in these hardware queues" (§6.1).
    fn holds_back(&self, packet: &Packet) -> bool {
        self.0.behind_bytes == 0 && self.0.queues.holds_back(packet)
    }

    fn active(&self) -> u32 {
        self.0.queues.active()
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        self.0.queues.each_packet(pool, visit);
        self.0.behind.packets(pool).for_each(|id| visit(id, None));
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.0.queues.head(queue)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::Kind;

    fn push(pool: &mut Pool, manager: &mut TrafficManager, queue: u8, bytes: u16) -> u32 {
        let mut packet = Packet::new(Kind::Data, bytes);
        packet.queue = queue;
        let id = pool.insert(packet);
        manager.push(pool, id);
        id
    }

    #[test]
    fn lengths_are_whole_cells() {
        let (mut pool, mut manager) = (Pool::default(), TrafficManager::new(4, 1048, 176, 0));
        push(&mut pool, &mut manager, 2, 1048);
        assert_eq!(manager.queue_bytes(2), 6 * 176);
        push(&mut pool, &mut manager, 2, 176);
        push(&mut pool, &mut manager, 2, 177);
        assert_eq!(manager.queue_bytes(2), (6 + 1 + 2) * 176);
        assert_eq!((manager.memory_bytes(1), manager.memory_bytes(1048)), (176, 1056));
        (0..3).for_each(|_| assert!(manager.pop(&mut pool).is_some()));
        assert_eq!((manager.queue_bytes(2), manager.occupied()), (0, 0));
    }

    #[test]
    fn a_pause_does_not_reach_what_has_left_its_queue() {
        let (mut pool, mut manager) = (Pool::default(), TrafficManager::new(4, 1048, 176, 2000));
        let ids: Vec<u32> = (0..5).map(|_| push(&mut pool, &mut manager, 1, 1048)).collect();
        // Two packets are 2096 B, enough to fill the FIFO.
        assert_eq!(manager.queue_bytes(1), 3 * 1056);
        manager.set_paused(1 << 1);
        assert!(manager.is_ready());
        assert_eq!(manager.pop(&mut pool), Some(ids[0]));
        assert_eq!(manager.pop(&mut pool), Some(ids[1]));
        assert_eq!((manager.is_ready(), manager.pop(&mut pool)), (false, None));
        assert_eq!(manager.queue_bytes(1), 3 * 1056);
        manager.set_paused(0);
        let rest: Vec<u32> = (0..3).filter_map(|_| manager.pop(&mut pool)).collect();
        assert_eq!(rest, ids[2..]);
    }

    proptest! {
        /// For any pauses: nothing is lost or reordered within its queue, memory equals the packets
        /// in cells, and after a pause at most the bytes behind a queue still leave.
        #[test]
        fn keeps_order_and_lets_go_what_fits_behind(
            steps in prop::collection::vec((0u8..3, 0u8..8, 60u16..1500), 1..300),
            behind in prop_oneof![Just(0u32), 1u32..5000],
        ) {
            let mut pool = Pool::default();
            let mut manager = TrafficManager::new(8, 1500, 176, behind);
            let mut joined = vec![std::collections::VecDeque::new(); 8];
            let mut paused_since = [None; 8];
            for (what, queue, bytes) in steps {
                match what {
                    0 => {
                        let id = push(&mut pool, &mut manager, queue, bytes);
                        joined[queue as usize].push_back(id);
                    }
                    1 => {
                        let mask = manager.paused() ^ 1 << queue;
                        manager.set_paused(mask);
                        let is_paused = mask >> queue & 1 == 1;
                        paused_since[queue as usize] = is_paused.then_some(0u32);
                    }
                    _ => if let Some(id) = manager.pop(&mut pool) {
                        let packet = pool[id];
                        prop_assert_eq!(joined[packet.queue as usize].pop_front(), Some(id));
                        if let Some(sent) = &mut paused_since[packet.queue as usize] {
                            *sent += u32::from(packet.wire_bytes);
                            prop_assert!(*sent < behind + 1500, "{sent} B after a pause");
                        }
                    },
                }
                let heads: Vec<_> = (0..8).filter_map(|queue| manager.head(queue)).collect();
                let of_heads: Vec<u8> = heads.iter().map(|&id| pool[id].queue).collect();
                let is_held = |&queue: &u8| manager.queue_bytes(queue) > 0;
                let held: Vec<u8> = (0..8).filter(is_held).collect();
                prop_assert_eq!(manager.active() as usize, held.len());
                prop_assert_eq!(of_heads, held);
            }
            manager.set_paused(0);
            while let Some(id) = manager.pop(&mut pool) {
                prop_assert_eq!(joined[pool[id].queue as usize].pop_front(), Some(id));
            }
            prop_assert!(joined.iter().all(std::collections::VecDeque::is_empty));
            prop_assert!((0..8).all(|queue| manager.queue_bytes(queue) == 0));
        }
    }
}
