//! What the settings of a fault say about it, and need of the other parts of a scenario.

use xoff_core::{Ps, choices};

use super::Defect;

/// The part of a network that is faulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The links between two nodes, by their names, or all links if these are allowed.
    Link(&'a str),
    /// All links of this switch.
    Switch(&'a str),
    /// All links of this host.
    Host(&'a str),
}

choices! {
    /// The directions of a link that a fault concerns.
    pub enum Direction {
        /// Both.
        Both = "both",
        /// From the end that is named first to the other one.
        There = "there",
        /// From the end that is named second to the first one.
        Back = "back",
    }
}

/// The most faults for which one entry may stand: each has routes of its own.
pub const PERIODS_MAX: usize = 1000;

/// What the rest of the program asks the settings of a fault.
pub trait FaultSettings {
    /// What is faulty.
    fn part(&self) -> Part<'_>;

    /// When it begins, and when it ends; 0: never.
    fn times(&self) -> (Ps, Ps);

    /// What is wrong with its links.
    fn defect(&self) -> Defect;

    /// Checks the settings of this kind alone.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The faults that it stands for, each with its begin and end, up to the end of the run.
    fn periods(&self, _run: Ps) -> Vec<(Ps, Ps)> {
        vec![self.times()]
    }

    /// The directions of its links that it concerns.
    fn direction(&self) -> Direction {
        Direction::Both
    }
}
