//! The receiver's half of a flow: what has come, and when the next credit goes.

use xoff_core::{Rng, TimerId};

use super::feedback::Feedback;
use super::{ExpressPassConfig, sender::Echo};
use crate::driven::Address;

/// What to answer to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Nothing,
    /// All has come.
    Whole,
    /// The sender is not where it should be: it has to go on from the byte of this number.
    Missing(u64),
}

/// The receiver's half.
#[derive(Debug)]
pub struct Half {
    /// Its sender.
    pub to: Address,
    /// The host's number in its partition.
    pub nic: u32,
    /// Its credit timer.
    pub timer: TimerId,
    /// The flow's bytes.
    pub size: u64,
    /// Bytes received without a gap: what comes behind one is not kept.
    pub expected: u64,
    /// Whether credits are being sent.
    pub sending: bool,
    feedback: Feedback,
    /// Smoothed round-trip time (ps); 0: none was measured yet.
    rtt: u64,
    /// Numbers of the next credit, and of the one after the last that data told of.
    next: u32,
    told: u32,
    /// Until when a missing byte is not asked for again (ps).
    patient_until: u64,
}

impl Half {
    /// A flow of so many bytes has asked for credits for so many packets.
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
            patient_until: 0,
        }
    }

    /// Data has come at this place of the flow, brought by this credit.
    pub fn on_data(&mut self, now: u64, seq: u64, payload: u64, echo: Echo) -> Reply {
        // Credits keep their order, and so does the data they bring.
        let lost = echo.number.wrapping_sub(self.told);
        self.told = echo.number.wrapping_add(1);
        self.feedback.on_data(u64::from(lost));
        let rtt = now - echo.sent_ps;
        self.rtt = if self.rtt == 0 { rtt } else { (4 * self.rtt + rtt) / 5 };
        if seq == self.expected {
            self.expected += payload;
            self.patient_until = 0;
            return if self.expected == self.size { Reply::Whole } else { Reply::Nothing };
        }
        if now < self.patient_until {
            return Reply::Nothing;
        }
        // What the sender sends when it has gone back is here in a round trip.
        self.patient_until = now + 2 * self.rtt;
        Reply::Missing(self.expected)
    }

    /// The next credit goes now, over a link with room for one every `period` (ps): its number, and how
    /// long the one after waits (ps). "Gap = average gap x (1 + jitter)" in the authors' simulator.
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
