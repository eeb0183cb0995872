//! The subject of a numerical run.

use xoff_fluid::{Convergence, Fluid};

/// The subject of a numerical study.
pub(crate) enum Study {
    /// Flowlets that arrive and finish.
    Fluid {
        /// The simulation.
        fluid: Box<Fluid>,
        /// The class of each traffic source.
        class_of: Vec<u16>,
    },
    /// Networks with a fixed set of flows.
    Convergence(Convergence),
}
