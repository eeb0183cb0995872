//! The keys at the top of a scenario.

use xoff_core::knobs::Knobs;
use xoff_core::{choices, knobs};

use crate::schema::SectionSchema;

choices! {
    /// What a scenario is run by.
    pub enum EngineKind {
        /// The packet-level simulator.
        Packets = "packets",
        /// Flowlets as fluid, which an allocator gives rates: section `fluid`.
        Fluid = "fluid",
        /// An allocator's convergence in random networks: section `convergence`.
        Convergence = "convergence",
    }
}

knobs! {
    /// The scenario as a whole.
    pub struct TopLevel in "" {
        /// What the scenario is called in results and plots.
        name: String = String::new(),
        /// What it is run by.
        engine: EngineKind = EngineKind::Packets,
        /// Seed of every random stream.
        seed: u64 = 1,
        /// The preset it starts from; `xoff presets` lists them.
        scheme: String = String::new(),
    }
}

/// Their schema.
#[must_use]
pub fn top_level() -> SectionSchema {
    debug_assert_eq!(TopLevel::SECTION, "");
    SectionSchema::of::<TopLevel>()
}
