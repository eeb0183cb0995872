//! Watermarks of switch buffers: the maximum that a switch held since the last sample.

use crate::measure::Distribution;

/// Watermarks of all switches.
#[derive(Clone, Debug, Default)]
pub struct Watermarks {
    measured: Distribution,
    measured_max: u64,
    run_max: u64,
}

impl Watermarks {
    /// Adds a switch's watermark; `measured` is true for a step of the measurement.
    pub fn add(&mut self, bytes: u64, measured: bool) {
        self.run_max = self.run_max.max(bytes);
        if measured {
            self.measured_max = self.measured_max.max(bytes);
            self.measured.add(bytes);
        }
    }

    /// Watermarks of the measurement, pooled over switches (bytes).
    #[must_use]
    pub fn measured(&self) -> &Distribution {
        &self.measured
    }

    /// Maximum of any switch after any instant of the measurement (bytes, exact).
    #[must_use]
    pub fn measured_max(&self) -> u64 {
        self.measured_max
    }

    /// Maximum of any switch after any instant of the run (bytes, exact).
    #[must_use]
    pub fn run_max(&self) -> u64 {
        self.run_max
    }
}
