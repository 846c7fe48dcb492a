//! `types`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use retell_core::{CensusOptions, ErrorKind, census};

use crate::conversation::loads;
use crate::error::to_python;
use crate::images::paths_of;
use crate::parse::number_of_threads;

/// How often the progress callback is called.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

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
    let (mut raised, mut last) = (None, Instant::now());
    let mut watch = |done: u64, total: u64| {
        let due = last.elapsed() >= PROGRESS_EVERY;
        if due {
            last = Instant::now();
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &progress {
                Some(callback) if due => callback.call1(py, (done, total)).map(drop),
                _ => Ok(()),
            }
        });
        told.map_err(|error| raised = Some(error)).is_ok()
    };
    let counted = py.detach(|| census(&options, &mut watch));
    let counted = counted.map_err(|error| {
        let stopped = raised.filter(|_| error.kind() == ErrorKind::Stopped);
        stopped.unwrap_or_else(|| to_python(py, &error))
    })?;
    let found = PyDict::new(py);
    found.set_item("release", env!("CARGO_PKG_VERSION"))?;
    found.update(loads(py, &counted.to_json()?)?.bind(py).as_mapping())?;
    Ok(found)
}
