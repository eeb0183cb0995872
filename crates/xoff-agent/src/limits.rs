//! Rates that an agent without eBPF has set on sockets. A file names the processes of these
//! sockets, so that the rates can be ended after `kill -9`.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::plane::sockets::SocketsPlane;
use crate::process::Process;
use crate::state::{FOLDER, all_files, delete_file, read_all, read_file, write_file};

const PREFIX: &str = "sockets-";

/// An agent, and the processes whose sockets it paces.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    agent: Process,
    processes: Vec<Process>,
}

impl Limits {
    /// Limits that this agent will set on sockets of processes. Writes the file.
    pub(crate) fn announce(processes: &[i32]) -> io::Result<Self> {
        let processes =
            processes.iter().map(|&pid| Process::find(pid)).collect::<Result<_, _>>()?;
        let limits = Self { agent: Process::own()?, processes };
        write_file(&limits.path(), &limits)?;
        Ok(limits)
    }

    fn path(&self) -> PathBuf {
        path(&format!("{PREFIX}{}", self.agent.pid))
    }

    /// The limits that killed agents have left, and whether all files could be read.
    pub(crate) fn left() -> (Vec<Self>, io::Result<()>) {
        read_all(all_files(), |stem| {
            let limits = stem.starts_with(PREFIX).then(|| read_file::<Self>(&path(&stem)));
            Ok(limits.transpose()?.flatten().filter(|limits| !limits.agent.is_running()))
        })
    }

    /// Ends the limits of sockets, and deletes the file. Processes that have ended are no error. If
    /// a socket could not be reached, the file stays for another try.
    pub(crate) fn end(&self) -> io::Result<()> {
        let running = self.processes.iter().filter(|process| process.is_running());
        SocketsPlane::release(running.map(|process| process.pid)).map_err(|error| {
            let (kind, file) = (error.kind(), self.path());
            let again = "its rate stays until it is closed, or call `xoff agent --cleanup` as root";
            io::Error::new(kind, format!("{}: {error}; {again}", file.display()))
        })?;
        delete_file(&self.path())
    }

    /// What a user reads of them.
    pub(crate) fn name(&self) -> String {
        let pids: Vec<_> = self.processes.iter().map(|process| process.pid.to_string()).collect();
        format!("limits of sockets of processes {}", pids.join(", "))
    }
}

fn path(stem: &str) -> PathBuf {
    Path::new(FOLDER).join(format!("{stem}.json"))
}
