//! What the core gives as fields, as Python's dictionaries: the one way for all classes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;
use serde::Serialize;

/// What is written as a JSON object, as a dictionary, without a way through JSON: Python's `json` takes longer to import
/// than a short session to read.
pub fn to_dict(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyDict>> {
    Ok(pythonize(py, value)?.cast_into::<PyDict>()?.unbind())
}
