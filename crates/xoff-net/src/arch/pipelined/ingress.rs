//! Ingress queues: one per port, in the order of arrival. Ports take turns.

use crate::packet::{Pool, Queue};
use crate::ports::{PORTS_MAX, PortMask, next_from};

/// The ingress queues of one switch.
#[derive(Debug)]
pub(super) struct Ingress {
    queues: Vec<Queue>,
    /// Ports with a packet.
    occupied: PortMask,
    /// The port at which the next turn starts.
    next: u8,
}

impl Ingress {
    pub(super) fn new(ports: usize) -> Self {
        assert!(ports <= PORTS_MAX, "a set of ports holds {PORTS_MAX} at most");
        Self { queues: vec![Queue::default(); ports], occupied: 0, next: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, pool: &mut Pool, port: u16, id: u32) {
        self.queues[usize::from(port)].push(pool, id);
        self.occupied |= 1 << port;
    }

    /// Removes the first packet of the port with the next turn.
    #[inline]
    pub(super) fn pop(&mut self, pool: &Pool) -> Option<u32> {
        if self.occupied == 0 {
            return None;
        }
        let port = next_from(self.occupied, self.next);
        let queue = &mut self.queues[usize::from(port)];
        let id = queue.pop(pool);
        if queue.is_empty() {
            self.occupied &= !(1 << port);
        }
        self.next = (port + 1) % PORTS_MAX as u8;
        id
    }

    /// All packets in them.
    pub(super) fn packets(&self, pool: &Pool) -> impl Iterator<Item = u32> {
        self.queues.iter().flat_map(|queue| queue.packets(pool))
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.occupied == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn ports_take_turns_and_keep_their_order() {
        let mut pool = Pool::default();
        let mut ingress = Ingress::new(128);
        for port in [5, 5, 5, 0, 127, 127] {
            let id = pool.insert(Packet::new(Kind::Data, 100));
            pool[id].ingress = port;
            ingress.push(&mut pool, port, id);
        }
        let order: Vec<u32> = std::iter::from_fn(|| ingress.pop(&pool)).collect();
        assert_eq!(order, [3, 0, 4, 1, 5, 2]);
        assert!(ingress.is_empty());
    }
}
