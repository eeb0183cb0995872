//! NDP (Handley et al., SIGCOMM 2017): senders begin at line rate, switches trim what finds no room,
//! and receivers pull the rest, each host at the rate of its link.
//!
//! As SFC's evaluation has it (§B.4), that is with "byte level credits (vs packet level) to efficiently
//! schedule small messages below MTU" and "flow-level round robin": a pull allows bytes.
//!
//! Both halves count payload. Of a flow of `size` bytes the first window goes unasked. Each packet
//! that arrives, whole or trimmed, lets the receiver pull as many bytes more ([`receiver`]), as long
//! as the sender can use them; the sender's [`credit`](crate::flow::Sender::credit) is what it has
//! been allowed and has not used ([`sender`]). Counts of pulls are totals, so that a lost pull is
//! made good by the next one, and acknowledgements and refusals carry them too.
//!
//! What is on the wire: data has its flow's size in `stamp` and the bytes that switches have returned
//! in `remaining`. An acknowledgement, a refusal and a pull have the bytes received without a gap in
//! `seq` and the bytes pulled so far in `remaining`; the first two name the packet they answer in
//! `stamp`, but the acknowledgement of all bytes says there when the last of them came.
//!
//! NDP's own switches spray packets (`switch.balance = "spray"`); SFC's comparison is by flow, with ECMP.
//! Not modelled: paths that senders choose, and priorities among the pulls of one receiver.

mod hosts;
pub mod receiver;
pub mod sender;

use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, knobs};

use super::settings::Derived;
use super::{AnyDriven, Context, DrivenSetup, DriverSettings};

pub use super::Shape;
pub use hosts::NdpHosts;
pub use receiver::Pullers;
pub use sender::NdpSender;

knobs! {
    /// NDP's hosts, where `transport.kind` is "ndp".
    pub struct NdpConfig in "ndp" {
        /// What a sender sends before it hears of its receiver, in whole packets; 0B: one
        /// bandwidth-delay product of base RTT and host rate, as in the simulator of SFC's comparison.
        initial_window: Bytes = Bytes(0),
    }
}

impl DriverSettings for NdpConfig {
    fn receiver_driven(&self) -> Option<&'static str> {
        Some("NDP")
    }

    fn needs(&self) -> Vec<Need> {
        vec![need(("switch", "overflow"), &["trim"], "receivers hear of losses by trimmed packets")]
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
