//! What is asked while the core works: the user's progress callback, and whether a signal has come.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use retell_core::{Error, ErrorKind};

/// How often the progress callback is called.
pub const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Lets signals through on the calling thread, and calls the callback every now and then.
pub struct Progress<'p> {
    callback: Option<&'p Py<PyAny>>,
    last: Instant,
    /// What the callback or a signal raised.
    raised: Option<PyErr>,
}

impl<'p> Progress<'p> {
    /// Nothing is told before [`PROGRESS_EVERY`] has passed.
    pub fn new(callback: Option<&'p Py<PyAny>>) -> Self {
        Self { callback, last: Instant::now(), raised: None }
    }

    /// Tells how many bytes are done, and how many there are when that is known; gives whether to go on.
    pub fn tell(&mut self, done: u64, total: Option<u64>) -> bool {
        let due = self.last.elapsed() >= PROGRESS_EVERY;
        if due {
            self.last = Instant::now();
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            match self.callback {
                Some(callback) if due => callback.call1(py, (done, total)).map(drop),
                _ => Ok(()),
            }
        });
        told.map_err(|error| self.raised = Some(error)).is_ok()
    }

    /// What was raised here, if that is why the work ended with `error`.
    pub fn raised(self, error: &Error) -> Option<PyErr> {
        self.raised.filter(|_| error.kind() == ErrorKind::Stopped)
    }
}
