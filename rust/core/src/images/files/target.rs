//! Where a file's new form goes, and what it may not replace there.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::options::FileOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::io::atomic::{AtomicFile, folder_of, settle_folder};
use crate::io::{Stamp, permissions};

/// A file that was written this recently may still be written to.
const QUIET_TIME: Duration = Duration::from_secs(60);

/// How much is gathered before it is written.
const GATHERED: usize = 1 << 18;

/// Refuses to replace what is a link, or may still be written to.
pub fn refuse_unsafe(path: &Path) -> Result<()> {
    let refuse = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Refused, format!("{} {what}", path.display())).with_hint(hint))
    };
    let metadata = path.symlink_metadata().map_err(|error| Error::os(error, path))?;
    if metadata.is_symlink() {
        return refuse("is a link", "name the file that it leads to, or write beside with --output");
    }
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    if modified.elapsed().unwrap_or_default() < QUIET_TIME {
        return refuse(
            "was written in the last minute",
            "wait until its session has ended, or write beside with --output",
        );
    }
    Ok(())
}

/// Where a file's new form is written: beside its place, or nowhere.
pub enum Target {
    Beside(BufWriter<AtomicFile>),
    Nowhere,
}

impl Target {
    /// The place `to`, unless nothing is to be written.
    pub fn new(to: Option<&Path>, options: &FileOptions) -> Result<Self> {
        let Some(to) = to.filter(|_| !options.dry_run) else { return Ok(Self::Nowhere) };
        let made = permissions::folder(folder_of(to)).and_then(|()| AtomicFile::new(to));
        let file = made.map_err(|error| Error::os(error, to))?;
        Ok(Self::Beside(BufWriter::with_capacity(GATHERED, file)))
    }

    /// The file, with all in it.
    pub fn finish(self) -> io::Result<Option<Written>> {
        match self {
            Self::Nowhere => Ok(None),
            Self::Beside(writer) => {
                writer.into_inner().map(|file| Some(Written(file))).map_err(io::IntoInnerError::into_error)
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(writer) => writer.write(bytes),
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(writer) => writer.flush(),
            Self::Nowhere => Ok(()),
        }
    }
}

/// A file's new form, whole and not in its place yet.
pub struct Written(AtomicFile);

impl Written {
    /// Its bytes.
    pub fn read_again(&self) -> io::Result<impl io::Read + use<>> {
        self.0.read_again()
    }

    /// Renames it into its place. The time of the last change is kept: discovery sorts by it. `before` is what `from`
    /// was when it was opened: one that has changed since is not replaced.
    pub fn put_in_place(self, from: &Path, before: Stamp) -> Result<()> {
        let Self(file) = self;
        let to = file.place().to_owned();
        let at_place = |error| Error::os(error, &to);
        if let Some(modified) = before.modified {
            file.set_modified(modified);
        }
        file.sync().map_err(at_place)?;
        // Directly before the name changes hands: what is written to the file from here on would be lost.
        if to == from && Stamp::of(&to.symlink_metadata().map_err(at_place)?) != before {
            return Err(Error::new(ErrorKind::Refused, format!("{} changed while it was read", to.display()))
                .with_hint("it is as it was; wait until its session has ended, or write beside with --output"));
        }
        file.rename().map_err(at_place)?;
        settle_folder(folder_of(&to)).map_err(at_place)
    }
}
