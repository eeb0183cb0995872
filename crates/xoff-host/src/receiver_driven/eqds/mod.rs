//! EQDS (Olteanu et al.: "An edge-queued datagram service for all datacenter traffic", NSDI 2022),
//! with its backend for trimming switches: a sender begins with speculative credit, and the
//! receiver's pulls allow the rest, so that packets queue at senders.
//!
//! The rules are those of the authors' simulator (Broadcom/csg-htsim, `eqds.cpp`), since the paper
//! leaves the numbers open:
//!
//! - Credit counts bytes on the wire. Any positive credit sends a whole packet.
//! - New data carries a *pull target*: the credit that the sender would like in total, at most a
//!   window ahead ([`sender`]). The receiver pulls until it has granted as much ([`receiver`]).
//! - Each trimmed packet lets the receiver pull one more, before all others.
//! - A few packets have one acknowledgement, with a bitmap of those after a gap.
//!
//! Differences to that simulator:
//!
//! - Its pull target is an unsigned number, which wraps while a flow has more speculative credit
//!   than data: the receiver then pulls such flows without end. Here no pull target is below the
//!   credit granted so far.
//! - Its first reply ends the use of speculative credit. For a flow that has announced no pull
//!   target, an acknowledgement does not end it here, since no pull would follow.
//! - A timeout repeats all unanswered packets of a flow without replies, not one packet by its own
//!   timer. The sender reports them in a request (RTS), which takes no number of a packet, and the
//!   receiver answers with its last pull.
//! - Flows that are complete receive no further pulls.
//!
//! Not modelled: entropy values chosen by senders (`switch.balance = "spray"` takes their place),
//! and the reduction of the window by marks.
//!
//! Packet fields: data and requests have the flow's size in `stamp`. `remaining` has the pull
//! target in quanta of [`EqdsConfig::quantum`], modulo 2^31, above one bit that asks for an
//! acknowledgement. A request has the bytes to be repeated in `seq`. An acknowledgement has the
//! bytes received without a gap in `seq`, and in `remaining` the first of the 64 packets in the
//! bitmap in `stamp`; that of a whole flow has the arrival time of the last byte there. A negative
//! acknowledgement has the trimmed packet in `seq`. A pull has the bytes received without a gap in
//! `seq`, and the quanta pulled so far in `remaining`, modulo 2^32.

mod hosts;
pub mod receiver;
pub mod sender;

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Ps, knobs};

use super::settings::Derived;
use super::{AnyDriven, Context, DrivenSetup, DriverSettings, Shape};

pub use hosts::EqdsHosts;
pub use receiver::EqdsReceivers;
pub use sender::EqdsSender;

knobs! {
    /// EQDS's hosts, for `transport.kind` = "eqds".
    pub struct EqdsConfig in "eqds" {
        /// Speculative credit of a new flow, and the most credit that a sender asks for at once, in
        /// bytes on the wire. 0B: one bandwidth-delay product of base RTT and host rate.
        window: Bytes = Bytes(0),
        /// Unit of pull targets and credits.
        quantum: Bytes = Bytes(512),
        /// Credit of one pull, rounded up to quanta. 0B: the payload of a full packet.
        pull_credit: Bytes = Bytes(0),
        /// The time between two pulls of a receiver is that of this many bytes on its link. 0B: a
        /// full packet on the wire. htsim: 4198 B, which is a packet of 4160 B with its preamble
        /// and gap.
        pull_bytes: Bytes = Bytes(0),
        /// Factor of the time between two pulls. htsim multiplies this time by 0.99, not the rate.
        pull_spacing: f64 = 0.99,
        /// A receiver acknowledges a packet after more than this many bytes on the wire since its
        /// last acknowledgement.
        ack_bytes: Bytes = Bytes(16384),
    }
}

impl DriverSettings for EqdsConfig {
    fn check(&self, _timeout: Ps) -> Checked {
        if self.quantum.0 == 0 {
            return Err(("quantum", "quantum must be at least 1B".into()));
        }
        if !(self.pull_spacing > 0.0 && self.pull_spacing <= 1000.0) {
            return Err(("pull_spacing", "pull_spacing must be above 0 and at most 1000".into()));
        }
        Ok(())
    }

    fn receiver_driven(&self) -> Option<&'static str> {
        Some("EQDS")
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            need(("switch", "overflow"), &["trim"], "receivers detect losses by trimmed packets"),
            need(
                ("trim", "return_to_sender"),
                &["false"],
                "its receivers answer trimmed packets, not its senders",
            ),
        ]
    }

    fn derives_from_bdp(&self) -> bool {
        self.window.0 == 0
    }

    fn derive(&mut self, context: &Context<'_>) -> Result<Derived, Vec<(&'static str, String)>> {
        if self.window.0 == 0 {
            self.window = context.bandwidth_delay_product;
        }
        Ok(Vec::new())
    }

    fn build(&self, setup: &DrivenSetup) -> Option<AnyDriven> {
        Some(AnyDriven::Eqds(EqdsHosts::new(self, setup)))
    }
}

/// Constants of EQDS that both halves of a flow use.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Division of flows into packets. The initial window is the speculative credit, and also the
    /// most credit that a sender asks for at once (bytes on the wire).
    pub shape: Shape,
    /// Size of a data packet without its payload.
    pub overhead: u64,
    /// Unit of pull targets and credits (bytes).
    pub quantum: u64,
    /// Credit of a pull (quanta).
    pub per_pull: u64,
    /// Bytes after which a receiver acknowledges.
    pub ack_bytes: u64,
}

impl Terms {
    /// The settings' constants.
    #[must_use]
    pub fn new(config: &EqdsConfig, setup: &DrivenSetup) -> Self {
        let quantum = config.quantum.0;
        let credit = if config.pull_credit.0 == 0 { setup.payload } else { config.pull_credit.0 };
        Self {
            shape: Shape { payload: setup.payload, initial_window: config.window.0 },
            overhead: u64::from(setup.overhead),
            quantum,
            per_pull: credit.div_ceil(quantum),
            ack_bytes: config.ack_bytes.0,
        }
    }

    /// Bytes on the wire of a full packet.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        self.shape.payload + self.overhead
    }

    /// Bytes on the wire of this payload.
    #[must_use]
    pub fn on_wire(&self, payload: u64) -> u64 {
        payload + payload.div_ceil(self.shape.payload) * self.overhead
    }
}

/// A pull target in a packet: its low 31 bits, above a bit that asks for an acknowledgement.
fn write_target(target: u64, asks: bool) -> u32 {
    (target as u32) << 1 | u32::from(asks)
}

/// By how much the pull target of a packet is above `known`; negative below it.
fn target_above(field: u32, known: u64) -> i64 {
    i64::from((field & !1).wrapping_sub((known as u32) << 1) as i32 >> 1)
}

#[cfg(test)]
mod tests;
