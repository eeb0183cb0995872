//! Flowtune's endpoint on a host.

use std::path::PathBuf;

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

create_exception!(
    xoff._native,
    AgentError,
    PyRuntimeError,
    "An agent that cannot run, or whose changes cannot be undone; `str()` says why."
);

/// Run an agent until SIGTERM, SIGINT or SIGHUP, with a configuration file.
///
/// Raises AgentError.
#[pyfunction]
pub(crate) fn run_agent(py: Python<'_>, config: PathBuf) -> PyResult<()> {
    py.detach(|| host::run(&config)).map_err(AgentError::new_err)
}

/// Undo what killed agents left on this host; return the names of their congestion controls.
///
/// Raises AgentError.
#[pyfunction]
pub(crate) fn clean_up_agents(py: Python<'_>) -> PyResult<Vec<String>> {
    py.detach(host::clean_up).map_err(AgentError::new_err)
}

/// Return the data planes that this build has.
#[pyfunction]
pub(crate) fn agent_planes() -> Vec<&'static str> {
    host::planes()
}

#[cfg(target_os = "linux")]
mod host {
    use std::path::Path;

    pub(super) fn run(config: &Path) -> Result<(), String> {
        let config = xoff_agent::Config::read(config)?;
        xoff_agent::run(&config).map_err(|error| error.to_string())
    }

    pub(super) fn clean_up() -> Result<Vec<String>, String> {
        xoff_agent::cleanup().map_err(|error| error.to_string())
    }

    pub(super) fn planes() -> Vec<&'static str> {
        let without_bpf = ["sockets", "programs"];
        xoff_agent::HAS_BPF.then_some("bpf").into_iter().chain(without_bpf).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod host {
    use std::path::Path;

    pub(super) fn run(_: &Path) -> Result<(), String> {
        Err("an agent needs Linux".to_owned())
    }

    pub(super) fn clean_up() -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    pub(super) fn planes() -> Vec<&'static str> {
        Vec::new()
    }
}
