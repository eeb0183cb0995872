//! Go-back-N, as in RoCE NICs: the receiver requests the missing packet and drops all later ones,
//! and the sender goes back to it. The sender's half has no state.

use std::cmp::Ordering;

use xoff_core::knobs;

use super::{Arrival, ReceiverSetup, RecoverySettings, Reply, RxProgress};

knobs! {
    /// Go-back-N.
    pub struct GoBackNConfig;
}

impl RecoverySettings for GoBackNConfig {
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
    /// Time before which the missing packet is not requested again (ps).
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
                self.quiet_until = 0;
                Reply::Ack(self.expected)
            }
            Ordering::Greater => {
                self.may_repeat = true;
                if arrival.now < self.quiet_until {
                    return Reply::Nothing;
                }
                self.quiet_until = arrival.now + setup.nack_interval;
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
