//! A NIC to which flows post a few packets each, as htsim models it for Swift: what is posted is
//! sent, and the NIC serves flows and the acknowledgements of flows in turns.

use std::collections::{BTreeMap, BTreeSet};

use xoff_net::{Pool, Queue};

/// What a flow has posted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// The packets of a flow that this host sends.
    Data { sender: u32, packets: u8 },
    /// The acknowledgements of a flow that this host receives.
    Acks(Queue),
}

/// The packet to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next one of this sender's flow.
    Data(u32),
    /// This acknowledgement.
    Ack(u32),
}

/// What is posted to one NIC. Flows have turns in the order of their numbers.
#[derive(Debug, Default)]
pub struct Posted {
    pub(super) turns: BTreeMap<u32, Turn>,
    /// All flows so far: a NIC of that simulator keeps the queues of flows that have ended, and
    /// its turns depend on them.
    known: BTreeSet<u32>,
    /// Where the search for the next flow begins: at the flow that was known to follow the last
    /// one when that had its turn. A new flow between them waits for the next round.
    cursor: u32,
    /// The flow of the data packet in service: the index of its sender.
    pub serving: Option<u32>,
}

impl Posted {
    /// Packets that a flow has posted, without the one in service.
    #[must_use]
    pub fn packets_of(&self, flow: u32) -> u8 {
        match self.turns.get(&flow) {
            Some(&Turn::Data { packets, .. }) => packets,
            _ => 0,
        }
    }

    /// Posts a packet of a sender's flow.
    pub fn post_data(&mut self, flow: u32, sender: u32) {
        self.known.insert(flow);
        let turn = self.turns.entry(flow).or_insert(Turn::Data { sender, packets: 0 });
        if let Turn::Data { packets, .. } = turn {
            *packets += 1;
        }
    }

    /// A flow has ended: takes back what it has posted.
    pub fn end(&mut self, flow: u32, sender: u32) {
        self.turns.remove(&flow);
        self.serving.take_if(|serving| *serving == sender);
    }

    /// Posts an acknowledgement.
    pub fn post_ack(&mut self, pool: &mut Pool, id: u32) {
        let flow = pool[id].flow;
        self.known.insert(flow);
        let turn = self.turns.entry(flow).or_insert_with(|| Turn::Acks(Queue::default()));
        if let Turn::Acks(queue) = turn {
            queue.push(pool, id);
        }
    }

    /// Takes the packet to send next.
    pub fn take(&mut self, pool: &Pool) -> Option<Next> {
        let flow = {
            let mut later = self.turns.range(self.cursor..);
            *later.next().or_else(|| self.turns.first_key_value())?.0
        };
        self.cursor = self.known.range(flow + 1..).next().copied().unwrap_or(0);
        let turn = self.turns.get_mut(&flow)?;
        let (next, is_empty) = match turn {
            Turn::Data { sender, packets } => {
                *packets -= 1;
                (Some(Next::Data(*sender)), *packets == 0)
            }
            Turn::Acks(queue) => (queue.pop(pool).map(Next::Ack), queue.is_empty()),
        };
        if is_empty {
            self.turns.remove(&flow);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::{Kind, Packet};

    use super::*;

    #[test]
    fn flows_and_acknowledgements_take_turns_by_number() {
        let (mut posted, mut pool) = (Posted::default(), Pool::default());
        let acks = [7, 7, 3].map(|flow| {
            let mut packet = Packet::new(Kind::Ack, 40);
            packet.flow = flow;
            pool.insert(packet)
        });
        (0..3).for_each(|_| posted.post_data(5, 50));
        acks.iter().for_each(|&id| posted.post_ack(&mut pool, id));
        assert_eq!((posted.packets_of(5), posted.packets_of(7)), (3, 0));
        let order: Vec<Next> = std::iter::from_fn(|| posted.take(&pool)).collect();
        let (data, ack) = (Next::Data(50), |number: usize| Next::Ack(acks[number]));
        assert_eq!(order, [ack(2), data, ack(0), data, ack(1), data]);
    }

    #[test]
    fn an_ended_flow_takes_back_what_it_has_posted() {
        let (mut posted, pool) = (Posted::default(), Pool::default());
        (0..2).for_each(|_| posted.post_data(5, 50));
        posted.post_data(6, 60);
        assert_eq!(posted.take(&pool), Some(Next::Data(50)));
        posted.serving = Some(50);
        posted.end(5, 50);
        assert_eq!(posted.serving, None);
        // Another flow may have the same sender now.
        posted.post_data(7, 50);
        assert_eq!(posted.packets_of(5), 0);
        let order: Vec<Next> = std::iter::from_fn(|| posted.take(&pool)).collect();
        assert_eq!(order, [Next::Data(60), Next::Data(50)]);
    }

    #[test]
    fn a_new_flow_waits_for_those_before_it() {
        let (mut posted, pool) = (Posted::default(), Pool::default());
        (0..2).for_each(|_| posted.post_data(5, 50));
        assert_eq!(posted.take(&pool), Some(Next::Data(50)));
        posted.post_data(6, 60);
        let order: Vec<Next> = std::iter::from_fn(|| posted.take(&pool)).collect();
        assert_eq!(order, [Next::Data(50), Next::Data(60)]);
    }
}
