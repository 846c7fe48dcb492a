//! Where bytes come from: a path, standard input, bytes in memory or any reader; what is compressed is decompressed on
//! the way.
//!
//! Large files and pipes are read by a second thread, some blocks ahead: copying out of the page cache is a third of
//! the bill otherwise, and whoever waits for a pipe can still be interrupted. A memory map is not used: a session file
//! may be truncated while it is read, and a map of it then kills the process.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks::{BLOCK, Blocks, read_ahead, read_block, room};
use super::chunks::{FileStretch, newline, stretches_of};
use super::compression::{Begun, Compression, MAGIC_LENGTH};
use super::source::{OpenedLater, Source, Stamp, in_either_form, is_socket, open_file, read_at};
use crate::error::{Error, ErrorKind, Result};
use crate::progress::Progress;

/// Files up to this size are read without a second thread: starting it would take longer.
const SMALL: u64 = 1024 * 1024;

/// An opened source: blocks of plain bytes, whatever they were stored as.
pub struct Input {
    blocks: Blocks,
    /// Blocks that were looked at before they were asked for.
    peeked: VecDeque<Vec<u8>>,
    /// Bytes that will be read at the most, when that is known beforehand.
    size: Option<u64>,
    /// The path, for messages.
    path: PathBuf,
    /// The plain file that large input comes from, any place of which can be read again, and where the input ends in
    /// it.
    file: Option<(Arc<File>, u64)>,
}

impl Input {
    /// Opens `source`. A file's size is taken now: what is appended later is not read, so that a session
    /// which is still being written gives a result that belongs to one moment.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] when the file cannot be opened or its first bytes not be read.
    pub fn open(source: Source) -> Result<Self> {
        Self::open_with(source, SMALL)
    }

    /// The same, of a file of which stretches of at least `least` bytes may be read side by side.
    ///
    /// # Errors
    /// As for [`Input::open`].
    pub fn open_to_cut(source: Source, least: u64) -> Result<Self> {
        Self::open_with(source, SMALL.min((2 * least).saturating_sub(1)))
    }

    /// Opens the file at `path` of which only the beginning is wanted: nothing is read ahead.
    ///
    /// # Errors
    /// As for [`Input::open`].
    pub fn open_to_look(path: &Path) -> Result<Self> {
        Self::open_with(Source::Path(path.to_owned()), u64::MAX)
    }

    /// Files up to `small` bytes are not read ahead.
    fn open_with(source: Source, small: u64) -> Result<Self> {
        match source {
            Source::Path(path) => {
                let opened = in_either_form(&path, |path| {
                    let kind = path.metadata()?;
                    // A pipe or a device has no size to hold it to, and opening it can wait for a writer.
                    if kind.is_file() || kind.is_dir() || is_socket(&kind) {
                        open_file(path).map(Some)
                    } else {
                        Ok(None)
                    }
                });
                match opened.map_err(|error| Error::os(error, &path))? {
                    Some((file, stamp)) if stamp.length > small => Self::of_large(file, stamp.length, path),
                    Some((file, Stamp { length, .. })) => {
                        Self::of(Box::new(file.take(length)), Some(length), false, path)
                    }
                    None => Self::of(Box::new(OpenedLater::at(&path)), None, true, path),
                }
            }
            Source::Stdin => Self::of(Box::new(io::stdin()), None, true, PathBuf::from("standard input")),
            Source::Bytes(bytes) => {
                let size = bytes.len() as u64;
                Self::of(Box::new(Cursor::new(bytes)), Some(size), false, PathBuf::from("bytes"))
            }
            // A foreign object is only ever used on the caller's own thread.
            Source::Reader(reader, size) => {
                let mut input = Self::of(reader, size, false, PathBuf::from("file object"))?;
                // It may hold more than was said of it.
                if let Blocks::Here { left, .. } = &mut input.blocks {
                    *left = None;
                }
                Ok(input)
            }
        }
    }

    fn of_large(file: File, size: u64, path: PathBuf) -> Result<Self> {
        let mut first = [0; MAGIC_LENGTH];
        read_at(&file, &mut first, 0).map_err(|error| Error::os(error, &path))?;
        let file = Arc::new(file);
        let is_plain = Compression::of(&first).is_none();
        let again = is_plain.then(|| (file.clone(), size));
        let whole = FileStretch { file, place: 0..size, path: path.clone() };
        let blocks = if is_plain { Blocks::Large(whole) } else { read_ahead(Box::new(whole)) };
        Ok(Self { blocks, peeked: VecDeque::new(), size: Some(size).filter(|_| is_plain), path, file: again })
    }

    fn of(reader: Box<dyn Read + Send>, size: Option<u64>, ahead: bool, path: PathBuf) -> Result<Self> {
        if ahead {
            return Ok(Self { blocks: read_ahead(reader), peeked: VecDeque::new(), size, path, file: None });
        }
        let room = room(size.filter(|&size| size > 0));
        let begun = Begun::of(reader, |reader| read_block(reader, Vec::new(), room));
        let begun = begun.map_err(|error| Error::os(error, &path))?;
        let size = size.filter(|_| !begun.compressed);
        let left = size.map(|size| size.saturating_sub(begun.first.len() as u64));
        let peeked = Some(begun.first).filter(|first| !first.is_empty()).into_iter().collect();
        Ok(Self { blocks: Blocks::Here { reader: begun.rest, left }, peeked, size, path, file: None })
    }

    /// Opens one stretch of a file.
    #[must_use]
    pub fn of_stretch(stretch: &FileStretch) -> Self {
        let FileStretch { file, place, path } = stretch;
        let (size, path) = (Some(stretch.length()), path.clone());
        let reader = FileStretch { file: file.clone(), place: place.clone(), path: path.clone() };
        let blocks = Blocks::Here { reader: Box::new(reader), left: size };
        Self { blocks, peeked: VecDeque::new(), size, path, file: Some((file.clone(), place.end)) }
    }

    /// Bytes that will be read at the most; `None` for pipes and compressed input.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// The next block, never empty; `None` at the end. `spent` is a block that is no longer needed, to be filled
    /// again. While there is nothing to give, `progress` is asked every now and then whether to go on.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path; [`crate::ErrorKind::Stopped`].
    pub fn next_block(&mut self, mut spent: Vec<u8>, progress: &mut Progress<'_>) -> Result<Option<Vec<u8>>> {
        self.blocks.give_back(&mut spent);
        if let Some(block) = self.peeked.pop_front() {
            return Ok(Some(block));
        }
        let Some(block) = self.blocks.next(spent, progress)? else { return Ok(None) };
        let block = block.map_err(|error| Error::os(error, &self.path))?;
        Ok((!block.is_empty()).then_some(block))
    }
}

impl Input {
    /// A plain file in blocks of up to `piece` bytes.
    #[cfg(test)]
    pub(crate) fn in_pieces(path: &Path, piece: usize) -> Result<Self> {
        struct Pieces(FileStretch, usize);
        impl Read for Pieces {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = buffer.len().min(self.1);
                self.0.read(&mut buffer[..count])
            }
        }
        let (file, Stamp { length: size, .. }) = open_file(path).map_err(|error| Error::os(error, path))?;
        let stretch = FileStretch { file: Arc::new(file), place: 0..size, path: path.to_owned() };
        let input = Self::of_stretch(&stretch);
        Ok(Self { blocks: Blocks::Here { reader: Box::new(Pieces(stretch, piece)), left: Some(size) }, ..input })
    }

    /// Whether what was read may be read again: only of large plain files it may.
    #[must_use]
    pub fn can_look_again(&self) -> bool {
        self.file.is_some()
    }

    /// Where the line ends that goes on at `from`, before its 0x0A, in the file; `None` where that cannot be seen before
    /// it is read.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path.
    pub fn line_end(&self, from: u64) -> Result<Option<u64>> {
        let Some((file, end)) = &self.file else { return Ok(None) };
        let found = newline(file, from, *end, BLOCK).map_err(|error| Error::os(error, &self.path))?;
        Ok(Some(found.unwrap_or(*end)))
    }

    /// Appends what stands at `place` of the file to `line`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path, also when the file has become shorter meanwhile.
    pub fn read_again(&self, place: Range<u64>, line: &mut Vec<u8>) -> Result<()> {
        let Some((file, _)) = &self.file else { return Ok(()) };
        let (length, from) = (place.end - place.start, line.len());
        let again = FileStretch { file: file.clone(), place, path: self.path.clone() };
        again.take(length).read_to_end(line).map_err(|error| Error::os(error, &self.path))?;
        if (line.len() - from) as u64 != length {
            return Err(Error::os(io::ErrorKind::UnexpectedEof.into(), &self.path));
        }
        Ok(())
    }

    /// The first bytes, up to `size`, which are read again later.
    ///
    /// # Errors
    /// As for [`Input::next_block`].
    pub fn head(&mut self, size: usize, progress: &mut Progress<'_>) -> Result<Vec<u8>> {
        if let Blocks::Large(file) = &self.blocks {
            return file.head(size);
        }
        let mut peeked = std::mem::take(&mut self.peeked);
        let mut length: usize = peeked.iter().map(Vec::len).sum();
        let mut spent = Vec::new();
        while length < size {
            let Some(block) = self.next_block(std::mem::take(&mut spent), progress)? else { break };
            length += block.len();
            match peeked.back_mut() {
                // A pipe may give a few bytes at a time: whole blocks of memory for each would be much.
                Some(last) if last.len() + block.len() <= BLOCK => {
                    last.extend_from_slice(&block);
                    spent = block;
                }
                _ => peeked.push_back(block),
            }
        }
        let mut head = Vec::with_capacity(size.min(BLOCK));
        for block in &peeked {
            head.extend_from_slice(&block[..block.len().min(size - head.len())]);
        }
        self.peeked = peeked;
        Ok(head)
    }

    /// The stretches of whole lines, each of at least about `least` bytes, that so many threads may read side by side: of
    /// a large plain file of which no block was asked for yet; `None` for everything else.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`], with the path.
    pub fn stretches(&self, threads: usize, least: u64) -> Result<Option<Vec<FileStretch>>> {
        let least = least.max(1);
        let Blocks::Large(whole) = &self.blocks else { return Ok(None) };
        if threads <= 1 || whole.length() < 2 * least {
            return Ok(None);
        }
        stretches_of(whole, threads, least).map(Some).map_err(|error| Error::os(error, &self.path))
    }

    /// All that is left, in one piece; an error when that is more than `limit` bytes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotATranscript`] when it is; otherwise as for [`Input::next_block`].
    pub fn all(&mut self, limit: usize, progress: &mut Progress<'_>) -> Result<Vec<u8>> {
        let mut all = Vec::with_capacity(self.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0).min(limit));
        let mut spent = Vec::new();
        while let Some(block) = self.next_block(spent, progress)? {
            if all.len() + block.len() > limit {
                let message = format!("a document of more than {limit} bytes is not read");
                return Err(Error::new(ErrorKind::NotATranscript, message).at(&self.path));
            }
            all.extend_from_slice(&block);
            spent = block;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<u8>> {
        Input::open(Source::Path(path.to_owned()))?.all(1 << 30, &mut Progress::silent())
    }

    #[test]
    fn a_file_may_have_switched_its_form_since_it_was_listed() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, compressed) = (folder.path().join("x.jsonl"), folder.path().join("x.jsonl.zst"));
        let content = b"{\"type\":\"user\"}\n".repeat(100_000);
        std::fs::write(&compressed, zstd::encode_all(&content[..], 3).unwrap()).unwrap();
        assert!(read(&plain).unwrap() == content);
        let is_cut = |path: &Path| Input::open_to_cut(Source::Path(path.to_owned()), 1)?.stretches(2, 1);
        assert!(is_cut(&plain).unwrap().is_none());
        std::fs::rename(&compressed, folder.path().join("other")).unwrap();
        assert_eq!(read(&plain).unwrap_err().path(), Some(plain.as_path()));
        std::fs::write(&plain, &content).unwrap();
        assert!(read(&compressed).unwrap() == content);
        assert!(is_cut(&compressed).unwrap().is_some());
        // Of two that are there, the one that was asked for is read.
        std::fs::write(&compressed, zstd::encode_all(&b"{}"[..], 3).unwrap()).unwrap();
        assert!(read(&plain).unwrap() == content);
        assert!(read(&compressed).unwrap() == b"{}");
    }

    #[test]
    fn what_comes_in_small_pieces_is_kept_in_few_blocks() {
        struct Dripping(u64);
        impl Read for Dripping {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let count = buffer.len().min(3).min(usize::try_from(self.0).unwrap_or(3));
                buffer[..count].fill(b'x');
                self.0 -= count as u64;
                Ok(count)
            }
        }
        let mut input = Input::open(Source::Reader(Box::new(Dripping(100_000)), None)).unwrap();
        assert_eq!(input.head(50_000, &mut Progress::silent()).unwrap().len(), 50_000);
        assert!(input.peeked.iter().map(Vec::capacity).sum::<usize>() <= 2 * BLOCK);
        assert_eq!(input.head(70_000, &mut Progress::silent()).unwrap().len(), 70_000);
        assert_eq!(input.all(1 << 20, &mut Progress::silent()).unwrap().len(), 100_000);
    }

    #[test]
    fn a_small_file_takes_a_small_block() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in [0, 1, 3, 24_000] {
            std::fs::write(file.path(), "x".repeat(length)).unwrap();
            let mut input = Input::open(Source::Path(file.path().to_owned())).unwrap();
            let block = input.next_block(Vec::new(), &mut Progress::silent()).unwrap();
            assert_eq!(block.as_ref().map(Vec::len), Some(length).filter(|&length| length > 0));
            assert!(length == 0 || block.unwrap_or_default().capacity() <= length.max(8));
            assert!(input.next_block(Vec::new(), &mut Progress::silent()).unwrap().is_none());
        }
    }
}
