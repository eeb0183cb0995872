//! DCQCN as in its paper (Zhu et al., SIGCOMM 2015) and its authors' first simulator, which the BFC
//! paper cites as its source. The receiver sends at most one notification per interval, and both a
//! timer and a byte counter raise the rate.

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Bytes, Ps, knobs};

use super::{Ack, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// DCQCN, paper form. Defaults: the configuration in its authors' simulator (bobzhuyb/ns3-rdma,
    /// mix/config.txt).
    pub struct DcqcnRdma15Config in "dcqcn_rdma15" {
        /// Minimum interval between a receiver's notifications to one flow's sender (DCQCN §3.1,
        /// N).
        notification_interval: Ps = Ps::from_us(50),
        /// Interval between decays of alpha without notifications (DCQCN §3.1, K).
        alpha_interval: Ps = Ps::from_us(55),
        /// Gain g of alpha.
        gain: f64 = 0.00390625,
        /// Alpha at the first notification.
        initial_alpha: f64 = 0.5,
        /// Interval between increases of the rate by the timer (DCQCN §3.1, T).
        timer: Ps = Ps::from_us(60),
        /// Bytes sent between increases of the rate by the byte counter (DCQCN §3.1, B).
        byte_counter: Bytes = Bytes(300_000_000),
        /// Steps of fast recovery (DCQCN §3.1, F).
        fast_recovery_steps: u32 = 5,
        /// Additive increase of the target.
        additive_increase: BitRate = BitRate(40_000_000),
        /// Hyper increase of the target.
        hyper_increase: BitRate = BitRate(200_000_000),
        /// Minimum rate.
        min_rate: BitRate = BitRate(100_000_000),
    }
}

impl ControlSettings for DcqcnRdma15Config {
    fn check(&self) -> Checked {
        let intervals = [
            ("alpha_interval", self.alpha_interval.0),
            ("timer", self.timer.0),
            ("byte_counter", self.byte_counter.0),
        ];
        if let Some((key, _)) = intervals.into_iter().find(|&(_, value)| value < 2) {
            return Err((key, format!("{key} must be above 0")));
        }
        checks::positive_share("gain", self.gain)?;
        checks::share("initial_alpha", self.initial_alpha)
    }

    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        true
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    fn has_timers(&self) -> bool {
        true
    }

    fn notification_interval(&self) -> Option<u64> {
        Some(self.notification_interval.0)
    }
}

impl Start for DcqcnRdma15Config {
    type Control = DcqcnRdma15;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (DcqcnRdma15, Pace) {
        (DcqcnRdma15::new(self, path), path.pace(path.line_rate))
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct DcqcnRdma15 {
    alpha: f64,
    target: u64,
    timer_steps: u32,
    byte_steps: u32,
    bytes_left: u64,
    next_alpha: u64,
    /// Time of the next increase; `None` until the first notification.
    next_increase: Option<u64>,
    settings: Settings,
}

/// The settings as plain numbers.
#[derive(Clone, Copy, Debug)]
struct Settings {
    gain: f64,
    alpha_interval: u64,
    timer: u64,
    byte_counter: u64,
    fast_recovery_steps: u32,
    additive: u64,
    hyper: u64,
    min_rate: u64,
}

impl DcqcnRdma15 {
    /// A new flow's state.
    #[must_use]
    pub fn new(config: &DcqcnRdma15Config, path: &Path) -> Self {
        Self {
            alpha: config.initial_alpha,
            target: path.line_rate,
            timer_steps: 0,
            byte_steps: 0,
            bytes_left: config.byte_counter.0,
            next_alpha: u64::MAX,
            next_increase: None,
            settings: Settings {
                gain: config.gain,
                alpha_interval: config.alpha_interval.0,
                timer: config.timer.0,
                byte_counter: config.byte_counter.0,
                fast_recovery_steps: config.fast_recovery_steps,
                additive: config.additive_increase.0,
                hyper: config.hyper_increase.0,
                min_rate: config.min_rate.0,
            },
        }
    }

    /// Applies the decays of alpha, one per interval without notifications (DCQCN eq. 2), lazily.
    fn decay_alpha(&mut self, now: u64) {
        while self.next_alpha <= now {
            self.alpha *= 1.0 - self.settings.gain;
            self.next_alpha += self.settings.alpha_interval;
        }
    }

    /// DCQCN §3.1, "Rate increase": fast recovery until either counter has made F steps, then
    /// additive increase until both have, then hyper increase.
    fn increase(&mut self, path: &Path, pace: &mut Pace) {
        let steps = self.settings.fast_recovery_steps;
        let (least, most) =
            (self.timer_steps.min(self.byte_steps), self.timer_steps.max(self.byte_steps));
        if least >= steps {
            let more = self.settings.hyper.saturating_mul(u64::from(least - steps + 1));
            self.target = self.target.saturating_add(more);
        } else if most >= steps {
            self.target = self.target.saturating_add(self.settings.additive);
        } else if most == 1 && self.target > 10 * pace.rate {
            // As in the authors' simulator: a target far above the rate is cut before the rate
            // moves towards it.
            self.target /= 8;
        }
        *pace = path.pace((pace.rate / 2 + self.target / 2).min(path.line_rate));
    }

    /// True if both counters are past fast recovery: hyper increases then come twice as often.
    fn is_hyper(&self) -> bool {
        self.timer_steps.min(self.byte_steps) >= self.settings.fast_recovery_steps
    }
}

impl CongestionControl for DcqcnRdma15 {
    fn on_ack(&mut self, _path: &Path, _ack: &Ack<'_>, _pace: &mut Pace) {}

    /// The target becomes the rate, and the rate is cut by alpha / 2. In DCQCN eq. 1 alpha grows
    /// after the cut. Here it grows before.
    fn on_notification(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.decay_alpha(now);
        self.target = pace.rate;
        self.bytes_left = self.settings.byte_counter;
        self.timer_steps = 0;
        self.byte_steps = 0;
        self.alpha = (1.0 - self.settings.gain) * self.alpha + self.settings.gain;
        let rate = (pace.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
        *pace = path.pace(rate.max(self.settings.min_rate));
        self.next_alpha = now + self.settings.alpha_interval;
        self.next_increase = Some(now + self.settings.timer);
    }

    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.timer_steps += 1;
        let interval = self.settings.timer >> u32::from(self.is_hyper());
        self.next_increase = Some(now + interval);
        self.increase(path, pace);
    }

    /// Out of line: for the other controls the path to the NIC is shorter.
    #[inline(never)]
    fn on_sent(&mut self, path: &Path, wire_bytes: u64, pace: &mut Pace) {
        if self.next_increase.is_none() {
            return;
        }
        self.bytes_left = self.bytes_left.saturating_sub(wire_bytes);
        if self.bytes_left == 0 {
            self.byte_steps += 1;
            self.bytes_left = self.settings.byte_counter >> u32::from(self.is_hyper());
            self.increase(path, pace);
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<u64> {
        self.next_increase
    }
}

#[cfg(test)]
mod tests {
    use super::super::PATH;
    use super::*;

    #[test]
    fn a_notification_cuts_and_fast_recovery_returns() {
        let mut control = DcqcnRdma15::new(&DcqcnRdma15Config::default(), &PATH);
        let mut pace = PATH.pace(PATH.line_rate);
        control.on_notification(&PATH, 0, &mut pace);
        let alpha = 0.5 * 255.0 / 256.0 + 1.0 / 256.0;
        assert_eq!(pace.rate, (1e11 * (1.0 - alpha / 2.0)) as u64);
        let gap = PATH.line_rate - pace.rate;
        for step in 1..=4u32 {
            let now = control.next_timer().unwrap();
            assert_eq!(now, u64::from(step) * 60_000_000);
            control.on_timer(&PATH, now, &mut pace);
            let left = PATH.line_rate - pace.rate;
            assert!(left.abs_diff(gap >> step) <= 4, "{step}");
        }
    }

    #[test]
    fn bytes_count_only_after_the_first_notification() {
        let config = DcqcnRdma15Config { byte_counter: Bytes(10_000), ..Default::default() };
        let mut control = DcqcnRdma15::new(&config, &PATH);
        let mut pace = PATH.pace(PATH.line_rate);
        control.on_sent(&PATH, 50_000, &mut pace);
        assert_eq!(control.byte_steps, 0);
        control.on_notification(&PATH, 0, &mut pace);
        let cut = pace.rate;
        control.on_sent(&PATH, 10_000, &mut pace);
        assert!(pace.rate > cut && control.byte_steps == 1);
    }

    /// F = 2: a flow recovers, then adds once one counter has made F steps, and adds more and more
    /// once both have. Its counters then run twice as fast.
    #[test]
    fn both_counters_lead_from_recovery_to_hyper_increase() {
        let config = DcqcnRdma15Config {
            fast_recovery_steps: 2,
            byte_counter: Bytes(10_000),
            gain: 0.25,
            ..Default::default()
        };
        let mut control = DcqcnRdma15::new(&config, &PATH);
        let mut pace = PATH.pace(50_000_000_000);
        control.on_notification(&PATH, 0, &mut pace);
        // Alpha was 0.5 and is 0.75 x 0.5 + 0.25 before the cut.
        assert_eq!((pace.rate, control.target), (34_375_000_000, 50_000_000_000));
        let timers = [(60, 50_000_000_000), (120, 50_040_000_000)];
        for (us, target) in timers {
            let before = pace.rate;
            control.on_timer(&PATH, us * 1_000_000, &mut pace);
            assert_eq!((pace.rate, control.target), (before / 2 + target / 2, target), "{us} us");
        }
        for (bytes, target, left) in [
            (4_000, 50_040_000_000, 6_000),
            (6_000, 50_080_000_000, 10_000),
            (10_000, 50_280_000_000, 5_000),
            (5_000, 50_480_000_000, 5_000),
        ] {
            control.on_sent(&PATH, bytes, &mut pace);
            assert_eq!((control.target, control.bytes_left), (target, left));
        }
        assert_eq!(control.next_timer(), Some(180_000_000));
        control.on_timer(&PATH, 180_000_000, &mut pace);
        assert_eq!((control.target, control.next_timer()), (50_880_000_000, Some(210_000_000)));
        control.target = 400_000_000_000;
        control.on_timer(&PATH, 210_000_000, &mut pace);
        assert_eq!(pace.rate, PATH.line_rate, "no rate is above the line's");
        // Five decays since the last notification, and everything begins again.
        control.on_notification(&PATH, 295_000_000, &mut pace);
        assert_eq!(control.alpha, 0.75 * (0.625 * 0.75f64.powi(5)) + 0.25);
        assert_eq!((control.timer_steps, control.byte_steps, control.bytes_left), (0, 0, 10_000));
        assert_eq!((control.target, control.next_timer()), (PATH.line_rate, Some(355_000_000)));
    }

    #[test]
    fn no_cut_goes_below_the_minimum() {
        let mut control = DcqcnRdma15::new(&DcqcnRdma15Config::default(), &PATH);
        let mut pace = PATH.pace(120_000_000);
        control.on_notification(&PATH, 0, &mut pace);
        assert_eq!(pace.rate, 100_000_000);
    }
}
