//! XCP's sender (Katabi, Handley, Rohrs, SIGCOMM 2002, §3.3): the window changes by the switches'
//! feedback in the congestion header. [`xoff_net::xcp`] has the switches' part.
//!
//! Packets are spaced by window / RTT (with `transport.pacing`), so that fractions of a packet in
//! the window take effect. In a data centre a fair share is a few packets, and rounding it would
//! make flows unequal by up to a packet.

use xoff_core::Ps;
use xoff_core::knobs::Checked;
use xoff_net::Record;
use xoff_net::arch::InBand;
use xoff_net::pint::WholeDraws;
use xoff_net::xcp::{Form, Router, XcpConfig, XcpHeader};

use super::{Ack, Carries, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

/// Bit/s per byte per picosecond.
const BITS_PER_S: f64 = 8e12;

impl ControlSettings for XcpConfig {
    fn check(&self) -> Checked {
        XcpConfig::check(self)
    }

    fn sets_own_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.initial_interval.0 == 0
    }

    fn derive(&mut self, base_rtt: Ps) -> Vec<(&'static str, Ps)> {
        *self = self.clone().derived(base_rtt);
        vec![("xcp_initial_interval", self.initial_interval)]
    }

    fn carries(&self) -> Carries {
        Carries::Xcp
    }

    fn header_bytes(&self) -> Option<u64> {
        Some(self.header.0)
    }

    fn in_band(&self, rates: &[u64], _draws: WholeDraws) -> InBand {
        InBand::Xcp(Router::new(self, rates.iter().copied()))
    }
}

impl Start for XcpConfig {
    type Control = Xcp;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Xcp, Pace) {
        Xcp::start(self, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Xcp {
    /// The window in bytes on the wire, as switches count it.
    window: f64,
    /// Estimate of the RTT (ps); 0 if there is none yet.
    rtt_ps: f64,
    rtt_gain: f64,
    /// Tick of the clock (ps); 0: none.
    tick_ps: u64,
    /// True for the arithmetic of ns-2.
    as_ns2: bool,
}

impl Xcp {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &XcpConfig, path: &Path) -> (Self, Pace) {
        let packets = f64::from(config.initial_window_packets);
        let control = Self {
            window: packets * path.full_packet as f64,
            rtt_ps: 0.0,
            rtt_gain: config.rtt_gain,
            tick_ps: config.rtt_tick.0,
            as_ns2: config.sender == Form::Ns2,
        };
        (control, control.pace(path))
    }

    /// The header of a packet of `wire_bytes` on the wire.
    #[must_use]
    pub fn header(&self, path: &Path, wire_bytes: u16) -> XcpHeader {
        let bytes = f64::from(wire_bytes);
        if self.rtt_ps == 0.0 {
            // An RTT of zero means that there is no estimate yet (§3.2).
            return XcpHeader::default();
        }
        if self.as_ns2 {
            let spacing_ps = self.rtt_ps / self.whole_packets(path);
            return XcpHeader { rtt_ps: self.rtt_ps, spacing_ps, feedback: f64::MAX };
        }
        let line_rate = path.line_rate as f64 / BITS_PER_S;
        let throughput = self.window / self.rtt_ps;
        XcpHeader {
            rtt_ps: self.rtt_ps,
            spacing_ps: bytes * self.rtt_ps / self.window,
            // The feedback that would bring the flow to its desired rate, divided by the packets of
            // a window (§3.3). Here the desired rate is the line rate.
            feedback: (line_rate - throughput) * bytes / self.window,
        }
    }

    /// Sets the window, to at least one packet.
    fn set_window(&mut self, path: &Path, bytes: f64, pace: &mut Pace) {
        self.window = bytes.max(path.full_packet as f64);
        *pace = self.pace(path);
    }

    /// The window in packets, rounded down.
    fn whole_packets(&self, path: &Path) -> f64 {
        (self.window / path.full_packet as f64).floor()
    }

    /// Adds a round-trip time (ps) to the average.
    fn on_sample(&mut self, now: u64, rtt: u64) {
        let sample = match self.tick_ps {
            0 => rtt,
            tick => (now / tick - (now - rtt) / tick) * tick,
        } as f64;
        self.rtt_ps = if self.rtt_ps == 0.0 {
            sample
        } else {
            self.rtt_ps + self.rtt_gain * (sample - self.rtt_ps)
        };
    }

    fn pace(&self, path: &Path) -> Pace {
        let share = path.payload as f64 / path.full_packet as f64;
        let rate = if self.rtt_ps == 0.0 {
            path.line_rate
        } else {
            ((self.window / self.rtt_ps * BITS_PER_S) as u64).clamp(1, path.line_rate)
        };
        let bytes = if self.as_ns2 {
            (self.whole_packets(path) * path.payload as f64) as u64
        } else {
            (self.window * share) as u64
        };
        let window = bytes.max(path.payload);
        // Bounded by the transport's window, as by a receiver's window.
        Pace { rate, window: window.min(path.window) }
    }
}

impl CongestionControl for Xcp {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let Some(Record::Xcp(header)) = ack.record else { return };
        self.on_sample(ack.now, ack.rtt);
        if self.as_ns2 {
            let packets = header.feedback * self.rtt_ps / path.payload as f64;
            self.set_window(path, self.window + packets * path.full_packet as f64, pace);
            return;
        }
        // "cwnd = max(cwnd + H_feedback, s)" (§3.3), where H_feedback is a change of the window at
        // the RTT that the packet carried.
        self.set_window(path, self.window + header.feedback * header.rtt_ps, pace);
    }

    /// "XCP still needs to respond to losses although they are rare. It does this in a similar
    /// manner to TCP" (§3.3).
    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.set_window(path, self.window / 2.0, pace);
    }

    fn on_timeout(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.set_window(path, 0.0, pace);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 8 us at 100 Gb/s in bytes.
    const BDP: f64 = 100_000.0;
    const RTT: u64 = 8_000_000;

    /// A path without a window limit.
    const PATH: Path = Path { window: u64::MAX, ..super::super::PATH };

    fn ack(control: &mut Xcp, pace: &mut Pace, rtt: u64, header: XcpHeader) {
        let record = Record::Xcp(header);
        let ack = Ack { rtt, record: Some(&record), ..Ack::default() };
        control.on_ack(&PATH, &ack, pace);
    }

    fn start() -> (Xcp, Pace) {
        Xcp::start(&XcpConfig::default(), &PATH)
    }

    #[test]
    fn the_first_packets_have_no_rtt_and_use_line_rate() {
        let (control, pace) = start();
        assert_eq!(pace, Pace { rate: PATH.line_rate, window: 2000 });
        assert_eq!(control.header(&PATH, 1048), XcpHeader::default());
    }

    #[test]
    fn a_header_has_the_flows_rate_and_desired_increase() {
        let (mut control, mut pace) = start();
        ack(&mut control, &mut pace, RTT, XcpHeader::default());
        // Two packets of 1048 B in 8 us: one in 4 us.
        assert_eq!(pace, Pace { rate: 2_096_000_000, window: 2000 });
        let header = control.header(&PATH, 1048);
        assert_eq!((header.rtt_ps, header.spacing_ps), (8e6, 4e6));
        // Together both packets request the difference to 12.5 kB/us.
        let lacks = (12_500.0 - 262.0) / 1e6;
        assert!((2.0 * header.feedback / lacks - 1.0).abs() < 1e-12, "{}", header.feedback);
        // A shorter packet requests less.
        assert_eq!(control.header(&PATH, 524).spacing_ps, 2e6);
    }

    #[test]
    fn the_window_moves_by_the_feedback_at_the_rtt_of_the_packet() {
        let (mut control, mut pace) = start();
        let told = XcpHeader { rtt_ps: 4e6, spacing_ps: 0.0, feedback: 1048.0 / 4e6 };
        ack(&mut control, &mut pace, RTT, told);
        assert_eq!(pace, Pace { rate: 3 * 1_048_000_000, window: 3000 });
    }

    #[test]
    fn the_window_is_at_least_one_packet() {
        let (mut control, mut pace) = start();
        let told = XcpHeader { rtt_ps: 8e6, spacing_ps: 0.0, feedback: -1e9 };
        ack(&mut control, &mut pace, RTT, told);
        assert_eq!(pace, Pace { rate: 1_048_000_000, window: 1000 });
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_leaves_one_packet() {
        let config = XcpConfig { initial_window_packets: 10, ..XcpConfig::default() };
        let (mut control, mut pace) = Xcp::start(&config, &PATH);
        let loss = Loss { now: 0, flight: 10_000, again: false };
        for left in [5000, 2500] {
            control.on_loss(&PATH, &loss, &mut pace);
            assert_eq!(pace.window, left);
        }
        control.on_timeout(&PATH, &loss, &mut pace);
        assert_eq!(pace.window, 1000);
        control.on_loss(&PATH, &loss, &mut pace);
        assert_eq!(pace.window, 1000);
    }

    #[test]
    fn the_transports_window_is_an_upper_bound() {
        let bounded = Path { window: 1500, ..PATH };
        let (_, pace) = Xcp::start(&XcpConfig::default(), &bounded);
        assert_eq!(pace.window, 1500);
    }

    #[test]
    fn the_rtt_is_averaged_with_the_gain() {
        let config = XcpConfig { rtt_gain: 0.25, ..XcpConfig::default() };
        let (mut control, mut pace) = Xcp::start(&config, &PATH);
        for sample in [RTT, RTT + 4_000_000] {
            ack(&mut control, &mut pace, sample, XcpHeader::default());
        }
        assert_eq!(control.rtt_ps, 9e6);
    }

    /// ns-2: whole packets, feedback as a change of payload at the sender's RTT, RTTs in ticks.
    #[test]
    fn the_arithmetic_of_ns2() {
        let config = XcpConfig {
            sender: Form::Ns2,
            rtt_tick: Ps::from_us(1),
            rtt_gain: 0.125,
            ..XcpConfig::default()
        };
        let (mut control, mut pace) = Xcp::start(&config, &PATH);
        let record = Record::Xcp(XcpHeader { rtt_ps: 1.0, spacing_ps: 0.0, feedback: 1e-4 });
        // Sent at 1.9 us and answered at 10.1 us: 9 ticks.
        let (now, rtt) = (10_100_000, 8_200_000);
        let ack = Ack { now, rtt, record: Some(&record), ..Ack::default() };
        control.on_ack(&PATH, &ack, &mut pace);
        // 2 packets and 1e-4 B/ps x 9 us = 900 B of payload: 2.9 packets. 2 count.
        assert_eq!(control.rtt_ps, 9e6);
        assert!((control.window - 2.9 * 1048.0).abs() < 1e-6, "{}", control.window);
        assert_eq!(pace.window, 2000);
        let header = control.header(&PATH, 1048);
        assert_eq!((header.spacing_ps, header.feedback), (4.5e6, f64::MAX));
    }

    proptest! {
        /// A sender whose requests are all granted reaches line rate and does not exceed it.
        #[test]
        fn granted_requests_lead_to_line_rate(rtt_us in 1u64..100, packets in 1u32..200) {
            let config = XcpConfig { initial_window_packets: packets, ..XcpConfig::default() };
            let (mut control, mut pace) = Xcp::start(&config, &PATH);
            let rtt = rtt_us * 1_000_000;
            ack(&mut control, &mut pace, rtt, XcpHeader::default());
            let full = BDP * rtt as f64 / RTT as f64;
            for _ in 0..10_000 {
                let header = control.header(&PATH, 1048);
                ack(&mut control, &mut pace, rtt, header);
                prop_assert!(pace.window >= 1000 && pace.rate <= PATH.line_rate);
            }
            prop_assert!((control.window / full.max(1048.0) - 1.0).abs() < 0.01, "{:?}", control);
        }
    }
}
