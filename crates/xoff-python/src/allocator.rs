//! The allocator's daemon, and the load that measures it. They are on Linux only.

use pyo3::prelude::*;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;
    use std::time::Duration;

    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;
    use xoff_allocator::load::{Load, measure};
    use xoff_allocator::{Config, Daemon};

    use crate::errors::RunError;

    pub(super) fn serve(py: Python<'_>, path: &str, only_check: bool) -> PyResult<()> {
        let config = Config::read(Path::new(path)).map_err(PyValueError::new_err)?;
        if only_check {
            return Daemon::check(&config).map_err(PyValueError::new_err);
        }
        let mut interrupted = Ok(());
        let ended = py.detach(|| {
            let mut daemon = Daemon::start(&config, Box::new(std::io::stderr()))
                .map_err(PyValueError::new_err)?;
            let mut go_on = || {
                interrupted = Python::attach(|py| py.check_signals());
                interrupted.is_ok()
            };
            daemon.run(&mut go_on).map_err(RunError::new_err)
        });
        ended.and(interrupted)
    }

    pub(super) fn load(load: &Load) -> PyResult<String> {
        let found = measure(load).map_err(RunError::new_err)?;
        serde_json::to_string(&found).map_err(|error| RunError::new_err(error.to_string()))
    }

    pub(super) fn of(
        (endpoints, flowlets, events_per_second): (u32, u32, u64),
        iteration: u64,
        polls: bool,
        seconds: f64,
    ) -> Load {
        let time = Duration::from_secs_f64(seconds);
        Load { endpoints, flowlets, events_per_second, iteration, polls, time }
    }
}

#[cfg(not(target_os = "linux"))]
fn elsewhere<T>() -> PyResult<T> {
    Err(crate::errors::RunError::new_err("the allocator's daemon runs on Linux only"))
}

/// Run the allocator of a configuration file until a signal raises an exception, or check the file
/// and its keys.
///
/// The log goes to stderr. Raises ValueError if the configuration is wrong, RunError if a socket
/// fails.
#[pyfunction]
pub(crate) fn allocator(py: Python<'_>, path: &str, only_check: bool) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    return linux::serve(py, path, only_check);
    #[cfg(not(target_os = "linux"))]
    return elsewhere();
}

/// Measure the allocator's daemon under a load on this machine; return its result as a JSON object.
/// `iteration` is in nanoseconds.
///
/// Signals are handled when it is over. Raises RunError if it fails.
#[pyfunction]
pub(crate) fn bench_control(
    py: Python<'_>,
    endpoints: u32,
    flowlets: u32,
    events_per_second: u64,
    iteration: u64,
    polls: bool,
    seconds: f64,
) -> PyResult<String> {
    #[cfg(target_os = "linux")]
    return py.detach(|| {
        linux::load(&linux::of((endpoints, flowlets, events_per_second), iteration, polls, seconds))
    });
    #[cfg(not(target_os = "linux"))]
    return elsewhere();
}
