//! events.json, manifest.json and assets/, written so that nothing half-written is ever left.
//!
//! ```text
//! what is in the place already has to be a former run's, or nothing is written
//! everything goes to a folder of its own beside the place, under a name that says so
//! when all of it is whole and on the disk: each file is renamed into place, manifest.json last
//! what a former run wrote and this one did not is removed (its manifest says what that was)
//! ```
//! Transcripts are private: folders are made 0700, files 0600.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::conversation::{Conversation, PROGRAM};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::manifest::Manifest;
use crate::{parallel, private};

use super::event_text::push_event;

const EVENTS: &str = "events.json";
const MANIFEST: &str = "manifest.json";
const ASSETS: &str = "assets";

/// How much of events.json is gathered before it is written.
const GATHERED: usize = 1 << 16;

/// Files that are open at a time until they are on the disk, and threads that wait for that: a disk takes little longer
/// for several at once than for one.
const MOST_OPEN: usize = 128;
const SYNC_THREADS: usize = 4;

/// What the folders are called that are written beside the place.
const STAGING: (&str, &str) = (".retell-", ".partial");
/// A staging folder that has not changed for so long belongs to a run that was killed.
const STALE: Duration = Duration::from_secs(60 * 60);

/// Writes `conversation` to `folder`, which is made if it is not there. A former run's files are replaced;
/// everything else in the folder is left alone.
///
/// # Errors
/// [`crate::ErrorKind::Io`]; of kind [`io::ErrorKind::AlreadyExists`] when a file in the place is not a former run's.
/// Until everything is written and whole, an error leaves the folder as it was. After that only renames are left; if
/// one of them fails, every file is still a whole one, of this run or of the former: some may be replaced and others
/// not yet, and manifest.json, the last, then tells of the former run.
pub fn write(conversation: &Conversation, folder: &Path) -> Result<()> {
    let at_folder = |error| Error::os(error, folder);
    let is_new = match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => false,
        Ok(_) => return Err(at_folder(io::ErrorKind::NotADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(at_folder(error)),
    };
    let parent = if is_new { parent_of(folder) } else { folder.to_owned() };
    if is_new {
        private::folder(&parent).map_err(|error| Error::os(error, &parent))?;
    } else {
        former_run(conversation, folder)?;
    }
    remove_stale(&parent);
    let staging = staging_folder(&parent).map_err(|error| Error::os(error, &parent))?;
    fill(conversation, staging.path()).map_err(|(error, name)| Error::os(error, &folder.join(name)))?;
    if is_new {
        // One rename makes the whole folder appear, unless another run has made it meanwhile.
        match fs::rename(staging.path(), folder) {
            Ok(()) => {
                let _ = staging.keep();
                return Ok(());
            }
            Err(_) if folder.is_dir() => {}
            Err(error) => return Err(at_folder(error)),
        }
    }
    put_in_place(conversation, &staging, folder)
}

/// Writes the whole of events.json to `out`: one event on each line.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_events(events: &[Event], out: &mut dyn Write) -> io::Result<()> {
    let mut gathered = b"[".to_vec();
    for (at, event) in events.iter().enumerate() {
        gathered.extend_from_slice(if at == 0 { b"\n" } else { b",\n" });
        push_event(&mut gathered, event)?;
        if gathered.len() >= GATHERED {
            out.write_all(&gathered)?;
            gathered.clear();
        }
    }
    gathered.extend_from_slice(b"\n]\n");
    out.write_all(&gathered)
}

/// Writes one event, as it stands in events.json.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_event(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    let mut json = Vec::new();
    push_event(&mut json, event)?;
    out.write_all(&json)
}

/// Writes the whole of manifest.json to `out`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_manifest(manifest: &Manifest, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, manifest)?;
    out.write_all(b"\n")
}

fn staging_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGING.0).suffix(STAGING.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(parent)
}

/// Removes what runs that were killed have left in `parent`. What cannot be removed is of no harm.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_staging = name.to_str().is_some_and(|name| name.starts_with(STAGING.0) && name.ends_with(STAGING.1));
        let is_stale = || {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            Some(metadata.modified().ok()?.elapsed().ok()? > STALE)
        };
        if is_staging && is_stale() == Some(true) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn parent_of(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes all files into `folder`, and waits until they are on the disk: a rename may reach it before what was written
/// does, and a crash then leave an empty file. The error comes with the name of the file.
fn fill(conversation: &Conversation, folder: &Path) -> Result<(), (io::Error, String)> {
    let mut unsynced = Unsynced { folder, files: Vec::new() };
    unsynced.create(EVENTS.to_owned(), |file| write_events(&conversation.events, file))?;
    unsynced.create(MANIFEST.to_owned(), |file| {
        let mut out = BufWriter::new(file);
        write_manifest(&conversation.manifest, &mut out)?;
        out.flush()
    })?;
    if !conversation.assets.is_empty() {
        private::folder(&folder.join(ASSETS)).map_err(|error| (error, ASSETS.to_owned()))?;
        for (name, image) in &conversation.assets {
            unsynced.create(format!("{ASSETS}/{name}"), |file| conversation.copy_image(*image, file))?;
        }
    }
    unsynced.sync()
}

/// Files that are written and may not be on the disk yet.
struct Unsynced<'f> {
    folder: &'f Path,
    files: Vec<(File, String)>,
}

impl Unsynced<'_> {
    fn create(
        &mut self,
        name: String,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), (io::Error, String)> {
        let filled = private::new_file(&self.folder.join(&name)).and_then(|mut file| fill(&mut file).map(|()| file));
        match filled {
            Ok(file) => self.files.push((file, name)),
            Err(error) => return Err((error, name)),
        }
        if self.files.len() < MOST_OPEN { Ok(()) } else { self.sync() }
    }

    fn sync(&mut self) -> Result<(), (io::Error, String)> {
        let files = std::mem::take(&mut self.files);
        let results = parallel::map(SYNC_THREADS, &files, |(file, _)| match file.sync_data() {
            // Some file systems have no such thing.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            result => result,
        });
        let mut results = results.into_iter().zip(files);
        results.find_map(|(result, (_, name))| Some((result.err()?, name))).map_or(Ok(()), Err)
    }
}

fn put_in_place(conversation: &Conversation, staging: &TempDir, folder: &Path) -> Result<()> {
    let former = former_run(conversation, folder)?;
    let place = |name: &str| {
        let to = folder.join(name);
        fs::rename(staging.path().join(name), &to).map_err(|error| Error::os(error, &to))
    };
    if !conversation.assets.is_empty() {
        let assets = folder.join(ASSETS);
        private::folder(&assets).map_err(|error| Error::os(error, &assets))?;
        for (name, _) in &conversation.assets {
            place(&format!("{ASSETS}/{name}"))?;
        }
    }
    let is_first = !folder.join(MANIFEST).exists();
    place(EVENTS)?;
    place(MANIFEST).inspect_err(|_| {
        if is_first {
            // Without a manifest the next run would take it for somebody else's.
            let _ = fs::remove_file(folder.join(EVENTS));
        }
    })?;
    let kept: HashSet<&str> = conversation.assets.iter().map(|(name, _)| name.as_str()).collect();
    for name in former.iter().filter(|name| !kept.contains(name.as_str())) {
        // It may have been removed by hand.
        let _ = fs::remove_file(folder.join(ASSETS).join(name));
    }
    if !former.is_empty() && kept.is_empty() {
        // Only goes when nothing is left in it.
        let _ = fs::remove_dir(folder.join(ASSETS));
    }
    Ok(())
}

/// What the manifest of a former run says it wrote to assets/. Names that this program does not make are not
/// believed.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when a file stands where `conversation` would be written and is no former run's.
fn former_run(conversation: &Conversation, folder: &Path) -> Result<HashSet<String>> {
    let in_the_way = |path: &Path| Error::os(io::ErrorKind::AlreadyExists.into(), path);
    let path = folder.join(MANIFEST);
    let former = match fs::read(&path) {
        Ok(bytes) => {
            let manifest: serde_json::Value = serde_json::from_slice(&bytes).map_err(|_| in_the_way(&path))?;
            if manifest.pointer("/parser/name").and_then(serde_json::Value::as_str) != Some(PROGRAM) {
                return Err(in_the_way(&path));
            }
            let names = manifest.get(ASSETS).and_then(serde_json::Value::as_array).into_iter().flatten();
            let ours = |name: &&str| name.starts_with("screenshot-") && !name.contains(['/', '\\']);
            names.filter_map(serde_json::Value::as_str).filter(ours).map(str::to_owned).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let events = folder.join(EVENTS);
            if events.symlink_metadata().is_ok() {
                return Err(in_the_way(&events));
            }
            HashSet::new()
        }
        Err(_) if path.is_dir() => return Err(in_the_way(&path)),
        Err(error) => return Err(Error::os(error, &path)),
    };
    for (name, _) in conversation.assets.iter().filter(|(name, _)| !former.contains(name)) {
        let path = folder.join(ASSETS).join(name);
        if path.symlink_metadata().is_ok() {
            return Err(in_the_way(&path));
        }
    }
    Ok(former)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Progress, Source, parse};

    const LINE: &str = r#"{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-02-10T09:14:01.000Z","message":{"role":"user","content":"why does the boat leak"}}"#;

    fn conversation() -> Conversation {
        let bytes = format!("{LINE}\n").into_bytes();
        parse(Source::Bytes(bytes), &ParseOptions::default(), &mut Progress::silent()).unwrap()
    }

    fn listed(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn refused(folder: &Path, name: &str) {
        let before = listed(folder);
        let error = write(&conversation(), folder).unwrap_err();
        assert_eq!(error.io().unwrap().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(error.path().unwrap(), folder.join(name));
        assert_eq!(listed(folder), before);
    }

    #[test]
    fn an_event_is_written_as_serde_json_writes_it() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let sessions = ["claude-code", "codex"].map(|agent| fs::read_dir(data.join(agent)).unwrap());
        let options = ParseOptions { include_subagents: true, ..ParseOptions::default() };
        let mut events = 0;
        for path in sessions.into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let Ok(conversation) = parse(Source::Path(path), &options, &mut Progress::silent()) else { continue };
            for event in &conversation.events {
                let mut written = Vec::new();
                write_event(event, &mut written).unwrap();
                assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(event).unwrap());
                events += 1;
            }
        }
        assert!(events > 100, "{events}");
    }

    #[test]
    fn files_of_others_are_not_replaced() {
        for manifest in ["{}", "mine", r#"{"parser":{"name":"other"},"assets":["screenshot-000-0.png"]}"#] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(MANIFEST), manifest).unwrap();
            refused(folder.path(), MANIFEST);
            assert_eq!(fs::read_to_string(folder.path().join(MANIFEST)).unwrap(), manifest);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(EVENTS), "[]").unwrap();
        refused(folder.path(), EVENTS);
        assert_eq!(fs::read_to_string(folder.path().join(EVENTS)).unwrap(), "[]");
    }

    #[test]
    fn a_folder_for_assets_goes_only_if_a_former_run_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, assets) = (folder.path(), folder.path().join(ASSETS));
        fs::create_dir(&assets).unwrap();
        write(&conversation(), folder).unwrap();
        write(&conversation(), folder).unwrap();
        assert_eq!(listed(folder), [ASSETS, EVENTS, MANIFEST]);
        fs::write(assets.join("screenshot-000-0.png"), "former").unwrap();
        let former = r#"{"parser":{"name":"retell-fast"},"assets":["screenshot-000-0.png","../events.json"]}"#;
        fs::write(folder.join(MANIFEST), former).unwrap();
        write(&conversation(), folder).unwrap();
        assert_eq!(listed(folder), [EVENTS, MANIFEST]);
    }

    #[test]
    fn what_killed_runs_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * STALE;
        for (name, old) in [(".retell-old.partial", true), (".retell-new.partial", false), (".retell-kept", true)] {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(EVENTS), "[").unwrap();
            if old {
                fs::File::open(&path).unwrap().set_modified(long_ago).unwrap();
            }
        }
        write(&conversation(), &folder.path().join("out")).unwrap();
        assert_eq!(listed(folder.path()), [".retell-kept", ".retell-new.partial", "out"]);
    }

    #[test]
    fn many_runs_may_make_one_new_folder_at_once() {
        let conversation = conversation();
        let parent = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let folder = parent.path().join(round.to_string());
            std::thread::scope(|scope| {
                let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| write(&conversation, &folder))).collect();
                for run in runs {
                    run.join().unwrap().unwrap();
                }
            });
            assert_eq!(listed(&folder), [EVENTS, MANIFEST]);
        }
        assert_eq!(listed(parent.path()).len(), 20);
    }
}
