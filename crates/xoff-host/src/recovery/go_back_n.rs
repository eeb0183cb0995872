//! Go-back-N, as in RoCE NICs: the receiver requests the missing packet and drops all later ones,
//! and the sender goes back to it. The sender's half has no state.

use std::cmp::Ordering;

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Bytes, knobs};
use xoff_net::capability::SENDER_DRIVEN;

use super::chunks::Chunks;
use super::{Arrival, ReceiverSetup, RecoverySettings, Reply, RxProgress};

knobs! {
    /// Go-back-N.
    pub struct GoBackNConfig in "go_back_n" {
        /// A receiver acknowledges nothing until this many bytes of a flow have arrived in order,
        /// except at the end of a chunk. From then on it acknowledges every packet (the HPCC
        /// simulator's L2_ACK_INTERVAL). A shorter flow ends only if its size is whole chunks. 0:
        /// every packet.
        ack_from: Bytes = Bytes(0) => [Effect::Needs(SENDER_DRIVEN)],
        /// Bytes of a chunk (the HPCC simulator's L2_CHUNK_SIZE).
        chunk: Bytes = Bytes(4000) => [Effect::Unless(|recovery| because(
            recovery.ack_from.0 == 0 && !recovery.back_to_zero,
            "neither go_back_n.ack_from nor go_back_n.back_to_zero is set",
        ))],
        /// A loss returns to the start of its chunk (the HPCC simulator's L2_BACK_TO_ZERO). Only
        /// whole chunks count as acknowledged: a flow ends only if its size is whole chunks.
        back_to_zero: bool = false => [Effect::Needs(SENDER_DRIVEN)],
    }
}

impl RecoverySettings for GoBackNConfig {
    fn check(&self) -> Checked {
        if self.chunk.0 == 0 {
            return Err(("chunk", "chunk must be at least 1B".into()));
        }
        Ok(())
    }

    fn chunks(&self) -> Chunks {
        let Self { ack_from, chunk, back_to_zero } = *self;
        Chunks { ack_from: ack_from.0, chunk: chunk.0, back_to_zero }
    }

    fn limits_requests(&self) -> bool {
        true
    }

    fn tells_what_is_left(&self) -> bool {
        true
    }
}

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Next byte expected.
    expected: u64,
    /// The last packet requested, and the time before which it is not requested again (ps).
    requested: u64,
    quiet_until: u64,
    /// True if unexpected packets have arrived: the sender has gone back or will. Otherwise no
    /// packet arrives twice, as long as the timeout exceeds a round trip.
    may_repeat: bool,
}

impl Receiver {
    pub(super) fn on_data(&mut self, setup: &ReceiverSetup, arrival: &Arrival) -> Reply {
        match arrival.seq.cmp(&self.expected) {
            Ordering::Equal => {
                self.expected += arrival.bytes;
                if setup.chunks.acknowledges(self.expected) {
                    Reply::Ack(self.expected)
                } else {
                    Reply::Nothing
                }
            }
            Ordering::Greater => {
                self.may_repeat = true;
                if arrival.now < self.quiet_until && self.requested == self.expected {
                    return Reply::Nothing;
                }
                self.quiet_until = arrival.now + setup.nack_interval;
                self.requested = self.expected;
                self.expected = setup.chunks.counted(self.expected);
                Reply::Nack { expected: self.expected, kept: 0 }
            }
            // A duplicate: the acknowledgement tells the sender the receiver's progress.
            Ordering::Less => {
                self.may_repeat = true;
                if setup.literal { Reply::Nothing } else { Reply::Ack(self.expected) }
            }
        }
    }

    pub(super) fn rx_progress(&self) -> RxProgress {
        RxProgress { received: self.expected, delivered: self.expected }
    }

    pub(super) fn may_repeat(&self) -> bool {
        self.may_repeat
    }
}
