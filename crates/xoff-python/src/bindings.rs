//! The Python side of the module.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::apart::{apart, memory};
use crate::batch::PyBatch;
use crate::errors::{RunError, ScenarioError};
use xoff_sim::Threads;

/// Return the effective scenario as TOML.
///
/// Signals are handled meanwhile. Raises ScenarioError, and ValueError if `max_memory` is no size.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, max_memory = None))]
fn check(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<String>,
    max_memory: Option<&str>,
) -> PyResult<String> {
    let memory = memory(max_memory)?;
    apart(py, move || xoff_run::check(&text, &file, &overrides, memory))?
        .map_err(|problems| ScenarioError::new_err(problems.to_string()))
}

/// Return, as comments of TOML, whether pauses of a scenario can form cycles, also with any one
/// link down if asked; None if switches do not pause each other.
///
/// Signals are handled meanwhile. Raises ScenarioError, and ValueError if `max_memory` is no size.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, any_link, max_memory = None))]
fn backpressure(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<String>,
    any_link: bool,
    max_memory: Option<&str>,
) -> PyResult<Option<String>> {
    let memory = memory(max_memory)?;
    apart(py, move || xoff_run::backpressure(&text, &file, &overrides, any_link, memory))?
        .map_err(|problems| ScenarioError::new_err(problems.to_string()))
}

/// Return what a scenario comes to, beyond its settings, as (comments of TOML, JSON object); None
/// for an engine without packets.
///
/// Signals are handled meanwhile. Raises ScenarioError, and ValueError if `max_memory` is no size.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, max_memory = None))]
fn explain(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<String>,
    max_memory: Option<&str>,
) -> PyResult<Option<(String, String)>> {
    let memory = memory(max_memory)?;
    apart(py, move || xoff_run::explain(&text, &file, &overrides, memory))?
        .map(|found| found.map(|found| (found.text(), found.json())))
        .map_err(|problems| ScenarioError::new_err(problems.to_string()))
}

/// Return the network of a scenario and its faults as a JSON object; None for an engine without
/// packets.
///
/// Signals are handled meanwhile. Raises ScenarioError, and ValueError if `max_memory` is no size.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, max_memory = None))]
fn network(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<String>,
    max_memory: Option<&str>,
) -> PyResult<Option<String>> {
    let memory = memory(max_memory)?;
    apart(py, move || xoff_run::network(&text, &file, &overrides, memory))?
        .map(|found| found.map(|found| found.json()))
        .map_err(|problems| ScenarioError::new_err(problems.to_string()))
}

/// Return the JSON schema of scenario files.
#[pyfunction]
fn schema() -> String {
    xoff_scenario::schema()
}

/// Return every preset as (name, one-line description).
#[pyfunction]
fn presets() -> Vec<(String, String)> {
    xoff_scenario::presets()
}

/// Return a preset's settings as TOML; None if no preset has this name.
#[pyfunction]
fn preset_text(name: &str) -> Option<String> {
    xoff_scenario::preset_text(name)
}

/// A table that a run may have.
#[derive(Debug, IntoPyObject)]
struct DeclaredTable {
    name: &'static str,
    /// How to get the table; None if every run has it.
    optional: Option<&'static str>,
    /// The table without rows.
    empty: PyBatch,
}

/// Return every table that a run may have, as dicts. A name comes several times where engines have
/// different columns under it.
#[pyfunction]
fn tables() -> Vec<DeclaredTable> {
    let tables = xoff_run::tables().into_iter();
    tables
        .map(|table| DeclaredTable {
            name: table.empty.name,
            optional: table.optional,
            empty: table.empty.into(),
        })
        .collect()
}

/// Return a size table that comes with xoff: each size in bytes with the share of flows up to it.
///
/// Raises ValueError if there is no such table.
#[pyfunction]
fn size_table(name: &str) -> PyResult<Vec<(f64, f64)>> {
    xoff_scenario::size_table(name).map_err(PyValueError::new_err)
}

/// Run one benchmark case on `threads` threads; return its result as a JSON object. With `estimate`
/// it runs on one thread, and the times are those expected with `threads` cores.
///
/// Signals are handled when it is over. Raises ValueError if there is no such case, ScenarioError
/// if it is refused, RunError if it is stuck.
#[pyfunction]
fn bench(py: Python<'_>, case: &str, threads: usize, estimate: bool) -> PyResult<String> {
    let threads = Threads { modelled: estimate, ..Threads::up_to(threads) };
    py.detach(|| xoff_run::bench(case, threads)).map_err(|error| match error {
        xoff_run::BenchError::Unknown(said) => PyValueError::new_err(said),
        xoff_run::BenchError::Refused(problems) => ScenarioError::new_err(problems.to_string()),
        xoff_run::BenchError::Stuck(said) => RunError::new_err(said),
    })
}

/// Return the names of the benchmark cases.
#[pyfunction]
fn bench_cases() -> Vec<String> {
    xoff_run::bench_cases()
}

/// Return the shapes of stress cases: name and what grows; and the factors by which it grows. The
/// cases are `PRESET-SHAPE-xFACTOR`.
#[pyfunction]
fn stress_shapes() -> (Vec<(&'static str, &'static str)>, [u64; 3]) {
    (xoff_run::bench::stress::shapes(), xoff_run::bench::stress::FACTORS)
}

/// Measure iterations of the parallel allocator: return the number of threads, the median, the
/// least and the most nanoseconds of an iteration, and a hash of the rates.
///
/// Signals are handled when it is over. Raises ValueError if there is no such network.
#[pyfunction]
fn bench_alloc(
    py: Python<'_>,
    nodes: u32,
    flows: usize,
    blocks: usize,
    threads: usize,
    iterations: usize,
) -> PyResult<(usize, f64, f64, f64, u64)> {
    let found = py.detach(|| xoff_alloc::bench(nodes, flows, blocks, threads, iterations));
    let found = found.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((found.threads, found.median_ns, found.least_ns, found.most_ns, found.digest))
}

/// The Rust engine of xoff. Use it through `xoff.engine`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::agent::{AgentError, agent_planes, clean_up_agents, run_agent};
    #[pymodule_export]
    use crate::alloc::{Allocator, AllocatorError};
    #[pymodule_export]
    use crate::allocator::{allocator, bench_control};
    #[pymodule_export]
    use crate::batch::PyBatch;
    #[pymodule_export]
    use crate::errors::{InvariantError, RunError, ScenarioError};
    #[pymodule_export]
    use crate::numerical::{NumericalRun, open_run};
    #[pymodule_export]
    use crate::run::Run;

    #[pymodule_export]
    use super::{
        backpressure, bench, bench_alloc, bench_cases, check, explain, network, preset_text,
        presets, schema, size_table, stress_shapes, tables,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // its name in Python
    const version: &str = env!("CARGO_PKG_VERSION");
}
