//! Perfect recovery: the switch that drops a packet notifies its sender, which retransmits that
//! packet (BFC §6.2.1, HPCC-PFC: "perfect retransmission"). No packet arrives twice, so the
//! receiver only counts bytes.

use xoff_core::knobs;

use super::{Arrival, RecoverySettings, Reply, RxProgress, Timeouts};

knobs! {
    /// Perfect recovery.
    pub struct PerfectConfig;
}

impl RecoverySettings for PerfectConfig {
    /// Its receivers count bytes, so an unnecessary retransmission would count twice.
    fn timeouts(&self) -> Timeouts {
        Timeouts::None("transport.recovery = \"perfect\" detects every loss")
    }

    fn needs_order(&self) -> bool {
        false
    }

    fn relies_on_switches(&self) -> bool {
        true
    }
}

/// The receiver's half: bytes received, in any order.
#[derive(Debug, Default)]
pub struct Receiver {
    received: u64,
}

impl Receiver {
    pub(super) fn on_data(&mut self, arrival: &Arrival) -> Reply {
        self.received += arrival.bytes;
        Reply::Ack(self.received)
    }

    pub(super) fn rx_progress(&self) -> RxProgress {
        RxProgress { received: self.received, delivered: self.received }
    }
}

/// The sender's half: packets reported lost.
#[derive(Debug, Default)]
pub struct Losses {
    /// First byte and payload of each; the last is retransmitted next.
    packets: Vec<(u64, u64)>,
}

impl Losses {
    /// Adds a reported loss.
    pub fn add(&mut self, seq: u64, bytes: u64) {
        self.packets.push((seq, bytes));
    }

    /// Takes the next packet to retransmit: first byte and payload.
    pub fn take(&mut self) -> Option<(u64, u64)> {
        self.packets.pop()
    }
}
