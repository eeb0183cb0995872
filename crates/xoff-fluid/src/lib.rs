//! Numerical simulation of a rate allocator, without packets: what §5.4 and Appendix B of "Flowtune:
//! Flowlet Control for Datacenter Networks" (Perry, Balakrishnan and Shah, NSDI 2017) study.
//!
//! [`Fluid`] has flowlets come and go as the workload says, iterates the allocator at a fixed period
//! and lets flows progress at the rates they get. [`Convergence`] counts iterations to the optimum of
//! networks that do not change.

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
