//! Record batches in Python.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use xoff_core::table::Table;

use crate::arrow::Batch;

/// A record batch that any Arrow library imports without a copy, as often as it likes.
#[pyclass(name = "Batch", module = "xoff._native", frozen)]
#[derive(Debug)]
pub struct PyBatch(Batch);

#[pymethods]
impl PyBatch {
    /// Return the schema as a capsule of the Arrow C data interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.0.schema(), c"arrow_schema")
    }

    /// Return schema and rows as capsules of the Arrow C data interface.
    ///
    /// `requested_schema` is a wish, which the interface allows to ignore.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        let array = PyCapsule::new_with_value(py, self.0.array(), c"arrow_array")?;
        Ok((self.__arrow_c_schema__(py)?, array))
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

impl From<Table> for PyBatch {
    fn from(table: Table) -> Self {
        Self(Batch::new(table.columns))
    }
}
