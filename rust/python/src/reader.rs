//! A Python object with `read(size)` as a reader of the core.

use std::io::{self, Read};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyMemoryView;
use retell_core::Refusal;

use crate::error::refused;

/// Reads from a Python object. What it raises travels through the core in an [`io::Error`].
pub struct PythonReader(pub Py<PyAny>);

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = |py: Python<'_>| -> PyResult<usize> {
            let given = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            let bytes = bytes_of(&given).map_err(|_| refused(py, Refusal::NoBytes))?;
            let place = buffer.get_mut(..bytes.len()).ok_or_else(|| refused(py, Refusal::TooManyBytes))?;
            place.copy_from_slice(&bytes);
            Ok(bytes.len())
        };
        Python::attach(read).map_err(io::Error::other)
    }
}

/// The bytes of anything that lets its bytes be seen.
fn bytes_of(given: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    match given.extract() {
        Ok(bytes) => Ok(bytes),
        Err(_) => Ok(PyMemoryView::from(given)?.call_method0("tobytes")?.extract()?),
    }
}
