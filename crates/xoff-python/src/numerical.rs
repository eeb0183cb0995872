//! Runs without packets. They answer the calls that [`Run`] answers.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use xoff_core::table::Tables;
use xoff_run::{AnyRun, NumericalRun as Numerical};
use xoff_scenario::Resources;
use xoff_sim::Threads;

use crate::apart::{apart, memory};
use crate::batch::PyBatch;
use crate::errors::ScenarioError;
use crate::run::{Progress, Run, Steps, advance_for, take_tables};

/// The longest time a thread waits before a window, if it waits (us).
const MOST_DELAY_US: u64 = 30;

/// A numerical run, advanced in slices of wall-clock time.
#[pyclass(module = "xoff._native")]
// Never locked, as in `Run`.
pub struct NumericalRun(Mutex<Numerical>);

impl NumericalRun {
    fn engine(&mut self) -> &mut Numerical {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Steps for Numerical {
    fn step(&mut self) -> Result<bool, String> {
        self.step()
    }
    fn rows(&mut self) -> &mut impl Tables {
        self.rows()
    }
}

#[pymethods]
impl NumericalRun {
    /// Advance for about `wall_ms` milliseconds of wall-clock time; return whether there is more.
    fn step(&mut self, py: Python<'_>, wall_ms: u32) -> PyResult<bool> {
        advance_for(py, self.engine(), wall_ms)
    }

    /// Return where the run is, as a dict.
    fn progress(&mut self) -> Progress {
        self.engine().progress().into()
    }

    /// Return the rows since the last call as (table, batch), without tables that have none.
    fn take_tables(&mut self) -> Vec<(&'static str, PyBatch)> {
        take_tables(self.engine())
    }

    /// Return no files: there are no packets.
    fn take_files(&self) -> Vec<(String, Cow<'static, [u8]>)> {
        Vec::new()
    }

    /// Return the results as a JSON object.
    fn summary(&mut self) -> String {
        self.engine().summary().json()
    }

    /// How many threads it uses.
    #[getter]
    fn threads(&self) -> usize {
        1
    }

    /// Why it uses fewer threads than it was given.
    #[getter]
    fn threads_note(&self) -> Option<&'static str> {
        Some("a numerical run has one thread")
    }

    /// Return the scenario as TOML, with every default filled in.
    fn effective(&mut self) -> String {
        self.engine().effective().to_owned()
    }

    /// Return a hash of everything that happened, as 16 hexadecimal digits.
    fn digest(&mut self) -> String {
        format!("{:016x}", self.engine().digest())
    }
}

/// Build a run of the scenario `text`, by the engine that it names, ready to step: see `Run`.
///
/// With a `delay_seed` each thread waits for a random time before each window, as that seed says,
/// so that threads meet in other orders: results must not change. Signals are handled meanwhile.
/// Raises ScenarioError, and ValueError if `max_memory` is no size.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, threads, max_memory = None, delay_seed = None))]
pub(crate) fn open_run(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<String>,
    threads: usize,
    max_memory: Option<&str>,
    delay_seed: Option<u64>,
) -> PyResult<Py<PyAny>> {
    let jitter = delay_seed.map(|seed| (seed, MOST_DELAY_US));
    let threads = Threads { jitter, ..Threads::up_to(threads) };
    let resources = Resources { threads, memory: memory(max_memory)? };
    let run = apart(py, move || xoff_run::open(&text, &file, &overrides, resources))?;
    match run.map_err(|problems| ScenarioError::new_err(problems.to_string()))? {
        AnyRun::Packets(run) => Ok(Py::new(py, Run::from(*run))?.into_any()),
        AnyRun::Numerical(run) => Ok(Py::new(py, NumericalRun(Mutex::new(*run)))?.into_any()),
    }
}
