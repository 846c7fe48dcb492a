//! `Conversation` and what it is made of: views that point into the core's conversation.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice};
use pythonize::pythonize;
use retell_core::event;
use retell_core::sinks;
use serde::Serialize;

use crate::error::to_python;

/// A whole session: who said what, in order, and what is known of it.
#[pyclass(frozen, module = "retell_fast")]
pub struct Conversation {
    core: Arc<retell_core::Conversation>,
    allow_unknown: bool,
    manifest: PyOnceLock<Py<PyDict>>,
}

impl Conversation {
    pub fn new(core: retell_core::Conversation, allow_unknown: bool) -> Self {
        Self { core: Arc::new(core), allow_unknown, manifest: PyOnceLock::new() }
    }

    pub fn core(&self) -> &retell_core::Conversation {
        &self.core
    }
}

#[pymethods]
impl Conversation {
    #[getter]
    fn events(&self) -> Events {
        Events { core: self.core.clone() }
    }

    #[getter]
    fn manifest(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let made = self.manifest.get_or_try_init(py, || to_dict(py, &self.core.manifest))?;
        Ok(made.clone_ref(py))
    }

    #[getter]
    fn assets(&self) -> Vec<&str> {
        self.core.assets.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[getter]
    fn attention(&self) -> bool {
        self.core.needs_a_look(self.allow_unknown)
    }

    /// Writes `events.json`, `manifest.json` and `assets/` into a folder, which is made if need be.
    fn write(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        py.detach(|| sinks::write(&self.core, &directory)).map_err(|error| to_python(py, &error))
    }

    fn __repr__(&self) -> String {
        let manifest = &self.core.manifest;
        format!("<Conversation {} with {} events>", manifest.conversation_id, manifest.total_events)
    }
}

/// What is written as a JSON object, as a dictionary, without a way through JSON: Python's `json` takes longer to import
/// than a short session to read.
pub fn to_dict(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyDict>> {
    Ok(pythonize(py, value)?.cast_into::<PyDict>()?.unbind())
}

/// The events of a conversation: a sequence that makes each `Event` when it is asked for.
#[pyclass(frozen, sequence, module = "retell_fast")]
pub struct Events {
    core: Arc<retell_core::Conversation>,
}

impl Events {
    fn at(&self, index: usize) -> Event {
        Event { core: self.core.clone(), index, below: Box::default() }
    }
}

#[pymethods]
impl Events {
    fn __len__(&self) -> usize {
        self.core.events.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let length = self.core.events.len();
        if let Ok(slice) = key.cast::<PySlice>() {
            let range = slice.indices(length.cast_signed())?;
            let index = |step: usize| (range.start + step.cast_signed() * range.step).cast_unsigned();
            let events: Vec<_> = (0..range.slicelength).map(|step| self.at(index(step))).collect();
            return events.into_pyobject(py);
        }
        let out_of_range = || PyIndexError::new_err("event index out of range");
        let index = match key.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => return Err(out_of_range()),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = key.get_type().name()?;
                return Err(PyTypeError::new_err(format!("events indices must be integers or slices, not {kind}")));
            }
            other => other?,
        };
        let from_start = if index < 0 { index + length.cast_signed() } else { index };
        let at = usize::try_from(from_start).ok().filter(|&at| at < length).ok_or_else(out_of_range)?;
        Ok(Bound::new(py, self.at(at))?.into_any())
    }

    fn __iter__(slf: PyRef<'_, Self>) -> EventIterator {
        EventIterator { core: slf.core.clone(), next: 0.into() }
    }

    /// The position of the first event that equals `value`.
    #[pyo3(signature = (value, start=0, stop=None, /))]
    fn index(&self, value: &Bound<'_, PyAny>, start: isize, stop: Option<isize>) -> PyResult<usize> {
        let length = self.core.events.len();
        let clamp =
            |at: isize| (if at < 0 { at.saturating_add(length.cast_signed()).max(0) } else { at }).cast_unsigned();
        let stop = stop.map_or(length, clamp).min(length);
        for at in clamp(start)..stop {
            if self.at(at).__eq__(value)? {
                return Ok(at);
            }
        }
        Err(PyValueError::new_err("no such event"))
    }

    /// How many events equal `value`.
    #[pyo3(signature = (value, /))]
    fn count(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut count = 0;
        for at in 0..self.core.events.len() {
            count += usize::from(self.at(at).__eq__(value)?);
        }
        Ok(count)
    }

    fn __repr__(&self) -> String {
        format!("<{} events>", self.core.events.len())
    }
}

/// Goes through the events of a conversation.
#[pyclass(frozen, module = "retell_fast")]
struct EventIterator {
    core: Arc<retell_core::Conversation>,
    next: std::sync::atomic::AtomicUsize,
}

#[pymethods]
impl EventIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<Event> {
        let index = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (index < self.core.events.len()).then(|| Event { core: self.core.clone(), index, below: Box::default() })
    }
}

/// One thing that was said, by the human or the assistant.
#[pyclass(frozen, module = "retell_fast")]
pub struct Event {
    core: Arc<retell_core::Conversation>,
    index: usize,
    /// For an event of a subagent: which ref, and which event under it, from level to level.
    below: Box<[(usize, usize)]>,
}

impl Event {
    fn get(&self) -> PyResult<&event::Event> {
        let gone = || PyRuntimeError::new_err("the event is not there any more");
        let mut found = self.core.events.get(self.index).ok_or_else(gone)?;
        for &(reference, index) in &self.below {
            let events = found.subagent_refs.get(reference).and_then(|reference| reference.events.as_ref());
            found = events.and_then(|events| events.get(index)).ok_or_else(gone)?;
        }
        Ok(found)
    }

    fn json(&self) -> PyResult<Vec<u8>> {
        let mut json = Vec::new();
        sinks::write_event(self.get()?, &mut json)?;
        Ok(json)
    }
}

#[pymethods]
impl Event {
    #[getter]
    fn index(&self) -> PyResult<usize> {
        Ok(self.get()?.index)
    }

    #[getter]
    fn timestamp(&self) -> PyResult<&str> {
        Ok(&self.get()?.timestamp)
    }

    #[getter]
    fn role(&self) -> PyResult<&str> {
        Ok(self.get()?.role.as_str())
    }

    #[getter]
    fn says(&self) -> PyResult<&str> {
        Ok(&self.get()?.says)
    }

    #[getter]
    fn thinks(&self) -> PyResult<&str> {
        Ok(&self.get()?.thinks)
    }

    #[getter]
    fn tools(&self) -> PyResult<Vec<&str>> {
        Ok(self.get()?.tools.iter().map(String::as_str).collect())
    }

    #[getter]
    fn session_break(&self) -> PyResult<bool> {
        Ok(self.get()?.session_break())
    }

    #[getter]
    fn boundary(&self) -> PyResult<Vec<&str>> {
        Ok(self.get()?.boundary.iter().map(|boundary| boundary.as_str()).collect())
    }

    #[getter]
    fn continuation_summary(&self) -> PyResult<&str> {
        Ok(&self.get()?.continuation_summary)
    }

    #[getter]
    fn duration_ms(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.duration_ms)
    }

    #[getter]
    fn screenshots(&self) -> PyResult<Vec<Screenshot>> {
        Ok(self.get()?.screenshots.iter().map(|screenshot| Screenshot(screenshot.clone())).collect())
    }

    #[getter]
    fn subagent_refs(&self) -> PyResult<Vec<SubagentRef>> {
        let count = self.get()?.subagent_refs.len();
        let reference = |position| SubagentRef {
            event: Event { core: self.core.clone(), index: self.index, below: self.below.clone() },
            position,
        };
        Ok((0..count).map(reference).collect())
    }

    #[getter]
    fn interrupted(&self) -> PyResult<bool> {
        Ok(self.get()?.interrupted)
    }

    #[getter]
    fn rejected(&self) -> PyResult<bool> {
        Ok(self.get()?.rejected)
    }

    #[getter]
    fn rolled_back(&self) -> PyResult<bool> {
        Ok(self.get()?.rolled_back)
    }

    #[getter]
    fn source(&self) -> PyResult<Option<&str>> {
        Ok(self.get()?.source.map(event::WordsSource::as_str))
    }

    #[getter]
    fn plan(&self) -> PyResult<&str> {
        Ok(&self.get()?.plan)
    }

    #[getter]
    fn questions(&self) -> PyResult<Vec<&str>> {
        Ok(self.get()?.questions.iter().map(String::as_str).collect())
    }

    #[getter]
    fn live(&self) -> PyResult<bool> {
        Ok(self.get()?.live)
    }

    #[getter]
    fn uuid(&self) -> PyResult<String> {
        Ok(self.get()?.uuid.to_string())
    }

    #[getter]
    fn message_id(&self) -> PyResult<&str> {
        Ok(&self.get()?.message_id)
    }

    #[getter]
    fn line(&self) -> PyResult<u64> {
        Ok(self.get()?.place.line)
    }

    #[getter]
    fn offset(&self) -> PyResult<u64> {
        Ok(self.get()?.place.offset)
    }

    #[getter]
    fn length(&self) -> PyResult<u64> {
        Ok(self.get()?.place.length)
    }

    /// Gives the event as it stands in events.json: fields that do not apply are left out.
    fn to_dict(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        to_dict(py, self.get()?)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Event>() else { return Ok(false) };
        Ok(self.json()? == other.get().json()?)
    }

    fn __repr__(&self) -> PyResult<String> {
        let event = self.get()?;
        let words: String = event.says.chars().take(40).collect();
        Ok(format!("<Event {} {} {words:?}>", event.index, event.role.as_str()))
    }
}

/// An image that belongs to an event.
#[pyclass(frozen, module = "retell_fast")]
pub struct Screenshot(event::Screenshot);

#[pymethods]
impl Screenshot {
    #[getter]
    fn filename(&self) -> &str {
        &self.0.filename
    }

    #[getter]
    fn description(&self) -> &str {
        &self.0.description
    }

    #[getter]
    fn media_type(&self) -> &str {
        self.0.media_type
    }

    fn __repr__(&self) -> String {
        format!("<Screenshot {}>", self.0.filename)
    }
}

/// A call to a subagent, and what is known of the one that answered.
#[pyclass(frozen, module = "retell_fast")]
pub struct SubagentRef {
    event: Event,
    position: usize,
}

impl SubagentRef {
    fn get(&self) -> PyResult<&event::SubagentRef> {
        let reference = self.event.get()?.subagent_refs.get(self.position);
        reference.ok_or_else(|| PyRuntimeError::new_err("the ref is not there any more"))
    }
}

#[pymethods]
impl SubagentRef {
    #[getter]
    fn tool_use_id(&self) -> PyResult<&str> {
        Ok(&self.get()?.tool_use_id)
    }

    #[getter]
    fn id(&self) -> PyResult<Option<&str>> {
        Ok(self.get()?.id.as_deref())
    }

    #[getter]
    fn description(&self) -> PyResult<&str> {
        Ok(&self.get()?.description)
    }

    #[getter]
    fn prompt(&self) -> PyResult<&str> {
        Ok(&self.get()?.prompt)
    }

    #[getter]
    fn total_tokens(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.total_tokens)
    }

    #[getter]
    fn tool_uses(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.tool_uses)
    }

    #[getter]
    fn duration_ms(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.duration_ms)
    }

    #[getter]
    fn signal_tokens_estimate(&self) -> PyResult<Option<u64>> {
        Ok(self.get()?.signal_tokens_estimate)
    }

    #[getter]
    fn linked_by(&self) -> PyResult<Option<&str>> {
        Ok(self.get()?.linked_by.map(event::LinkedBy::as_str))
    }

    #[getter]
    fn events(&self) -> PyResult<Vec<Event>> {
        let count = self.get()?.events.as_ref().map_or(0, Vec::len);
        let event = |index| {
            let below = self.event.below.iter().copied().chain([(self.position, index)]).collect();
            Event { core: self.event.core.clone(), index: self.event.index, below }
        };
        Ok((0..count).map(event).collect())
    }

    fn __repr__(&self) -> PyResult<String> {
        let reference = self.get()?;
        Ok(format!("<SubagentRef {} {:?}>", reference.id.as_deref().unwrap_or("unlinked"), reference.description))
    }
}
