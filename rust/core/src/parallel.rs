//! Independent pieces of work on all cores, results in the order of the pieces.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::progress::{Progress, Shared, stopped};
use crate::refusal::Refusal;

/// The environment variable that says how many threads there are to be.
pub const VARIABLE: &str = "RETELL_THREADS";

/// More than this many are of no use, and the system may refuse them.
const MOST_THREADS: usize = 256;

/// How many cores there are, asked once: to find out takes several files' reading.
static CORES: OnceLock<Option<NonZero<usize>>> = OnceLock::new();

/// How often it is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(20);

/// How many threads there are to be: as many as were asked for, else as [`VARIABLE`] says, else as there are cores.
///
/// # Errors
/// [`ErrorKind::WrongSetting`] when the variable holds anything but a number from 1 on.
pub fn threads(asked: Option<NonZero<usize>>) -> Result<usize> {
    let wanted = match (asked, std::env::var_os(VARIABLE)) {
        (Some(asked), _) => Some(asked),
        (None, Some(text)) if !text.is_empty() => Some(number(&text)?),
        _ => *CORES.get_or_init(|| std::thread::available_parallelism().ok()),
    };
    Ok(wanted.map_or(1, NonZero::get).min(MOST_THREADS))
}

/// How many threads a caller asks for, if any number is asked for.
///
/// # Errors
/// [`ErrorKind::WrongArgument`] when it is below 1.
pub fn threads_asked(threads: Option<isize>) -> Result<Option<NonZero<usize>>> {
    let number = |threads| usize::try_from(threads).ok().and_then(NonZero::new);
    threads.map(|threads| number(threads).ok_or_else(|| Refusal::Threads.into_error())).transpose()
}

fn number(text: &OsStr) -> Result<NonZero<usize>> {
    let number = text.to_str().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| {
        let message = format!("{VARIABLE} is {:?}, which is no number of threads", text.to_string_lossy());
        Error::new(ErrorKind::WrongSetting, message).with_hint("set it to a number from 1 on, or unset it")
    })
}

/// Does `work` on every item, on so many threads.
pub fn map<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The same, while the calling thread does nothing but tell `progress` what `shared` has done: only it may be told by
/// the user that it is enough. `work` is to end early when `shared` says so.
///
/// # Errors
/// [`crate::ErrorKind::Stopped`] when it was enough.
pub fn map_while<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    shared: &Shared,
    progress: &mut Progress<'_>,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let (give, finished) = channel();
        for _ in 0..threads.min(items.len()) {
            let (give, next, work) = (give.clone(), &next, &work);
            scope.spawn(move || {
                while !shared.is_stopped() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if give.send((at, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(give);
        let mut asked = Instant::now();
        loop {
            match finished.recv_timeout(PATIENCE) {
                Ok((at, result)) => results[at] = Some(result),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if asked.elapsed() >= PATIENCE {
                asked = Instant::now();
                progress.follow(shared)?;
            }
        }
    })?;
    results.into_iter().collect::<Option<_>>().ok_or_else(stopped)
}

/// Does `work` on the items `0..count`, and gives the results to `take` in their order, on the calling thread. No item
/// is begun before that which stands `ahead` places before it was taken, so that few results wait for their turn.
/// `work` gets what its thread keeps from item to item; it is to end early when `shared` says that nothing more is
/// wanted. What `shared` has done is told to `progress`.
///
/// # Errors
/// The first, in the order of the items, that `work` fails with; [`crate::ErrorKind::Stopped`] when it was enough.
pub fn in_order<M: Default, R: Send>(
    threads: usize,
    count: usize,
    ahead: usize,
    work: impl Fn(usize, &mut M) -> Result<R> + Sync,
    take: &mut dyn FnMut(R),
    shared: &Shared,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let (next, turn) = (AtomicUsize::new(0), Turn::default());
    std::thread::scope(|scope| {
        let (give, finished) = channel();
        for _ in 0..threads.min(count) {
            let (give, next, turn, work) = (give.clone(), &next, &turn, &work);
            scope.spawn(move || {
                let mut memory = M::default();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count || !turn.wait_for((at + 1).saturating_sub(ahead.max(1))) {
                        return;
                    }
                    if give.send((at, work(at, &mut memory))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(give);
        // Whatever ends this, nobody may go on waiting, and nobody need go on working.
        let turn = EndsTurns(&turn, shared);
        let mut waiting = HashMap::new();
        for at in 0..count {
            let result = loop {
                if let Some(result) = waiting.remove(&at) {
                    break result;
                }
                match finished.recv_timeout(PATIENCE) {
                    Ok((at, result)) => drop(waiting.insert(at, result)),
                    // A thread that panicked: the scope says so.
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    Err(RecvTimeoutError::Timeout) => progress.follow(shared)?,
                }
            };
            take(result?);
            turn.0.is_now(at + 1);
        }
        Ok(())
    })
}

/// How many results were taken.
#[derive(Default)]
struct Turn {
    taken: Mutex<usize>,
    changed: Condvar,
    stop: AtomicBool,
}

impl Turn {
    /// Waits until so many results were taken; whether to go on then.
    fn wait_for(&self, taken: usize) -> bool {
        let now = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_early = |now: &mut usize| *now < taken && !self.stop.load(Ordering::Relaxed);
        drop(self.changed.wait_while(now, is_early));
        !self.stop.load(Ordering::Relaxed)
    }

    fn is_now(&self, taken: usize) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = taken;
        self.changed.notify_all();
    }
}

struct EndsTurns<'t>(&'t Turn, &'t Shared);

impl Drop for EndsTurns<'_> {
    fn drop(&mut self) {
        self.1.stop();
        self.0.stop.store(true, Ordering::Relaxed);
        self.0.is_now(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order_and_no_thread_runs_far_ahead() {
        for (threads, ahead) in [(1, 1), (2, 1), (3, 4), (8, 2)] {
            let (taken, furthest) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let work = |at: usize, (): &mut ()| {
                furthest.fetch_max(at - taken.load(Ordering::SeqCst).min(at), Ordering::SeqCst);
                Ok(at)
            };
            let mut results = Vec::new();
            let mut take = |at| {
                results.push(at);
                taken.store(results.len(), Ordering::SeqCst);
            };
            let (shared, mut progress) = (Shared::default(), Progress::silent());
            in_order(threads, 200, ahead, work, &mut take, &shared, &mut progress).unwrap();
            assert_eq!(results, (0..200).collect::<Vec<_>>());
            assert!(furthest.into_inner() < ahead, "{threads} threads, {ahead} ahead");
        }
        let nothing = |_: usize, (): &mut ()| Ok(());
        in_order(4, 0, 1, nothing, &mut |()| {}, &Shared::default(), &mut Progress::silent()).unwrap();
    }

    #[test]
    fn the_first_failure_in_order_is_told_and_ends_the_work() {
        let failure = |at: usize| Error::new(ErrorKind::Stopped, at.to_string());
        let work = |at: usize, (): &mut ()| if at < 7 { Ok(at) } else { Err(failure(at)) };
        let (mut taken, shared) = (0, Shared::default());
        let mut count = |_| taken += 1;
        let failed = in_order(3, 1_000_000, 5, work, &mut count, &shared, &mut Progress::silent()).unwrap_err();
        assert_eq!((failed.to_string(), taken), ("7".to_owned(), 7));
        let shared = Shared::default();
        let wait = |_: usize, (): &mut ()| {
            while !shared.is_stopped() {
                std::thread::yield_now();
            }
            Ok(())
        };
        let mut enough = |_, _| false;
        let mut progress = Progress::new(&mut enough);
        let stopped = in_order(2, 9, 3, wait, &mut |()| {}, &shared, &mut progress).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Stopped);
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<_> = items.iter().map(|item| item * 2).collect();
        for threads in [1, 2, 7] {
            assert_eq!(map(threads, &items, |item| item * 2), doubled);
            let (shared, mut progress) = (Shared::default(), Progress::silent());
            let read = map_while(threads, &items, |item| item * 2, &shared, &mut progress);
            assert_eq!(read.unwrap(), doubled);
        }
        assert!(map(4, &[] as &[u64], |item| *item).is_empty());
        let none = map_while(4, &[] as &[u64], |item| *item, &Shared::default(), &mut Progress::silent());
        assert_eq!(none.unwrap(), Vec::<u64>::new());
    }

    #[test]
    fn who_waits_can_say_that_it_is_enough() {
        // Each piece goes on until it is told to stop.
        let shared = Shared::default();
        let work = |_: &u64| {
            while !shared.is_stopped() {
                std::thread::yield_now();
            }
        };
        let mut enough = |_, _| false;
        let stopped = map_while(2, &[1, 2, 3], work, &shared, &mut Progress::new(&mut enough));
        assert_eq!(stopped.map_err(|error| error.kind()), Err(ErrorKind::Stopped));
    }

    #[test]
    fn a_number_of_threads_is_one_from_1_on() {
        assert_eq!(number(OsStr::new(" 3 ")).map(NonZero::get).ok(), Some(3));
        for wrong in ["0", "-1", "two", "1.5", " "] {
            let refused = number(OsStr::new(wrong)).map_err(|error| error.kind());
            assert_eq!(refused, Err(ErrorKind::WrongSetting), "{wrong}");
        }
        assert_eq!(threads(NonZero::new(usize::MAX)).ok(), Some(MOST_THREADS));
    }
}
