//! What an agent has changed on its host, in a file, so that it can be undone after `kill -9`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::host;
use crate::name::{Name, PREFIX};

/// Where the files are. They do not survive a restart of the machine, as the changes do not.
pub const FOLDER: &str = "/run/xoff/agents";

/// An agent's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Its process.
    pub pid: i32,
    /// When the process started, in ticks since the machine's start: numbers of processes recur.
    pub started: u64,
    /// Inode of its network namespace.
    pub namespace: u64,
    /// The congestion control that was the default.
    pub congestion_control: String,
    /// The setting `tcp_tso_rtt_log` that was in force; `None` on kernels before 5.18.
    pub tso_rtt_log: Option<String>,
}

impl State {
    /// The state of this process and its network namespace, before any change.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn before() -> io::Result<Self> {
        let pid = std::process::id().cast_signed();
        let current = host::read_setting(host::CONGESTION_CONTROL)?;
        if current.starts_with(PREFIX) {
            return Err(io::Error::other(format!(
                "{} is {current}: another agent serves this network namespace, or one was killed; \
                 in that case call `xoff agent --cleanup`",
                host::CONGESTION_CONTROL
            )));
        }
        Ok(Self {
            pid,
            started: start_of(pid)
                .ok_or_else(|| io::Error::other("cannot read /proc/self/stat"))?,
            namespace: host::own_namespace()?,
            congestion_control: current,
            tso_rtt_log: host::read_setting(host::TSO_RTT_LOG).ok(),
        })
    }

    fn path(name: &Name) -> PathBuf {
        Path::new(FOLDER).join(format!("{name}.json"))
    }

    /// Reads an agent's file.
    ///
    /// # Errors
    /// There is none, or it is not whole.
    pub fn read(name: &Name) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(Self::path(name))?)?)
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn write(&self, name: &Name) -> io::Result<()> {
        fs::create_dir_all(FOLDER)?;
        let path = Self::path(name);
        let unfinished = path.with_extension("json.tmp");
        fs::write(&unfinished, serde_json::to_string(self)?)?;
        fs::rename(unfinished, path)
    }

    /// Deletes the file, unless it is gone: an agent may end while another process cleans up.
    ///
    /// # Errors
    /// It cannot be deleted.
    pub fn delete(name: &Name) -> io::Result<()> {
        match fs::remove_file(Self::path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// True while the agent's process exists.
    #[must_use]
    pub fn is_running(&self) -> bool {
        start_of(self.pid) == Some(self.started)
    }

    /// All agents with a file.
    #[must_use]
    pub fn all() -> Vec<(Name, Self)> {
        let folder = fs::read_dir(FOLDER).into_iter().flatten().flatten();
        let names = folder.filter_map(|entry| {
            entry.file_name().to_str()?.strip_suffix(".json")?.parse::<Name>().ok()
        });
        let mut all: Vec<_> =
            names.filter_map(|name| Some((name.clone(), Self::read(&name).ok()?))).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
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
