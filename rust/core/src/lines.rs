//! Blocks of bytes to lines: each with its number and its offset, in memory bounded by the longest line.
//!
//! Only 0x0A ends a line: U+2028 and friends are ordinary characters of a JSON string.

use memchr::memchr;

use crate::error::Result;
use crate::input::Input;

/// How much is asked of the input at a time. Larger blocks leave the second-level cache and cost more than
/// the fewer calls save.
const BLOCK: usize = 256 * 1024;

/// The longest line that is read, in bytes: 1 GiB. The longest seen in the wild had 144 MB. A longer one is
/// passed over and reported, so that a file of another kind cannot take all memory.
pub const LINE_LIMIT: usize = 1 << 30;

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
}

/// Reads an [`Input`] line by line.
pub struct LineReader {
    input: Input,
    buffer: Vec<u8>,
    /// Of the first byte not yet handed out.
    start: usize,
    /// Behind the last byte read.
    end: usize,
    /// Of `buffer[start]` in the input.
    offset: u64,
    number: u64,
    finished: bool,
    limit: usize,
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
        Self { input, buffer: vec![0; BLOCK], start: 0, end: 0, offset: 0, number: 0, finished: false, limit }
    }

    /// Bytes handed out so far.
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

    /// The next line, or `None` at the end.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] when reading fails.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..self.end]) {
                return Ok(Some(self.hand_out(searched + found, true)));
            }
            searched = self.end;
            if self.finished {
                if self.start == self.end {
                    return Ok(None);
                }
                return Ok(Some(self.hand_out(self.end, false)));
            }
            if self.end - self.start > self.limit {
                return self.pass_over().map(Some);
            }
            searched -= self.make_room();
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<()> {
        let count = self.input.read(&mut self.buffer[self.end..])?;
        self.end += count;
        self.finished = count == 0;
        Ok(())
    }

    /// Moves the begun line to the front, and grows the buffer when it fills it. Returns by how much it moved.
    fn make_room(&mut self) -> usize {
        let moved = self.start;
        if moved > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= moved;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let larger = (self.buffer.len() * 2).min(self.limit.max(BLOCK) + BLOCK);
            self.buffer.resize(larger, 0);
        }
        moved
    }

    fn hand_out(&mut self, end: usize, terminated: bool) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        self.start = end + usize::from(terminated);
        self.offset += (self.start - start) as u64;
        self.number += 1;
        Line { number: self.number, offset, bytes: &self.buffer[start..end], terminated, overlong: None }
    }

    fn pass_over(&mut self) -> Result<Line<'_>> {
        let offset = self.offset;
        let mut length = 0;
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                length += found as u64;
                self.start += found + 1;
                self.offset += length + 1;
                self.number += 1;
                return Ok(Line { number: self.number, offset, bytes: &[], terminated: true, overlong: Some(length) });
            }
            length += (self.end - self.start) as u64;
            (self.start, self.end) = (0, 0);
            if self.finished {
                self.offset += length;
                self.number += 1;
                return Ok(Line { number: self.number, offset, bytes: &[], terminated: false, overlong: Some(length) });
            }
            self.fill()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;
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

    fn all_lines(bytes: &[u8], piece: usize, limit: usize) -> Vec<(u64, u64, Vec<u8>, bool, Option<u64>)> {
        let source = Source::Reader(Box::new(Dripping { bytes: bytes.to_vec(), at: 0, piece }), None);
        let mut reader = LineReader::with_limit(Input::open(source).expect("in memory"), limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().expect("in memory") {
            lines.push((line.number, line.offset, line.bytes.to_vec(), line.terminated, line.overlong));
        }
        lines
    }

    fn naive_lines(bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>, bool, Option<u64>)> {
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
        let lines = all_lines(&bytes, BLOCK, BLOCK);
        assert_eq!(lines[0].2, b"a");
        assert_eq!(lines[1].4, Some(BLOCK as u64 * 5));
        assert_eq!((lines[2].0, lines[2].1, lines[2].2.as_slice()), (3, BLOCK as u64 * 5 + 3, b"b".as_slice()));
    }
}
