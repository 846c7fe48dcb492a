//! The files of a call: one, or those below a folder, where each goes, and what must not lie within what.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::options::FileOptions;
use super::report::{ImageReport, ImageReports};
use super::target::refuse_unsafe;
use crate::error::{Error, ErrorKind, Result};
use crate::io::compressed_with;
use crate::io::permissions;
use crate::io::walk::{Entry, Kind, Trouble, Walk};
use crate::parallel;
use crate::progress::{Progress, Shared};

/// One file to handle.
pub struct Job {
    pub from: PathBuf,
    pub to: Option<PathBuf>,
    pub size: u64,
}

/// What is done with each.
pub type Work<'w> = &'w (dyn Fn(&Job, &mut Progress<'_>) -> Result<ImageReport> + Sync);

/// The places of a call.
pub struct Places<'p> {
    pub path: &'p Path,
    pub out: Option<&'p Path>,
    pub assets: &'p Path,
}

/// Does `work` with each file.
pub fn each_file(
    places: &Places<'_>,
    options: &FileOptions,
    progress: &mut Progress<'_>,
    work: Work<'_>,
) -> Result<ImageReports> {
    let path = places.path;
    let mut found = Found { assets: Some(canonical(places.assets)), ..Found::default() };
    found.add(path, if options.in_place { Some(path) } else { places.out })?;
    if options.in_place && !options.dry_run {
        found.jobs.iter().try_for_each(|job| refuse_unsafe(&job.from))?;
    }
    let folders = std::mem::take(&mut found.folders);
    let reports = run(found, options.threads, progress, work)?;
    if !options.in_place && !options.dry_run {
        // Those with files in them are there by now; the others are missed as well.
        folders.iter().try_for_each(|folder| permissions::folder(folder).map_err(|error| Error::os(error, folder)))?;
    }
    Ok(reports)
}

/// Handles what was found, side by side.
pub fn run(
    found: Found,
    threads: Option<NonZero<usize>>,
    progress: &mut Progress<'_>,
    work: Work<'_>,
) -> Result<ImageReports> {
    let threads = parallel::threads(threads)?;
    let Found { jobs, skipped, .. } = found;
    let mut reports = ImageReports::default();
    reports.total.skipped = skipped;
    progress.set_total(Some(jobs.iter().map(|job| job.size).sum()));
    let results = if threads.min(jobs.len()) <= 1 {
        let mut done = 0;
        let one = |job: &Job| {
            progress.reach(done)?;
            done += job.size;
            work(job, &mut progress.piece(job.size))
        };
        jobs.iter().map(one).collect()
    } else {
        let shared = Shared::default();
        let one = |job: &Job| work(job, &mut shared.piece(job.size)).inspect_err(|_| shared.stop());
        parallel::map_while(threads, &jobs, one, &shared, progress)?
    };
    // The first real failure tells more than that the others were stopped because of it.
    let mut stopped = None;
    for (result, job) in results.into_iter().zip(jobs) {
        match result {
            Ok(one) => {
                reports.total.add(&one);
                reports.files.push((job.from, one));
            }
            Err(error) if error.kind() == ErrorKind::Stopped => stopped = Some(error),
            Err(error) => return Err(error),
        }
    }
    stopped.map_or(Ok(reports), Err)
}

/// Refuses places of which one would be written over, or read again, with another.
pub fn refuse_overlap(places: &Places<'_>) -> Result<()> {
    let Places { path, out, assets } = *places;
    let (whole, is_folder) = (canonical(path), path.is_dir());
    let refuse = |which: &Path, what: &str, hint: &str| {
        let message = format!("{} {what} {}", which.display(), path.display());
        Err(Error::new(ErrorKind::Refused, message).with_hint(hint))
    };
    if is_folder && canonical(assets) == whole {
        return refuse(assets, "is to hold the images, and is the same as", "name another folder with --assets");
    }
    let Some(out) = out else { return Ok(()) };
    let whole_out = canonical(out);
    if whole == whole_out {
        let hint = "name another place, or say in_place (--in-place) to replace the original";
        return refuse(out, "is the same as", hint);
    }
    if whole_out.starts_with(&whole) {
        return refuse(out, "lies inside", "name a folder outside it");
    }
    if is_folder && whole.starts_with(&whole_out) {
        return refuse(out, "holds", "name a folder of its own for what is written");
    }
    if !is_folder && out.is_dir() {
        return refuse(out, "is a folder, and is to be written from the file", "name a file");
    }
    Ok(())
}

/// Where `path` leads to, as far as it exists.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => canonical(parent).join(name),
        _ => absolute,
    }
}

/// What is to be done.
#[derive(Default)]
pub struct Found {
    walk: Walk,
    jobs: Vec<Job>,
    /// The folders of the tree that is written.
    folders: Vec<PathBuf>,
    skipped: Vec<PathBuf>,
    /// The folder of the assets: it is no part of the tree, wherever it lies.
    assets: Option<PathBuf>,
}

impl Found {
    /// The file `path`, or what is below it.
    pub fn add(&mut self, path: &Path, to: Option<&Path>) -> Result<()> {
        let metadata = path.metadata().map_err(|error| Error::os(error, path))?;
        if metadata.is_dir() {
            return self.add_below(path, to);
        }
        if !metadata.is_file() {
            // Such a thing is read once, and opening it can wait for a writer.
            let message = format!("{} is a pipe, a socket or a device: images are moved in files", path.display());
            return Err(
                Error::new(ErrorKind::Refused, message).with_hint("save what it gives to a file, and name that")
            );
        }
        if let Some(program) = compressed_with(path).map_err(|error| Error::os(error, path))? {
            let message = format!("{} is compressed: images are moved in plain transcripts", path.display());
            return Err(Error::new(ErrorKind::Refused, message).with_hint(format!("decompress it first: {program} -d")));
        }
        self.jobs.push(Job { from: path.to_owned(), to: to.map(Path::to_owned), size: metadata.len() });
        Ok(())
    }

    fn add_below(&mut self, folder: &Path, out: Option<&Path>) -> Result<()> {
        let Self { walk, jobs, folders, skipped, assets } = self;
        let is_assets = |entry: &Entry| assets.as_ref().is_some_and(|assets| entry.real == *assets);
        let from_here = jobs.len();
        let below = walk.below(folder, usize::MAX, &is_assets).map_err(|error| Error::os(error, folder))?;
        folders.extend(out.map(Path::to_owned));
        for entry in below {
            let Entry { path: from, kind, .. } = entry.map_err(|Trouble { path, error }| Error::os(error, &path))?;
            let to = out.map(|out| from.strip_prefix(folder).map_or_else(|_| out.to_owned(), |name| out.join(name)));
            match kind {
                Kind::Folder => folders.extend(to),
                Kind::File => {
                    let size = from.symlink_metadata().map_err(|error| Error::os(error, &from))?.len();
                    jobs.push(Job { from, to, size });
                }
                Kind::LeftFolder | Kind::LinkedFile | Kind::Other => skipped.push(from),
            }
        }
        jobs[from_here..].sort_by(|one, other| one.from.as_os_str().cmp(other.from.as_os_str()));
        Ok(())
    }
}
