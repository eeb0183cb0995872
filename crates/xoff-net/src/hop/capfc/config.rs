//! Settings of CaPFC.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, choices, knobs};

choices! {
    /// Which inputs a congested egress queue blames.
    pub enum Policy {
        /// None: plain priority flow control.
        None = "none",
        /// The input with the largest counter, and further inputs once theirs is the largest
        /// (Algorithm 1).
        StopMax = "stop-max",
        /// The fewest inputs with more than a share `cut` of all counts, the largest counters first
        /// (Algorithm 2).
        StopCalibrate = "stop-calibrate",
    }
}

knobs! {
    /// Requests of a pipelined switch's egress queues to its inputs (CaPFC). Sizes are bytes in one
    /// queue: one port and one class.
    pub struct CapfcConfig in "capfc" {
        /// Which inputs are asked to pause their neighbours.
        policy: Policy = Policy::None,
        /// An egress queue blames inputs if it holds this much or more after an arrival (CaPFC
        /// Table II: 25 KB).
        xoff: Bytes = Bytes(25_000) => [Effect::Unless(without_blame)],
        /// It ends all blame once it holds no more than this (Table II: 20 KB).
        xon: Bytes = Bytes(20_000) => [Effect::Unless(without_blame)],
        /// It counts arrivals while it holds this much or more (Table II: 20 KB; "we set the WARN
        /// threshold the same value as the XON threshold", §III).
        warn: Bytes = Bytes(20_000) => [Effect::Unless(without_blame)],
        /// With "stop-calibrate": the share of all counts that the blamed inputs must exceed, more
        /// than 0 and up to 1. 1 blames every input (Table II: 80 %).
        cut: f64 = 0.8 => [
            Effect::Unless(without_blame),
            Effect::Unless(|capfc| because(
                capfc.policy == Policy::StopMax,
                "capfc.policy = \"stop-max\"",
            )),
        ],
    }
}

/// The reason that thresholds have no effect, if they have none.
fn without_blame(capfc: &CapfcConfig) -> Option<String> {
    because(capfc.policy == Policy::None, "capfc.policy = \"none\"")
}

impl CapfcConfig {
    /// Checks the thresholds against the capacity of an egress queue.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self, capacity: Bytes) -> Result<(), (&'static str, String)> {
        let Self { xoff, xon, warn, cut, .. } = *self;
        if xon > xoff {
            let message = format!("xon ({xon}) must not be larger than xoff ({xoff})");
            return Err(("xon", message));
        }
        if warn < xon {
            let message = format!(
                "warn ({warn}) must not be less than xon ({xon}): counters might never be reset"
            );
            return Err(("warn", message));
        }
        if warn >= xoff {
            let message = format!(
                "warn ({warn}) must be less than xoff ({xoff}): nothing would be counted before \
                 inputs are blamed"
            );
            return Err(("warn", message));
        }
        if xoff >= capacity {
            let message =
                format!("xoff ({xoff}) is never reached: an egress queue holds {capacity} at most");
            return Err(("xoff", message));
        }
        if !(cut > 0.0 && cut <= 1.0) {
            return Err(("cut", format!("cut is {cut}: a share, more than 0 and up to 1")));
        }
        Ok(())
    }
}
