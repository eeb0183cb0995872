//! ExpressPass (Cho, Jang, Han: "Credit-Scheduled Delay-Bounded Congestion Control for
//! Datacenters", SIGCOMM 2017): a sender sends one packet for each credit from its receiver.
//! Switches and NICs limit the rate of credits so that the resulting data fits on the reverse
//! links.
//!
//! A flow begins with a request. Its receiver sends credits at a rate ([`Feedback`]) that it adapts
//! once per round trip to the credits lost at shapers ([`xoff_net::credit`]), so that credits are
//! congested instead of data. A sender announces when it has sent all its data; credits in flight
//! at that time are wasted.
//!
//! Packet fields: a request has the flow's size in `stamp` and the number of requested packets in
//! `remaining`, where 0 means a credit stop. A credit has its number in `remaining` and its send
//! time in `stamp`, and the data packet sent for it returns both. Only a whole flow is
//! acknowledged. A negative acknowledgement has the first missing byte in `seq`, and the sender
//! goes back to it.
//!
//! Round trips are measured as in the authors' simulator: from a credit to its data packet.

pub mod feedback;
mod hosts;
pub mod receiver;
pub mod sender;
#[cfg(test)]
mod tests;

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Ps, counts, knobs};
use xoff_net::credit::CreditShape;

use super::{AnyDriven, DrivenSetup, DriverSettings};

pub use feedback::Feedback;
pub use hosts::ExpressPassHosts;

knobs! {
    /// ExpressPass, for `transport.kind` = "expresspass": its hosts, and the credit shapers of
    /// ports.
    pub struct ExpressPassConfig in "expresspass" {
        /// Credit rate of a new flow, as a fraction of the maximum on its receiver's link (alpha;
        /// BFC §6.2.1: 0.5).
        alpha: f64 = 0.5,
        /// A flow of fewer packets starts at a proportionally lower rate, as in the authors'
        /// simulator. 1: never.
        small_flow: u32 = 40,
        /// Initial weight: the fraction of the gap to the maximum rate that a round trip without
        /// congestion closes (w_init; BFC §6.2.1: 0.0625).
        initial_weight: f64 = 0.0625,
        /// Minimum weight (w_min of the authors' simulator).
        min_weight: f64 = 0.01,
        /// Maximum weight (w_max; the authors' simulator).
        max_weight: f64 = 0.5,
        /// Increase of the weight per round trip without congestion, from the second consecutive
        /// one (the authors' simulator; in ExpressPass §3.2 the weight goes halfway to w_max).
        weight_step: f64 = 0.05,
        /// Fraction of credits that may be lost without a sign of congestion, for a flow with a
        /// rate near zero; the allowance falls to zero at the maximum rate (the authors' simulator;
        /// ExpressPass §3.2 has a constant target loss of 10 %).
        target_loss: f64 = 0.125,
        /// Let a sender stop credits early: as soon as the credits of one round trip, which is the
        /// number in flight, cover its remaining data. This is the behaviour of later versions of
        /// the authors' simulator. If they do not suffice, the sender requests more after
        /// `transport.timeout`. BFC's ExpressPass has credits "for an additional RTT" (§6.2.2).
        early_stop: bool = false,
        /// Jitter of the gap between two credits, as a fraction in either direction: "credits are
        /// jittered" so that one flow's credits are not all dropped (ExpressPass §3.1).
        jitter: f64 = 0.1,
        /// Mean size of a credit on the wire: the shortest Ethernet frame with preamble and gap.
        credit_size: Bytes = Bytes(84),
        /// Maximum deviation of a credit's size from the mean (ExpressPass §3.1; the authors'
        /// simulator: 76 to 92 B).
        credit_size_spread: Bytes = Bytes(8),
        /// Maximum number of credits that wait at a port (BFC §6.2.1: 16).
        credit_queue: u32 = 16,
        /// Maximum burst of credits that a port sends after an idle period (ExpressPass §3.1: 2).
        credit_burst: u32 = 2,
    }
}

impl DriverSettings for ExpressPassConfig {
    fn check(&self, timeout: Ps) -> Checked {
        self.check_shares()?;
        if self.early_stop && timeout.0 == 0 {
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
                return Err((key, format!("{key} must be above 0 and at most 1")));
            }
        }
        for (key, share) in [
            ("weight_step", self.weight_step),
            ("target_loss", self.target_loss),
            ("jitter", self.jitter),
        ] {
            if !(0.0..1.0).contains(&share) {
                return Err((key, format!("{key} must be at least 0 and below 1")));
            }
        }
        if self.min_weight > self.initial_weight || self.initial_weight > self.max_weight {
            let message = "initial_weight must be between min_weight and max_weight".into();
            return Err(("initial_weight", message));
        }
        if self.small_flow == 0 || self.credit_queue == 0 {
            let key = if self.small_flow == 0 { "small_flow" } else { "credit_queue" };
            return Err((key, format!("{key} must be at least 1")));
        }
        let (size, spread) = (self.credit_size.0, self.credit_size_spread.0);
        if !(64..=1_500).contains(&size) || spread >= size {
            let message = "credit_size must be from 64B to 1500B and above credit_size_spread";
            return Err(("credit_size", message.into()));
        }
        if u64::from(self.credit_burst) * size < size + spread {
            let message = format!(
                "credit_burst must allow a credit of {}B: at least {}",
                size + spread,
                (size + spread).div_ceil(size)
            );
            return Err(("credit_burst", message));
        }
        Ok(())
    }

    /// The shaping of credits for data packets of up to `full_packet` bytes on the wire.
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
    /// Credit counters of hosts; switches count their own drops.
    pub struct CreditCounts {
        /// Credits created by receivers.
        sent,
        /// Credits dropped at the receiver's own NIC.
        dropped,
        /// Credits used for a packet.
        used,
        /// Credits that reached a sender without data to send.
        wasted,
    }
}
