//! ExpressPass (Cho, Jang, Han: "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters",
//! SIGCOMM 2017): a sender sends a packet for each credit of its receiver, and switches and NICs let
//! through only as many credits as the data that they bring back finds room for.
//!
//! A flow begins with a request. Its receiver sends credits at a rate ([`Feedback`]) that it adapts once a
//! round trip to the credits that get lost at shapers ([`xoff_net::credit`]), so congestion is one of
//! credits and not of data. When a sender has sent all it has it says so; credits that are under way by
//! then are wasted.
//!
//! What is on the wire: a request has the flow's size in `stamp` and the packets wanted in `remaining`; 0
//! is a credit stop. A credit has its number in `remaining` and the time it was sent in `stamp`, and the
//! data it brings returns both. An acknowledgement is sent for all of a flow only; a negative one has the
//! first byte that is missing in `seq`, and the sender goes back to it.
//!
//! Round trips are as in the authors' simulator: from a credit to the data that it brings.

pub mod feedback;
mod hosts;
pub mod receiver;
pub mod sender;
#[cfg(test)]
mod tests;

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, counts, knobs};
use xoff_net::credit::CreditShape;

use super::{AnyDriven, DrivenSetup, DriverSettings};
use crate::transport::TransportConfig;

pub use feedback::Feedback;
pub use hosts::ExpressPassHosts;

knobs! {
    /// ExpressPass, where `transport.kind` is "expresspass": its hosts, and how ports shape credits.
    pub struct ExpressPassConfig in "expresspass" {
        /// Credits of a new flow, as a share of the most that its receiver's link allows (alpha; BFC
        /// §6.2.1: 0.5).
        alpha: f64 = 0.5,
        /// A flow of fewer packets begins with so much less in proportion, as in the authors' simulator;
        /// 1: never.
        small_flow: u32 = 40,
        /// How much of the way to the highest rate a round trip without congestion goes, at first
        /// (w_init; BFC §6.2.1: 0.0625).
        initial_weight: f64 = 0.0625,
        /// The least of that (w_min of the authors' simulator).
        min_weight: f64 = 0.01,
        /// The most of that (w_max, ExpressPass §3.2).
        max_weight: f64 = 0.5,
        /// What a round trip without congestion adds to it, from the second one in a row (the authors'
        /// simulator).
        weight_step: f64 = 0.05,
        /// Share of credits that may be lost without a sign of congestion, of a flow that has next to
        /// none; at the highest rate none may (target loss, ExpressPass §3.2).
        target_loss: f64 = 0.125,
        /// Whether a sender says that it needs no more credits as soon as those of one round trip, so many
        /// as are under way, are enough for what is left, as later versions of the authors' simulator do;
        /// if they are not, it asks again after `transport.timeout`. BFC's ExpressPass has credits
        /// "for an additional RTT" (§6.2.2).
        early_stop: bool = false,
        /// How far the gap between two credits varies, as a share of it either way: "credits are
        /// jittered" so that those of one flow are not all dropped (ExpressPass §3.1).
        jitter: f64 = 0.1,
        /// Mean length of a credit on the wire: the shortest Ethernet frame with preamble and gap.
        credit_size: Bytes = Bytes(84),
        /// How far lengths vary, either way (ExpressPass §3.1; the authors' simulator: 76 to 92 B).
        credit_size_spread: Bytes = Bytes(8),
        /// Credits that may wait at a port (BFC §6.2.1: 16).
        credit_queue: u32 = 16,
        /// Credits that a port may send at once after a rest (ExpressPass §3.1: 2).
        credit_burst: u32 = 2,
    }
}

impl DriverSettings for ExpressPassConfig {
    fn check(&self, transport: &TransportConfig) -> Checked {
        self.check_shares()?;
        if self.early_stop && transport.timeout.0 == 0 {
            let message = "early_stop = true requires a transport.timeout, after which a sender asks again \
                           for lost credits";
            return Err(("early_stop", message.into()));
        }
        Ok(())
    }

    fn receiver_driven(&self) -> Option<&'static str> {
        Some("ExpressPass")
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            need(
                ("switch", "symmetric_ecmp"),
                &["true"],
                "a credit makes room on the links that it passes, so data must take them back",
            ),
            need(("switch", "architecture"), &["output-queued"], "its ports shape credits"),
            need(("switch", "hop"), &["none"], "credits keep queues of data short"),
            need(
                ("switch", "scheduler"),
                &["fifo"],
                "a port has one queue of data beside that of credits",
            ),
        ]
    }

    fn credits(&self, full_packet: u64) -> Option<CreditShape> {
        Some(self.shape(full_packet))
    }

    fn build(&self, setup: &DrivenSetup) -> Option<AnyDriven> {
        Some(AnyDriven::ExpressPass(ExpressPassHosts::new(self, setup)))
    }
}

impl ExpressPassConfig {
    /// Checks the settings by themselves.
    fn check_shares(&self) -> Checked {
        for (key, share) in [
            ("alpha", self.alpha),
            ("initial_weight", self.initial_weight),
            ("min_weight", self.min_weight),
            ("max_weight", self.max_weight),
        ] {
            if !(share > 0.0 && share <= 1.0) {
                return Err((key, format!("{key} is a share: more than 0, up to 1")));
            }
        }
        for (key, share) in [
            ("weight_step", self.weight_step),
            ("target_loss", self.target_loss),
            ("jitter", self.jitter),
        ] {
            if !(0.0..1.0).contains(&share) {
                return Err((key, format!("{key} is a share: from 0 to less than 1")));
            }
        }
        if self.min_weight > self.initial_weight || self.initial_weight > self.max_weight {
            let message = "initial_weight must lie between min_weight and max_weight".into();
            return Err(("initial_weight", message));
        }
        if self.small_flow == 0 || self.credit_queue == 0 {
            let key = if self.small_flow == 0 { "small_flow" } else { "credit_queue" };
            return Err((key, format!("{key} must be at least 1")));
        }
        let (size, spread) = (self.credit_size.0, self.credit_size_spread.0);
        if !(64..=1_500).contains(&size) || spread >= size {
            let message = "credit_size must be from 64B to 1500B, and credit_size_spread less";
            return Err(("credit_size", message.into()));
        }
        if u64::from(self.credit_burst) * size < size + spread {
            let message = format!(
                "credit_burst must let a credit of {}B pass: at least {}",
                size + spread,
                (size + spread).div_ceil(size)
            );
            return Err(("credit_burst", message));
        }
        Ok(())
    }

    /// How ports shape credits that bring data packets of up to so many bytes on the wire.
    #[must_use]
    pub fn shape(&self, full_packet: u64) -> CreditShape {
        CreditShape {
            credit_bytes: self.credit_size.0,
            data_bytes: full_packet,
            queue: self.credit_queue,
            burst: self.credit_burst,
        }
    }
}

counts! {
    /// What became of credits at hosts; switches count those they drop.
    pub struct CreditCounts {
        /// Credits that receivers made.
        sent,
        /// Credits that found no room at the receiver's own NIC.
        dropped,
        /// Credits that brought a packet.
        used,
        /// Credits that came to a sender with nothing to send.
        wasted,
    }
}
