//! Watermarks of switch buffers: the most a switch held since the sample before.

use crate::measure::Distribution;

/// Watermarks of all switches.
#[derive(Clone, Debug, Default)]
pub struct Watermarks {
    measured: Distribution,
    measured_max: u64,
    run_max: u64,
}

impl Watermarks {
    /// A switch's watermark; `measured`: of a step within the measured time.
    pub fn add(&mut self, bytes: u64, measured: bool) {
        self.run_max = self.run_max.max(bytes);
        if measured {
            self.measured_max = self.measured_max.max(bytes);
            self.measured.add(bytes);
        }
    }

    /// Those of the measured time, pooled over switches (bytes).
    #[must_use]
    pub fn measured(&self) -> &Distribution {
        &self.measured
    }

    /// The most that any switch held after any instant of the measured time (bytes, exact).
    #[must_use]
    pub fn measured_max(&self) -> u64 {
        self.measured_max
    }

    /// The most that any switch held after any instant of the run (bytes, exact).
    #[must_use]
    pub fn run_max(&self) -> u64 {
        self.run_max
    }
}
