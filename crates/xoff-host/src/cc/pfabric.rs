//! pFabric's sender (Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM
//! 2013, §4.2): it starts with a window of one bandwidth-delay product and leaves the rest to the
//! switches. Only timeouts slow it down.
//!
//! After repeated timeouts a flow probes; the recovery implements this (`recovery/sack.rs`). A
//! window grows as in NewReno: the paper only says that it grows as in TCP.

use xoff_core::knobs::Checked;
use xoff_core::{Bytes, Ps, knobs};

use super::newreno::NewReno;
use super::window::CongestionWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// pFabric's hosts.
    pub struct PFabricConfig in "pfabric" {
        /// Initial window: "all flows begin at line rate". 0: one bandwidth-delay product, rounded
        /// up to whole packets (pFabric §5: 12 packets of 1500 B at 10 Gb/s).
        initial_window: Bytes = Bytes(0),
        /// Fixed retransmission timeout. 0: three base RTTs (pFabric §4.2: "a small multiple of the
        /// round-trip time"; §5: 45 us).
        rto: Ps = Ps(0),
        /// Number of consecutive timeouts after which a flow sends only headers until one is
        /// acknowledged (pFabric §4.2; 5 in published ns-2 scripts). 0: never.
        probe_after: u16 = 5,
    }
}

impl ControlSettings for PFabricConfig {
    fn uses_base_rtt(&self) -> bool {
        self.initial_window.0 == 0
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.rto.0 == 0
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }

    /// "Packet drops are only detected by timeouts", with a fixed timeout.
    fn recovery(&self, base_rtt: Ps) -> Option<TcpConfig> {
        let rto = if self.rto.0 == 0 { Ps(3 * base_rtt.0) } else { self.rto };
        Some(TcpConfig {
            duplicate_acks: 0,
            min_rto: rto,
            max_rto: rto,
            initial_rto: rto,
            probe_after: self.probe_after,
            ..TcpConfig::default()
        })
    }

    fn check_base_rtt(&self, base_rtt: Ps) -> Checked {
        if self.rto.0 == 0 || self.rto > base_rtt {
            return Ok(());
        }
        let message = format!(
            "rto = {} is not longer than the base RTT of {base_rtt}: every packet would be sent again \
             before its acknowledgement arrives; 0s means three base RTTs",
            self.rto
        );
        Err(("rto", message))
    }

    fn derive(&mut self, base_rtt: Ps) -> Vec<(&'static str, Ps)> {
        let recovery = self.recovery(base_rtt);
        recovery.map(|tcp| ("pfabric_rto", tcp.min_rto)).into_iter().collect()
    }
}

impl Start for PFabricConfig {
    type Control = PFabric;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (PFabric, Pace) {
        PFabric::start(self, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct PFabric(NewReno);

impl PFabric {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &PFabricConfig, path: &Path) -> (Self, Pace) {
        let first = if config.initial_window.0 == 0 { path.bdp } else { config.initial_window.0 };
        let bytes = first.next_multiple_of(path.payload);
        let window = CongestionWindow { bytes, threshold: u64::MAX, validated: true };
        (Self(NewReno::with(window)), window.pace(path))
    }
}

impl CongestionControl for PFabric {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.0.on_ack(path, ack, pace);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.0.on_timeout(path, loss, pace);
    }
}

#[cfg(test)]
mod tests {
    use super::super::PATH;
    use super::*;

    /// 100 000 bytes are 69 packets of 1460 B, the last one partial.
    #[test]
    fn a_flow_starts_with_one_bandwidth_delay_product() {
        let path = Path { payload: 1460, window: u64::MAX, ..PATH };
        let (_, pace) = PFabric::start(&PFabricConfig::default(), &path);
        assert_eq!(pace, Pace { rate: path.line_rate, window: 69 * 1460 });
        let given = PFabricConfig { initial_window: Bytes(1), ..PFabricConfig::default() };
        assert_eq!(PFabric::start(&given, &path).1.window, 1460);
    }

    /// After a timeout the slow-start threshold is half of the bytes in flight. A second timeout of
    /// the same packet does not change it.
    #[test]
    fn only_a_timeout_cuts_the_window() {
        let path = Path { window: u64::MAX, ..PATH };
        let (mut control, mut pace) = PFabric::start(&PFabricConfig::default(), &path);
        let loss = |flight, again| Loss { now: 0, flight, again };
        control.on_loss(&path, &loss(100_000, false), &mut pace);
        assert_eq!(pace.window, 100_000);
        control.on_timeout(&path, &loss(8000, false), &mut pace);
        control.on_timeout(&path, &loss(1000, true), &mut pace);
        assert_eq!(pace.window, 1000);
        let mut windows = Vec::new();
        for _ in 0..8 {
            let ack = Ack { acked: 1000, in_flight: pace.window, ..Ack::default() };
            control.on_ack(&path, &ack, &mut pace);
            windows.push(pace.window / 1000);
        }
        assert_eq!(windows, [2, 3, 4, 4, 4, 4, 5, 5]);
    }

    #[test]
    fn the_timeout_is_three_round_trips_and_never_doubles() {
        let recovery = PFabricConfig::default().recovery(Ps(15_000_000)).unwrap();
        assert_eq!(recovery.initial_rto, Ps(45_000_000));
        assert_eq!((recovery.min_rto, recovery.max_rto), (Ps(45_000_000), Ps(45_000_000)));
        assert_eq!((recovery.duplicate_acks, recovery.probe_after), (0, 5));
        let given = PFabricConfig { rto: Ps(7), ..PFabricConfig::default() };
        assert_eq!(given.recovery(Ps(15_000_000)).unwrap().min_rto, Ps(7));
    }
}
