//! No congestion control: flows send at the rate of their link.

use xoff_core::knobs;

use super::{Ack, CongestionControl, ControlSettings, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// No congestion control.
    pub struct NoControlConfig;
}

/// No state.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoControl;

impl ControlSettings for NoControlConfig {
    fn controls(&self) -> bool {
        false
    }
}

impl Start for NoControlConfig {
    type Control = NoControl;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (NoControl, Pace) {
        (NoControl, path.pace(path.line_rate))
    }
}

impl CongestionControl for NoControl {
    fn on_ack(&mut self, _path: &Path, _ack: &Ack<'_>, _pace: &mut Pace) {}
}
