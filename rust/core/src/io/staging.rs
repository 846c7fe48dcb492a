//! Several files that take their places together: written to a folder of their own beside the place, and renamed from
//! there when all of them are whole and on the disk.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::atomic::{UNFINISHED, sync_data};
use super::permissions;
use crate::parallel;

/// Files that are open at a time until they are on the disk, and threads that wait for that: a disk takes little longer
/// for several at once than for one.
const MAX_OPEN: usize = 128;
const SYNC_THREADS: usize = 4;

/// A staging folder that has not changed for so long belongs to a run that was killed.
const STALE: Duration = Duration::from_secs(60 * 60);

/// A folder of files that are not in their place yet; dropped, it goes with all in it. Its mode is 0700.
pub struct Staging {
    folder: TempDir,
    /// Files that are written and may not be on the disk yet.
    unsynced: Vec<StagedFile>,
}

/// A file of a staging folder.
pub struct StagedFile {
    file: File,
    name: String,
}

impl StagedFile {
    /// What it is written by.
    pub fn as_file(&mut self) -> &mut File {
        &mut self.file
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// An error with the name of the file it is about, relative to the folder.
pub type Named<T> = Result<T, (io::Error, String)>;

impl Staging {
    /// A folder beside the place, in `parent`, from which what killed runs have left is removed.
    pub fn in_folder(parent: &Path) -> io::Result<Self> {
        remove_stale(parent);
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        Ok(Self { folder: builder.tempdir_in(parent)?, unsynced: Vec::new() })
    }

    /// Makes a folder within it.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        permissions::folder(&self.folder.path().join(name))
    }

    /// Makes a file within it; [`Staging::keep`] takes it when it is written.
    pub fn create(&self, name: &str) -> io::Result<StagedFile> {
        let file = permissions::new_file(&self.folder.path().join(name))?;
        Ok(StagedFile { file, name: name.to_owned() })
    }

    /// Nothing more is written to `file`.
    pub fn keep(&mut self, file: StagedFile) -> Named<()> {
        self.unsynced.push(file);
        if self.unsynced.len() < MAX_OPEN { Ok(()) } else { self.sync() }
    }

    /// Waits until all files are on the disk: a rename may reach it before what was written does, and a crash then
    /// leave an empty file.
    pub fn sync(&mut self) -> Named<()> {
        let files = std::mem::take(&mut self.unsynced);
        let results = parallel::map(SYNC_THREADS, &files, |file| sync_data(&file.file));
        let mut results = results.into_iter().zip(files);
        results.find_map(|(result, StagedFile { name, .. })| Some((result.err()?, name))).map_or(Ok(()), Err)
    }

    /// Makes the whole of it the folder `to` in one rename, unless that is there; whether it did.
    pub fn become_folder(self, to: &Path) -> io::Result<Result<(), Self>> {
        match fs::rename(self.folder.path(), to) {
            Ok(()) => {
                let _ = self.folder.keep();
                Ok(Ok(()))
            }
            Err(_) if to.is_dir() => Ok(Err(self)),
            Err(error) => Err(error),
        }
    }

    /// Renames one of its files to the same name below `folder`.
    pub fn rename(&self, name: &str, folder: &Path) -> io::Result<()> {
        fs::rename(self.folder.path().join(name), folder.join(name))
    }
}

/// Removes what runs that were killed have left in `parent`. What cannot be removed is of no harm.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_staging =
            name.to_str().is_some_and(|name| name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1));
        let is_stale = || {
            let metadata = entry.metadata().ok().filter(Metadata::is_dir)?;
            Some(metadata.modified().ok()?.elapsed().ok()? > STALE)
        };
        if is_staging && is_stale() == Some(true) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_runs_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * STALE;
        for (name, old) in [(".retell-old.partial", true), (".retell-new.partial", false), (".retell-kept", true)] {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("events.json"), "[").unwrap();
            if old {
                File::open(&path).unwrap().set_modified(long_ago).unwrap();
            }
        }
        drop(Staging::in_folder(parent.path()).unwrap());
        let names = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, [".retell-kept", ".retell-new.partial"]);
    }
}
