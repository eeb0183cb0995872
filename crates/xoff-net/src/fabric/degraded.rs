//! Links that work at a lower rate than their own for a time.

use rustc_hash::FxHashMap;

use super::Fabric;

/// A port with a lower rate than its own.
#[derive(Debug)]
struct Degraded {
    /// Its own rate (bit/s).
    full: u64,
    /// The lower rates (bit/s), each with the owner's number. The lowest is in force.
    limits: Vec<(u32, u64)>,
}

/// All such ports, by number.
#[derive(Debug, Default)]
pub(super) struct DegradedPorts(FxHashMap<u32, Degraded>);

impl DegradedPorts {
    /// The port's own rate, if it works at another one.
    pub(super) fn full_rate(&self, port: u32) -> Option<u64> {
        self.0.get(&port).map(|degraded| degraded.full)
    }
}

impl Fabric {
    /// Lowers the rate of a port to `rate` bit/s, from its next packet on. `number` identifies the
    /// reason for `restore_rate`. Of several reasons, the one with the lowest rate counts.
    pub fn degrade(&mut self, port: u32, number: u32, rate: u64) {
        let full = self.current_rate(port);
        let whole = || Degraded { full, limits: Vec::new() };
        self.degraded.0.entry(port).or_insert_with(whole).limits.push((number, rate));
        self.apply_limits(port);
    }

    /// Ends that reason.
    pub fn restore_rate(&mut self, port: u32, number: u32) {
        let Some(degraded) = self.degraded.0.get_mut(&port) else { return };
        degraded.limits.retain(|limit| limit.0 != number);
        self.apply_limits(port);
    }

    fn apply_limits(&mut self, port: u32) {
        let Degraded { full, limits } = &self.degraded.0[&port];
        let full = *full;
        let lowest = limits.iter().map(|limit| limit.1).min();
        if lowest.is_none() {
            self.degraded.0.remove(&port);
        }
        self.set_rate(port, lowest.map_or(full, |lowest| lowest.min(full)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::pair;
    use super::*;
    use crate::packet::{Kind, Packet};

    /// When the port has sent a packet of 1000 bytes that it starts as soon as it can.
    fn sends(fabric: &mut Fabric) -> u64 {
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        fabric.now = fabric.busy_until(0);
        fabric.transmit(0, id, false);
        fabric.busy_until(0) - fabric.now
    }

    #[test]
    fn the_lowest_rate_holds_from_the_next_packet_on_until_every_reason_is_gone() {
        let mut fabric = pair();
        assert_eq!(sends(&mut fabric), 80_000);
        let busy = fabric.busy_until(0);
        fabric.degrade(0, 1, 25_000_000_000);
        assert_eq!(fabric.busy_until(0), busy, "the packet under way keeps its time");
        assert_eq!(sends(&mut fabric), 320_000);
        fabric.degrade(0, 2, 10_000_000_000);
        assert_eq!(sends(&mut fabric), 800_000);
        fabric.restore_rate(0, 2);
        assert_eq!(sends(&mut fabric), 320_000);
        assert_eq!((fabric.current_rate(0), fabric.rate(0)), (25_000_000_000, 100_000_000_000));
        assert_eq!(fabric.current_rate(1), 100_000_000_000, "the other direction is whole");
        fabric.restore_rate(0, 1);
        assert_eq!(sends(&mut fabric), 80_000);
        assert_eq!(fabric.degraded.full_rate(0), None);
    }

    /// A rate without whole picoseconds per byte, and a port whose packets are recorded.
    #[test]
    fn any_rate_and_recorded_packets_take_the_general_path() {
        let mut fabric = pair();
        fabric.degrade(0, 1, 3_000_000_000);
        assert_eq!(sends(&mut fabric), 2_666_667);
        fabric.capture(0);
        fabric.restore_rate(0, 1);
        assert_eq!(sends(&mut fabric), 80_000);
        assert_eq!(fabric.captured.len(), 1);
    }
}
