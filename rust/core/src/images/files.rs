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

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::extract::{Asset, Extracted, extract};
use super::placeholder::{PlaceholderForm, matches_name};
use super::restore::restore;
use super::runs::{DEFAULT_CAP, LeftInline};
use crate::error::{Error, ErrorKind, Result};
use crate::{parallel, private};

/// A file that was written this recently may still be written to.
const QUIET_TIME: Duration = Duration::from_secs(60);

/// How much of a file's end is looked at at a time for its last line end.
const TAIL_BLOCK: u64 = 1 << 16;

/// Missing assets that an error names.
const MOST_NAMED: usize = 5;

/// Told how many bytes are done, and how many there are. Says whether to go on.
pub type Progress<'p> = &'p (dyn Fn(u64, u64) -> bool + Sync);

/// How to treat files.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// Images of more bytes than this stay inline.
    pub cap: usize,
    /// Replace the files themselves.
    pub in_place: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// How placeholders are written.
    pub form: PlaceholderForm,
    /// Leave placeholders whose asset is missing.
    pub allow_missing: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { cap: DEFAULT_CAP, in_place: false, dry_run: false, form: PlaceholderForm::Retell, allow_missing: false }
    }
}

/// What was done, over all files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageReport {
    /// Files handled.
    pub files: u64,
    /// Images lifted or put back, each occurrence counted.
    pub images: u64,
    /// Names of the distinct ones.
    pub names: BTreeSet<String>,
    /// Bytes of all files before.
    pub bytes_before: u64,
    /// Bytes of all files after.
    pub bytes_after: u64,
    /// Characters of base64 of the images.
    pub characters: u64,
    /// Runs that stand where an image can and were left, by reason.
    pub left_inline: BTreeMap<&'static str, u64>,
    /// Names of assets that are missing.
    pub missing: BTreeSet<String>,
    /// Images by media type.
    pub media_types: BTreeMap<&'static str, u64>,
    /// Files that are no regular files, and were passed over.
    pub skipped: Vec<PathBuf>,
}

impl ImageReport {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.images += other.images;
        self.names.extend(other.names);
        self.bytes_before += other.bytes_before;
        self.bytes_after += other.bytes_after;
        self.characters += other.characters;
        for (reason, count) in other.left_inline {
            *self.left_inline.entry(reason).or_default() += count;
        }
        self.missing.extend(other.missing);
        for (media_type, count) in other.media_types {
            *self.media_types.entry(media_type).or_default() += count;
        }
        self.skipped.extend(other.skipped);
    }

    fn of(extracted: Extracted, names: BTreeSet<String>) -> Self {
        Self {
            files: 1,
            images: extracted.images,
            names,
            bytes_before: extracted.bytes_before,
            bytes_after: extracted.bytes_after,
            characters: extracted.characters,
            left_inline: extracted
                .left_inline
                .into_iter()
                .map(|(reason, count)| (LeftInline::as_str(reason), count))
                .collect(),
            media_types: extracted.media_types,
            ..Self::default()
        }
    }
}

/// Lifts the images of `path`, a file or a folder, into `assets`, and writes what is left to `out` (or back, in
/// place).
///
/// # Errors
/// [`ErrorKind::Io`]; [`ErrorKind::Refused`] when `out` is `path` or lies inside it, and in place for a link, for a file
/// that was written in the last minute, and for one that changes meanwhile; [`ErrorKind::NotProven`] when what was
/// written does not give the file back. The file that it is about is not changed, and assets that were written stay.
pub fn extract_files(
    path: &Path,
    out: Option<&Path>,
    assets: &Path,
    options: &FileOptions,
    progress: Progress<'_>,
) -> Result<ImageReport> {
    let store = Store::open(assets, !options.dry_run)?;
    let work = |job: &Job, told: &dyn Fn(u64) -> bool| extract_one(job, &store, options, told);
    each_file(path, out, options, progress, &work)
}

/// Puts the images in `assets` back into `path`, a file or a folder, and writes the result to `out` (or back, in
/// place).
///
/// # Errors
/// [`ErrorKind::Io`], [`ErrorKind::Refused`], and [`ErrorKind::MissingAsset`] when an asset is missing or altered,
/// unless missing ones are allowed; then nothing is changed.
pub fn restore_files(
    path: &Path,
    out: Option<&Path>,
    assets: &Path,
    options: &FileOptions,
    progress: Progress<'_>,
) -> Result<ImageReport> {
    let store = Store::open(assets, false)?;
    // Of a folder, all assets are asked for before the first file is put into place; one file sees to that itself.
    if options.dry_run || (!options.allow_missing && path.is_dir()) {
        let look = FileOptions { dry_run: true, ..options.clone() };
        let work = |job: &Job, told: &dyn Fn(u64) -> bool| restore_one(job, &store, &look, told);
        let looked = each_file(path, out, &look, &|_, _| true, &work)?;
        if !options.allow_missing && !looked.missing.is_empty() {
            return Err(missing(&looked.missing, assets));
        }
        if options.dry_run {
            return Ok(looked);
        }
    }
    each_file(path, out, options, progress, &|job, told| restore_one(job, &store, options, told))
}

/// What images there are in `paths`. Reads only.
///
/// # Errors
/// [`ErrorKind::Io`], [`ErrorKind::Stopped`].
pub fn list_files(paths: &[PathBuf], cap: usize, progress: Progress<'_>) -> Result<ImageReport> {
    let options = FileOptions { cap, dry_run: true, ..FileOptions::default() };
    let store = Store { folder: PathBuf::new(), writes: false };
    let mut found = Found::default();
    paths.iter().try_for_each(|path| found.add(path, None))?;
    run(found, progress, &|job, told| extract_one(job, &store, &options, told))
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

/// One file to handle.
struct Job {
    from: PathBuf,
    to: Option<PathBuf>,
    size: u64,
}

type Work<'w> = &'w (dyn Fn(&Job, &dyn Fn(u64) -> bool) -> Result<ImageReport> + Sync);

fn each_file(
    path: &Path,
    out: Option<&Path>,
    options: &FileOptions,
    progress: Progress<'_>,
    work: Work<'_>,
) -> Result<ImageReport> {
    if let Some(out) = out {
        refuse_overlap(path, out)?;
    }
    let mut found = Found::default();
    found.add(path, if options.in_place { Some(path) } else { out })?;
    if options.in_place && !options.dry_run {
        found.jobs.iter().try_for_each(|job| refuse_unsafe(&job.from))?;
    }
    let folders = std::mem::take(&mut found.folders);
    let report = run(found, progress, work)?;
    if !options.in_place && !options.dry_run {
        // Those with files in them are there by now; the others are missed as well.
        folders.iter().try_for_each(|folder| private::folder(folder).map_err(|error| Error::os(error, folder)))?;
    }
    Ok(report)
}

/// Handles what was found, side by side.
fn run(found: Found, progress: Progress<'_>, work: Work<'_>) -> Result<ImageReport> {
    let Found { jobs, skipped, .. } = found;
    let mut report = ImageReport { skipped, ..ImageReport::default() };
    let (total, done, stop) = (jobs.iter().map(|job| job.size).sum::<u64>(), AtomicU64::new(0), AtomicBool::new(false));
    let results = parallel::map(&jobs, |job| {
        let told = |more: u64| {
            let done = done.fetch_add(more, Ordering::Relaxed) + more;
            if !progress(done.min(total), total) {
                stop.store(true, Ordering::Relaxed);
            }
            !stop.load(Ordering::Relaxed)
        };
        if stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Stopped, "stopped"));
        }
        let result = work(job, &told);
        if result.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        result
    });
    // The first real failure tells more than that the others were stopped because of it.
    let mut stopped = None;
    for result in results {
        match result {
            Ok(one) => report.add(one),
            Err(error) if error.kind() == ErrorKind::Stopped => stopped = Some(error),
            Err(error) => return Err(error),
        }
    }
    stopped.map_or(Ok(report), Err)
}

/// Refuses an `out` that is `path`, or lies inside it.
fn refuse_overlap(path: &Path, out: &Path) -> Result<()> {
    let (whole, whole_out) = (canonical(path), canonical(out));
    let refuse = |what: &str, hint: &str| {
        let message = format!("{} {what} {}", out.display(), path.display());
        Err(Error::new(ErrorKind::Refused, message).with_hint(hint))
    };
    if whole == whole_out {
        return refuse("is the same as", "name another place, or say in_place (--in-place) to replace the original");
    }
    if whole_out.starts_with(&whole) {
        return refuse("lies inside", "name a folder outside it");
    }
    Ok(())
}

/// Where `path` leads to, as far as it exists.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(whole) = fs::canonicalize(path) {
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
struct Found {
    jobs: Vec<Job>,
    /// The folders of the tree that is written.
    folders: Vec<PathBuf>,
    skipped: Vec<PathBuf>,
}

impl Found {
    /// The file `path`, or what is below it.
    fn add(&mut self, path: &Path, to: Option<&Path>) -> Result<()> {
        let metadata = fs::metadata(path).map_err(|error| Error::os(error, path))?;
        if metadata.is_dir() {
            return self.add_below(path, to);
        }
        self.jobs.push(Job { from: path.to_owned(), to: to.map(Path::to_owned), size: metadata.len() });
        Ok(())
    }

    fn add_below(&mut self, folder: &Path, out: Option<&Path>) -> Result<()> {
        let at_folder = |error| Error::os(error, folder);
        let entries = fs::read_dir(folder).map_err(at_folder)?;
        let mut entries: Vec<_> = entries.collect::<io::Result<_>>().map_err(at_folder)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        self.folders.extend(out.map(Path::to_owned));
        for entry in entries {
            let (from, to) = (entry.path(), out.map(|out| out.join(entry.file_name())));
            let kind = entry.file_type().map_err(|error| Error::os(error, &from))?;
            if kind.is_dir() {
                self.add_below(&from, to.as_deref())?;
            } else if kind.is_file() {
                let size = entry.metadata().map_err(|error| Error::os(error, &from))?.len();
                self.jobs.push(Job { from, to, size });
            } else {
                self.skipped.push(from);
            }
        }
        Ok(())
    }
}

fn refuse_unsafe(path: &Path) -> Result<()> {
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

fn extract_one(job: &Job, store: &Store, options: &FileOptions, told: &dyn Fn(u64) -> bool) -> Result<ImageReport> {
    let at_file = |error| Error::os(error, &job.from);
    let mut file = File::open(&job.from).map_err(at_file)?;
    let before = file.metadata().map_err(at_file)?;
    let size = before.len();
    let whole_lines = last_line_end(&mut file, size).map_err(at_file)?;
    let mut names = BTreeSet::new();
    let mut keep = |asset: Asset<'_>| {
        if names.insert(asset.name.to_owned()) { store.put(&asset) } else { Ok(()) }
    };
    let mut target = Target::new(job, options)?;
    let mut input = Told { reader: (&mut file).take(whole_lines), told };
    let written = extract(&mut input, &mut target, options.cap, &mut keep);
    let mut extracted = written.map_err(|error| stopped_or(error, &job.from))?;
    // What was still being written: nothing is lifted out of it, but placeholders in it are escaped like elsewhere.
    let tail = extract(&mut (&mut file).take(size - whole_lines), &mut target, 0, &mut |_| Ok(()));
    let tail = tail.map_err(at_file)?;
    extracted.bytes_before += tail.bytes_before;
    extracted.bytes_after += tail.bytes_after;
    if let Some(temporary) = target.finish().map_err(at_file)? {
        prove(&temporary, &job.from, size, store, &names)?;
        put_in_place(temporary, job, &before)?;
    }
    Ok(ImageReport::of(extracted, names))
}

/// Where the file's last line end is: behind it nothing is whole. The whole of a file that has none is taken.
fn last_line_end(file: &mut File, size: u64) -> io::Result<u64> {
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

/// Restores `temporary` and compares it with the first `size` bytes of `original`.
fn prove(temporary: &NamedTempFile, original: &Path, size: u64, store: &Store, names: &BTreeSet<String>) -> Result<()> {
    let at_file = |error| Error::os(error, original);
    let slim = File::open(temporary.path()).map_err(at_file)?;
    let expected = BufReader::with_capacity(1 << 18, File::open(original).map_err(at_file)?.take(size));
    let mut comparing = Comparing { expected, buffer: vec![0; 1 << 16] };
    let mut lookup = |name: &str| if names.contains(name) { store.get(name) } else { Ok(None) };
    let restored = restore(&mut BufReader::new(slim), &mut comparing, PlaceholderForm::Retell, &mut lookup);
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

fn restore_one(job: &Job, store: &Store, options: &FileOptions, told: &dyn Fn(u64) -> bool) -> Result<ImageReport> {
    let at_file = |error| Error::os(error, &job.from);
    let file = File::open(&job.from).map_err(at_file)?;
    let before = file.metadata().map_err(at_file)?;
    let (mut names, mut characters) = (BTreeSet::new(), 0);
    let mut lookup = |name: &str| {
        let found = store.get(name)?;
        if let Some(data) = &found {
            names.insert(name.to_owned());
            characters += (data.len() as u64).div_ceil(3) * 4;
        }
        Ok(found)
    };
    let mut target = Target::new(job, options)?;
    let mut input = Told { reader: file.take(before.len()), told };
    let restored = restore(&mut input, &mut target, options.form, &mut lookup);
    let restored = restored.map_err(|error| stopped_or(error, &job.from))?;
    let missing_names: BTreeSet<String> = restored.missing.into_iter().collect();
    if let Some(temporary) = target.finish().map_err(at_file)? {
        if !missing_names.is_empty() && !options.allow_missing {
            return Err(missing(&missing_names, &store.folder));
        }
        put_in_place(temporary, job, &before)?;
    }
    Ok(ImageReport {
        files: 1,
        images: restored.images,
        names,
        bytes_before: restored.bytes_before,
        bytes_after: restored.bytes_after,
        characters,
        missing: missing_names,
        ..ImageReport::default()
    })
}

fn stopped_or(error: io::Error, path: &Path) -> Error {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<Stop>()).is_some() {
        return Error::new(ErrorKind::Stopped, "stopped");
    }
    Error::os(error, path)
}

/// Where a file's new form is written: beside its place, or nowhere.
enum Target {
    Beside(BufWriter<NamedTempFile>),
    Nowhere,
}

impl Target {
    fn new(job: &Job, options: &FileOptions) -> Result<Self> {
        let Some(to) = job.to.as_deref().filter(|_| !options.dry_run) else { return Ok(Self::Nowhere) };
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = private::folder(folder)
            .and_then(|()| tempfile::Builder::new().prefix(".retell-").suffix(".partial").tempfile_in(folder));
        let file = made.map_err(|error| Error::os(error, to))?;
        Ok(Self::Beside(BufWriter::with_capacity(1 << 18, file)))
    }

    fn finish(self) -> io::Result<Option<NamedTempFile>> {
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
fn put_in_place(temporary: NamedTempFile, job: &Job, before: &Metadata) -> Result<()> {
    let Some(to) = &job.to else { return Ok(()) };
    if let Ok(modified) = before.modified() {
        // A file system without times is no reason to fail.
        let _ = temporary.as_file().set_modified(modified);
    }
    let synced = temporary.as_file().sync_data();
    synced.map_err(|error| Error::os(error, to))?;
    if *to == job.from {
        let now = fs::symlink_metadata(to).map_err(|error| Error::os(error, to))?;
        if now.len() != before.len() || now.modified().ok() != before.modified().ok() {
            return Err(Error::new(ErrorKind::Refused, format!("{} changed while it was read", to.display()))
                .with_hint("it is as it was; wait until its session has ended, or write beside with --output"));
        }
    }
    temporary.persist(to).map_err(|error| Error::os(error.error, to))?;
    Ok(())
}

/// The folder that assets lie in.
struct Store {
    folder: PathBuf,
    writes: bool,
}

impl Store {
    fn open(folder: &Path, writes: bool) -> Result<Self> {
        if writes {
            private::folder(folder).map_err(|error| Error::os(error, folder))?;
        }
        Ok(Self { folder: folder.to_owned(), writes })
    }

    fn put(&self, asset: &Asset<'_>) -> io::Result<()> {
        let path = self.folder.join(asset.name);
        let same_length = || fs::metadata(&path).is_ok_and(|metadata| metadata.len() == asset.data.len() as u64);
        if !self.writes || same_length() && fs::read(&path).is_ok_and(|there| there == asset.data) {
            return Ok(());
        }
        let mut file = tempfile::Builder::new().prefix(".retell-").suffix(".partial").tempfile_in(&self.folder)?;
        file.write_all(asset.data)?;
        file.as_file().sync_data()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The asset called `name`, verified against it; `None` when it is missing or altered.
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.folder.join(name)) {
            Ok(data) => Ok(matches_name(&data, name).then_some(data)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A reader that tells how far it has come.
struct Told<'t, R> {
    reader: R,
    told: &'t dyn Fn(u64) -> bool,
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

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if (self.told)(count as u64) { Ok(count) } else { Err(io::Error::other(Stop)) }
    }
}

/// A writer that compares what it is given with a file.
struct Comparing<R> {
    expected: R,
    buffer: Vec<u8>,
}

impl<R: Read> Comparing<R> {
    fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.expected.read(&mut self.buffer[..1])? == 0)
    }
}

impl<R: Read> Write for Comparing<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.buffer.len());
        let same = match self.expected.read_exact(&mut self.buffer[..count]) {
            Ok(()) => self.buffer[..count] == bytes[..count],
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(error),
        };
        if same { Ok(count) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
