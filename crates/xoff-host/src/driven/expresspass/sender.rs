//! The sender's half of a flow: a packet for each credit.

use std::collections::VecDeque;

use crate::flow::Sender;

/// What a data packet returns of the credit that brought it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The credit's number.
    pub number: u32,
    /// When it was sent (ps).
    pub sent_ps: u64,
}

/// What became of a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// It brings a packet.
    Used,
    /// It brings a packet too, and no more are needed: the receiver has to be told.
    Last,
    /// There is nothing to send.
    Wasted,
}

/// What ExpressPass keeps of a flow beside its [`Sender`].
#[derive(Debug, Default)]
pub struct CreditSender {
    /// Credits whose packets wait for their turn at the NIC.
    echoes: VecDeque<Echo>,
    /// Whether a credit has come.
    heard: bool,
    /// Whether the receiver has been told to stop.
    stopped: bool,
    /// From the request to its first credit (ps).
    rtt: u64,
    /// When the request was sent, or this round trip began (ps), and the credits that came in it.
    round_ps: u64,
    in_round: u64,
}

impl CreditSender {
    /// A flow begins in this place.
    pub fn start(&mut self, flow: &mut Sender, now: u64) {
        debug_assert!(self.echoes.is_empty(), "credits are spent when a flow ends");
        let echoes = std::mem::take(&mut self.echoes);
        *self = Self { echoes, round_ps: now, ..Self::default() };
        flow.credit = 0;
    }

    /// Whether a credit has come.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.heard
    }

    /// A credit has come, for a packet of up to so much payload.
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

    /// Counts a credit. Returns how many came in the round trip that it ends, if it ends one.
    fn count(&mut self, now: u64) -> Option<u64> {
        if !self.heard {
            (self.heard, self.rtt) = (true, now - self.round_ps);
            self.round_ps = now;
        }
        self.in_round += 1;
        if now - self.round_ps < self.rtt {
            return None;
        }
        self.round_ps = now;
        Some(std::mem::take(&mut self.in_round))
    }

    /// Credits that were said to be enough were not.
    pub fn ask_again(&mut self) {
        self.stopped = false;
    }

    /// A packet leaves: the credit that brought it.
    pub fn on_sent(&mut self) -> Echo {
        self.echoes.pop_front().expect("a packet leaves for a credit only")
    }

    /// Goes back to the byte at `seq`. Returns how many credits were waiting for their packets' turns:
    /// those packets are not the next ones any more.
    pub fn go_back(&mut self, flow: &mut Sender, seq: u64) -> u64 {
        flow.snd_una = seq;
        flow.snd_nxt = seq;
        self.stopped = false;
        self.forget(flow)
    }

    /// The credits that wait are of no use. Returns how many there were.
    pub fn forget(&mut self, flow: &mut Sender) -> u64 {
        flow.credit = 0;
        let waiting = self.echoes.len() as u64;
        self.echoes.clear();
        waiting
    }

    /// Credits whose packets wait for their turn.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.echoes.len() as u64
    }

    /// Whether the receiver has been told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}
