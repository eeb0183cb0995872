//! A congestion control under an external rate limit, set by an allocator that controls only part
//! of the network or that holds a flow. The control keeps running beneath the limit. Its own
//! decisions are kept and apply again when the limit is removed.

use super::{Ack, AnyControl, CongestionControl, Loss, NoControl, Path};
use crate::cc::Pace;
use crate::tcp::Shrink;

/// A control and its limit.
#[derive(Clone, Debug)]
pub struct Capped {
    control: Box<AnyControl>,
    /// The control's own pace.
    own: Pace,
    /// The limit in bit/s; 0 holds the flow.
    rate: u64,
}

impl Capped {
    /// Limits a control's rate, or changes its limit, and applies it to the flow's pace.
    pub fn limit(control: &mut AnyControl, rate: u64, pace: &mut Pace) {
        if !matches!(control, AnyControl::Capped(_)) {
            let own = Box::new(std::mem::replace(control, AnyControl::None(NoControl)));
            *control = AnyControl::Capped(Self { control: own, own: *pace, rate });
        }
        if let AnyControl::Capped(capped) = control {
            capped.rate = rate;
            capped.apply(pace);
        }
    }

    /// Holds the flow: it may send nothing.
    pub fn hold(control: &mut AnyControl, pace: &mut Pace) {
        Self::limit(control, 0, pace);
    }

    /// Removes the limit and restores the control's own pace. Returns true if there was a rate
    /// limit.
    pub fn release(control: &mut AnyControl, pace: &mut Pace) -> bool {
        let AnyControl::Capped(capped) = control else { return false };
        let had_rate = capped.rate > 0;
        *pace = capped.own;
        *control = std::mem::replace(&mut *capped.control, AnyControl::None(NoControl));
        had_rate
    }

    fn apply(&self, pace: &mut Pace) {
        if self.rate == 0 {
            pace.window = 0;
        } else {
            *pace = Pace { rate: self.own.rate.min(self.rate), ..self.own };
        }
    }
}

impl CongestionControl for Capped {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.control.on_ack(path, ack, &mut self.own);
        self.apply(pace);
    }
    fn on_notification(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.control.on_notification(path, now, &mut self.own);
        self.apply(pace);
    }
    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.control.on_timer(path, now, &mut self.own);
        self.apply(pace);
    }
    /// Between acknowledgements a recovery has a window of its own, wider or narrower than the
    /// control's. Packets keep to it as long as they do not change the control's pace.
    ///
    /// Out of line: the other controls' path to the NIC stays as short as it was.
    #[inline(never)]
    fn on_sent(&mut self, path: &Path, wire_bytes: u64, pace: &mut Pace) {
        let before = self.own;
        self.control.on_sent(path, wire_bytes, &mut self.own);
        if self.own != before {
            self.apply(pace);
        }
    }
    /// A loss while the flow is held is no signal about a window, since the window is zero.
    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if self.rate > 0 {
            self.control.on_loss(path, loss, &mut self.own);
            self.apply(pace);
        }
    }
    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if self.rate > 0 {
            self.control.on_timeout(path, loss, &mut self.own);
            self.apply(pace);
        }
    }
    /// The recovery of a loss that does not count has no window to shrink either. The pace follows
    /// with the acknowledgement.
    fn shrink(&mut self, path: &Path, shrink: Shrink) {
        if self.rate > 0 {
            self.control.shrink(path, shrink);
        }
    }
    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.control.reopen(path, bytes, &mut self.own);
        self.apply(pace);
    }
    /// A held flow has no window.
    fn window_bytes(&self) -> u64 {
        if self.rate == 0 { 0 } else { self.control.window_bytes() }
    }
    fn next_timer(&self) -> Option<u64> {
        self.control.next_timer()
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::PATH;
    use super::super::{ControlConfig, DcqcnRdma15Config, DctcpTcpConfig, NewRenoConfig};
    use super::*;
    use crate::tcp::TcpConfig;

    const LIMIT: u64 = 4_000_000_000;

    fn flow() -> (AnyControl, Pace) {
        ControlConfig::DctcpTcp(DctcpTcpConfig::default()).start(&PATH, &TcpConfig::default())
    }

    fn ack(control: &mut AnyControl, pace: &mut Pace) {
        let ack = Ack { acked: PATH.payload, in_flight: 1_000_000, ..Ack::default() };
        control.on_ack(&PATH, &ack, pace);
    }

    #[test]
    fn a_limit_does_not_change_the_window() {
        let ((mut free, mut own), (mut control, mut pace)) = (flow(), flow());
        Capped::limit(&mut control, LIMIT, &mut pace);
        assert_eq!(pace, Pace { rate: LIMIT, ..own });
        for _ in 0..20 {
            ack(&mut free, &mut own);
            ack(&mut control, &mut pace);
            assert_eq!(pace, Pace { rate: LIMIT, ..own });
        }
        assert!(Capped::release(&mut control, &mut pace));
        assert_eq!(pace, own);
        assert!(!Capped::release(&mut control, &mut pace));
    }

    /// Proportional rate reduction asks for it.
    #[test]
    fn the_window_of_the_control_is_told_unless_the_flow_is_held() {
        let (mut control, mut pace) = flow();
        let own = control.window_bytes();
        assert!(own > 0);
        Capped::limit(&mut control, LIMIT, &mut pace);
        assert_eq!(control.window_bytes(), own);
        Capped::hold(&mut control, &mut pace);
        assert_eq!(control.window_bytes(), 0);
    }

    #[test]
    fn a_packet_keeps_the_window_of_a_recovery() {
        let (mut control, mut pace) = flow();
        Capped::limit(&mut control, LIMIT, &mut pace);
        pace.window += 3 * PATH.payload;
        let before = pace;
        control.on_sent(&PATH, 1_500, &mut pace);
        assert_eq!(pace, before);
        ack(&mut control, &mut pace);
        assert_ne!(pace, before);
    }

    /// Acknowledgements count while the flow is held. Losses do not: their packets were sent
    /// without a window.
    #[test]
    fn a_held_flow_sends_nothing_and_resumes_with_its_state() {
        let ((mut free, mut own), (mut control, mut pace)) = (flow(), flow());
        Capped::hold(&mut control, &mut pace);
        assert_eq!(pace.window, 0);
        ack(&mut free, &mut own);
        ack(&mut control, &mut pace);
        let loss = Loss { now: 0, flight: 0, again: false };
        control.on_loss(&PATH, &loss, &mut pace);
        control.on_timeout(&PATH, &loss, &mut pace);
        assert_eq!(pace.window, 0);
        let mut held = (control.clone(), pace);
        assert!(!Capped::release(&mut held.0, &mut held.1));
        assert_eq!(held.1, own);
        control.reopen(&PATH, 50_000, &mut pace);
        assert_eq!(pace.window, 0);
        Capped::limit(&mut control, LIMIT, &mut pace);
        assert_eq!(pace, Pace { rate: LIMIT, window: 50_000 });
    }

    /// Rates follow notifications and timers beneath the limit, too.
    #[test]
    fn a_limit_does_not_stop_a_rate() {
        let start = || {
            let config = ControlConfig::DcqcnRdma15(DcqcnRdma15Config::default());
            config.start(&PATH, &TcpConfig::default())
        };
        let ((mut free, mut own), (mut control, mut pace)) = (start(), start());
        Capped::limit(&mut control, LIMIT, &mut pace);
        assert_eq!(control.next_timer(), None);
        for (control, pace) in [(&mut free, &mut own), (&mut control, &mut pace)] {
            control.on_notification(&PATH, 0, pace);
            assert_eq!(control.next_timer(), Some(60_000_000));
            control.on_timer(&PATH, 60_000_000, pace);
            assert_eq!(control.next_timer(), Some(120_000_000));
        }
        assert_eq!(pace, Pace { rate: LIMIT, ..own });
        Capped::release(&mut control, &mut pace);
        assert!(own.rate > PATH.line_rate / 2 && own.rate < PATH.line_rate);
        assert_eq!(pace, own);
    }

    /// A recovery without selective acknowledgements shrinks the window itself. While the flow is
    /// held, its window is none of the recovery's business.
    #[test]
    fn a_limit_does_not_stop_a_recovery_from_shrinking_the_window() {
        let start = || ControlConfig::NewReno(NewRenoConfig {}).start(&PATH, &TcpConfig::default());
        let ((mut free, mut own), (mut control, mut pace)) = (start(), start());
        Capped::limit(&mut control, LIMIT, &mut pace);
        for (control, pace) in [(&mut free, &mut own), (&mut control, &mut pace)] {
            control.shrink(&PATH, Shrink::To(4 * PATH.payload));
            ack(control, pace);
        }
        assert_eq!(own.window, 5 * PATH.payload);
        assert_eq!(pace, Pace { rate: LIMIT, ..own });
        Capped::hold(&mut control, &mut pace);
        control.shrink(&PATH, Shrink::To(PATH.payload));
        Capped::release(&mut control, &mut pace);
        assert_eq!(control.window_bytes(), own.window);
    }
}
