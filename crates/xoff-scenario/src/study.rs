//! What a numerical run studies.

use xoff_fluid::{Convergence, Fluid};

/// What is studied.
pub(crate) enum Study {
    /// Flowlets that come and go.
    Fluid {
        /// The simulation.
        fluid: Box<Fluid>,
        /// The class of each traffic source.
        class_of: Vec<u16>,
    },
    /// Networks that do not change.
    Convergence(Convergence),
}
