//! Selective repeat, as in IRN (Mittal et al., SIGCOMM 2018, §3.1): the receiver keeps packets that
//! come out of order and says which one it got, and the sender repeats only those that are missing.
//!
//! IRN's sender remembers the recovery sequence, the first packet sent after a recovery began; when it
//! is acknowledged, the recovery ends, and the next one may repeat the same holes. That cannot happen
//! before what was repeated has arrived. So each hole is sent again once, whatever comes, until a
//! timeout; a recovery sequence would add nothing.

use super::reassembly::Reassembly;
use super::scoreboard::Scoreboard;
use super::{Arrival, Reply};
use crate::receiver::Got;

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

    pub(super) fn got(&self, payload: u64) -> Got {
        self.0.got(payload)
    }
}

/// The receiver got a packet before its turn; whether that is news to the sender's half.
pub(crate) fn on_arrived(scoreboard: &mut Scoreboard, packet: u64) -> bool {
    // "Any subsequent packet is considered lost only if another packet with a higher sequence number
    // has been selectively acked" (IRN §3.1).
    scoreboard.lose_before(packet);
    scoreboard.insert(packet..packet + 1)
}
