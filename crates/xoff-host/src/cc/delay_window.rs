//! BFC's optional end-to-end window (Goyal et al., NSDI 2022, App. A.1, Algorithm 1). It keeps a
//! flow's round trips near a high target, so that no flow has "an excessively large number of
//! packets" in the network. Switches do the rest.
//!
//! The window counts full packets, and each data packet has its own acknowledgement. Each
//! acknowledgement changes the window by (target - RTT) / RTT. A window of acknowledgements thus
//! takes it from w to w x target / RTT "within an RTT", as the paper says.
//!
//! The base RTT of all flows is that of the longest path, unless `transport.base_rtt_of` says
//! otherwise. The paper sets no upper bound; see [`DelayWindowConfig`].

use xoff_core::knobs::Checked;
use xoff_core::{Bytes, knobs};

use super::{Ack, CongestionControl, ControlSettings, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// A window that keeps round trips near a target.
    pub struct DelayWindowConfig in "delay_window" {
        /// The target in base RTTs (BFC App. A.1: 2.5, "to avoid hurting the throughput of long
        /// flows").
        target_rtts: f64 = 2.5,
        /// Maximum window. 0: `target_rtts` bandwidth-delay products, the most that a flow at line
        /// rate can have in flight with its round trips on target. The paper has no maximum. There
        /// the window of a flow without queues grows without limit, so that it no longer restrains
        /// the flow once a queue builds up. The minimum is one packet.
        max_window: Bytes = Bytes(0),
    }
}

impl ControlSettings for DelayWindowConfig {
    fn check(&self) -> Checked {
        if !(self.target_rtts > 1.0 && self.target_rtts.is_finite()) {
            let message = "target_rtts must be above 1: no round trip is shorter than the base \
                           RTT, so every acknowledgement would shrink the window";
            return Err(("target_rtts", message.into()));
        }
        Ok(())
    }

    fn uses_base_rtt(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("hosts follow the delay of one path")
    }
}

impl Start for DelayWindowConfig {
    type Control = DelayWindow;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (DelayWindow, Pace) {
        DelayWindow::start(self, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct DelayWindow {
    /// In packets; single acknowledgements change it by fractions of a packet.
    window: f64,
    /// Maximum window, in packets.
    max_window: f64,
    /// RTT_Target (ps).
    target: f64,
}

impl DelayWindow {
    /// A new flow's state and pace: "w = 1 BDP".
    #[must_use]
    pub fn start(config: &DelayWindowConfig, path: &Path) -> (Self, Pace) {
        let packets = |bytes: f64| (bytes / path.payload as f64).max(1.0);
        let bdp = path.bdp as f64;
        let max_window = match config.max_window.0 {
            0 => packets(config.target_rtts * bdp),
            bytes => packets(bytes as f64),
        };
        let control = Self {
            window: packets(bdp).min(max_window),
            max_window,
            target: config.target_rtts * path.base_rtt as f64,
        };
        (control, control.pace(path))
    }

    /// The window in whole packets, at line rate. Bounded by the transport's window, as by a
    /// receiver's window.
    fn pace(&self, path: &Path) -> Pace {
        let window = self.window as u64 * path.payload;
        Pace { rate: path.line_rate, window: window.min(path.window) }
    }
}

impl CongestionControl for DelayWindow {
    /// "for each Acknowledgement": both of the algorithm's branches are the same difference.
    #[inline]
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let rtt = ack.rtt.max(1) as f64;
        let window = self.window + (self.target - rtt) / rtt;
        self.window = window.clamp(1.0, self.max_window);
        *pace = self.pace(path);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 100 packets per BDP at a base RTT of 8 us, without a window limit.
    const PATH: Path = Path { window: u64::MAX, ..super::super::PATH };
    const TARGET: u64 = 20_000_000;

    fn flow() -> (DelayWindow, Pace) {
        DelayWindow::start(&DelayWindowConfig::default(), &PATH)
    }

    /// Acknowledges all packets now in flight, each with this RTT.
    fn round(control: &mut DelayWindow, pace: &mut Pace, rtt: u64) {
        for _ in 0..pace.window / PATH.payload {
            control.on_ack(&PATH, &Ack { rtt, ..Ack::default() }, pace);
        }
    }

    #[test]
    fn a_flow_starts_with_one_bandwidth_delay_product_at_line_rate() {
        let (control, pace) = flow();
        assert_eq!(pace, Pace { rate: PATH.line_rate, window: 100_000 });
        assert_eq!((control.target, control.max_window), (TARGET as f64, 250.0));
    }

    proptest! {
        /// "the window of a sender roughly goes from w to w x RTT_Target / RTT within an RTT".
        #[test]
        fn a_round_trip_scales_the_window_as_in_the_paper(
            first in 20u64..240,
            rtt in TARGET / 2..4 * TARGET,
        ) {
            let (mut control, _) = flow();
            control.window = first as f64;
            let mut pace = control.pace(&PATH);
            round(&mut control, &mut pace, rtt);
            let expected = first as f64 * TARGET as f64 / rtt as f64;
            let expected = expected.clamp(1.0, control.max_window);
            let error = (control.window / expected - 1.0).abs();
            prop_assert!(error < 0.1, "{first} became {}, not {expected}", control.window);
        }

        /// In any sequence of round trips a flow may send a packet, and never more than the
        /// maximum.
        #[test]
        fn the_window_stays_within_its_bounds(
            rtts in prop::collection::vec(1u64..1_000_000_000_000, 1..200),
            max_window in prop_oneof![Just(0u64), 1u64..1_000_000],
        ) {
            let config = DelayWindowConfig {
                max_window: Bytes(max_window),
                ..DelayWindowConfig::default()
            };
            let (mut control, mut pace) = DelayWindow::start(&config, &PATH);
            let most = if max_window == 0 { 250_000 } else { max_window.max(PATH.payload) };
            for rtt in rtts {
                control.on_ack(&PATH, &Ack { rtt, ..Ack::default() }, &mut pace);
                prop_assert!((PATH.payload..=most).contains(&pace.window), "{pace:?}");
            }
        }
    }

    /// On a shared link the window converges to a size at which round trips are on target.
    #[test]
    fn round_trips_on_a_shared_link_converge_to_the_target() {
        let (mut control, mut pace) = flow();
        // A quarter of the link: four windows of this size make up the round trip.
        let rtt = |pace: &Pace| (4 * pace.window * 80).max(8_000_000);
        assert!(rtt(&pace) > TARGET);
        for _ in 0..20 {
            let rtt = rtt(&pace);
            round(&mut control, &mut pace, rtt);
        }
        let settled = rtt(&pace) as f64 / TARGET as f64;
        assert!((settled - 1.0).abs() < 0.05, "{settled}");
    }

    #[test]
    fn without_queues_it_grows_to_its_maximum() {
        let (mut control, mut pace) = flow();
        // At the base RTT each acknowledgement adds one and a half packets.
        control.on_ack(&PATH, &Ack { rtt: 8_000_000, ..Ack::default() }, &mut pace);
        assert_eq!((control.window, pace.window), (101.5, 101_000));
        (0..5).for_each(|_| round(&mut control, &mut pace, 8_000_000));
        assert_eq!(pace.window, 250_000);
        let narrow = Path { window: 30_000, ..PATH };
        assert_eq!(control.pace(&narrow).window, 30_000);
    }

    #[test]
    fn an_unreachable_target_is_rejected() {
        for target_rtts in [1.0, 0.0, -2.0, f64::NAN, f64::INFINITY] {
            let config = DelayWindowConfig { target_rtts, ..DelayWindowConfig::default() };
            assert_eq!(config.check().unwrap_err().0, "target_rtts");
        }
        assert!(DelayWindowConfig::default().check().is_ok());
    }
}
