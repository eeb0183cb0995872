//! DCQCN as in Mellanox's NICs: the form of the HPCC simulator ("Mellanox version").
//! Acknowledgements carry the marks. Two timers cut the rate and one raises it; there is no byte
//! counter.

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Ps, knobs};

use super::{Ack, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// DCQCN, Mellanox form. Defaults: the HPCC simulator's run.py, "dcqcn", at 100 Gb/s.
    pub struct DcqcnConfig in "dcqcn" {
        /// Gain g of alpha.
        gain: f64 = 0.00390625,
        /// Interval between updates of alpha.
        alpha_interval: Ps = Ps::from_us(1),
        /// Minimum interval between cuts of the rate.
        decrease_interval: Ps = Ps::from_us(4),
        /// Interval between increases of the rate after a cut.
        increase_interval: Ps = Ps::from_us(300),
        /// Increases towards the target before the target itself is raised.
        fast_recovery_steps: u32 = 1,
        /// Additive increase of the target (5 Mb/s x 100 G / 25 G).
        additive_increase: BitRate = BitRate(20_000_000),
        /// Hyper increase of the target (50 Mb/s x 100 G / 25 G).
        hyper_increase: BitRate = BitRate(200_000_000),
        /// Minimum rate.
        min_rate: BitRate = BitRate::from_gbps(1),
        /// Set the target to the previous rate at every cut, not only at a cut after an increase.
        clamp_target: bool = false,
    }
}

impl ControlSettings for DcqcnConfig {
    fn check(&self) -> Checked {
        let intervals = [
            ("alpha_interval", self.alpha_interval.0),
            ("decrease_interval", self.decrease_interval.0),
            ("increase_interval", self.increase_interval.0),
        ];
        match intervals.into_iter().find(|&(_, value)| value < 2) {
            Some((key, _)) => Err((key, format!("{key} must be above 0"))),
            None => checks::positive_share("gain", self.gain),
        }
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
}

impl Start for DcqcnConfig {
    type Control = Dcqcn;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Dcqcn, Pace) {
        (Dcqcn::new(self, path), path.pace(path.line_rate))
    }
}

/// The state of one flow. Ticks of the alpha timer are evaluated lazily.
#[derive(Clone, Copy, Debug)]
pub struct Dcqcn {
    alpha: f64,
    target: u64,
    /// The next tick of the alpha timer; `None` until the first mark.
    next_alpha: Option<u64>,
    alpha_marked: bool,
    next_decrease: u64,
    decrease_marked: bool,
    next_increase: Option<u64>,
    stage: u32,
    settings: Settings,
}

/// The settings as plain numbers.
#[derive(Clone, Copy, Debug)]
struct Settings {
    gain: f64,
    alpha_interval: u64,
    decrease_interval: u64,
    increase_interval: u64,
    fast_recovery_steps: u32,
    additive: u64,
    hyper: u64,
    min_rate: u64,
    clamp_target: bool,
}

impl Dcqcn {
    /// A new flow's state.
    #[must_use]
    pub fn new(config: &DcqcnConfig, path: &Path) -> Self {
        Self {
            alpha: 1.0,
            target: path.line_rate,
            next_alpha: None,
            alpha_marked: false,
            next_decrease: 0,
            decrease_marked: false,
            next_increase: None,
            stage: 0,
            settings: Settings {
                gain: config.gain,
                alpha_interval: config.alpha_interval.0,
                decrease_interval: config.decrease_interval.0,
                increase_interval: config.increase_interval.0,
                fast_recovery_steps: config.fast_recovery_steps,
                additive: config.additive_increase.0,
                hyper: config.hyper_increase.0,
                min_rate: config.min_rate.0,
                clamp_target: config.clamp_target,
            },
        }
    }

    /// Catches up with the alpha timer: alpha <- (1 - g) alpha (+ g if a packet was marked since
    /// the last tick). `set` as in [`fired`].
    fn tick_alpha(&mut self, now: u64, set: u64) {
        let Some(mut next) = self.next_alpha else { return };
        let interval = self.settings.alpha_interval;
        while fired(next, interval, now, set) {
            self.alpha *= 1.0 - self.settings.gain;
            if std::mem::take(&mut self.alpha_marked) {
                self.alpha += self.settings.gain;
            }
            next += interval;
        }
        self.next_alpha = Some(next);
    }

    fn on_mark(&mut self, now: u64, set: u64, pace: &Pace) {
        self.tick_alpha(now, set);
        if self.next_alpha.is_none() {
            // The first mark starts the timers; cuts come one nanosecond after an update of alpha.
            self.alpha = 1.0;
            self.next_alpha = Some(now + self.settings.alpha_interval);
            self.next_decrease = now + self.settings.decrease_interval + 1_000;
            self.target = pace.rate;
        } else {
            self.alpha_marked = true;
        }
        if !self.decrease_marked {
            self.skip_decreases(now, set);
            self.decrease_marked = true;
        }
    }

    /// Advances the next cut past ticks without a mark.
    fn skip_decreases(&mut self, now: u64, set: u64) {
        let interval = self.settings.decrease_interval;
        if self.next_decrease < now {
            let behind = (now - self.next_decrease).div_ceil(interval);
            self.next_decrease += behind * interval;
        }
        if fired(self.next_decrease, interval, now, set) {
            self.next_decrease += interval;
        }
    }

    fn decrease(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        self.tick_alpha(now, now);
        if self.settings.clamp_target || self.stage != 0 {
            self.target = pace.rate;
        }
        let rate = (pace.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
        *pace = path.pace(rate.max(self.settings.min_rate));
        self.stage = 0;
        self.decrease_marked = false;
        self.next_decrease += self.settings.decrease_interval;
        self.next_increase = Some(now + self.settings.increase_interval);
    }

    fn increase(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        let step = match self.stage.cmp(&self.settings.fast_recovery_steps) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.settings.additive,
            std::cmp::Ordering::Greater => self.settings.hyper,
        };
        self.target = if step > 0 { (self.target + step).min(path.line_rate) } else { self.target };
        *pace = path.pace(pace.rate / 2 + self.target / 2);
        self.stage += 1;
        self.next_increase = Some(now + self.settings.increase_interval);
    }
}

impl CongestionControl for Dcqcn {
    #[inline]
    fn on_ack(&mut self, _path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        if ack.marked {
            self.on_mark(ack.now, ack.set, pace);
        }
    }

    fn on_timer(&mut self, path: &Path, now: u64, pace: &mut Pace) {
        // An increase comes a whole number of decrease intervals after the last cut. It comes first
        // because its timer was set earlier.
        if self.next_increase.is_some_and(|next| next <= now) {
            self.increase(path, now, pace);
        }
        if self.decrease_marked && self.next_decrease <= now {
            self.decrease(path, now, pace);
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<u64> {
        let decrease = self.decrease_marked.then_some(self.next_decrease);
        match (decrease, self.next_increase) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    fn timer_set(&self) -> u64 {
        let decrease = if self.decrease_marked { self.next_decrease } else { u64::MAX };
        match self.next_increase {
            Some(increase) if increase <= decrease => increase - self.settings.increase_interval,
            _ => decrease - self.settings.decrease_interval,
        }
    }
}

/// True if a periodic timer's tick at `tick` precedes an event at `now` that was set at `set`.
/// Events of one instant happen in the order in which they were set.
fn fired(tick: u64, interval: u64, now: u64, set: u64) -> bool {
    tick < now || tick == now && now <= set + interval
}

#[cfg(test)]
mod tests;
