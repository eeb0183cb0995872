//! The memory that a scenario needs, estimated before it is allocated.

use crate::diagnostic::{Diagnostic, Place};
use crate::resources::{Memory, human};

/// Bytes of a flow with its sender, its receiver and its place among the arrivals: 0.7 to 1.1 KB by
/// scheme.
pub(crate) const FLOW_BYTES: f64 = 1_000.0;

/// A need for memory.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// Its use, as in "2.0 GB of it for hosts".
    pub(crate) what: String,
    pub(crate) bytes: u128,
    /// The setting that makes it large, if one was set.
    pub(crate) place: Option<Place>,
    /// What to do about it.
    pub(crate) help: String,
}

/// All known needs of a scenario, and the memory available.
#[derive(Debug)]
pub(crate) struct Needs {
    memory: Memory,
    all: Vec<Need>,
}

impl Needs {
    pub(crate) fn new(memory: Memory) -> Self {
        Self { memory, all: Vec::new() }
    }

    /// The memory available.
    pub(crate) fn memory(&self) -> Memory {
        self.memory
    }

    /// The place of the need that was added first, and what to do about it.
    pub(crate) fn of_first(&self) -> (Option<Place>, String) {
        self.all.first().map(|need| (need.place.clone(), need.help.clone())).unwrap_or_default()
    }

    /// Adds a need.
    ///
    /// # Errors
    /// If the sum is more than the memory available: the largest part, and what to do.
    pub(crate) fn add(&mut self, need: Need) -> Result<(), Diagnostic> {
        self.all.push(need);
        let total = self.all.iter().fold(0u128, |sum, need| sum.saturating_add(need.bytes));
        let largest = self.all.iter().max_by_key(|need| need.bytes);
        let Some(largest) = largest.filter(|_| !self.memory.holds(total)) else { return Ok(()) };
        let part = match self.all.len() {
            1 => format!("for {}", largest.what),
            _ => format!("{} of it for {}", human(largest.bytes), largest.what),
        };
        Err(Diagnostic {
            message: format!(
                "this scenario needs about {} of memory, {part}; {}",
                human(total),
                self.memory.describe()
            ),
            place: largest.place.clone(),
            help: Some(largest.help.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::Bytes;

    use super::*;

    fn need(what: &str, bytes: u128) -> Need {
        Need { what: what.into(), bytes, place: None, help: format!("fewer {what}") }
    }

    #[test]
    fn what_is_too_much_together_names_its_largest_part() {
        let mut needs = Needs::new(Memory::given(Bytes(10_000)));
        assert_eq!(needs.add(need("hosts", 6_000)), Ok(()));
        assert_eq!(needs.add(need("flows", 4_000)), Ok(()));
        let error = needs.add(need("queues", 200)).unwrap_err();
        assert_eq!(
            error.message,
            "this scenario needs about 10 KB of memory, 6.0 KB of it for hosts; the limit is 10 KB \
             (--max-memory)"
        );
        assert_eq!(error.help.as_deref(), Some("fewer hosts"));
        let mut needs = Needs::new(Memory::given(Bytes(1_000)));
        let error = needs.add(need("hosts", u128::MAX)).unwrap_err();
        assert!(error.message.contains("YB of memory, for hosts; the limit is 1.0 KB"), "{error}");
    }
}
