//! The simulation: a network divided into partitions, run in windows, measured on a fixed grid.
//!
//! [`setup::Setup`] describes the simulation, [`Simulation`] runs it step by step, and [`measure`]
//! holds the results. No partition runs further ahead of another than the delay of the shortest
//! link between them. Events are ordered by their kind and entity. The result therefore depends
//! neither on the partitioning nor on threads.

pub mod backlog;
pub mod batches;
mod build;
mod cut;
pub mod deadlock;
mod fault_actions;
pub mod faults;
pub mod flow_series;
pub mod flowtune;
mod footprint;
pub mod ideal;
mod invariants;
pub mod jobs;
mod loss_notice;
pub mod measure;
pub mod partition;
pub mod paths;
mod pause_cycles;
pub mod port_samples;
pub mod requests;
mod series;
pub mod setup;
pub mod simulation;
pub mod speed_up;
pub mod tables;
mod tag;
pub mod throughput;
mod watchdog;
pub mod watermarks;
mod windows;
mod worker_pool;

pub use cut::Threads;
pub use setup::Setup;
pub use simulation::{Progress, Simulation};
pub use tables::{
    BatchRow, CutOffRow, FlowRow, FlowSeriesRow, NodeRow, PathRow, PortRow, PortSampleRow,
    QueryRow, RequestRow, RoundRow, Rows, SampleRow, StepRow, StuckQueueRow,
};
