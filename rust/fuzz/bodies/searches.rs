//! The two ways to search in JSON, with vectors and without.

use std::sync::{Mutex, MutexGuard, PoisonError};

use retell_core::json::search_plainly;

/// The switch is one for the whole process: only who holds it may turn it.
static SWITCH: Mutex<fn(bool)> = Mutex::new(search_plainly);

/// The choice between the two, held by one thread at a time.
pub struct Searches(MutexGuard<'static, fn(bool)>);

impl Searches {
    /// Waits until nobody else chooses.
    pub fn hold() -> Self {
        Self(SWITCH.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What `work` gives when it searches plainly, or as processor and environment say.
    pub fn choose<R>(&self, plainly: bool, work: impl FnOnce() -> R) -> R {
        (self.0)(plainly);
        let done = work();
        (self.0)(false);
        done
    }
}

impl Drop for Searches {
    fn drop(&mut self) {
        // A test that failed while it searched plainly leaves the choice to the next.
        (self.0)(false);
    }
}
