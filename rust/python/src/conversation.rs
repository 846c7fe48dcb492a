//! `Conversation`.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use retell_core::sinks;

use crate::dictionary::to_dict;
use crate::error::to_python;
use crate::events::Events;

/// A whole session: who said what, in order, and what is known of it.
#[pyclass(frozen, module = "retell_fast")]
pub struct Conversation {
    core: Arc<retell_core::Conversation>,
    manifest: PyOnceLock<Py<PyDict>>,
}

impl Conversation {
    pub fn new(core: retell_core::Conversation) -> Self {
        Self { core: Arc::new(core), manifest: PyOnceLock::new() }
    }
}

#[pymethods]
impl Conversation {
    #[getter]
    fn events(&self) -> Events {
        Events::of(self.core.clone())
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
        self.core.attention()
    }

    #[getter]
    fn findings(&self) -> Vec<String> {
        self.core.findings()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.core.notes()
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
