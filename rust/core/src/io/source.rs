//! What can be read, and opening it: a file in whichever form it has, a pipe, a device.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::compression::{Compression, MAGIC_LENGTH, other_forms};

/// What to read.
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes already in memory.
    Bytes(Vec<u8>),
    /// Anything that can be read, and how many bytes it will give, when that is known.
    Reader(Box<dyn Read + Send>, Option<u64>),
}

/// Opens the file at `path`, or, when it is not there, one of its other forms: a transcript may be compressed, or be
/// plain again, since it was listed.
pub fn in_either_form<T>(path: &Path, open: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let missing = match open(path) {
        Err(error) if is_missing(&error) => error,
        opened => return opened,
    };
    for form in other_forms(path) {
        match open(&form) {
            Err(error) if is_missing(&error) => {}
            opened => return opened,
        }
    }
    Err(missing)
}

/// What the file at `path` is compressed with; `None` for a plain one.
///
/// # Errors
/// When it cannot be read.
pub fn compressed_with(path: &Path) -> io::Result<Option<&'static str>> {
    let mut first = [0; MAGIC_LENGTH];
    let count = read_at(&File::open(path)?, &mut first, 0)?;
    Ok(Compression::of(&first[..count]).map(Compression::name))
}

/// Whether it is a socket, which cannot be opened.
#[cfg(unix)]
pub fn is_socket(metadata: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type())
}

/// Whether it is a socket, which cannot be opened.
#[cfg(windows)]
pub fn is_socket(_: &Metadata) -> bool {
    false
}

/// What a file is like at one moment: one that is still like that has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// In bytes.
    pub length: u64,
    /// When it was written last, where the file system knows.
    pub modified: Option<SystemTime>,
}

impl Stamp {
    /// That of the file whose metadata these are.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// Opens the file at `path`, as it is stored.
///
/// # Errors
/// When it cannot be opened, or is a folder.
pub fn open_file(path: &Path) -> io::Result<(File, Stamp)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok((file, Stamp::of(&metadata)))
}

/// A pipe or a device, opened by the thread that reads it.
pub struct OpenedLater {
    path: PathBuf,
    file: Option<File>,
}

impl OpenedLater {
    /// What lies at `path`.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None }
    }
}

impl Read for OpenedLater {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(File::open(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(0), |file| file.read(buffer))
    }
}

/// Reads from a place of a file, wherever it is read otherwise.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Reads from a place of a file.
#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
