//! Sizes of frames, section `frame`.

use xoff_core::knobs::{Checked, Effect};
use xoff_core::{Bytes, knobs};
use xoff_net::capability::ACK_HEADER;

knobs! {
    /// Frame sizes. The defaults are those of the HPCC simulator: 1000 B of payload, 48 B of
    /// headers (14 PPP, 20 IP, 8 UDP, 6 sequence), a 60 B acknowledgement for every data packet, no
    /// preamble.
    pub struct FrameConfig in "frame" {
        /// Payload of a full packet.
        payload: Bytes = Bytes(1000),
        /// Headers of a data packet, without INT.
        header: Bytes = Bytes(48),
        /// The payload of a flow's last packet is padded to that of a full one, as in htsim. Rows
        /// have the size without padding, and ideal completion times count the padding.
        whole_packets: bool = false,
        /// An acknowledgement, without INT (the smallest frame).
        ack: Bytes = Bytes(60),
        /// Headers of an acknowledgement before padding. With INT an acknowledgement has the length
        /// of these headers and the INT header, and at least that of `ack` (the HPCC simulator:
        /// 88 B with 42 B of INT).
        ack_header: Bytes = Bytes(46) => [Effect::Needs(ACK_HEADER)],
    }
}

impl FrameConfig {
    /// Checks the sizes.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        const LONGEST: u64 = 60_000;
        if self.payload.0 == 0 {
            return Err(("payload", "payload must be above 0".into()));
        }
        if self.full_packet() > LONGEST || self.ack.0.max(self.ack_header.0) > LONGEST {
            let message = format!("a frame may have up to {LONGEST} bytes with its headers");
            return Err(("payload", message));
        }
        if self.ack.0 == 0 {
            return Err(("ack", "ack must be above 0B".into()));
        }
        Ok(())
    }

    /// Bytes of a full packet with its headers, without those of the congestion control.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        self.payload.0.saturating_add(self.header.0)
    }
}
