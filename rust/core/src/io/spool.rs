//! Bytes that are put aside: in memory while they are few, then in an unnamed temporary file that the system removes
//! with its owner, whatever happens.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// How much is kept in memory before the temporary file is made.
const MAX_IN_MEMORY: usize = 4 * 1024 * 1024;

/// How much is compared at a time.
const COMPARED: usize = 1 << 16;

/// Bytes that were put aside, one behind the other.
pub struct Spool {
    bytes: Bytes,
    length: u64,
}

enum Bytes {
    Memory(Vec<u8>),
    /// Always at its end, but while it is read.
    File(File),
}

impl Default for Spool {
    fn default() -> Self {
        Self { bytes: Bytes::Memory(Vec::new()), length: 0 }
    }
}

impl Spool {
    /// Puts `bytes` aside, and says where they are.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        match &mut self.bytes {
            Bytes::Memory(memory) if memory.len() + bytes.len() <= MAX_IN_MEMORY => memory.extend_from_slice(bytes),
            Bytes::Memory(memory) => {
                let mut file = tempfile::tempfile()?;
                file.write_all(memory)?;
                file.write_all(bytes)?;
                self.bytes = Bytes::File(file);
            }
            Bytes::File(file) => file.write_all(bytes)?,
        }
        let start = self.length;
        self.length += bytes.len() as u64;
        Ok(start..self.length)
    }

    /// Whether what is at `place` is `bytes`.
    pub fn holds(&mut self, place: &Range<u64>, bytes: &[u8]) -> io::Result<bool> {
        if place.end - place.start != bytes.len() as u64 {
            return Ok(false);
        }
        match &mut self.bytes {
            Bytes::Memory(memory) => Ok(memory[place.start as usize..place.end as usize] == *bytes),
            Bytes::File(file) => {
                file.seek(SeekFrom::Start(place.start))?;
                let same = reads_the_same(file, bytes);
                file.seek(SeekFrom::End(0))?;
                same
            }
        }
    }

    /// Copies what is at `place` to `out`. To a file the system copies what lies in the temporary one by itself.
    pub fn copy_to<W: Write + ?Sized>(&mut self, place: &Range<u64>, out: &mut W) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Memory(memory) => out.write_all(&memory[place.start as usize..place.end as usize]),
            Bytes::File(file) => {
                let length = place.end - place.start;
                file.seek(SeekFrom::Start(place.start))?;
                let copied = io::copy(&mut (&*file).take(length), out)?;
                file.seek(SeekFrom::End(0))?;
                if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
            }
        }
    }
}

/// Whether `file` goes on with `bytes`.
fn reads_the_same(file: &mut File, bytes: &[u8]) -> io::Result<bool> {
    let mut read = vec![0; bytes.len().min(COMPARED)];
    for wanted in bytes.chunks(COMPARED) {
        let read = &mut read[..wanted.len()];
        file.read_exact(read)?;
        if read != wanted {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_aside_is_found_again_in_memory_and_in_the_file() {
        let mut spool = Spool::default();
        let pieces: Vec<Vec<u8>> = (0..9_usize).map(|at| vec![at as u8; at * 300_000]).collect();
        let mut places = Vec::new();
        for piece in &pieces {
            places.push(spool.add(piece).unwrap());
            for (place, piece) in places.iter().zip(&pieces) {
                let mut out = Vec::new();
                spool.copy_to(place, &mut out).unwrap();
                assert!(out == *piece && spool.holds(place, piece).unwrap());
                let mut other = piece.clone();
                if let Some(last) = other.last_mut() {
                    *last ^= 1;
                    assert!(!spool.holds(place, &other).unwrap());
                }
                other.push(0);
                assert!(!spool.holds(place, &other).unwrap());
            }
        }
        assert!(matches!(spool.bytes, Bytes::File(_)));
    }
}
