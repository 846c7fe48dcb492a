//! `types`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::prelude::*;
use pyo3::types::PyDict;
use retell_core::{CensusOptions, Refusal, census};

use crate::dictionary::to_dict;
use crate::error::refused;
use crate::images::paths_of;
use crate::parse::number_of_threads;
use crate::progress::watched;

/// Counts the types of the records in transcripts. Reads only.
#[pyfunction]
#[pyo3(signature = (paths=None, *, agent=None, threads=None, progress=None))]
pub fn types(
    py: Python<'_>,
    paths: Option<&Bound<'_, PyAny>>,
    agent: Option<String>,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyDict>> {
    let paths = paths.map(paths_of).transpose()?;
    if paths.as_ref().is_some_and(Vec::is_empty) {
        return Err(refused(py, Refusal::NoPaths));
    }
    let threads = number_of_threads(py, threads)?;
    let options = CensusOptions { paths: paths.unwrap_or_default(), agent, threads };
    let counted = watched(py, progress.as_ref(), |progress| census(&options, progress))?;
    to_dict(py, &counted)
}
