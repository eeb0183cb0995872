//! A congestion control whose rate has an upper limit from elsewhere, such as an allocator that knows a
//! part of the network only.

use super::{Ack, AnyControl, CongestionControl, Loss, Path};
use crate::flow::Pace;

/// A control and the limit.
#[derive(Clone, Debug)]
pub struct Capped {
    control: Box<AnyControl>,
    /// Bits per second.
    rate: u64,
}

impl Capped {
    /// Limits a control, or changes its limit. The flow's pace obeys from now on.
    pub fn limit(control: &mut AnyControl, rate: u64, pace: &mut Pace) {
        match control {
            AnyControl::Capped(capped) => capped.rate = rate,
            other => {
                let control = Box::new(std::mem::replace(other, AnyControl::None));
                *other = AnyControl::Capped(Self { control, rate });
            }
        }
        pace.rate = rate;
    }

    /// Takes the limit away; the control's own rate is `line_rate` until it says otherwise.
    pub fn release(control: &mut AnyControl, line_rate: u64, pace: &mut Pace) {
        if let AnyControl::Capped(capped) = control {
            *control = std::mem::replace(&mut *capped.control, AnyControl::None);
            pace.rate = line_rate;
        }
    }

    fn obey(&self, pace: &mut Pace) {
        pace.rate = pace.rate.min(self.rate);
    }
}

impl CongestionControl for Capped {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.control.on_ack(path, ack, pace);
        self.obey(pace);
    }
    fn on_notification(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.control.on_notification(path, now, pace);
        self.obey(pace);
    }
    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.control.on_timer(path, now, pace);
        self.obey(pace);
    }
    fn on_sent(&mut self, path: &Path, wire_bytes: u64, pace: &mut Pace) {
        self.control.on_sent(path, wire_bytes, pace);
        self.obey(pace);
    }
    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.control.on_loss(path, loss, pace);
        self.obey(pace);
    }
    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.control.on_timeout(path, loss, pace);
        self.obey(pace);
    }
    fn next_timer(&self) -> Option<u64> {
        self.control.next_timer()
    }
}
