//! Independent pieces of work on all cores, results in the order of the pieces.

use std::ffi::OsStr;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// The environment variable that says how many threads there are to be.
pub const VARIABLE: &str = "RETELL_THREADS";

/// More than this many are of no use, and the system may refuse them.
const MOST_THREADS: usize = 256;

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
        _ => std::thread::available_parallelism().ok(),
    };
    Ok(wanted.map_or(1, NonZero::get).min(MOST_THREADS))
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

/// The same, while the calling thread does nothing but ask `go_on` every now and then whether to: only it may be told
/// by the user that it is enough. `work` gets a flag that is set then, so that it can end early. `None` when it did.
pub fn map_while<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T, &AtomicBool) -> R + Sync,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<R>> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let stopped = std::thread::scope(|scope| {
        let (give, finished) = channel();
        for _ in 0..threads.min(items.len()) {
            let (give, next, stop, work) = (give.clone(), &next, &stop, &work);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if give.send((at, work(item, stop))).is_err() {
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
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if asked.elapsed() >= PATIENCE {
                asked = Instant::now();
                if !go_on() {
                    stop.store(true, Ordering::Relaxed);
                    return true;
                }
            }
        }
    });
    if stopped { None } else { results.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..1000).collect();
        let doubled: Vec<_> = items.iter().map(|item| item * 2).collect();
        for threads in [1, 2, 7] {
            assert_eq!(map(threads, &items, |item| item * 2), doubled);
            assert_eq!(map_while(threads, &items, |item, _| item * 2, &mut || true), Some(doubled.clone()));
        }
        assert!(map(4, &[] as &[u64], |item| *item).is_empty());
        assert_eq!(map_while(4, &[] as &[u64], |item, _| *item, &mut || true), Some(Vec::new()));
    }

    #[test]
    fn who_waits_can_say_that_it_is_enough() {
        // Each piece goes on until it is told to stop.
        let work = |_: &u64, stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        assert_eq!(map_while(2, &[1, 2, 3], work, &mut || false), None);
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
