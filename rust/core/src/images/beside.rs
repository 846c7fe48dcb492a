//! Files are written beside their place and renamed into it: whoever looks sees the old or the new one, whole.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::files::FileOptions;
use super::tree::Job;
use crate::error::{Error, ErrorKind, Result};
use crate::io::permissions;

/// A file that was written this recently may still be written to.
const QUIET_TIME: Duration = Duration::from_secs(60);

/// How much is gathered before it is written.
const GATHERED: usize = 1 << 18;

/// A file in `folder` that is to be renamed.
pub fn partial(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".retell-").suffix(".partial").tempfile_in(folder)
}

/// Sees to it that names given in `folder` outlast a loss of power.
pub fn settle(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some file systems of the network do not know this for folders.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        settled => settled,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses to replace what is a link, or may still be written to.
pub fn refuse_unsafe(path: &Path) -> Result<()> {
    let refuse = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Refused, format!("{} {what}", path.display())).with_hint(hint))
    };
    let metadata = fs::symlink_metadata(path).map_err(|error| Error::os(error, path))?;
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
    Beside(BufWriter<NamedTempFile>),
    Nowhere,
}

impl Target {
    /// Where `job` says, unless nothing is to be written.
    pub fn new(job: &Job, options: &FileOptions) -> Result<Self> {
        let Some(to) = job.to.as_deref().filter(|_| !options.dry_run) else { return Ok(Self::Nowhere) };
        let folder = folder_of(to);
        let made = permissions::folder(folder).and_then(|()| partial(folder));
        let file = made.map_err(|error| Error::os(error, to))?;
        Ok(Self::Beside(BufWriter::with_capacity(GATHERED, file)))
    }

    /// The file, with all in it.
    pub fn finish(self) -> io::Result<Option<NamedTempFile>> {
        match self {
            Self::Nowhere => Ok(None),
            Self::Beside(writer) => writer.into_inner().map(Some).map_err(io::IntoInnerError::into_error),
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

/// Temporary files are made 0600. The time of the last change is kept: discovery sorts by it. `before` is what the
/// original was when it was opened: one that has changed since is not replaced.
pub fn put_in_place(temporary: NamedTempFile, job: &Job, before: &Metadata) -> Result<()> {
    let Some(to) = &job.to else { return Ok(()) };
    if let Ok(modified) = before.modified() {
        // A file system without times is no reason to fail.
        let _ = temporary.as_file().set_modified(modified);
    }
    let synced = temporary.as_file().sync_data();
    synced.map_err(|error| Error::os(error, to))?;
    // Directly before the name changes hands: what is written to the file from here on would be lost.
    if *to == job.from {
        let now = fs::symlink_metadata(to).map_err(|error| Error::os(error, to))?;
        if now.len() != before.len() || now.modified().ok() != before.modified().ok() {
            return Err(Error::new(ErrorKind::Refused, format!("{} changed while it was read", to.display()))
                .with_hint("it is as it was; wait until its session has ended, or write beside with --output"));
        }
    }
    temporary.persist(to).map_err(|error| Error::os(error.error, to))?;
    settle(folder_of(to)).map_err(|error| Error::os(error, to))
}
