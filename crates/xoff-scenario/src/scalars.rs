//! The keys at the top level of a scenario.

use xoff_core::{choices, knobs};

use crate::schema::SectionSchema;

choices! {
    /// The engine of a scenario.
    pub enum EngineKind {
        /// The packet-level simulator.
        Packets = "packets",
        /// Flowlets as fluid, with rates from an allocator: section `fluid`.
        Fluid = "fluid",
        /// An allocator's convergence in random networks: section `convergence`.
        Convergence = "convergence",
    }
}

knobs! {
    /// The scenario as a whole.
    pub struct TopLevel in "" {
        /// Name of the scenario in results and plots.
        name: String = String::new(),
        /// The engine that runs the scenario.
        engine: EngineKind = EngineKind::Packets,
        /// Seed of every random stream.
        seed: u64 = 1,
        /// The preset from which it starts. `xoff presets` lists them.
        scheme: String = String::new(),
    }
}

/// Their schema.
#[must_use]
pub fn top_level() -> SectionSchema {
    debug_assert_eq!(TopLevel::SECTION, "");
    SectionSchema::of::<TopLevel>()
}
