//! Numerical simulation of a rate allocator, without packets: the studies of §5.4 and Appendix B of
//! "Flowtune: Flowlet Control for Datacenter Networks" (Perry, Balakrishnan and Shah, NSDI 2017).
//!
//! [`Fluid`] starts flowlets from the workload, iterates the allocator at a fixed period and
//! advances flows at their allocated rates. [`Convergence`] counts the iterations to the optimum in
//! static networks.

pub mod config;
mod convergence;
mod flowlets;
mod fluid;
mod measured;
mod optimum;
mod paths;
mod series;

pub use convergence::{Convergence, ConvergenceConfig, ErrorRow};
pub use flowlets::Finished;
pub use fluid::{Fluid, FluidConfig, Iterates, RatesAre};
pub use measured::{ByNormalizer, Measured, StepRow};
pub use series::Series;
