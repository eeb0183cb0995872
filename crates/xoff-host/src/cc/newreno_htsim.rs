//! TCP NewReno as in htsim (Broadcom/csg-htsim, `sim/tcp.cpp`): a window of whole bytes that grows
//! by what it leaves unused, and is halved by losses (`htsim_window.rs`). Losses are detected by
//! `transport.recovery = "newreno"`, which that simulator has with
//! `tcp.after_recovery = "flight"`.

use xoff_core::knobs;

use super::htsim_window::HtsimWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::{Shrink, TcpConfig};

knobs! {
    /// NewReno as in htsim: its settings are those of section `tcp`.
    pub struct NewRenoHtsimConfig;
}

impl ControlSettings for NewRenoHtsimConfig {
    fn has_tcp_window(&self) -> bool {
        true
    }

    fn shrinks_in_recovery(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for NewRenoHtsimConfig {
    type Control = NewRenoHtsim;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (NewRenoHtsim, Pace) {
        let (window, pace) = HtsimWindow::start(tcp, path);
        (NewRenoHtsim(window), pace)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct NewRenoHtsim(HtsimWindow);

impl CongestionControl for NewRenoHtsim {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.0.on_ack(path, ack, pace);
    }

    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.0.halve(path, pace);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.0.collapse(path, loss, pace);
    }

    fn shrink(&mut self, path: &Path, shrink: Shrink) {
        self.0.shrink(path, shrink);
    }

    fn window_bytes(&self) -> u64 {
        self.0.cwnd
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.0.reopen(path, bytes, pace);
    }
}
