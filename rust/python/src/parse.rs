//! `parse`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::io::Cursor;
use std::num::NonZero;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use retell_core::{ParseOptions, Refusal, Source, find_session, threads_asked};

use crate::conversation::Conversation;
use crate::error::{refused, to_python, warn};
use crate::progress::watched;
use crate::reader::PythonReader;

/// Reads one session to its end and gives the finished conversation.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are keywords to the caller")]
#[pyo3(signature = (source, *, agent=None, include_subagents=false, strict=false, allow_unknown=false, threads=None, progress=None))]
pub fn parse(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    agent: Option<String>,
    include_subagents: bool,
    strict: bool,
    allow_unknown: bool,
    threads: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Conversation> {
    if let Some(progress) = progress.as_ref().filter(|progress| !progress.bind(py).is_callable()) {
        let kind = progress.bind(py).get_type().name()?.to_string();
        return Err(refused(py, Refusal::Progress(&kind)));
    }
    let threads = number_of_threads(py, threads)?;
    let source = source_of(py, source)?;
    let options = ParseOptions { agent, include_subagents, strict, allow_unknown, threads, ..ParseOptions::default() };
    let conversation = watched(py, progress.as_ref(), |progress| retell_core::parse(source, &options, progress))?;
    if let Some(callback) = &progress {
        let bytes = conversation.manifest.source.bytes;
        callback.call1(py, (bytes, bytes))?;
    }
    for warning in conversation.warnings() {
        warn(py, &warning)?;
    }
    Ok(Conversation::new(conversation))
}

/// How many threads a caller asks for.
pub fn number_of_threads(py: Python<'_>, threads: Option<isize>) -> PyResult<Option<NonZero<usize>>> {
    threads_asked(threads).map_err(|error| to_python(py, &error))
}

fn source_of(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(text) = source.cast::<PyString>() {
        // No id has bytes in it that are no text; a path may.
        let Ok(text) = text.to_str() else { return source.extract::<PathBuf>().map(Source::Path) };
        if text == "-" {
            return Ok(Source::Stdin);
        }
        let text = text.to_owned();
        return py.detach(|| find_session(&text)).map(Source::Path).map_err(|error| to_python(py, &error));
    }
    let copied = if source.is_instance_of::<PyByteArray>() || source.is_instance_of::<PyMemoryView>() {
        // They could change meanwhile.
        py.get_type::<PyBytes>().call1((source,))?
    } else {
        source.clone()
    };
    if copied.is_instance_of::<PyBytes>() {
        let bytes: PyBackedBytes = copied.extract()?;
        let size = bytes.len() as u64;
        return Ok(Source::Reader(Box::new(Cursor::new(bytes)), Some(size)));
    }
    if source.hasattr("read")? {
        return Ok(Source::Reader(Box::new(PythonReader(source.clone().unbind())), None));
    }
    source.extract::<PathBuf>().map(Source::Path)
}
