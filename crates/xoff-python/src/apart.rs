//! Opening and checking scenarios, which may take long: Python's signals are handled meanwhile.

use std::panic::resume_unwind;
use std::thread::{Builder, sleep};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use xoff_scenario::Memory;

/// How long Python's signal handlers wait at most (and one step of the engine).
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Does something that may take long on a thread of its own, so that Python's signal handlers run
/// meanwhile. If one of them raises, the thread is left to end by itself.
pub(crate) fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let worker = Builder::new().spawn(work)?;
    let mut pause = Duration::from_micros(100);
    while !worker.is_finished() {
        py.detach(|| sleep(pause));
        py.check_signals()?;
        pause = (2 * pause).min(SLICE);
    }
    Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// The memory that a scenario may take, such as `24GB`; without one what the machine has.
pub(crate) fn memory(most: Option<&str>) -> PyResult<Memory> {
    Memory::read(most).map_err(|why| PyValueError::new_err(format!("max_memory: {why}")))
}
