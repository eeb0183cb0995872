//! Runs a scenario, summarises its results, and benchmarks the engine.
//!
//! [`Run`] is a run in progress: front ends step it, take its rows, and ask for its [`Summary`].
//! [`NumericalRun`] is a run without packets. [`open`] returns the kind of run that a scenario asks
//! for.

mod backpressure;
pub mod bench;
pub mod capture;
pub mod explain;
pub mod network;
mod ns3_files;
pub mod numerical;
pub mod run;
pub mod sent;
pub mod summary;

pub use bench::{BenchError, bench, bench_cases};
pub use ns3_files::FileChunk;
pub use numerical::NumericalRun;
pub use run::{AnyRun, Run, backpressure, check, explain, network, open, tables};
pub use summary::Summary;

/// A run's memory lies in huge pages where the system has them. In those of 4 KB a network of 8,192
/// hosts takes 1.2 times as long, one of 65,536 hosts 1.4 times: packets, ports and flows are
/// visited in no order, so most visits would miss the table of pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
