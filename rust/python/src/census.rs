//! `types`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retell_core::{CensusOptions, census};

use crate::conversation::to_dict;
use crate::images::paths_of;
use crate::parse::number_of_threads;
use crate::progress::watched;

/// Counts the types of the records in transcripts. Reads only.
#[pyfunction]
#[pyo3(signature = (paths=None, *, agent=None, threads=None, progress=None))]
pub fn types<'py>(
    py: Python<'py>,
    paths: Option<&Bound<'py, PyAny>>,
    agent: Option<String>,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let paths = paths.map(paths_of).transpose()?;
    if paths.as_ref().is_some_and(Vec::is_empty) {
        return Err(PyValueError::new_err("paths is empty: give None for all sessions there are"));
    }
    let options = CensusOptions { paths: paths.unwrap_or_default(), agent, threads: number_of_threads(threads)? };
    let counted = watched(py, progress.as_ref(), |progress| census(&options, progress))?;
    let found = PyDict::new(py);
    found.set_item("release", env!("CARGO_PKG_VERSION"))?;
    found.update(to_dict(py, &counted)?.bind(py).as_mapping())?;
    Ok(found)
}
