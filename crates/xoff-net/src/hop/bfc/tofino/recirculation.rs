//! Recirculation of packet headers from the egress back to the ingress (BFC §4): "in the egress
//! pipeline, we mirror packets as they exit and recirculate the header of the mirrored packet back
//! to the ingress pipeline it came from".
//!
//! The whole switch has one link of limited rate, where headers queue: "the recirculation bandwidth
//! is limited to 12% of the entire switch capacity". None is dropped, because its counter would
//! never be decremented. The model leaves out the cycle of the ingress pipeline that each header
//! takes ("the switch has a cap on the number of packets it can process every second", without a
//! figure).

use super::TofinoConfig;

/// Counts of recirculation, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecirculationStats {
    /// Headers.
    pub headers: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Longest wait of a header for others (ps).
    pub longest_wait_ps: u64,
}

impl RecirculationStats {
    pub(super) fn add(&mut self, other: &Self) {
        self.headers += other.headers;
        self.bytes += other.bytes;
        self.longest_wait_ps = self.longest_wait_ps.max(other.longest_wait_ps);
    }
}

/// The recirculation link.
#[derive(Debug)]
pub(super) struct Recirculation {
    header_bytes: u64,
    /// Time of a header on the link (ps).
    header_ps: u64,
    delay_ps: u64,
    /// When the last header so far has left the link (ps).
    free_at: u64,
    pub(super) stats: RecirculationStats,
}

impl Recirculation {
    /// For a switch with `ports_rate` bits per second on all ports together.
    pub(super) fn new(config: &TofinoConfig, ports_rate: u64) -> Self {
        let rate = config.recirculation_share * ports_rate as f64;
        let header_bytes = config.recirculated_bytes.0;
        Self {
            header_bytes,
            header_ps: (header_bytes as f64 * 8e12 / rate).ceil() as u64,
            delay_ps: config.recirculation_delay.0,
            free_at: 0,
            stats: RecirculationStats::default(),
        }
    }

    /// A header enters the link now.
    #[inline]
    pub(super) fn send(&mut self, now: u64) {
        let begin = self.free_at.max(now);
        self.free_at = begin + self.header_ps;
        self.stats.headers += 1;
        self.stats.bytes += self.header_bytes;
        self.stats.longest_wait_ps = self.stats.longest_wait_ps.max(begin - now);
    }

    /// Delay of the header that entered now.
    pub(super) fn time(&self, now: u64) -> u64 {
        self.free_at + self.delay_ps - now
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xoff_core::Bytes;

    use super::*;

    /// 32 ports of 400 Gb/s.
    const PORTS_RATE: u64 = 12_800_000_000_000;

    /// "Tofino2 is designed with enough spare capacity in bandwidth [...] to handle header
    /// recirculation for every packet" of workloads with "an average packet size greater than 500
    /// bytes" (§4). At full load headers use bytes / packet of the capacity, which must be at most
    /// 12 %.
    #[test]
    fn headers_of_all_packets_of_500_bytes_fit_if_they_have_up_to_60() {
        let backlog = |header, packet: u64| {
            let config =
                TofinoConfig { recirculated_bytes: Bytes(header), ..TofinoConfig::default() };
            let mut link = Recirculation::new(&config, PORTS_RATE);
            let packet_ps = packet * 8_000_000 / (PORTS_RATE / 1_000_000);
            (0..100_000).for_each(|k| link.send(k * packet_ps));
            link.stats.longest_wait_ps
        };
        assert!(backlog(48, 500) < 1000 && backlog(58, 500) < 1000);
        assert!(backlog(64, 500) > 1_000_000, "the smallest frame of Ethernet does not fit");
        assert!(backlog(48, 380) > 1_000_000 && backlog(48, 410) < 1000);
    }

    proptest! {
        /// Headers arrive in order, no faster than the link allows, and none early.
        #[test]
        fn headers_follow_each_other(
            gaps in prop::collection::vec(0u64..10_000, 1..200),
            rate in 1_000_000_000u64..PORTS_RATE,
        ) {
            let mut link = Recirculation::new(&TofinoConfig::default(), rate);
            let (mut now, mut last) = (0, 0);
            for gap in gaps {
                now += gap;
                link.send(now);
                let arrival = now + link.time(now);
                prop_assert!(arrival >= last + link.header_ps);
                prop_assert!(arrival >= now + link.header_ps + link.delay_ps);
                last = arrival;
            }
        }
    }
}
