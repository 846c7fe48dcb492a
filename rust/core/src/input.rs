//! Where bytes come from: a path, standard input, bytes in memory or any reader; `.zst` is decompressed on the way.
//!
//! The only file that touches the operating system for reading transcripts.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The first bytes of every zstd frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

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

/// An opened source: plain bytes, whatever they were stored as.
pub struct Input {
    reader: Box<dyn Read + Send>,
    /// Bytes that will be read at the most, when that is known beforehand.
    size: Option<u64>,
    /// The path, for messages.
    path: PathBuf,
}

impl Input {
    /// Opens `source`. A file's size is taken now: what is appended later is not read, so that a session
    /// which is still being written gives a result that belongs to one moment.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] when the file cannot be opened or its first bytes not be read.
    pub fn open(source: Source) -> Result<Self> {
        let (reader, size, path): (Box<dyn Read + Send>, _, _) = match source {
            Source::Path(path) => {
                let (file, size) = open_file(&path).map_err(|error| Error::os(error, &path))?;
                match size {
                    Some(size) => (Box::new(file.take(size)), Some(size), path),
                    None => (Box::new(file), None, path),
                }
            }
            Source::Stdin => (Box::new(io::stdin()), None, PathBuf::from("standard input")),
            Source::Bytes(bytes) => {
                let size = bytes.len() as u64;
                (Box::new(Cursor::new(bytes)), Some(size), PathBuf::from("bytes"))
            }
            Source::Reader(reader, size) => (reader, size, PathBuf::from("file object")),
        };
        decompressed(reader, size, &path).map_err(|error| Error::os(error, &path))
    }

    /// Bytes that will be read at the most; `None` for pipes and compressed input.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Reads into `buffer`, like [`Read::read`], but is not interrupted by signals.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::os(error, &self.path)),
                Ok(count) => return Ok(count),
            }
        }
    }
}

fn open_file(path: &Path) -> io::Result<(File, Option<u64>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // A pipe or a device has no size to hold it to.
    Ok((file, metadata.is_file().then(|| metadata.len())))
}

/// Looks at the first bytes: they tell zstd more surely than a file name does.
fn decompressed(mut reader: Box<dyn Read + Send>, size: Option<u64>, path: &Path) -> io::Result<Input> {
    let mut head = Vec::with_capacity(ZSTD_MAGIC.len());
    reader.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut head)?;
    let compressed = head == ZSTD_MAGIC;
    let whole = Cursor::new(head).chain(reader);
    let path = path.to_owned();
    Ok(if compressed {
        Input { reader: Box::new(zstd::stream::read::Decoder::new(whole)?), size: None, path }
    } else {
        Input { reader: Box::new(whole), size, path }
    })
}
