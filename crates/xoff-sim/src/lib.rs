//! The simulation: a network cut into partitions, run in windows, measured on a fixed grid.
//!
//! [`setup::Setup`] says what to simulate, [`Simulation`] runs it step by step, [`measure`] turns
//! what happened into results. No partition goes further ahead of another than the shortest link
//! between them is long, and events are ordered by what they are, so the result does not depend on
//! how the network is cut up, nor on threads.

pub mod backlog;
mod crew;
mod cut;
pub mod deadlock;
pub mod faults;
pub mod flow_series;
pub mod flowtune;
mod footprint;
pub mod ideal;
pub mod measure;
pub mod partition;
pub mod paths;
pub mod port_samples;
pub mod requests;
mod series;
pub mod setup;
pub mod simulation;
pub mod tables;
pub mod throughput;
mod watchdog;
pub mod watermarks;

pub use cut::Threads;
pub use setup::Setup;
pub use simulation::{Progress, Simulation};
pub use tables::{
    FlowRow, FlowSeriesRow, PortRow, PortSampleRow, QueryRow, RequestRow, Rows, SampleRow,
};
