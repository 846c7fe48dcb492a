//! Before a file takes the place of another it is verified that it gives that one back.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use super::assets::{Assets, Last};
use super::target::Written;
use crate::error::{Error, ErrorKind, Result};
use crate::images::placeholder::PlaceholderForm;
use crate::images::restore::restore;
use crate::io::open_file;

/// How much of the original is read at a time.
const READ: usize = 1 << 18;

/// Restores what was `written` and compares it with the first `size` bytes of `original`.
pub fn verify(written: &Written, original: &Path, size: u64, assets: &Assets, names: &BTreeSet<String>) -> Result<()> {
    let at_file = |error| Error::os(error, original);
    let mut slim = written.read_again().map_err(at_file)?;
    let (original_file, _) = open_file(original).map_err(at_file)?;
    let expected = BufReader::with_capacity(READ, original_file.take(size));
    let mut comparing = Comparing { expected };
    // Its bytes are compared with the original's: that proves more than its hash would.
    let mut last = Last::default();
    let mut lookup = |name: &str| {
        if names.contains(name) { last.or(name, || assets.unverified(name)) } else { Ok(None) }
    };
    let restored = restore(&mut slim, &mut comparing, PlaceholderForm::Retell, &mut lookup);
    let not_proven = || {
        let what = format!("{}: what was written does not give the file back", original.display());
        Error::new(ErrorKind::NotProven, what)
            .with_hint("nothing was changed; the file may be changing: try again later")
    };
    match restored {
        Ok(_) if comparing.is_at_end().map_err(at_file)? => Ok(()),
        Ok(_) => Err(not_proven()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(not_proven()),
        Err(error) => Err(at_file(error)),
    }
}

/// A writer that compares what it is given with a file.
struct Comparing<R> {
    expected: R,
}

impl<R: BufRead> Comparing<R> {
    fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.expected.fill_buf()?.is_empty())
    }
}

impl<R: BufRead> Write for Comparing<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let expected = self.expected.fill_buf()?;
        let count = bytes.len().min(expected.len());
        // Nothing is left of it: what is written is longer.
        if count == 0 && !bytes.is_empty() || expected[..count] != bytes[..count] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.expected.consume(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
