//! Runs a scenario, summarises its results, and benchmarks the engine.
//!
//! [`Run`] is a run in progress: front ends step it, take its rows, and ask for its [`Summary`].
//! [`NumericalRun`] is a run without packets. [`open`] returns the kind of run that a scenario asks
//! for.

mod backpressure;
pub mod bench;
pub mod capture;
pub mod numerical;
pub mod run;
pub mod sent;
pub mod summary;

pub use bench::{BenchError, bench, bench_cases};
pub use numerical::NumericalRun;
pub use run::{AnyRun, Run, backpressure, check, open, tables};
pub use summary::Summary;
