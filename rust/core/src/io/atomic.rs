//! A file is written beside its place and renamed into it: whoever looks sees the old or the new one, whole.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

/// What is not in its place yet is called so, until it is renamed.
pub(super) const UNFINISHED: (&str, &str) = (".retell-", ".partial");

/// A new file that is not in its place yet; dropped, it leaves nothing behind. Its mode is 0600.
pub struct AtomicFile {
    file: NamedTempFile,
    to: PathBuf,
}

impl AtomicFile {
    /// A file for the place `to`, whose folder is there.
    pub fn new(to: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(UNFINISHED.0).suffix(UNFINISHED.1).tempfile_in(folder_of(to))?;
        Ok(Self { file, to: to.to_owned() })
    }

    /// Where it goes.
    pub fn place(&self) -> &Path {
        &self.to
    }

    /// What was written so far, from the beginning.
    pub fn read_again(&self) -> io::Result<File> {
        File::open(self.file.path())
    }

    /// Sets the time of the last change. A file system without times is no reason to fail.
    pub fn set_modified(&self, modified: SystemTime) {
        let _ = self.file.as_file().set_modified(modified);
    }

    /// Waits until all of it is on the disk: a rename may reach it before what was written does, and a crash then leave
    /// an empty file.
    pub fn sync(&self) -> io::Result<()> {
        sync_data(self.file.as_file())
    }

    /// Renames it into its place. What is [synced](Self::sync) is whole there whatever happens, and what is
    /// [settled](settle_folder) stays there.
    pub fn rename(self) -> io::Result<()> {
        self.file.persist(&self.to).map(drop).map_err(|error| error.error)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Waits until what was written to `file` is on the disk, where the file system can tell.
pub(super) fn sync_data(file: &File) -> io::Result<()> {
    if_supported(file.sync_data())
}

/// Sees to it that the names given in `folder` outlast a loss of power.
pub fn settle_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { if_supported(File::open(folder)?.sync_all()) } else { Ok(()) }
}

/// Some file systems, those of the network above all, do not know this.
fn if_supported(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// The folder that `path` lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
