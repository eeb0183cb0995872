//! The flowlets that an allocator knows, and what their endpoints know of their rates.

use crate::EndpointId;
use crate::queues::Queues;
use crate::rate::RateCode;
use crate::window::Ack;

/// Index of a flowlet: a small number, unique while the flowlet exists. Use it to index arrays of
/// your own.
pub type FlowIndex = u32;

#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The session of its endpoint.
    pub(super) session: u32,
    /// Its number at its endpoint.
    pub(super) slot: u16,
    pub(super) destination: EndpointId,
    pub(super) path: u32,
    /// The allocated rate.
    rate: Option<RateCode>,
    /// The rate that was sent last, and the sequence number of its datagram.
    sent: Option<RateCode>,
    sent_in: u64,
    /// The rate that its endpoint has; `None` if that is not known.
    acknowledged: Option<RateCode>,
}

/// All flowlets. Each session has two queues of them: with a rate to send, and with a rate that was
/// sent but not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    free: Vec<FlowIndex>,
    queues: Queues,
}

fn pending(session: u32) -> u32 {
    2 * session
}

fn flight(session: u32) -> u32 {
    2 * session + 1
}

impl Flows {
    pub(super) fn new(sessions: usize) -> Self {
        Self { flows: Vec::new(), free: Vec::new(), queues: Queues::new(2 * sessions) }
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len() - self.free.len()
    }

    pub(super) fn get(&self, index: FlowIndex) -> &Flow {
        &self.flows[index as usize]
    }

    pub(super) fn add(
        &mut self,
        session: u32,
        slot: u16,
        (destination, path): (EndpointId, u32),
    ) -> FlowIndex {
        let flow = Flow {
            session,
            slot,
            destination,
            path,
            rate: None,
            sent: None,
            sent_in: 0,
            acknowledged: None,
        };
        if let Some(index) = self.free.pop() {
            self.flows[index as usize] = flow;
            return index;
        }
        self.flows.push(flow);
        self.queues.grow(self.flows.len());
        self.flows.len() as u32 - 1
    }

    pub(super) fn remove(&mut self, index: FlowIndex) {
        self.queues.remove(index);
        self.free.push(index);
    }

    /// Sets a flowlet's rate; true if it has to be sent.
    pub(super) fn set_rate(&mut self, index: FlowIndex, rate: RateCode) -> bool {
        let flow = &mut self.flows[index as usize];
        if flow.rate == Some(rate) {
            return false;
        }
        flow.rate = Some(rate);
        if self.queues.queue_of(index) == Some(flight(flow.session)) {
            // Either of two rates may have arrived.
            flow.acknowledged = None;
        }
        if flow.acknowledged == Some(rate) {
            self.queues.remove(index);
            return false;
        }
        self.queues.push(pending(flow.session), index);
        true
    }

    /// True if a session has rates to send.
    pub(super) fn has_pending(&self, session: u32) -> bool {
        self.queues.front(pending(session)).is_some()
    }

    /// The next rate to send; it is in flight from now on.
    pub(super) fn next_rate(&mut self, session: u32, sequence: u64) -> Option<(u16, RateCode)> {
        let index = self.queues.front(pending(session))?;
        self.queues.push(flight(session), index);
        let flow = &mut self.flows[index as usize];
        flow.sent = flow.rate;
        flow.sent_in = sequence;
        Some((flow.slot, flow.rate?))
    }

    /// Sequence number of the oldest datagram with an unacknowledged rate.
    pub(super) fn oldest_in_flight(&self, session: u32) -> Option<u64> {
        self.queues.front(flight(session)).map(|index| self.flows[index as usize].sent_in)
    }

    /// Applies an acknowledgement.
    pub(super) fn settle(&mut self, session: u32, ack: &Ack) {
        while let Some(index) = self.queues.front(flight(session)) {
            let flow = &mut self.flows[index as usize];
            if flow.sent_in > ack.newest {
                break;
            } else if ack.has(flow.sent_in) {
                flow.acknowledged = flow.sent;
                self.queues.remove(index);
            } else {
                self.lose(session, index);
            }
        }
    }

    /// What was sent first counts as lost.
    pub(super) fn lose_oldest(&mut self, session: u32) {
        if let Some(index) = self.queues.front(flight(session)) {
            // It may still arrive: what its endpoint has is not known.
            self.flows[index as usize].acknowledged = None;
            self.lose(session, index);
        }
    }

    /// A rate is lost. The current one is sent, "and that only if the acknowledged state differs"
    /// (§5.1).
    fn lose(&mut self, session: u32, index: FlowIndex) {
        let flow = &self.flows[index as usize];
        if flow.acknowledged.is_some() && flow.acknowledged == flow.rate {
            self.queues.remove(index);
        } else {
            self.queues.push(pending(session), index);
        }
    }
}
