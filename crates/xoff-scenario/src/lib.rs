//! Reads a scenario: TOML with units in its values, in layers of increasing priority (defaults, a
//! preset, the user's file, `--set` overrides).
//!
//! Nothing is silent. A misspelt key, a wrong unit, or a setting without effect is an error that
//! shows its place and suggests the likely name. All errors are reported together.

mod backpressure;
pub mod bench;
pub mod capture;
pub mod diagnostic;
pub mod document;
pub mod effective;
mod entries;
pub mod hpcc_ns3;
pub mod layers;
pub mod nearest;
pub mod numerical;
pub mod presets;
pub mod resolve;
pub mod resources;
pub mod run;
pub mod scalars;
pub mod schema;
pub mod sections;
pub mod sent;
mod size;
mod study;
pub mod summary;
pub mod traffic;

pub use bench::{bench, bench_cases};
pub use numerical::NumericalRun;
pub use presets::presets;
pub use resources::{Memory, Resources};
pub use run::{AnyRun, Run, backpressure, check, open, schema, tables};
pub use traffic::size_table;
