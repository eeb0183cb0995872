//! What the settings of a congestion control say about it.

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Ps};
use xoff_net::arch::InBand;
use xoff_net::pint::WholeDraws;

use super::{CongestionControl, Path};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

/// Header that data packets carry for the congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// None.
    Nothing,
    /// INT entries.
    Int,
    /// A congestion header.
    Xcp,
    /// The code of a utilisation.
    Pint,
}

/// What the rest of the program asks the settings of a congestion control. The defaults describe a
/// control that needs nothing.
pub trait ControlSettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// The scheme of this name, as a scenario overlay, if the control brings one along. It is then
    /// a preset beside those of `presets/`. Its first line says what it is.
    fn preset(&self) -> Option<&'static str> {
        None
    }

    /// False if flows always send at the rate of their link.
    fn controls(&self) -> bool {
        true
    }

    /// True if flows react to ECN marks. Switches must then mark.
    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        false
    }

    /// The setting that makes flows react to marks.
    fn marks_setting(&self) -> (&'static str, &'static str) {
        ("transport", "congestion")
    }

    /// True if it sets a rate, which a window can follow. Other controls set a window, or nothing.
    fn sets_rate(&self) -> bool {
        false
    }

    /// The lowest rate of a flow, if there is one, and the section that sets it.
    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        None
    }

    /// True if it computes its window by itself, whatever `transport.window` is.
    fn sets_own_window(&self) -> bool {
        false
    }

    /// The name of a control that scales `transport.window`, and so cannot do without one.
    fn scales_window(&self) -> Option<&'static str> {
        None
    }

    /// True if it has the congestion window of TCP, started by section `tcp`: an allocator can open
    /// it.
    fn has_tcp_window(&self) -> bool {
        false
    }

    /// True if its window grows as NewReno's in congestion avoidance.
    fn grows_as_reno(&self) -> bool {
        false
    }

    /// True if a loss reduces what is in flight, and the window grows only while it is used.
    fn reduces_flight(&self) -> bool {
        false
    }

    /// True if it tells its window, so that a reduction can be spread over a round trip.
    fn tells_window(&self) -> bool {
        false
    }

    /// True if a loss can halve the window itself, whatever is in flight.
    fn halves_window(&self) -> bool {
        false
    }

    /// True if a recovery that counts duplicates can shrink its window.
    fn shrinks_in_recovery(&self) -> bool {
        false
    }

    /// True if it depends on the loss reports of TCP's recoveries.
    fn needs_loss_reports(&self) -> bool {
        false
    }

    /// The settings of section `tcp`, if the control fixes them itself.
    fn recovery(&self, _base_rtt: Ps) -> Option<TcpConfig> {
        None
    }

    /// Checks the settings against the base RTT of the longest path.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check_base_rtt(&self, _base_rtt: Ps) -> Checked {
        Ok(())
    }

    /// True if a flow depends on the base RTT of its own path ([`Path`]), apart from the
    /// transport's window.
    fn uses_base_rtt(&self) -> bool {
        false
    }

    /// True if [`derive`](Self::derive) or [`recovery`](Self::recovery) depend on the base RTT.
    fn derives_from_base_rtt(&self) -> bool {
        false
    }

    /// Fills in the settings that follow from the base RTT of the longest path. Returns the derived
    /// values, by name.
    fn derive(&mut self, _base_rtt: Ps) -> Vec<(&'static str, Ps)> {
        Vec::new()
    }

    /// Why all packets of a flow must take one path, if they must.
    fn needs_one_path(&self) -> Option<&'static str> {
        None
    }

    /// True if its flows use [`CongestionControl::next_timer`].
    fn has_timers(&self) -> bool {
        false
    }

    /// Header that data packets carry for it.
    fn carries(&self) -> Carries {
        Carries::Nothing
    }

    /// The size of that header (bytes).
    fn header_bytes(&self) -> Option<u64> {
        None
    }

    /// The part of it that runs in a switch with ports of these rates (bit/s), and draws from here.
    fn in_band(&self, _rates: &[u64], _draws: WholeDraws) -> InBand {
        InBand::None
    }

    /// The share of acknowledgements that bring their record to it, if that is a setting.
    fn sampled(&self) -> Option<f64> {
        None
    }

    /// Least time between two notifications from the receiver of a flow (ps), if it sends any.
    fn notification_interval(&self) -> Option<u64> {
        None
    }
}

/// How the settings of a congestion control start a flow.
pub trait Start {
    /// The state of a flow.
    type Control: CongestionControl;

    /// The control of a new flow, and its first pace.
    fn start(&self, path: &Path, tcp: &TcpConfig) -> (Self::Control, Pace);
}
