//! The sender's half of a flow: one packet per credit.

use std::collections::VecDeque;

use crate::flow::Sender;

/// The credit fields that a data packet returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The credit's number.
    pub number: u32,
    /// Send time of the credit (ps).
    pub sent_ps: u64,
}

/// The use of a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// It is used for a packet.
    Used,
    /// It is used for a packet, and no more are needed: the receiver must be told.
    Last,
    /// There is no data to send.
    Wasted,
}

/// ExpressPass's state of a flow in addition to its [`Sender`].
#[derive(Debug, Default)]
pub struct CreditSender {
    /// Credits whose packets wait for their turn at the NIC.
    echoes: VecDeque<Echo>,
    /// True once a credit has arrived.
    has_reply: bool,
    /// True once the receiver has been told to stop.
    stopped: bool,
    /// Time from the request to its first credit (ps).
    rtt: u64,
    /// Time of the request, or the start of this round trip (ps), and the credits that arrived in
    /// it.
    round_ps: u64,
    in_round: u64,
}

impl CreditSender {
    /// A flow begins in this slot.
    pub fn start(&mut self, flow: &mut Sender, now: u64) {
        debug_assert!(self.echoes.is_empty(), "a flow ended with unused credits");
        let echoes = std::mem::take(&mut self.echoes);
        *self = Self { echoes, round_ps: now, ..Self::default() };
        flow.credit = 0;
    }

    /// True once a credit has arrived.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.has_reply
    }

    /// Handles a credit for a packet of up to `payload` bytes.
    pub fn on_credit(
        &mut self,
        flow: &mut Sender,
        (payload, early_stop): (u64, bool),
        now: u64,
        echo: Echo,
    ) -> Spent {
        let of_round = self.count(now);
        let uncovered = flow.left_to_send() - flow.credit as u64;
        if uncovered == 0 {
            return Spent::Wasted;
        }
        let bytes = payload.min(uncovered);
        flow.credit += bytes as i64;
        self.echoes.push_back(echo);
        let left = (uncovered - bytes).div_ceil(payload);
        let enough = left == 0 || early_stop && of_round.is_some_and(|credits| credits >= left);
        if enough && !self.stopped {
            self.stopped = true;
            return Spent::Last;
        }
        Spent::Used
    }

    /// Counts a credit. If it ends a round trip, returns the number of credits in that round trip.
    fn count(&mut self, now: u64) -> Option<u64> {
        if !self.has_reply {
            (self.has_reply, self.rtt) = (true, now - self.round_ps);
            self.round_ps = now;
        }
        self.in_round += 1;
        if now - self.round_ps < self.rtt {
            return None;
        }
        self.round_ps = now;
        Some(std::mem::take(&mut self.in_round))
    }

    /// Requests may be sent again: the announced number of credits was too small.
    pub fn ask_again(&mut self) {
        self.stopped = false;
    }

    /// A packet leaves; returns its credit.
    pub fn on_sent(&mut self) -> Echo {
        self.echoes.pop_front().expect("every packet has a credit")
    }

    /// Goes back to the byte at `seq`. Returns the number of credits whose packets were waiting for
    /// their turn: those packets are no longer the next ones.
    pub fn go_back(&mut self, flow: &mut Sender, seq: u64) -> u64 {
        flow.snd_una = seq;
        flow.snd_nxt = seq;
        self.stopped = false;
        self.forget(flow)
    }

    /// Discards the waiting credits; returns their number.
    pub fn forget(&mut self, flow: &mut Sender) -> u64 {
        flow.credit = 0;
        let waiting = self.echoes.len() as u64;
        self.echoes.clear();
        waiting
    }

    /// Number of credits whose packets wait for their turn.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.echoes.len() as u64
    }

    /// True once the receiver has been told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}
