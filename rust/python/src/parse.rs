//! `parse`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::io::Cursor;
use std::num::NonZero;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use retell_core::{ParseOptions, Source, find_session, shown_name};

use crate::conversation::Conversation;
use crate::error::{DamagedInputWarning, UnknownEntryTypeWarning, to_python};
use crate::progress::watched;
use crate::reader::PythonReader;

/// Things that a warning names one by one.
const MOST_NAMED: usize = 5;

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
    if strict && allow_unknown {
        return Err(PyValueError::new_err("strict and allow_unknown exclude each other"));
    }
    if let Some(progress) =
        progress.as_ref().map(|progress| progress.bind(py)).filter(|progress| !progress.is_callable())
    {
        let kind = progress.get_type().name()?;
        return Err(PyTypeError::new_err(format!("progress must be callable, not {kind}")));
    }
    let threads = number_of_threads(threads)?;
    let source = source_of(py, source)?;
    let options = ParseOptions { agent, include_subagents, strict, threads, ..ParseOptions::default() };
    let conversation = watched(py, progress.as_ref(), |progress| retell_core::parse(source, &options, progress))?;
    if let Some(callback) = &progress {
        let bytes = conversation.manifest.source.bytes;
        callback.call1(py, (bytes, bytes))?;
    }
    let conversation = Conversation::new(conversation, allow_unknown);
    warn(py, &conversation, allow_unknown)?;
    Ok(conversation)
}

/// How many threads a caller asks for.
pub fn number_of_threads(threads: Option<isize>) -> PyResult<Option<NonZero<usize>>> {
    let number = |threads| usize::try_from(threads).ok().and_then(NonZero::new);
    let of = |threads| number(threads).ok_or_else(|| PyValueError::new_err("threads must be a number from 1 on"));
    threads.map(of).transpose()
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

fn warn(py: Python<'_>, conversation: &Conversation, allow_unknown: bool) -> PyResult<()> {
    let manifest = &conversation.core().manifest;
    if !allow_unknown && !manifest.unknown_entries.is_empty() {
        let names = manifest.unknown_entries.iter().map(|(name, entries)| {
            let file = entries.file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
            let name = shown_name(name);
            format!("{name} ({}, first on line {}{file})", entries.unknown.count, entries.unknown.first_line)
        });
        let message = format!("unknown entry types were passed over: {}", listed(names));
        warn_with::<UnknownEntryTypeWarning>(py, &message)?;
    }
    if manifest.damaged_lines_total > 0 {
        let places = manifest.damaged_lines.iter().map(|damaged| {
            let reason = serde_name(&damaged.damage.reason);
            let file = damaged.file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
            format!("line {}{file} at byte {}: {reason}", damaged.damage.line, damaged.damage.offset)
        });
        let message = format!("{} damaged places: {}", manifest.damaged_lines_total, listed(places));
        warn_with::<DamagedInputWarning>(py, &message)?;
    }
    if !manifest.images_not_extracted.is_empty() {
        let places = manifest
            .images_not_extracted
            .iter()
            .map(|image| format!("line {} at byte {}: {}", image.line, image.offset, serde_name(&image.reason)));
        warn_with::<DamagedInputWarning>(py, &format!("images could not be extracted: {}", listed(places)))?;
    }
    if !manifest.unreadable_files.is_empty() {
        let files = manifest.unreadable_files.iter().map(|unreadable| unreadable.error.clone());
        warn_with::<DamagedInputWarning>(py, &format!("subagent files could not be read: {}", listed(files)))?;
    }
    Ok(())
}

fn serde_name(reason: &dyn std::fmt::Debug) -> String {
    // InvalidUtf8 -> invalid utf8
    let mut name = String::new();
    for letter in format!("{reason:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push(' ');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn listed(things: impl ExactSizeIterator<Item = String>) -> String {
    let more = things.len().saturating_sub(MOST_NAMED);
    let mut text = things.take(MOST_NAMED).collect::<Vec<_>>().join("; ");
    if more > 0 {
        text = format!("{text}; and {more} more");
    }
    text
}

fn warn_with<T: pyo3::PyTypeInfo>(py: Python<'_>, message: &str) -> PyResult<()> {
    let message = std::ffi::CString::new(message.replace('\0', "\u{fffd}"))?;
    PyErr::warn(py, &py.get_type::<T>(), &message, 1)
}
