//! Processes, whose numbers recur.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// When it started, in ticks since the machine's start.
    pub(crate) started: u64,
}

impl Process {
    /// The process that has a number now.
    pub(crate) fn find(pid: i32) -> io::Result<Self> {
        let missing = || io::Error::other(format!("there is no process {pid}"));
        Ok(Self { pid, started: start_of(pid).ok_or_else(missing)? })
    }

    /// This process.
    pub(crate) fn own() -> io::Result<Self> {
        Self::find(std::process::id().cast_signed())
    }

    /// True until it has ended.
    pub(crate) fn is_running(self) -> bool {
        start_of(self.pid) == Some(self.started)
    }
}

/// When a process started, in ticks since the machine's start; `None` if there is none, or if it
/// has ended and waits for its parent.
fn start_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may have spaces and parentheses. The state follows.
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    let is_alive = fields.next().is_some_and(|state| state != "Z" && state != "X");
    is_alive.then(|| fields.nth(18)?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_start_while_it_runs() {
        let own = std::process::id().cast_signed();
        assert!(start_of(own).is_some_and(|start| start > 0));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(start_of(child.id().cast_signed()), None);
    }
}
