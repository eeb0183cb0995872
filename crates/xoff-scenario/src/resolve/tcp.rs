//! TCP: recovery with selective acknowledgements, and the controls of a window that need it.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_host::cc::{ControlConfig, CubicConfig, DctcpTcpConfig};
use xoff_host::transport::{Congestion, Recovery, TcpConfig, TransportConfig};

use super::Reader;
use crate::sections::RunConfig;

/// What of `[tcp]` says how a congestion window begins.
const OF_WINDOWS: [&str; 2] = ["initial_window_packets", "initial_ssthresh"];

/// Whether this control is one of TCP's, which keep a window in packets and cut it for losses.
pub(super) fn is_tcp(congestion: Congestion) -> bool {
    matches!(congestion, Congestion::NewReno | Congestion::Cubic | Congestion::DctcpTcp)
}

impl Reader<'_> {
    /// TCP's settings; their defaults where they have no effect.
    pub(super) fn tcp(&mut self, transport: &TransportConfig) -> TcpConfig {
        let of_tcp = is_tcp(transport.congestion);
        let of_pfabric = transport.congestion == Congestion::PFabric;
        if of_tcp || of_pfabric {
            self.check_tcp_control(transport);
        }
        if transport.recovery != Recovery::Sack {
            let why = format!("transport.recovery = {}", transport.recovery.show());
            self.layers.unused("tcp", &why);
            return TcpConfig::default();
        }
        if !self.layers.section::<RunConfig>().capture.is_empty() {
            let message =
                "no frame format is known for selective acknowledgements: leave capture out";
            self.problem("run", "capture", message.into());
        }
        let why = format!("transport.congestion = {}", transport.congestion.show());
        if of_pfabric {
            self.layers.unused("tcp", &format!("{why} has timeouts of its own"));
            return TcpConfig::default();
        }
        let mut unused = if of_tcp { Vec::new() } else { OF_WINDOWS.to_vec() };
        if transport.congestion != Congestion::NewReno {
            unused.push("ecn");
        }
        let tcp: TcpConfig = self.section_without(&unused, &why);
        for (wrong, key, message) in [
            (
                tcp.initial_window_packets == 0,
                "initial_window_packets",
                "a flow needs a window of one packet at least to begin",
            ),
            (tcp.min_rto.0 == 0, "min_rto", "min_rto must be more than zero"),
            (tcp.min_rto > tcp.max_rto, "min_rto", "min_rto must not be longer than max_rto"),
            (
                tcp.initial_rto < tcp.min_rto || tcp.initial_rto > tcp.max_rto,
                "initial_rto",
                "initial_rto must be from min_rto to max_rto",
            ),
        ] {
            if wrong {
                self.problem("tcp", key, message.into());
            }
        }
        tcp
    }

    pub(super) fn cubic(&mut self) -> CubicConfig {
        let cubic = self.section::<CubicConfig>();
        if !(cubic.scale > 0.0 && cubic.scale.is_finite()) {
            self.problem("cubic", "scale", "scale must be more than zero".into());
        }
        if !(cubic.beta > 0.0 && cubic.beta < 1.0) {
            let message = "beta is a share of the window: more than 0, less than 1";
            self.problem("cubic", "beta", message.into());
        }
        cubic
    }

    pub(super) fn dctcp_tcp(&mut self) -> DctcpTcpConfig {
        let dctcp = self.section::<DctcpTcpConfig>();
        if !(dctcp.gain > 0.0 && dctcp.gain <= 1.0) {
            let message = "gain is a share: more than 0, up to 1";
            self.problem("dctcp_tcp", "gain", message.into());
        }
        dctcp
    }

    /// Fills in what pFabric's recovery derives from the base RTT.
    pub(super) fn derived_tcp(
        &mut self,
        tcp: TcpConfig,
        control: &ControlConfig,
        rtt: Ps,
    ) -> TcpConfig {
        let ControlConfig::PFabric(pfabric) = control else { return tcp };
        if pfabric.rto.0 > 0 && pfabric.rto <= rtt {
            let message = format!(
                "rto = {} is not longer than the base RTT of {rtt}: every packet would be sent again \
                 before its acknowledgement can be there; 0s means three base RTTs",
                pfabric.rto
            );
            self.problem("pfabric", "rto", message);
        }
        let tcp = pfabric.recovery(rtt);
        self.effective.derive("pfabric_rto", tcp.min_rto);
        tcp
    }

    fn check_tcp_control(&mut self, transport: &TransportConfig) {
        let name = transport.congestion.show();
        if transport.recovery != Recovery::Sack {
            let message = format!(
                "congestion = {name} needs recovery = \"sack\": nothing else tells it of losses"
            );
            let named = self.layers.has("transport", "recovery").is_some();
            self.problem("transport", if named { "recovery" } else { "congestion" }, message);
        }
    }
}
