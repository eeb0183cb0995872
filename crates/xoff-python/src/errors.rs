//! Exceptions of scenarios and their runs.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

create_exception!(
    xoff._native,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; `str()` is the rendered diagnostics."
);

create_exception!(
    xoff._native,
    RunError,
    PyRuntimeError,
    "A run that failed; `str()` names the flow, queue or port."
);

create_exception!(
    xoff._native,
    InvariantError,
    RunError,
    "A run in which an invariant does not hold; `str()` names it and the part concerned."
);
