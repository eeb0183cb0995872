//! What an agent with eBPF has changed on its host, in a file, so that it can be undone after
//! `kill -9`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::host;
use crate::name::{Name, PREFIX};
use crate::process::Process;

/// Where the files are. They do not survive a restart of the machine, as the changes do not.
pub const FOLDER: &str = "/run/xoff/agents";

/// Writes a file of the folder, whole or not at all.
pub(crate) fn write_file(path: &Path, content: &impl Serialize) -> io::Result<()> {
    fs::create_dir_all(FOLDER)?;
    let unfinished = path.with_extension("json.tmp");
    fs::write(&unfinished, serde_json::to_string(content)?)?;
    fs::rename(unfinished, path)
}

/// Deletes a file, unless it is gone: an agent may end while another process cleans up.
pub(crate) fn delete_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads a file of the folder; none if it is gone.
pub(crate) fn read_file<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| named(path, &error))?,
    };
    serde_json::from_str(&text).map(Some).map_err(|error| named(path, &error.into()))
}

/// Stems of the names of all files.
pub(crate) fn all_files() -> io::Result<Vec<String>> {
    stems_in(Path::new(FOLDER))
}

fn stems_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| named(folder, &error))?,
    };
    let mut all = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| named(folder, &error))?.file_name();
        all.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned));
    }
    all.sort();
    Ok(all)
}

/// What files can be read, and the first error of the others. Files that are gone are left out.
pub(crate) fn read_all<T>(
    stems: io::Result<Vec<String>>,
    mut read: impl FnMut(String) -> io::Result<Option<T>>,
) -> (Vec<T>, io::Result<()>) {
    let (mut all, mut result) = (Vec::new(), Ok(()));
    match stems {
        Ok(stems) => {
            for stem in stems {
                result = result.and(read(stem).map(|found| all.extend(found)));
            }
        }
        Err(error) => result = Err(error),
    }
    (all, result)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

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
        let Process { pid, started } = Process::own()?;
        let current = host::read_setting(host::CONGESTION_CONTROL)?;
        let namespace = host::own_namespace()?;
        if current.starts_with(PREFIX) {
            // Without the file the message says less.
            let (all, _) = Self::all();
            let agent =
                all.iter().find(|(name, agent)| name.as_str() == current && agent.is_running());
            let agent = agent.map(|(_, agent)| agent);
            return Err(io::Error::other(why_occupied(&current, namespace, agent)));
        }
        Ok(Self {
            pid,
            started,
            namespace,
            congestion_control: current,
            tso_rtt_log: host::read_setting(host::TSO_RTT_LOG).ok(),
        })
    }

    fn path(name: &Name) -> PathBuf {
        Path::new(FOLDER).join(format!("{name}.json"))
    }

    /// Reads an agent's file; none if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not whole.
    pub fn read(name: &Name) -> io::Result<Option<Self>> {
        read_file(&Self::path(name))
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn write(&self, name: &Name) -> io::Result<()> {
        write_file(&Self::path(name), self)
    }

    /// Deletes the file, if there is one.
    ///
    /// # Errors
    /// It cannot be deleted.
    pub fn delete(name: &Name) -> io::Result<()> {
        delete_file(&Self::path(name))
    }

    /// True while the agent's process exists.
    #[must_use]
    pub fn is_running(&self) -> bool {
        Process { pid: self.pid, started: self.started }.is_running()
    }

    /// All agents with a file, in the order of their names, and whether all could be read.
    pub fn all() -> (Vec<(Name, Self)>, io::Result<()>) {
        read_all(all_files(), |stem| {
            let Ok(name) = stem.parse::<Name>() else { return Ok(None) };
            Ok(Self::read(&name)?.map(|state| (name, state)))
        })
    }
}

/// Why no agent can start where the default is an agent's congestion control, and what to do.
/// `agent` has that congestion control and runs.
fn why_occupied(current: &str, namespace: u64, agent: Option<&State>) -> String {
    let setting = host::CONGESTION_CONTROL;
    match agent {
        None => format!(
            "{setting} is {current}, which no agent that runs here has: if one was killed, call \
             `xoff agent --cleanup`; in a container that was made while an agent ran outside it, \
             call `sysctl net.ipv4.tcp_congestion_control=cubic`"
        ),
        Some(agent) if agent.namespace == namespace => format!(
            "{setting} is {current}: another agent, process {}, serves this network namespace",
            agent.pid
        ),
        Some(agent) => format!(
            "{setting} is {current}: this network namespace was made while the agent with process \
             {} ran in another one, and has its default; call \
             `sysctl net.ipv4.tcp_congestion_control={}` here",
            agent.pid, agent.congestion_control
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_there_is_nothing() {
        let path = std::env::temp_dir().join(format!("xoff-{}-state.json", std::process::id()));
        assert_eq!(stems_in(&path).unwrap(), Vec::<String>::new());
        assert!(read_file::<State>(&path).unwrap().is_none());
        fs::write(&path, "{\"pid\": 7").unwrap();
        let name = path.display().to_string();
        for error in [stems_in(&path).unwrap_err(), read_file::<State>(&path).unwrap_err()] {
            assert!(error.to_string().contains(&name), "{error}");
        }
        fs::remove_file(path).unwrap();
        // A file that cannot be read does not keep others from being read.
        let stems = Ok(["a", "b", "c", "d"].map(str::to_owned).into());
        let (all, result) = read_all(stems, |stem| match stem.as_str() {
            "a" => Ok(None),
            "c" => Err(io::Error::other("c is broken")),
            _ => Ok(Some(stem)),
        });
        assert_eq!(
            (all, result.unwrap_err().to_string().as_str()),
            (vec!["b".to_owned(), "d".to_owned()], "c is broken")
        );
    }

    #[test]
    fn a_default_that_was_inherited_is_told_from_an_agent_of_the_namespace() {
        let agent = State {
            pid: 7,
            started: 1,
            namespace: 5,
            congestion_control: "reno".into(),
            tso_rtt_log: None,
        };
        for (namespace, agent, said) in [
            (5, None, "xoff agent --cleanup"),
            (5, Some(&agent), "process 7, serves this"),
            (6, Some(&agent), "`sysctl net.ipv4.tcp_congestion_control=reno` here"),
        ] {
            let why = why_occupied("xoff_ft", namespace, agent);
            assert!(why.contains(said), "{why}");
        }
    }
}
