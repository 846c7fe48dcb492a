//! `Events`: a sequence of views that point into the core's conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use retell_core::Refusal;

use crate::error::refused;
use crate::event::Event;

/// The events of a conversation: a sequence that makes each `Event` when it is asked for.
#[pyclass(frozen, sequence, module = "retell_fast")]
pub struct Events {
    core: Arc<retell_core::Conversation>,
}

impl Events {
    pub fn of(core: Arc<retell_core::Conversation>) -> Self {
        Self { core }
    }

    fn at(&self, index: usize) -> Event {
        Event::at(self.core.clone(), index)
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
        let out_of_range = || refused(py, Refusal::NoEventThere);
        let index = match key.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => return Err(out_of_range()),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = key.get_type().name()?.to_string();
                return Err(refused(py, Refusal::EventIndex(&kind)));
            }
            other => other?,
        };
        let from_start = if index < 0 { index + length.cast_signed() } else { index };
        let at = usize::try_from(from_start).ok().filter(|&at| at < length).ok_or_else(out_of_range)?;
        Ok(Bound::new(py, self.at(at))?.into_any())
    }

    fn __iter__(&self) -> EventIterator {
        EventIterator { core: self.core.clone(), next: 0.into() }
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
        Err(refused(value.py(), Refusal::NoSuchEvent))
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
    next: AtomicUsize,
}

#[pymethods]
impl EventIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<Event> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.core.events.len()).then(|| Event::at(self.core.clone(), index))
    }
}
