//! A large plain file cut into stretches of whole lines, which several threads read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::source::read_at;
use crate::error::{Error, Result};

/// The least, in bytes, that is worth a stretch of its own.
pub const LEAST_STRETCH: u64 = 4 * 1024 * 1024;

/// Stretches for each thread: more than one, so that none waits long for the others at the end.
const STRETCHES_EACH: u64 = 4;

/// The most, in bytes, that a stretch holds but for its last line: what was found in it waits in memory for its turn.
const MOST_STRETCH: u64 = 16 * 1024 * 1024;

/// A stretch of whole lines of a file.
pub struct FileStretch {
    pub(super) file: Arc<File>,
    pub(super) place: Range<u64>,
    pub(super) path: PathBuf,
}

impl FileStretch {
    /// Where it starts in the file.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.place.start
    }

    /// The first bytes of the file, up to `size`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path.
    pub fn head(&self, size: usize) -> Result<Vec<u8>> {
        let mut head = Vec::with_capacity(size);
        let mut first = Self { file: self.file.clone(), place: 0..size as u64, path: self.path.clone() };
        first.read_to_end(&mut head).map_err(|error| Error::os(error, &self.path))?;
        Ok(head)
    }

    /// Its length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.place.end - self.place.start
    }
}

impl Read for FileStretch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.length()).unwrap_or(usize::MAX));
        let count = read_at(&self.file, &mut buffer[..wanted], self.place.start)?;
        self.place.start += count as u64;
        Ok(count)
    }
}

/// Cuts a file into stretches of whole lines.
pub fn stretches_of(whole: &FileStretch, threads: usize, least: u64) -> io::Result<Vec<FileStretch>> {
    let FileStretch { file, place, path } = whole;
    let size = place.end;
    let count = (size / least).clamp(2, (threads as u64 * STRETCHES_EACH).max(size / MOST_STRETCH));
    let mut cuts = vec![0];
    for at in 1..count {
        // A line that goes on over several cuts is looked through once.
        if cuts.last().is_some_and(|&last| size / count * at < last) {
            continue;
        }
        let cut = newline(file, size / count * at, size, 64 * 1024)?.map_or(size, |found| found + 1);
        if cuts.last().is_some_and(|&last| last < cut) {
            cuts.push(cut);
        }
    }
    if cuts.last().is_some_and(|&last| last < size) {
        cuts.push(size);
    }
    let stretch = |pair: &[u64]| FileStretch { file: file.clone(), place: pair[0]..pair[1], path: path.clone() };
    Ok(cuts.windows(2).map(stretch).collect())
}

/// The first 0x0A at or behind `from` and before `end`, looked for in so many bytes at a time.
pub fn newline(file: &File, mut from: u64, end: u64, at_a_time: usize) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; at_a_time];
    while from < end {
        let count = read_at(file, &mut buffer, from)?;
        if count == 0 {
            break;
        }
        if let Some(found) = memchr::memchr(b'\n', &buffer[..count]) {
            return Ok(Some(from + found as u64).filter(|&found| found < end));
        }
        from += count as u64;
    }
    Ok(None)
}
