//! What the settings of a fault say about it, and need of the other parts of a scenario.

use xoff_core::Ps;

use super::Defect;

/// What the rest of the program asks the settings of a fault.
pub trait FaultSettings {
    /// The two ends of its links.
    fn link(&self) -> &str;

    /// When it begins.
    fn at(&self) -> Ps;

    /// When it ends; 0: never.
    fn until(&self) -> Ps;

    /// What is wrong with its links.
    fn defect(&self) -> Defect;

    /// Checks the settings of this kind alone.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether `link = "all"` names all links.
    fn may_name_all_links(&self) -> bool {
        false
    }

    /// Whether its links carry nothing, so that switches must route around them.
    fn is_outage(&self) -> bool {
        false
    }

    /// Whether both ends of a link know of the fault, and forget the pauses of before. If not, a
    /// lost frame can leave a queue paused.
    fn both_ends_know(&self) -> bool {
        false
    }
}
