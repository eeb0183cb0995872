//! Payload trimming (NDP: Handley et al., "Re-architecting datacenter networks and stacks for low
//! latency and high performance", SIGCOMM 2017). At a full data queue a packet loses its payload
//! but not its header, which continues in the control queue.
//!
//! This file holds the decisions of a switch. The switch's architecture moves the packets.

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Rng, knobs};

use crate::packet::{Kind, Packet};

knobs! {
    /// Payload trimming at switches, where `switch.overflow` is "trim".
    pub struct TrimConfig in "trim" {
        /// Bytes left of a trimmed packet (NDP: headers of 64 B).
        header_bytes: Bytes = Bytes(64),
        /// Probability that the arriving packet is trimmed, and not the packet at the tail of the
        /// full queue: one half, against phase effects (NDP). 1 in the simulator of SFC's
        /// comparison.
        trim_arriving: f64 = 0.5,
        /// Capacity of a port's control queue, for headers, acknowledgements and pulls; 0B: "NDP
        /// sets the size of control packet queue at 1x BDP" (SFC §B.4), of base RTT and host rate,
        /// and at least one packet.
        header_queue: Bytes = Bytes(0),
        /// Return a header to its sender, once, if it finds the control queue full (NDP).
        return_to_sender: bool = true,
        /// Headers sent per data packet while both wait: ten to one (NDP); 0: headers always go
        /// first.
        header_weight: u8 = 10,
    }
}

impl TrimConfig {
    /// The same, with control queues of one bandwidth-delay product unless a size is configured.
    /// They hold a control packet of `ack_bytes` at least, since a control packet at an idle port
    /// does not ask for room.
    #[must_use]
    pub fn derived(mut self, bandwidth_delay_product: Bytes, ack_bytes: u64) -> Self {
        if self.header_queue.0 == 0 {
            let longest = self.longest_control(ack_bytes);
            self.header_queue = Bytes(bandwidth_delay_product.0.max(longest));
        }
        self
    }

    fn longest_control(&self, ack_bytes: u64) -> u64 {
        self.header_bytes.0.max(ack_bytes)
    }

    /// Checks what the types of the fields cannot, for packets of up to `full_bytes` on the wire
    /// and control packets of `ack_bytes`.
    ///
    /// # Errors
    /// The field and what is wrong.
    pub fn check(&self, full_bytes: u64, ack_bytes: u64) -> Result<(), (&'static str, String)> {
        if self.header_bytes.0 == 0 || self.header_bytes.0 >= full_bytes {
            let message = format!("header_bytes must be from 1B to less than {full_bytes}B");
            return Err(("header_bytes", message));
        }
        if self.trim_arriving > 1.0 {
            return Err(("trim_arriving", "trim_arriving is a probability: 0 to 1".into()));
        }
        let longest = self.longest_control(ack_bytes);
        if self.header_queue.0 > 0 && self.header_queue.0 < longest {
            let message = format!("header_queue must hold a control packet of {longest}B");
            return Err(("header_queue", message));
        }
        Ok(())
    }
}

/// The interface of an overflow's settings.
pub trait OverflowSettings {
    /// Checks the settings, for packets of up to `full_bytes` on the wire and control packets of
    /// `ack_bytes`.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self, _full_bytes: u64, _ack_bytes: u64) -> Checked {
        Ok(())
    }

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// True if derived settings depend on the bandwidth-delay product.
    fn derives_from_bdp(&self) -> bool {
        false
    }

    /// Fills in settings that depend on the bandwidth-delay product, for control packets of
    /// `ack_bytes`.
    fn derive(&mut self, _bandwidth_delay_product: Bytes, _ack_bytes: u64) {}

    /// The settings of trimming, if packets are trimmed.
    fn trim(&self) -> Option<&TrimConfig> {
        None
    }
}

knobs! {
    /// Full queues drop.
    pub struct DropConfig;
}

impl OverflowSettings for DropConfig {}

impl OverflowSettings for TrimConfig {
    fn check(&self, full_bytes: u64, ack_bytes: u64) -> Checked {
        TrimConfig::check(self, full_bytes, ack_bytes)
    }

    fn needs(&self) -> Vec<Need> {
        vec![
            need(
                ("transport", "kind"),
                &["ndp", "eqds"],
                "no other receiver reads trimmed packets",
            ),
            need(("switch", "hop"), &["none"], "hop controls do not learn of trimmed packets"),
            need(("switch", "scheduler"), &["fifo"], "trimming uses the tail of a class's queue"),
            need(
                ("buffer", "kind"),
                &["shared", "dedicated"],
                "an unlimited buffer never overflows",
            ),
        ]
    }

    fn derives_from_bdp(&self) -> bool {
        self.header_queue.0 == 0
    }

    fn derive(&mut self, bandwidth_delay_product: Bytes, ack_bytes: u64) {
        *self = self.clone().derived(bandwidth_delay_product, ack_bytes);
    }

    fn trim(&self) -> Option<&TrimConfig> {
        Some(self)
    }
}

xoff_core::seam! {
    /// The fate of a data packet with a full queue.
    pub enum OverflowConfig: dyn OverflowSettings, named by OverflowKind {
        /// The packet is lost.
        Drop(DropConfig) = "drop",
        /// The packet, or the one before it, loses its payload: section `trim`.
        Trim(TrimConfig) = "trim",
    }
}

/// The trimming decisions of one switch, and its ports' sharing between headers and data.
#[derive(Debug)]
pub struct Trim {
    header_bytes: u16,
    trim_arriving: f64,
    header_queue: u64,
    return_to_sender: bool,
    header_weight: u8,
    /// By port: headers sent while a data packet waits.
    headers_ahead: Vec<u8>,
    rng: Rng,
}

impl Trim {
    /// For a switch of `ports` ports, from settings with a `header_queue` above 0.
    #[must_use]
    pub fn new(config: &TrimConfig, ports: usize, rng: Rng) -> Self {
        Self {
            header_bytes: config.header_bytes.0 as u16,
            trim_arriving: config.trim_arriving,
            header_queue: config.header_queue.0,
            return_to_sender: config.return_to_sender,
            header_weight: config.header_weight,
            headers_ahead: vec![0; ports],
            rng,
        }
    }

    /// Whether a packet of `bytes` may join a control queue that holds `queued_bytes`.
    #[inline]
    #[must_use]
    pub fn admits(&self, queued_bytes: u32, bytes: u16) -> bool {
        u64::from(queued_bytes) + u64::from(bytes) <= self.header_queue
    }

    /// Whether the packet at the tail of a full queue gives way to an arriving one. It does not if
    /// the queue would still be too long.
    #[must_use]
    pub fn replaces(&mut self, tail_bytes: u16, arriving_bytes: u16) -> bool {
        self.rng.unit() >= self.trim_arriving && tail_bytes >= arriving_bytes
    }

    /// Removes a data packet's payload.
    pub fn cut(&self, packet: &mut Packet) {
        packet.kind = Kind::Trimmed;
        packet.wire_bytes = packet.wire_bytes.min(self.header_bytes);
    }

    /// Returns a header that finds no room to its sender, if that is allowed. A header that is
    /// already returning is not.
    pub fn turn_back(&self, packet: &mut Packet) -> bool {
        let turns = self.return_to_sender && packet.kind == Kind::Trimmed;
        if turns {
            packet.kind = Kind::Returned;
            std::mem::swap(&mut packet.src, &mut packet.dst);
            packet.label = packet.label.rotate_left(16);
        }
        turns
    }

    /// Whether a port at which headers and data wait sends data next.
    pub fn is_data_turn(&mut self, port: u16) -> bool {
        let ahead = &mut self.headers_ahead[port as usize];
        let turn = self.header_weight > 0 && *ahead == self.header_weight;
        *ahead = if turn || self.header_weight == 0 { 0 } else { *ahead + 1 };
        turn
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::*;

    fn trim(config: &TrimConfig) -> Trim {
        Trim::new(config, 2, Rng::stream(1, Purpose::Trimming, 0))
    }

    #[test]
    fn headers_and_data_take_turns_at_each_port() {
        let config = TrimConfig { header_weight: 2, ..TrimConfig::default() };
        let mut shared = trim(&config);
        let turns = [0; 7].map(|port| shared.is_data_turn(port));
        assert_eq!(turns, [false, false, true, false, false, true, false]);
        assert!(!shared.is_data_turn(1));
        let mut strict = trim(&TrimConfig { header_weight: 0, ..config });
        assert!((0..100).all(|_| !strict.is_data_turn(0)));
    }

    #[test]
    fn half_of_the_time_the_tail_is_trimmed_if_that_makes_room() {
        let mut even = trim(&TrimConfig::default());
        let replaced = (0..10_000).filter(|_| even.replaces(1048, 1048)).count();
        assert!((4800..5200).contains(&replaced), "{replaced}");
        assert!((0..100).all(|_| !even.replaces(100, 1048)));
        let mut arriving = trim(&TrimConfig { trim_arriving: 1.0, ..TrimConfig::default() });
        assert!((0..100).all(|_| !arriving.replaces(1048, 1048)));
    }

    #[test]
    fn a_header_goes_back_once_and_nothing_else_does() {
        let mut packet = Packet::new(Kind::Data, 1048);
        (packet.src, packet.dst, packet.label) = (3, 4, 0x0001_0002);
        let switch = trim(&TrimConfig::default());
        assert!(!switch.turn_back(&mut packet));
        switch.cut(&mut packet);
        assert_eq!((packet.kind, packet.wire_bytes), (Kind::Trimmed, 64));
        assert!(switch.turn_back(&mut packet));
        assert_eq!((packet.kind, packet.src, packet.dst), (Kind::Returned, 4, 3));
        assert_eq!(packet.label, 0x0002_0001);
        assert!(!switch.turn_back(&mut packet));
        let keeps = trim(&TrimConfig { return_to_sender: false, ..TrimConfig::default() });
        packet.kind = Kind::Trimmed;
        assert!(!keeps.turn_back(&mut packet));
    }

    #[test]
    fn a_packet_shorter_than_a_header_does_not_grow() {
        let mut packet = Packet::new(Kind::Data, 50);
        trim(&TrimConfig::default()).cut(&mut packet);
        assert_eq!(packet.wire_bytes, 50);
    }
}
