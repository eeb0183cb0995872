//! What the settings of a recovery say about it.

use xoff_core::knobs::Checked;

use super::Chunks;
use crate::cc::Path;
use crate::tcp::TcpConfig;

/// Timeouts of section `transport` that a recovery uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeouts {
    /// None; the reason.
    None(&'static str),
    /// `timeout`.
    One,
    /// `timeout`, and `timeout_low` for flows with few packets in flight.
    Two,
}

impl Timeouts {
    /// True if there are any.
    #[must_use]
    pub fn act(self) -> bool {
        !matches!(self, Self::None(_))
    }
}

/// What the rest of the program asks the settings of a recovery.
pub trait RecoverySettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// The settings of section `tcp`; their defaults where the recovery does not have them.
    fn tcp(&self) -> TcpConfig {
        TcpConfig::default()
    }

    /// When receivers acknowledge, and how far: every packet in order, unless section `go_back_n`
    /// says otherwise.
    fn chunks(&self) -> Chunks {
        Chunks::default()
    }

    /// The timeouts of section `transport` that it uses.
    fn timeouts(&self) -> Timeouts {
        Timeouts::One
    }

    /// True if receivers limit how often they ask for a missing packet.
    fn limits_requests(&self) -> bool {
        false
    }

    /// True if an out-of-order packet counts as a sign of loss.
    fn needs_order(&self) -> bool {
        true
    }

    /// True if switches report every dropped packet to its sender, and no other losses are
    /// detected.
    fn relies_on_switches(&self) -> bool {
        false
    }

    /// True if it reports each loss to the congestion control.
    fn reports_losses(&self) -> bool {
        false
    }

    /// True if it counts duplicate acknowledgements, whatever they report beyond the first missing
    /// byte.
    fn counts_duplicates(&self) -> bool {
        false
    }

    /// True if partial acknowledgements deflate the window.
    fn deflates(&self) -> bool {
        false
    }

    /// True if acknowledgements report blocks of packets that have arrived out of order.
    fn reports_blocks(&self) -> bool {
        false
    }

    /// True if it sends headers alone after some timeouts, and can reduce a window over a round
    /// trip.
    fn probes(&self) -> bool {
        false
    }

    /// True if a retransmitted packet has the number of bytes left to send in its flow.
    fn tells_what_is_left(&self) -> bool {
        false
    }

    /// True if its packets have a frame format for captures.
    fn can_be_captured(&self) -> bool {
        true
    }

    /// Maximum distance of a flow from its first unacknowledged byte (bytes).
    fn reach(&self, _path: &Path) -> u64 {
        u64::MAX
    }
}
