//! NDP (Handley et al., SIGCOMM 2017): senders start at line rate, switches trim packets that do
//! not fit, and receivers pull the rest, each host at the rate of its link.
//!
//! This follows SFC's evaluation (§B.4), with "byte level credits (vs packet level) to efficiently
//! schedule small messages below MTU" and "flow-level round robin": a pull allows a number of
//! bytes.
//!
//! Both halves count payload. The initial window of a flow of `size` bytes is unsolicited. Each
//! packet that arrives, whole or trimmed, lets the receiver pull that many bytes more
//! ([`receiver`]), as long as the sender can use them. The sender's
//! [`credit`](crate::flow::Sender::credit) is the allowed but unused number of bytes ([`sender`]).
//! Counts of pulls are totals, so that the next pull makes up for a lost one; acknowledgements and
//! refusals carry them too.
//!
//! Packet fields: data has its flow's size in `stamp` and the bytes returned by switches in
//! `remaining`. An acknowledgement, a refusal and a pull have the bytes received without a gap in
//! `seq` and the bytes pulled so far in `remaining`. The first two have the first byte of the
//! packet they answer in `stamp`, except that the acknowledgement of a whole flow has the arrival
//! time of its last byte there.
//!
//! NDP's own switches spray packets (`switch.balance = "spray"`); SFC's comparison uses ECMP per
//! flow. Not modelled: paths selected by senders, and priorities among the pulls of one receiver.

mod hosts;
pub mod receiver;
pub mod sender;

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Ps, knobs};

use super::settings::Derived;
use super::{AnyDriven, Context, DrivenSetup, DriverSettings};

pub use super::Shape;
pub use hosts::NdpHosts;
pub use receiver::Pullers;
pub use sender::NdpSender;

knobs! {
    /// NDP's hosts, for `transport.kind` = "ndp".
    pub struct NdpConfig in "ndp" {
        /// Initial window, sent before the receiver's first reply, in whole packets. 0B: one
        /// bandwidth-delay product of base RTT and host rate (NDP's paper; the public NDP simulator
        /// of SFC's comparison: 32 packets).
        initial_window: Bytes = Bytes(0),
        /// Rate of pulled packets, relative to that of the host's link. Below 1 the queue of the
        /// first window drains (htsim: 0.99).
        pull_rate: f64 = 1.0,
    }
}

impl DriverSettings for NdpConfig {
    fn check(&self, _timeout: Ps) -> Checked {
        if !(self.pull_rate > 0.0 && self.pull_rate <= 1.0) {
            return Err(("pull_rate", "pull_rate must be above 0 and at most 1".into()));
        }
        Ok(())
    }

    fn receiver_driven(&self) -> Option<&'static str> {
        Some("NDP")
    }

    fn needs(&self) -> Vec<Need> {
        vec![need(("switch", "overflow"), &["trim"], "receivers detect losses by trimmed packets")]
    }

    fn derives_from_bdp(&self) -> bool {
        self.initial_window.0 == 0
    }

    fn derive(&mut self, context: &Context<'_>) -> Result<Derived, Vec<(&'static str, String)>> {
        if self.initial_window.0 == 0 {
            self.initial_window = context.bandwidth_delay_product;
        }
        Ok(Vec::new())
    }

    fn build(&self, setup: &DrivenSetup) -> Option<AnyDriven> {
        Some(AnyDriven::Ndp(NdpHosts::new(self, setup)))
    }
}

#[cfg(test)]
mod tests;
