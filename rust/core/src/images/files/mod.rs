//! The codec on files and folders: written beside, proven, renamed.
//!
//! ```text
//! extract   read the file up to its last whole line, swap; its tail is copied (escaped, nothing lifted)
//!           restore what was written, compare it with the file, byte for byte: a difference is an error
//!           only then rename it into place
//! restore   a missing or altered asset is an error before anything is in place
//! ```
//! Assets go to one folder, named by what they are: the same picture is one file for a whole store. None is ever
//! removed, not even on an error: other files, or other runs, can rely on it by then.

mod assets;
mod options;
mod report;
mod target;
mod tree;
mod verify;

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::extract::{Asset, extract};
use super::restore::restore;
use crate::error::{Error, ErrorKind, Result};
use crate::io::open_file;
use crate::progress::{Progress, stopped};

use assets::{Assets, Last};
use target::Target;
use tree::{Found, Job, Places, each_file, refuse_overlap, run};
use verify::verify;

pub use options::FileOptions;
pub use report::{ImageReport, ImageReports};

/// How much of a file's end is looked at at a time for its last line end.
const TAIL_BLOCK: u64 = 1 << 16;

/// Missing assets that an error names.
const MOST_NAMED: usize = 5;

/// Lifts the images of `path`, a file or a folder, into `assets`, and writes what is left to `out` (or back, in
/// place).
///
/// # Errors
/// [`ErrorKind::WrongArgument`] when there is no place to write to, or more than one; [`ErrorKind::Io`];
/// [`ErrorKind::Refused`] when `out` and `path` overlap, or `path` is the folder of the assets, and
/// in place for a link, for a file that was written in the last minute, and for one that changes meanwhile;
/// [`ErrorKind::NotProven`] when what was written does not give the file back. The file that it is about is not
/// changed, and assets that were written stay.
pub fn extract_files(
    path: &Path,
    out: Option<&Path>,
    assets: &Path,
    options: &FileOptions,
    progress: &mut Progress<'_>,
) -> Result<ImageReports> {
    options.refuse_places(out)?;
    let places = Places { path, out, assets };
    refuse_overlap(&places)?;
    let assets = Assets::open(assets, !options.dry_run)?;
    each_file(&places, options, progress, &|job, progress| extract_one(job, &assets, options, progress))
}

/// Puts the images in `assets` back into `path`, a file or a folder, and writes the result to `out` (or back, in
/// place).
///
/// # Errors
/// [`ErrorKind::WrongArgument`], [`ErrorKind::Io`], [`ErrorKind::Refused`], and [`ErrorKind::MissingAsset`] when an asset is missing or altered,
/// unless missing ones are allowed; then nothing is changed.
pub fn restore_files(
    path: &Path,
    out: Option<&Path>,
    assets: &Path,
    options: &FileOptions,
    progress: &mut Progress<'_>,
) -> Result<ImageReports> {
    options.refuse_places(out)?;
    let places = Places { path, out, assets };
    refuse_overlap(&places)?;
    let store = Assets::open(assets, false)?;
    // Of a folder, all assets are asked for before the first file is put into place; one file sees to that itself.
    if options.dry_run || (!options.allow_missing && path.is_dir()) {
        let look = FileOptions { dry_run: true, ..options.clone() };
        let work = |job: &Job, progress: &mut Progress<'_>| restore_one(job, &store, &look, progress);
        let looked = each_file(&places, &look, &mut Progress::silent(), &work)?;
        if !options.allow_missing && !looked.total.missing.is_empty() {
            return Err(missing(&looked.total.missing, assets));
        }
        if options.dry_run {
            return Ok(looked);
        }
    }
    each_file(&places, options, progress, &|job, progress| restore_one(job, &store, options, progress))
}

/// What images there are in `paths`, file by file. Reads only, and each file once.
///
/// # Errors
/// [`ErrorKind::Io`], [`ErrorKind::Stopped`].
pub fn list_files(paths: &[PathBuf], options: &FileOptions, progress: &mut Progress<'_>) -> Result<ImageReports> {
    let options = FileOptions { dry_run: true, ..options.clone() };
    let store = Assets::none();
    let mut found = Found::default();
    paths.iter().try_for_each(|path| found.add(path, None))?;
    run(found, options.threads, progress, &|job, progress| extract_one(job, &store, &options, progress))
}

fn missing(names: &BTreeSet<String>, assets: &Path) -> Error {
    let mut listed: Vec<_> = names.iter().take(MOST_NAMED).cloned().collect();
    if names.len() > MOST_NAMED {
        listed.push(format!("and {} more", names.len() - MOST_NAMED));
    }
    let assets_are = if names.len() == 1 { "asset is" } else { "assets are" };
    let what = format!("{} {assets_are} missing or altered in {}", names.len(), assets.display());
    Error::new(ErrorKind::MissingAsset, format!("{what}: {}", listed.join(", ")))
        .with_names(names.iter().cloned())
        .with_hint("name the folder that `images extract` wrote to, or leave their placeholders with --allow-missing")
}

fn extract_one(job: &Job, assets: &Assets, options: &FileOptions, progress: &mut Progress<'_>) -> Result<ImageReport> {
    let at_file = |error| Error::os(error, &job.from);
    let (mut file, before) = open_file(&job.from).map_err(at_file)?;
    let size = before.length;
    let whole_lines = last_line_end(&mut file, size).map_err(at_file)?;
    let mut names = BTreeSet::new();
    let mut keep = |asset: Asset<'_>| {
        if names.insert(asset.name.to_owned()) { assets.put(&asset) } else { Ok(()) }
    };
    let mut target = Target::new(job.to.as_deref(), options)?;
    let mut input = Told { reader: (&mut file).take(whole_lines), done: 0, progress };
    let written = extract(&mut input, &mut target, options.cap, &mut keep);
    let mut extracted = written.map_err(|error| stopped_or(error, &job.from))?;
    // What was still being written: nothing is lifted out of it, but placeholders in it are escaped like elsewhere.
    let tail = extract(&mut (&mut file).take(size - whole_lines), &mut target, 0, &mut |_| Ok(()));
    let tail = tail.map_err(at_file)?;
    extracted.bytes_before += tail.bytes_before;
    extracted.bytes_after += tail.bytes_after;
    if let Some(written) = target.finish().map_err(at_file)? {
        verify(&written, &job.from, size, assets, &names)?;
        assets.settle().map_err(|error| Error::os(error, &assets.folder))?;
        written.put_in_place(&job.from, before)?;
    }
    Ok(ImageReport::of(extracted, names))
}

/// Where the file's last line end is: behind it nothing is whole. The whole of a file that has none is taken.
fn last_line_end(file: &mut (impl Read + Seek), size: u64) -> io::Result<u64> {
    let mut end = size;
    let mut block = vec![0; TAIL_BLOCK as usize];
    while end > 0 {
        let start = end.saturating_sub(TAIL_BLOCK);
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(found) = memchr::memrchr(b'\n', part) {
            file.rewind()?;
            return Ok(start + found as u64 + 1);
        }
        end = start;
    }
    file.rewind()?;
    Ok(size)
}

fn restore_one(job: &Job, assets: &Assets, options: &FileOptions, progress: &mut Progress<'_>) -> Result<ImageReport> {
    let at_file = |error| Error::os(error, &job.from);
    let (file, before) = open_file(&job.from).map_err(at_file)?;
    let (mut names, mut image_bytes) = (BTreeSet::new(), 0);
    let mut last = Last::default();
    let mut lookup = |name: &str| {
        let found = last.or(name, || assets.get(name))?;
        if let Some(data) = &found {
            names.insert(name.to_owned());
            image_bytes += (data.as_ref().len() as u64).div_ceil(3) * 4;
        }
        Ok(found)
    };
    let mut target = Target::new(job.to.as_deref(), options)?;
    let mut input = Told { reader: file.take(before.length), done: 0, progress };
    let restored = restore(&mut input, &mut target, options.form, &mut lookup);
    let restored = restored.map_err(|error| stopped_or(error, &job.from))?;
    let missing_names: BTreeSet<String> = restored.missing.into_iter().collect();
    if let Some(written) = target.finish().map_err(at_file)? {
        if !missing_names.is_empty() && !options.allow_missing {
            return Err(missing(&missing_names, &assets.folder));
        }
        written.put_in_place(&job.from, before)?;
    }
    Ok(ImageReport {
        files: 1,
        images: restored.images,
        names,
        bytes_before: restored.bytes_before,
        bytes_after: restored.bytes_after,
        image_bytes,
        missing: missing_names,
        ..ImageReport::default()
    })
}

fn stopped_or(error: io::Error, path: &Path) -> Error {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<Stop>()).is_some() {
        return stopped();
    }
    Error::os(error, path)
}

/// A reader that tells how far it has come.
struct Told<'t, 'p, R> {
    reader: R,
    done: u64,
    progress: &'t mut Progress<'p>,
}

/// What a reader fails with when it is told to stop.
#[derive(Debug)]
struct Stop;

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stopped")
    }
}

impl std::error::Error for Stop {}

impl<R: Read> Read for Told<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.done += count as u64;
        self.progress
            .reach(self.done)
            .and_then(|()| self.progress.ask())
            .map_or_else(|_| Err(io::Error::other(Stop)), |()| Ok(count))
    }
}
