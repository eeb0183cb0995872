//! Reads a scenario: TOML with units in its values, in layers of increasing priority (defaults, a
//! preset, the user's file, `--set` overrides).
//!
//! Nothing is silent. A misspelt key, a wrong unit, or a setting without effect is an error that
//! shows its place and suggests the likely name. All errors are reported together.

pub mod capacity;
pub mod diagnostic;
pub mod document;
pub mod effective;
mod entries;
mod files;
pub mod fuzz;
pub mod hpcc_ns3;
pub mod htsim;
pub mod layers;
pub mod links;
pub mod named;
pub mod nearest;
pub mod outputs;
pub mod presets;
pub mod resolve;
pub mod resources;
pub mod scalars;
pub mod schema;
pub mod sections;
mod size;
pub mod study;
pub mod traffic;

use std::path::Path;

use diagnostic::Problems;
pub use presets::{preset_text, presets};
pub use resolve::{Resolved, engine};
pub use resources::{Memory, Resources};
pub use traffic::size_table;

/// Reads `text`, the content of `file`: a scenario, the `config.txt` of an HPCC ns-3 case, or a
/// connection matrix of htsim (`.cm`).
///
/// # Errors
/// All problems, each with its place.
pub fn read(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
    let ending = Path::new(file).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("txt") => hpcc_ns3::resolve(text, file, overrides, resources),
        Some("cm") => htsim::resolve(text, file, overrides, resources),
        _ => resolve::resolve(text, file, overrides, resources),
    }
}

/// The JSON schema of scenario files.
#[must_use]
pub fn schema() -> String {
    use schema::{SectionSchema, json_schema};
    let mut sections = vec![scalars::top_level()];
    sections.extend(resolve::sections().into_iter().map(SectionSchema::once));
    sections.extend(SectionSchema::entries::<xoff_sim::faults::FaultConfig>("fault"));
    sections.extend(SectionSchema::entries::<xoff_workload::TrafficConfig>("traffic"));
    json_schema("xoff scenario", &sections)
}
