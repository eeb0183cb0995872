//! The retransmission timeout of a flow (RFC 6298).
//!
//! Every acknowledgement returns the send time of its packet. Each is therefore a sample, even for
//! retransmissions (RFC 6298 §3: Karn's algorithm is for senders that cannot tell them apart).
//! Recoveries that count duplicates can do without those times: `tcp.rtt_samples = "one"`. The
//! clock has no granularity.

use super::progress::Answer;
use crate::tcp::{RtoFloor, RttSamples, TcpConfig};

/// Limits of a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoLimits {
    /// Before the first measured round trip (ps).
    pub initial_ps: u64,
    /// Minimum (ps).
    pub min_ps: u64,
    /// What the minimum bounds.
    pub floor: RtoFloor,
    /// Maximum, also after doubling (ps).
    pub max_ps: u64,
    /// Which packets are timed.
    pub samples: RttSamples,
    /// Interval between looks for timeouts (ps).
    pub scan_ps: u64,
}

impl From<&TcpConfig> for RtoLimits {
    fn from(config: &TcpConfig) -> Self {
        Self {
            initial_ps: config.initial_rto.0,
            min_ps: config.min_rto.0,
            floor: config.rto_floor,
            max_ps: config.max_rto.0,
            samples: config.rtt_samples,
            scan_ps: config.timeout_scan.0,
        }
    }
}

/// A sender's measurements, and the number of timeouts since the last one.
#[derive(Clone, Copy, Debug)]
pub struct Rto {
    limits: RtoLimits,
    /// SRTT and RTTVAR (ps), once there is a sample.
    smoothed: Option<(u64, u64)>,
    /// Timeouts since the last sample.
    backoff: u32,
    /// The timed packet: its end and when it was sent (ps), if one packet is timed at a time.
    timed: Option<(u64, u64)>,
    /// True until the answer to the flow's SYN.
    pub opening: bool,
}

impl Rto {
    /// Creates it without a measurement.
    #[must_use]
    pub fn new(limits: RtoLimits) -> Self {
        Self { limits, smoothed: None, backoff: 0, timed: None, opening: false }
    }

    /// Creates it, with the measurement of a handshake if there was one before the flow.
    #[must_use]
    pub fn of_flow(config: &TcpConfig) -> Self {
        let limits = RtoLimits::from(config);
        let mut rto = Self { opening: config.handshake, ..Self::new(limits) };
        if config.handshake_rtt.0 > 0 {
            rto.on_sample(config.handshake_rtt.0);
        }
        rto
    }

    /// Adds the round-trip time of a packet (ps).
    pub fn on_sample(&mut self, rtt: u64) {
        self.smoothed = Some(match self.smoothed {
            // SRTT <- R, RTTVAR <- R/2 (§2.2).
            None => (rtt, rtt / 2),
            // RTTVAR <- (1 - beta) RTTVAR + beta |SRTT - R'|, then SRTT <- (1 - alpha) SRTT + alpha
            // R', with alpha = 1/8 and beta = 1/4 (§2.3).
            Some((mean, variation)) => {
                let off = mean.abs_diff(rtt);
                (mean - mean / 8 + rtt / 8, variation - variation / 4 + off / 4)
            }
        });
        self.backoff = 0;
    }

    /// A packet leaves: its end, and whether it was sent before. "RTT samples MUST NOT be made
    /// using segments that were retransmitted" (§3).
    pub fn on_sent(&mut self, end: u64, now: u64, again: bool) {
        if self.limits.samples == RttSamples::One && self.timed.is_none() && !again {
            self.timed = Some((end, now));
        }
    }

    /// An acknowledgement of everything before `una` arrives.
    pub fn on_answer(&mut self, una: u64, answer: &Answer) {
        match (self.limits.samples, self.timed) {
            (RttSamples::All, _) => self.on_sample(answer.rtt),
            (RttSamples::One, Some((end, sent))) if una >= end => {
                self.timed = None;
                self.on_sample(answer.now - sent);
            }
            (RttSamples::One, _) => {}
        }
    }

    /// Packets are sent again: the timed one tells nothing any more.
    pub fn forget(&mut self) {
        self.timed = None;
    }

    /// The next timeout is not doubled.
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Records a timeout: "the host MUST set RTO <- RTO * 2" (§5.5).
    pub fn back_off(&mut self) {
        self.timed = None;
        self.backoff += 1;
    }

    /// Timeouts since the last sample.
    #[must_use]
    pub fn timeouts(&self) -> u32 {
        self.backoff
    }

    /// True if there was a timeout since the last sample.
    #[must_use]
    pub fn has_backed_off(&self) -> bool {
        self.backoff > 0
    }

    /// The smoothed round-trip time (ps), once there is a sample.
    #[must_use]
    pub fn smoothed_rtt(&self) -> Option<u64> {
        self.smoothed.map(|(mean, _)| mean)
    }

    /// When a timer that starts now expires (ps).
    #[must_use]
    pub fn expiry(&self, now: u64) -> u64 {
        let due = now + self.timeout();
        let scan = self.limits.scan_ps;
        if scan == 0 {
            return due;
        }
        // rtx_timer_hook of htsim (sim/tcp.cpp): "now <= _RFC2988_RTO_timeout" is not yet late, and
        // "rtx_off = (period - too_late)/200". A doubled timeout starts with the look itself.
        let due = if self.has_backed_off() { due - now % scan } else { due };
        let look = (due / scan + 1) * scan;
        look + (scan - (look - due)) / 200
    }

    /// The current timeout (ps).
    #[must_use]
    pub fn timeout(&self) -> u64 {
        let RtoLimits { initial_ps, min_ps, floor, max_ps, .. } = self.limits;
        let least = if floor == RtoFloor::Variation { min_ps } else { 0 };
        // RTO <- SRTT + max (G, K RTTVAR), K = 4 (§2.3). Linux has its least timeout for G.
        let measured = |(mean, variation)| mean + least.max(4 * variation);
        let once = self.smoothed.map_or(initial_ps, measured).clamp(min_ps, max_ps);
        // Sixty doublings of a picosecond are two weeks.
        once.saturating_mul(1 << self.backoff.min(60)).min(max_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RtoLimits = RtoLimits {
        initial_ps: 1_000_000,
        min_ps: 1_000,
        floor: RtoFloor::Timeout,
        max_ps: 60_000_000,
        samples: RttSamples::All,
        scan_ps: 0,
    };

    #[test]
    fn samples_update_the_timeout_as_in_the_rfc() {
        let mut rto = Rto::new(LIMITS);
        assert_eq!(rto.timeout(), 1_000_000);
        // SRTT 80 000, RTTVAR 40 000.
        rto.on_sample(80_000);
        assert_eq!((rto.smoothed_rtt(), rto.timeout()), (Some(80_000), 240_000));
        // RTTVAR 30 000 + 40 000 / 4 with the previous SRTT, then SRTT 70 000 + 15 000.
        rto.on_sample(120_000);
        assert_eq!((rto.smoothed_rtt(), rto.timeout()), (Some(85_000), 245_000));
    }

    #[test]
    fn a_steady_round_trip_leads_to_the_minimum() {
        let mut rto = Rto::new(RtoLimits { min_ps: 100_000, ..LIMITS });
        (0..100).for_each(|_| rto.on_sample(80_000));
        assert_eq!((rto.smoothed_rtt(), rto.timeout()), (Some(80_000), 100_000));
    }

    /// SRTT + max(RTO_min, 4 RTTVAR): a steady round trip adds itself, and a wide variation leaves
    /// nothing to the minimum.
    #[test]
    fn a_floor_of_the_variation_adds_the_round_trip() {
        let floor = RtoFloor::Variation;
        let mut rto = Rto::new(RtoLimits { min_ps: 100_000, floor, ..LIMITS });
        assert_eq!(rto.timeout(), 1_000_000);
        (0..100).for_each(|_| rto.on_sample(80_000));
        assert_eq!(rto.timeout(), 180_000);
        // RTTVAR 100 000 and SRTT 130 000 after a sample of 480 000.
        rto.on_sample(480_000);
        // Rounding leaves a few picoseconds of the first sample's RTTVAR.
        assert_eq!(rto.timeout() / 100, 1_300 + 4_000);
    }

    #[test]
    fn each_timeout_doubles_it_up_to_the_maximum_and_a_sample_resets_it() {
        let mut rto = Rto::new(LIMITS);
        rto.on_sample(1_000_000);
        let mut timeouts = Vec::new();
        for _ in 0..6 {
            timeouts.push(rto.timeout() / 1_000_000);
            rto.back_off();
        }
        assert_eq!(timeouts, [3, 6, 12, 24, 48, 60]);
        (0..100).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout(), 60_000_000);
        rto.on_sample(1_000_000);
        // RTTVAR fell from 500 000 to 375 000.
        assert_eq!((rto.timeout(), rto.has_backed_off()), (2_500_000, false));
    }

    /// A timeout of 1,030 ns is noticed at 1,200 ns, 170 ns late, and takes effect after another
    /// (200 - 170) / 200 ns. A timeout of 1,200 ns is noticed at 1,400 ns.
    #[test]
    fn timeouts_are_noticed_at_multiples_of_the_scan() {
        let rto = Rto::new(RtoLimits { initial_ps: 1_030_000, scan_ps: 200_000, ..LIMITS });
        assert_eq!((rto.expiry(0), rto.expiry(170_000)), (1_200_150, 1_400_000));
        assert_eq!(Rto::new(LIMITS).expiry(7), 1_000_007);
        let mut late = rto;
        late.back_off();
        // From 1,200 ns on, not from 1,200.15 ns on.
        assert_eq!(late.expiry(1_200_150), 3_400_000 + (200_000 - 140_000) / 200);
    }

    #[test]
    fn timeouts_count_until_a_sample() {
        let mut rto = Rto::new(LIMITS);
        let counts = [(); 3].map(|()| {
            let count = (rto.timeouts(), rto.has_backed_off());
            rto.back_off();
            count
        });
        assert_eq!(counts, [(0, false), (1, true), (2, true)]);
        rto.on_sample(1_000_000);
        assert_eq!((rto.timeouts(), rto.has_backed_off()), (0, false));
    }

    /// Karn: one packet at a time, and no retransmission.
    #[test]
    fn one_timed_packet_at_a_time() {
        let mut rto = Rto::new(RtoLimits { samples: RttSamples::One, ..LIMITS });
        let answer = |now| Answer { now, rtt: 7, acked: 0, repeats: false, news: false };
        rto.on_sent(1000, 0, false);
        rto.on_sent(2000, 50, false);
        rto.on_answer(0, &answer(100));
        assert_eq!(rto.smoothed_rtt(), None);
        rto.on_answer(2000, &answer(200));
        assert_eq!(rto.smoothed_rtt(), Some(200));
        rto.back_off();
        rto.on_sent(3000, 300, true);
        rto.on_answer(3000, &answer(400));
        assert_eq!((rto.smoothed_rtt(), rto.timeouts()), (Some(200), 1));
        rto.on_sent(4000, 500, false);
        rto.on_answer(4000, &answer(700));
        assert_eq!(rto.timeouts(), 0);
    }
}
