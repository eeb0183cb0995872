//! TCP: recovery with selective acknowledgements, and the controls of a window that need it.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_host::cc::ControlConfig;
use xoff_host::transport::{Congestion, Recovery, TcpConfig, TransportConfig};

use super::Reader;
use crate::sections::{RunConfig, SwitchConfig};

/// What of `[tcp]` says how a congestion window begins.
const OF_WINDOWS: [&str; 2] = ["initial_window_packets", "initial_ssthresh"];

/// Whether this control is one of TCP's, which keep a window in packets and cut it for losses.
fn is_tcp(congestion: Congestion) -> bool {
    matches!(congestion, Congestion::NewReno)
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
        let unused: &[&str] = if of_tcp { &[] } else { &OF_WINDOWS };
        let tcp: TcpConfig = self.section_without(unused, &why);
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

    /// Fills in what pFabric's recovery derives from the base RTT.
    pub(super) fn derived_tcp(
        &mut self,
        tcp: TcpConfig,
        control: &ControlConfig,
        rtt: Ps,
    ) -> TcpConfig {
        let ControlConfig::PFabric(pfabric) = control else { return tcp };
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
            self.problem("transport", "congestion", message);
        }
        if transport.window_follows_rate {
            let message = format!(
                "window_follows_rate = true has no effect with congestion = {name}, which has no rate"
            );
            self.problem("transport", "window_follows_rate", message);
        }
        if self.layers.section::<SwitchConfig>().ecn {
            let message = format!("congestion = {name} heeds no marks: set ecn = false");
            self.problem("switch", "ecn", message);
        }
    }
}
