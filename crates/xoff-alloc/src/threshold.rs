//! Selects the rates to report: "the allocator notifies servers when the rates assigned to flows
//! change by a factor larger than a threshold" (§5.3.2).

/// The last reported rate of each flow slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    rates: Vec<Option<f64>>,
}

impl Reported {
    /// Clears the slot of a new flow: nothing has been reported for it.
    pub(crate) fn forget(&mut self, slot: usize) {
        if slot == self.rates.len() {
            self.rates.push(None);
        }
        self.rates[slot] = None;
    }

    /// True if a rate must be reported; it then counts as reported.
    pub(crate) fn report(&mut self, slot: usize, rate: f64, threshold: f64) -> bool {
        let last = &mut self.rates[slot];
        let tell = last
            .is_none_or(|last| rate > last * (1.0 + threshold) || rate < last * (1.0 - threshold));
        if tell {
            *last = Some(rate);
        }
        tell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rates_outside_the_band_are_reported() {
        let mut reported = Reported::default();
        reported.forget(0);
        let told = [1.0, 1.01, 0.99, 1.011, 1.001, 1.0, 0.0, 0.0, 1e-9]
            .map(|rate| reported.report(0, rate, 0.01));
        assert_eq!(told, [true, false, false, true, false, true, true, false, true]);
    }

    #[test]
    fn a_new_flow_in_a_reused_slot_is_reported() {
        let mut reported = Reported::default();
        reported.forget(0);
        assert!(reported.report(0, 1.0, 0.01));
        reported.forget(0);
        assert!(reported.report(0, 1.0, 0.01));
    }
}
