//! `Event`, `Screenshot` and `SubagentRef`: views that point into the core's conversation.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use retell_core::{Refusal, event};

use crate::dictionary::to_dict;
use crate::error::{refused, to_python};

/// One thing that was said, by the human or the assistant.
#[pyclass(frozen, module = "retell_fast")]
pub struct Event {
    core: Arc<retell_core::Conversation>,
    index: usize,
    /// For an event of a subagent: which ref, and which event under it, from level to level.
    below: Box<[(usize, usize)]>,
}

impl Event {
    /// The event at a place of the conversation.
    pub fn at(core: Arc<retell_core::Conversation>, index: usize) -> Self {
        Self { core, index, below: Box::default() }
    }

    fn get(&self) -> PyResult<&event::Event> {
        let found = self.core.event(self.index, &self.below);
        found.map_err(|error| Python::attach(|py| to_python(py, &error)))
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
        Ok(self.get()?.role.into())
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
        Ok(self.get()?.boundary.iter().map(Into::into).collect())
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
        Ok(self.get()?.source.map(Into::into))
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

    pub fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Event>() else { return Ok(false) };
        Ok(self.get()? == other.get().get()?)
    }

    fn __repr__(&self) -> PyResult<String> {
        let event = self.get()?;
        let (role, words): (&str, String) = (event.role.into(), event.says.chars().take(40).collect());
        Ok(format!("<Event {} {role} {words:?}>", event.index))
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
        reference.ok_or_else(|| Python::attach(|py| refused(py, Refusal::SubagentRefGone)))
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
        Ok(self.get()?.linked_by.map(Into::into))
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
