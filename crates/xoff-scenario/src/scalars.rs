//! The keys at the top of a scenario.

use xoff_core::knobs;
use xoff_core::knobs::Knobs;

use crate::schema::SectionSchema;

knobs! {
    /// The scenario as a whole.
    pub struct TopLevel in "" {
        /// What the scenario is called in results and plots.
        name: String = String::new(),
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
