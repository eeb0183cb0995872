//! A link that goes down again and again.

use xoff_core::Ps;

use super::{Defect, FaultSettings, PERIODS_MAX, Part};

xoff_core::knobs! {
    /// A link flaps: in each `period` it is down for some time, and what is on it then is lost, and
    /// what is sent into it. Times are rounded up to `run.grid`.
    pub struct FlapConfig in "flap" {
        /// The two ends, such as leaf:0,spine:1; all parallel links between them go down.
        link: String = String::new(),
        /// When it goes down for the first time.
        at: Ps = Ps(0),
        /// The time from one failure to the next.
        period: Ps = Ps::from_us(1000),
        /// How long it is down each time.
        down: Ps = Ps::from_us(100),
        /// When it stops to flap; 0: never.
        until: Ps = Ps(0),
        /// How long after it went down all switches route around it, and after it is back use it
        /// again. If it is back by then, they do not notice.
        detection: Ps = Ps::from_us(50),
        /// Whether the switches at the ends of a failed link stop using it at once, where they have
        /// other ports on shortest paths. All others hear of it after `detection`.
        local_repair: bool = false,
    }
}

impl FaultSettings for FlapConfig {
    fn part(&self) -> Part<'_> {
        Part::Link(&self.link)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Down { detection: self.detection, local_repair: self.local_repair }
    }

    fn check(&self) -> Result<(), String> {
        if self.down == Ps(0) || self.down >= self.period {
            return Err(format!(
                "down is {}: it must be more than zero and less than period = {}",
                self.down, self.period
            ));
        }
        Ok(())
    }

    fn periods(&self, run: Ps) -> Vec<(Ps, Ps)> {
        let end = if self.until == Ps(0) { run } else { self.until.min(run) };
        // One more than allowed says that there are too many.
        let begins = (0..=PERIODS_MAX as u64)
            .map(|number| self.at.0.saturating_add(number.saturating_mul(self.period.0)))
            .take_while(|&begin| begin < end.0);
        begins.map(|begin| (Ps(begin), Ps(begin.saturating_add(self.down.0)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_down_in_each_period() {
        let us = Ps::from_us;
        let flap = FlapConfig { at: us(5), period: us(10), down: us(2), ..Default::default() };
        let downs = [(us(5), us(7)), (us(15), us(17)), (us(25), us(27))];
        assert_eq!(flap.periods(us(30)), downs);
        assert_eq!(FlapConfig { until: us(20), ..flap }.periods(us(30)), downs[..2]);
    }
}
