//! The receiver's half of a flow: receive progress, and the time of the next credit.

use xoff_core::{Rng, TimerId};

use super::feedback::Feedback;
use super::{ExpressPassConfig, sender::Echo};
use crate::receiver_driven::Address;

/// The reply to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No reply.
    Nothing,
    /// The flow is complete.
    Whole,
    /// The packet is not the expected one: the sender must continue from this byte.
    Missing(u64),
}

/// The receiver's half.
#[derive(Debug)]
pub struct Half {
    /// Its sender.
    pub to: Address,
    /// The host's index in its partition.
    pub nic: u32,
    /// Its credit timer.
    pub timer: TimerId,
    /// Size of the flow in bytes.
    pub size: u64,
    /// Bytes received without a gap; data after a gap is discarded.
    pub expected: u64,
    /// True while credits are sent.
    pub sending: bool,
    feedback: Feedback,
    /// Smoothed round-trip time (ps); 0 if there is no measurement yet.
    rtt: u64,
    /// Number of the next credit, and one more than the last credit returned by data.
    next: u32,
    told: u32,
    /// Time before which a missing byte is not requested again (ps).
    quiet_until: u64,
}

impl Half {
    /// Creates the half of a flow of `size` bytes that has requested credits for `packets`.
    #[must_use]
    pub fn new(
        config: &ExpressPassConfig,
        (to, nic, timer): (Address, u32, TimerId),
        (size, packets): (u64, u64),
        now: u64,
    ) -> Self {
        Self {
            to,
            nic,
            timer,
            size,
            expected: 0,
            sending: true,
            feedback: Feedback::new(config, packets, now),
            rtt: 0,
            next: 0,
            told: 0,
            quiet_until: 0,
        }
    }

    /// Handles a data packet at `seq`, sent for the credit `echo`.
    pub fn on_data(&mut self, now: u64, seq: u64, payload: u64, echo: Echo) -> Reply {
        // Neither credits nor their data packets are reordered.
        let lost = echo.number.wrapping_sub(self.told);
        self.told = echo.number.wrapping_add(1);
        self.feedback.on_data(u64::from(lost));
        let rtt = now - echo.sent_ps;
        self.rtt = if self.rtt == 0 { rtt } else { (4 * self.rtt + rtt) / 5 };
        if seq == self.expected {
            self.expected += payload;
            self.quiet_until = 0;
            return if self.expected == self.size { Reply::Whole } else { Reply::Nothing };
        }
        if now < self.quiet_until {
            return Reply::Nothing;
        }
        // Data sent after going back arrives within a round trip.
        self.quiet_until = now + 2 * self.rtt;
        Reply::Missing(self.expected)
    }

    /// Sends the next credit, on a link with room for one every `period` (ps). Returns its number
    /// and the time until the next one (ps). "Gap = average gap x (1 + jitter)" in the authors'
    /// simulator.
    pub fn credit(
        &mut self,
        config: &ExpressPassConfig,
        now: u64,
        period: u64,
        rng: &mut Rng,
    ) -> (u32, u64) {
        self.feedback.update(config, now, self.rtt, period);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let jitter = config.jitter * (2.0 * rng.unit() - 1.0);
        let gap = period as f64 / self.feedback.share() * (1.0 + jitter);
        (number, (gap as u64).max(1))
    }
}
