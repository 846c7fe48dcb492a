//! How far something that takes long has come, and whether it is to go on: in one shape for all that takes long.
//!
//! ```text
//! Progress::new(listener)     of the thread that called: only that can be interrupted by the user
//!   .piece(size)              of a piece of its work
//!   .follow(&shared)          tells what other threads have done, while it waits for them
//! Shared::default()
//!   .piece(size)              of a piece of the work on another thread
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// How often is told how far the work has come, in bytes.
const EVERY: u64 = 4 << 20;

/// Told how many bytes are done, and how many there are in all when that is known. Says whether to go on.
pub type Listener<'l> = &'l mut (dyn FnMut(u64, Option<u64>) -> bool + Send);

/// What long work tells how far it has come, and asks whether to go on.
pub struct Progress<'p> {
    listening: Listening<'p>,
    /// Bytes that were done before.
    before: u64,
    done: u64,
    told: u64,
    /// The most that counts of a piece: compressed files hold more than their size.
    most: Option<u64>,
    total: Option<u64>,
}

enum Listening<'p> {
    Nobody,
    Caller(Listener<'p>),
    Shared(&'p Shared),
}

/// What several threads have done together, and whether they are to stop.
#[derive(Default)]
pub struct Shared {
    done: AtomicU64,
    stop: AtomicBool,
}

impl<'p> Progress<'p> {
    fn of(listening: Listening<'p>, most: Option<u64>) -> Self {
        Self { listening, before: 0, done: 0, told: 0, most, total: None }
    }

    /// Tells `listener`.
    #[must_use]
    pub fn new(listener: Listener<'p>) -> Self {
        Self::of(Listening::Caller(listener), None)
    }

    /// Tells nobody; the work goes on to its end.
    #[must_use]
    pub fn silent() -> Self {
        Self::of(Listening::Nobody, None)
    }

    /// Says how many bytes there are in all. Of a piece of the work that says nothing about the whole.
    pub fn set_total(&mut self, total: Option<u64>) {
        if self.most.is_none() {
            self.total = total;
        }
    }

    /// Of a piece of the work that counts for at most `size` bytes, and begins where this one is.
    pub fn piece(&mut self, size: u64) -> Progress<'_> {
        let listening = match &mut self.listening {
            Listening::Nobody => Listening::Nobody,
            Listening::Caller(listener) => Listening::Caller(&mut **listener),
            Listening::Shared(shared) => Listening::Shared(shared),
        };
        let mut piece = Progress::of(listening, Some(size));
        (piece.before, piece.total) = (self.before + self.done, self.total);
        piece
    }

    /// `done` bytes are done; tells that when it is much more than was told last.
    ///
    /// # Errors
    /// As for [`Progress::ask`].
    #[inline]
    pub fn reach(&mut self, done: u64) -> Result<()> {
        self.done = self.most.map_or(done, |most| most.min(done));
        if self.done - self.told < EVERY { Ok(()) } else { self.ask() }
    }

    /// Tells how far the work is.
    ///
    /// # Errors
    /// [`ErrorKind::Stopped`] when it is not to go on.
    pub fn ask(&mut self) -> Result<()> {
        let goes_on = match &mut self.listening {
            Listening::Nobody => true,
            Listening::Caller(listener) => listener(self.before + self.done, self.total),
            Listening::Shared(shared) => {
                shared.done.fetch_add(self.done - self.told, Ordering::Relaxed);
                !shared.is_stopped()
            }
        };
        self.told = self.done;
        if goes_on { Ok(()) } else { Err(stopped()) }
    }

    /// Tells what `shared` has done; when it is not to go on, its threads are told so.
    ///
    /// # Errors
    /// As for [`Progress::ask`].
    pub fn follow(&mut self, shared: &Shared) -> Result<()> {
        let done = shared.done.load(Ordering::Relaxed);
        self.done = [self.most, self.total].into_iter().flatten().fold(done, u64::min);
        self.ask().inspect_err(|_| shared.stop())
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Listening::Shared(shared) = self.listening {
            shared.done.fetch_add(self.done - self.told, Ordering::Relaxed);
        }
    }
}

impl Shared {
    /// Of a piece of the work that counts for at most `size` bytes.
    #[must_use]
    pub fn piece(&self, size: u64) -> Progress<'_> {
        Progress::of(Listening::Shared(self), Some(size))
    }

    /// Says that nothing more is wanted.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether nothing more is wanted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What ends work that is not to go on.
pub(crate) fn stopped() -> Error {
    Error::new(ErrorKind::Stopped, "stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        let mut told = Vec::new();
        let mut listener = |done, total| {
            told.push((done, total));
            done < 20
        };
        let mut progress = Progress::new(&mut listener);
        progress.set_total(Some(30));
        progress.done = 7;
        let mut piece = progress.piece(5);
        piece.set_total(Some(1));
        piece.reach(3).unwrap();
        piece.ask().unwrap();
        // It holds more than its size.
        piece.reach(EVERY * 2).unwrap();
        piece.ask().unwrap();
        drop(piece);
        let shared = Shared::default();
        {
            let mut piece = shared.piece(25);
            piece.reach(4).unwrap();
            piece.ask().unwrap();
            piece.reach(21).unwrap();
        }
        progress.before = 0;
        assert_eq!(progress.follow(&shared).unwrap_err().kind(), ErrorKind::Stopped);
        drop(progress);
        assert_eq!(told, [(10, Some(30)), (12, Some(30)), (21, Some(30))]);
        assert_eq!(shared.piece(1).ask().unwrap_err().kind(), ErrorKind::Stopped);
    }

    #[test]
    fn only_much_that_is_new_is_told() {
        let mut told = Vec::new();
        let mut listener = |done, _| {
            told.push(done);
            true
        };
        let mut progress = Progress::new(&mut listener);
        for done in [1, EVERY - 1, EVERY, EVERY + 1, 3 * EVERY] {
            progress.reach(done).unwrap();
        }
        drop(progress);
        assert_eq!(told, [EVERY, 3 * EVERY]);
    }
}
