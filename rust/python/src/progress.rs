//! What is asked while the core works: the user's progress callback, and whether a signal has come.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use retell_core::{Error, ErrorKind, Progress};

use crate::error::to_python;

/// How often the progress callback is called.
const EVERY: Duration = Duration::from_millis(50);

/// Does `work` without the interpreter; lets signals through on the calling thread, and calls `callback` every now and
/// then with how many bytes are done, and how many there are when that is known.
pub fn watched<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Progress<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    watched_since(py, callback, Some(Instant::now()), work)
}

/// The same, for work that changes files: `callback` is called as soon as there is something to tell, so that it can stop
/// the work before anything is in its place.
pub fn watched_at_once<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Progress<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    watched_since(py, callback, None, work)
}

fn watched_since<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    mut last: Option<Instant>,
    work: impl FnOnce(&mut Progress<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    // What the callback or a signal raised.
    let mut raised = None;
    let mut tell = |done: u64, total: Option<u64>| {
        let due = last.is_none_or(|last| last.elapsed() >= EVERY);
        if due {
            last = Some(Instant::now());
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            match callback {
                Some(callback) if due => callback.call1(py, (done, total)).map(drop),
                _ => Ok(()),
            }
        });
        told.map_err(|error| raised = Some(error)).is_ok()
    };
    let done = py.detach(|| work(&mut Progress::new(&mut tell)));
    done.map_err(|error| raised.filter(|_| error.kind() == ErrorKind::Stopped).unwrap_or_else(|| to_python(py, &error)))
}
