//! Blocks of bytes to lines: each with its number and its offset, in memory bounded by the longest line.
//!
//! Only 0x0A ends a line: U+2028 and friends are ordinary characters of a JSON string.

use memchr::memchr;

use crate::error::Result;
use crate::io::{BLOCK, Input};
use crate::progress::Progress;

/// The longest line that is read, in bytes: 1 GiB. The longest seen in the wild had 144 MB. A longer one is
/// passed over and reported, so that a file of another kind cannot take all memory.
pub const LINE_LIMIT: usize = 1 << 30;

/// From this length on, in bytes, the end of a line is looked for before its memory is made: to let it grow would take
/// up to three times the line.
const LONG: usize = 4 << 20;

/// A line's memory that is kept for the next line at the most, in bytes.
const MOST_KEPT: usize = 16 << 20;

/// The beginning of a file without the byte-order mark that some writers put before it.
#[must_use]
pub fn without_bom(beginning: &[u8]) -> &[u8] {
    beginning.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(beginning)
}

/// One line, without its line end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Of the line's first byte, in the (decompressed) input.
    pub offset: u64,
    /// Without the 0x0A; a carriage return before it is still there.
    pub bytes: &'a [u8],
    /// Whether a 0x0A stood behind it: only the last line can lack one.
    pub terminated: bool,
    /// The true length when it is over [`LINE_LIMIT`] (`bytes` is empty then).
    pub overlong: Option<u64>,
    /// Bytes behind `bytes` that were passed over, because a [`Skim`] had no use for them.
    pub passed: u64,
}

impl Line<'_> {
    /// Where it ends in the input, before its line end; where what was kept of it ends when it is overlong.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64 + self.passed
    }
}

/// Decides of a line that is longer than a block whether its rest has to be kept: of many long lines the beginning
/// tells that nothing else of them is of use.
pub trait Skim {
    /// Whether what follows on `begun` may be passed over, as far as that tells.
    fn begin(&mut self, begun: &[u8]) -> bool;
    /// Takes the next piece, and whether it is the last one; says whether the line may still be passed over. When not,
    /// it is read again and given whole.
    fn pass(&mut self, piece: &[u8], last: bool) -> bool;
}

/// Keeps every line whole.
pub struct KeepAll;

impl Skim for KeepAll {
    fn begin(&mut self, _begun: &[u8]) -> bool {
        false
    }

    fn pass(&mut self, _piece: &[u8], _last: bool) -> bool {
        false
    }
}

/// What a reader keeps its block and its line in.
#[derive(Default)]
pub struct Memory {
    block: Vec<u8>,
    carry: Vec<u8>,
}

/// Reads an [`Input`] line by line.
pub struct LineReader {
    input: Input,
    /// What was read last.
    block: Vec<u8>,
    /// Of the first byte of the block that is not yet handed out.
    at: usize,
    /// The beginning of a line that goes on in the next block; handed out and still here when `carried`.
    carry: Vec<u8>,
    carried: bool,
    /// Of the next line in the input.
    offset: u64,
    number: u64,
    limit: usize,
    /// From this length on it is asked whether a line has to be kept.
    long: usize,
}

impl LineReader {
    /// A reader over `input`.
    #[must_use]
    pub fn new(input: Input) -> Self {
        Self::with_limit(input, LINE_LIMIT)
    }

    /// A reader that passes over lines longer than `limit` bytes.
    #[must_use]
    pub fn with_limit(input: Input, limit: usize) -> Self {
        let (block, carry) = (Vec::new(), Vec::new());
        Self { input, block, at: 0, carry, carried: false, offset: 0, number: 0, limit, long: BLOCK }
    }

    /// A reader over an input that begins at `offset` of a larger one, with the memory of a reader before.
    #[must_use]
    pub fn starting_at(input: Input, offset: u64, memory: Memory) -> Self {
        let Memory { block, mut carry } = memory;
        carry.clear();
        let at = block.len();
        Self { block, at, carry, offset, ..Self::new(input) }
    }

    /// The same, that asks from lines of `long` bytes on whether they have to be kept; they are asked about block by block.
    #[must_use]
    pub fn asking_from(self, long: usize) -> Self {
        Self { long, ..self }
    }

    /// The reader's memory, for the next one: to touch new memory costs as much as to read into it.
    #[must_use]
    pub fn into_memory(self) -> Memory {
        let carry = if self.carry.capacity() > MOST_KEPT { Vec::new() } else { self.carry };
        Memory { block: self.block, carry }
    }

    /// Where the next line begins, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Lines handed out so far.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.number
    }

    /// Bytes that the input will give at the most, when known.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.input.size()
    }

    /// The next line, or `None` at the end. `progress` is asked whether to go on when a line goes on in another block, and
    /// while there is nothing to read.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] when reading fails; [`crate::ErrorKind::Stopped`].
    pub fn next_line(&mut self, progress: &mut Progress<'_>) -> Result<Option<Line<'_>>> {
        self.next_line_or_skim(progress, &mut KeepAll)
    }

    /// The same; `skim` is asked whether the rest of a long line has to be kept.
    ///
    /// # Errors
    /// As for [`LineReader::next_line`].
    pub fn next_line_or_skim(&mut self, progress: &mut Progress<'_>, skim: &mut dyn Skim) -> Result<Option<Line<'_>>> {
        if self.carried {
            if self.carry.capacity() > MOST_KEPT {
                self.carry = Vec::new();
            }
            self.carry.clear();
            self.carried = false;
        }
        // The true length of a line that is too long to be kept.
        let mut overlong = None;
        // Bytes behind the beginning in `carry` that were passed over.
        let mut passed = None;
        let (mut asked, mut measured) = (!self.input.can_look_again(), false);
        let terminated = loop {
            let rest = &self.block[self.at..];
            let found = memchr(b'\n', rest);
            let piece = &rest[..found.unwrap_or(rest.len())];
            let whole = found.is_some() && self.carry.is_empty() && overlong.is_none();
            if whole && piece.len() <= self.limit {
                let start = self.at;
                self.at += piece.len() + 1;
                return Ok(Some(self.hand_out(start..self.at - 1)));
            }
            if let Some(passed_over) = passed {
                let so_far = self.carry.len() as u64 + passed_over;
                if so_far + piece.len() as u64 > self.limit as u64 {
                    overlong = Some(so_far);
                    self.carry = Vec::new();
                    passed = None;
                } else if skim.pass(piece, found.is_some()) {
                    passed = Some(passed_over + piece.len() as u64);
                } else {
                    passed = None;
                    take_back(&self.input, self.offset, so_far, self.limit, &mut self.carry)?;
                }
            }
            match &mut overlong {
                _ if passed.is_some() => {}
                Some(length) => *length += piece.len() as u64,
                None if self.carry.len() + piece.len() > self.limit => {
                    overlong = Some((self.carry.len() + piece.len()) as u64);
                    self.carry = Vec::new();
                }
                None => {
                    grow(&mut self.carry, piece.len());
                    self.carry.extend_from_slice(piece);
                }
            }
            if found.is_some() {
                self.at += piece.len() + 1;
                break true;
            }
            progress.ask()?;
            if !asked && overlong.is_none() && self.carry.len() >= self.long {
                asked = true;
                passed = skim.begin(&self.carry).then_some(0);
            }
            if !measured && passed.is_none() && overlong.is_none() && self.carry.len() >= LONG {
                measured = true;
                make_room(&self.input, self.offset, self.limit, &mut self.carry)?;
            }
            let spent = std::mem::take(&mut self.block);
            let Some(block) = self.input.next_block(spent, progress)? else {
                self.at = 0;
                if let Some(passed_over) = passed.take() {
                    // The last line may not be whole yet, so all of it is of interest.
                    let so_far = self.carry.len() as u64 + passed_over;
                    take_back(&self.input, self.offset, so_far, self.limit, &mut self.carry)?;
                }
                break false;
            };
            (self.block, self.at) = (block, 0);
        };
        if !terminated && self.carry.is_empty() && overlong.is_none() {
            return Ok(None);
        }
        self.carried = true;
        let passed = passed.unwrap_or_default();
        let length = overlong.unwrap_or(self.carry.len() as u64 + passed);
        let offset = self.offset;
        self.offset += length + u64::from(terminated);
        self.number += 1;
        Ok(Some(Line { number: self.number, offset, bytes: &self.carry, terminated, overlong, passed }))
    }

    fn hand_out(&mut self, place: std::ops::Range<usize>) -> Line<'_> {
        let offset = self.offset;
        self.offset += place.len() as u64 + 1;
        self.number += 1;
        Line { number: self.number, offset, bytes: &self.block[place], terminated: true, overlong: None, passed: 0 }
    }
}

/// Makes room for all of the line that begins at `offset` and of which `line` is the beginning, as far as it may be kept.
fn make_room(input: &Input, offset: u64, limit: usize, line: &mut Vec<u8>) -> Result<()> {
    if let Some(end) = input.line_end(offset + line.len() as u64)? {
        let length = usize::try_from(end.saturating_sub(offset)).unwrap_or(limit).min(limit);
        line.reserve_exact(length.saturating_sub(line.len()));
    }
    Ok(())
}

/// Reads the line that begins at `offset` again as far as it was passed over, so that `line` holds its first `so_far` bytes.
fn take_back(input: &Input, offset: u64, so_far: u64, limit: usize, line: &mut Vec<u8>) -> Result<()> {
    make_room(input, offset, limit, line)?;
    input.read_again(offset + line.len() as u64..offset + so_far, line)
}

/// Makes room by a quarter at a time: twice the room for a line of 150 MB would be much of the memory there is.
fn grow(line: &mut Vec<u8>, more: usize) {
    if line.capacity() - line.len() < more {
        line.reserve_exact(more.max(line.len() / 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;
    use proptest::prelude::*;
    use std::io::Read;

    /// Gives its bytes in pieces of the given sizes, so that every block boundary is met.
    struct Dripping {
        bytes: Vec<u8>,
        at: usize,
        piece: usize,
    }

    impl Read for Dripping {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.piece.min(buffer.len()).min(self.bytes.len() - self.at);
            buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    /// Number, offset, bytes, terminated, true length of an overlong one.
    type Found = (u64, u64, Vec<u8>, bool, Option<u64>);

    fn all_lines(bytes: &[u8], piece: usize, limit: usize) -> Vec<Found> {
        let source = Source::Reader(Box::new(Dripping { bytes: bytes.to_vec(), at: 0, piece }), None);
        let mut reader = LineReader::with_limit(Input::open(source).expect("in memory"), limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line(&mut Progress::silent()).expect("in memory") {
            lines.push((line.number, line.offset, line.bytes.to_vec(), line.terminated, line.overlong));
        }
        lines
    }

    fn naive_lines(bytes: &[u8]) -> Vec<Found> {
        let mut lines = Vec::new();
        let mut offset = 0;
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let terminated = piece.ends_with(b"\n");
            let text = &piece[..piece.len() - usize::from(terminated)];
            lines.push((lines.len() as u64 + 1, offset, text.to_vec(), terminated, None));
            offset += piece.len() as u64;
        }
        lines
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_plain_split(
            bytes in proptest::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..400),
            piece in 1_usize..50,
        ) {
            prop_assume!(!bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]));
            prop_assert_eq!(all_lines(&bytes, piece, LINE_LIMIT), naive_lines(&bytes));
        }
    }

    #[test]
    fn a_long_line_of_a_file_takes_its_memory_once() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let length = LONG * 2 + 5;
        for end in ["\n{}\n", ""] {
            std::fs::write(file.path(), "a\n".to_owned() + &"x".repeat(length) + end).expect("it can be written");
            let input = Input::open(Source::Path(file.path().to_owned())).expect("it is there");
            let mut reader = LineReader::new(input);
            assert_eq!(
                reader.next_line(&mut Progress::silent()).expect("a file").map(|line| line.bytes.len()),
                Some(1)
            );
            let long = reader
                .next_line(&mut Progress::silent())
                .expect("a file")
                .map(|line| (line.bytes.len(), line.terminated));
            assert_eq!(long, Some((length, !end.is_empty())));
            assert!(reader.carry.capacity() <= length + BLOCK, "{} for {length}", reader.carry.capacity());
        }
    }

    #[test]
    fn a_line_longer_than_a_block_is_whole() {
        let mut bytes = vec![b'x'; BLOCK * 3 + 7];
        bytes.extend_from_slice(b"\ny");
        let lines = all_lines(&bytes, 100_000, LINE_LIMIT);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].2.len(), BLOCK * 3 + 7);
        assert_eq!((lines[1].1, lines[1].2.as_slice(), lines[1].3), (BLOCK as u64 * 3 + 8, b"y".as_slice(), false));
    }

    #[test]
    fn an_overlong_line_is_passed_over_and_its_neighbours_are_kept() {
        let mut bytes = b"a\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', BLOCK * 5));
        bytes.extend_from_slice(b"\nb\n");
        let lines = all_lines(&bytes, BLOCK, BLOCK * 2);
        assert_eq!(lines[0].2, b"a");
        assert_eq!(lines[1].4, Some(BLOCK as u64 * 5));
        assert_eq!((lines[2].0, lines[2].1, lines[2].2.as_slice()), (3, BLOCK as u64 * 5 + 3, b"b".as_slice()));
    }
}
