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
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::json::{JsonWriter, write_manifest};
use super::sink::{Sink, StoredImage, send};
use crate::conversation::{Conversation, PROGRAM};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::io::atomic::folder_of;
use crate::io::staging::{StagedFile, Staging};
use crate::io::{permissions, read_file, remove_dir, remove_file};
use crate::manifest::Manifest;

const EVENTS: &str = "events.json";
const MANIFEST: &str = "manifest.json";
const ASSETS: &str = "assets";

/// Writes `conversation` to `folder`, which is made if it is not there. A former run's files are replaced;
/// everything else in the folder is left alone.
///
/// # Errors
/// As for [`FolderWriter`].
pub fn write(conversation: &Conversation, folder: &Path) -> Result<()> {
    send(conversation, FolderWriter::new(folder, &conversation.manifest)?)
}

/// Writes a folder of events.json, manifest.json and assets/. Dropped before its end it leaves nothing behind.
///
/// Its errors are of the kind [`crate::ErrorKind::Io`]; of kind [`io::ErrorKind::AlreadyExists`] when a file in the place
/// is not a former run's. Until everything is written and whole, an error leaves the folder as it was. After that only
/// renames are left; if one of them fails, every file is still a whole one, of this run or of the former: some may be
/// replaced and others not yet, and manifest.json, the last, then tells of the former run.
pub struct FolderWriter<'m> {
    folder: PathBuf,
    manifest: &'m Manifest,
    is_new: bool,
    staging: Staging,
    events: JsonWriter<StagedFile>,
}

impl<'m> FolderWriter<'m> {
    /// Begins to write what `manifest` describes to `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// When `folder` is none, holds files of others, or nothing can be written beside it.
    pub fn new(folder: &Path, manifest: &'m Manifest) -> Result<Self> {
        let at_folder = |error| Error::os(error, folder);
        let is_new = match folder.metadata() {
            Ok(metadata) if metadata.is_dir() => false,
            Ok(_) => return Err(at_folder(io::ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(at_folder(error)),
        };
        let parent = if is_new { folder_of(folder) } else { folder };
        let at_parent = |error| Error::os(error, parent);
        if is_new {
            permissions::folder(parent).map_err(at_parent)?;
        } else {
            former_run(manifest, folder)?;
        }
        let staging = Staging::in_folder(parent).map_err(at_parent)?;
        let events = staging.create(EVENTS).map_err(|error| Error::os(error, &folder.join(EVENTS)))?;
        if !manifest.assets.is_empty() {
            staging.create_folder(ASSETS).map_err(|error| Error::os(error, &folder.join(ASSETS)))?;
        }
        Ok(Self { folder: folder.to_owned(), manifest, is_new, staging, events: JsonWriter::new(events) })
    }

    fn at(&self, name: &str) -> impl Fn(io::Error) -> Error + use<> {
        let path = self.folder.join(name);
        move |error| Error::os(error, &path)
    }
}

impl Sink for FolderWriter<'_> {
    type Error = Error;

    fn event(&mut self, event: &Event) -> Result<ControlFlow<()>> {
        self.events.event(event).map_err(self.at(EVENTS))
    }

    fn asset(&mut self, asset: &StoredImage<'_>) -> Result<ControlFlow<()>> {
        let name = format!("{ASSETS}/{}", asset.name);
        let at_file = self.at(&name);
        let mut file = self.staging.create(&name).map_err(&at_file)?;
        asset.copy_to(file.as_file()).map_err(&at_file)?;
        self.staging.keep(file).map_err(|(error, name)| self.at(&name)(error))?;
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<()> {
        let Self { folder, manifest, is_new, mut staging, events } = self;
        let at = |name: &str, error| Error::os(error, &folder.join(name));
        let at_file = |(error, name): (io::Error, String)| at(&name, error);
        staging.keep(events.into_inner().map_err(|error| at(EVENTS, error))?).map_err(at_file)?;
        let written = staging.create(MANIFEST).and_then(|file| {
            let mut out = BufWriter::new(file);
            write_manifest(manifest, &mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)
        });
        staging.keep(written.map_err(|error| at(MANIFEST, error))?).map_err(at_file)?;
        staging.sync().map_err(at_file)?;
        if is_new {
            // One rename makes the whole folder appear, unless another run has made it meanwhile.
            match staging.become_folder(&folder).map_err(|error| Error::os(error, &folder))? {
                Ok(()) => return Ok(()),
                Err(still) => staging = still,
            }
        }
        put_in_place(manifest, &staging, &folder)
    }
}

fn put_in_place(manifest: &Manifest, staging: &Staging, folder: &Path) -> Result<()> {
    let former = former_run(manifest, folder)?;
    let place = |name: &str| staging.rename(name, folder).map_err(|error| Error::os(error, &folder.join(name)));
    if !manifest.assets.is_empty() {
        let assets = folder.join(ASSETS);
        permissions::folder(&assets).map_err(|error| Error::os(error, &assets))?;
        for name in &manifest.assets {
            place(&format!("{ASSETS}/{name}"))?;
        }
    }
    let is_first = !folder.join(MANIFEST).exists();
    place(EVENTS)?;
    place(MANIFEST).inspect_err(|_| {
        if is_first {
            // Without a manifest the next run would take it for somebody else's.
            let _ = remove_file(folder.join(EVENTS));
        }
    })?;
    let kept: HashSet<&str> = manifest.assets.iter().map(String::as_str).collect();
    for name in former.iter().filter(|name| !kept.contains(name.as_str())) {
        // It may have been removed by hand.
        let _ = remove_file(folder.join(ASSETS).join(name));
    }
    if !former.is_empty() && kept.is_empty() {
        // Only goes when nothing is left in it.
        let _ = remove_dir(folder.join(ASSETS));
    }
    Ok(())
}

/// What the manifest of a former run says it wrote to assets/. Names that this program does not make are not
/// believed.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when a file stands where what `new` describes would be written and is no former run's.
fn former_run(new: &Manifest, folder: &Path) -> Result<HashSet<String>> {
    let in_the_way = |path: &Path| Error::os(io::ErrorKind::AlreadyExists.into(), path);
    let path = folder.join(MANIFEST);
    let former = match read_file(&path) {
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
    for name in new.assets.iter().filter(|name| !former.contains(*name)) {
        let path = folder.join(ASSETS).join(name);
        if path.symlink_metadata().is_ok() {
            return Err(in_the_way(&path));
        }
    }
    Ok(former)
}

#[cfg(test)]
mod tests {
    use std::fs;

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
