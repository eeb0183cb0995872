//! Selective repeat, as in IRN (Mittal et al., SIGCOMM 2018, §3.1): the receiver keeps out-of-order
//! packets and reports each, and the sender retransmits only missing ones.
//!
//! IRN's sender keeps the recovery sequence, the first packet sent after a recovery began. Its
//! acknowledgement ends the recovery, and the next recovery may retransmit the same holes. That
//! cannot happen before the retransmitted packets have arrived. Each hole is therefore
//! retransmitted once until a timeout, and a recovery sequence would have no effect.

use xoff_core::knobs;

use super::reassembly::Reassembly;
use super::scoreboard::Scoreboard;
use super::{Arrival, RecoverySettings, Reply, RxProgress, Timeouts};
use crate::cc::Path;

knobs! {
    /// Selective repeat.
    pub struct SelectiveRepeatConfig;
}

impl RecoverySettings for SelectiveRepeatConfig {
    fn timeouts(&self) -> Timeouts {
        Timeouts::Two
    }

    /// "BDP-FC: each flow is bounded by one bandwidth-delay product of packets in flight", counted
    /// from the last acknowledged one (IRN §3.2).
    fn reach(&self, path: &Path) -> u64 {
        path.window
    }
}

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver(Reassembly);

impl Receiver {
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Reply {
        // "Upon every out-of-order packet arrival, an IRN receiver sends a NACK, which carries
        // both the cumulative acknowledgment and the sequence number of the packet that
        // triggered the NACK" (IRN §3.1).
        let early = self.0.on_data(payload, arrival).is_some();
        let expected = self.0.expected();
        if early {
            let kept = (arrival.seq / payload - expected / payload) as u32;
            return Reply::Nack { expected, kept };
        }
        Reply::Ack(expected)
    }

    pub(super) fn repeated(&self) -> bool {
        self.0.repeated()
    }

    pub(super) fn rx_progress(&self, payload: u64) -> RxProgress {
        self.0.rx_progress(payload)
    }
}

/// The receiver got an out-of-order packet. Returns true if that is new to the sender's half.
pub(crate) fn on_arrived(scoreboard: &mut Scoreboard, packet: u64) -> bool {
    // "Any subsequent packet is considered lost only if another packet with a higher sequence
    // number has been selectively acked" (IRN §3.1).
    scoreboard.lose_before(packet);
    scoreboard.insert(packet..packet + 1)
}
