//! events.json, manifest.json and assets/, written so that nothing half-written is ever left.
//!
//! ```text
//! everything goes to a folder of its own beside the place, under a name that says so
//! when all of it is whole: each file is renamed into place, manifest.json last
//! what a former run wrote and this one did not is removed (its manifest says what that was)
//! ```
//! Transcripts are private: folders are made 0700, files 0600.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use tempfile::TempDir;

use crate::conversation::{Conversation, Manifest};
use crate::error::{Error, Result};
use crate::event::Event;

const EVENTS: &str = "events.json";
const MANIFEST: &str = "manifest.json";
const ASSETS: &str = "assets";

/// Writes `conversation` to `folder`, which is made if it is not there. A former run's files are replaced;
/// everything else in the folder is left alone.
///
/// # Errors
/// [`crate::ErrorKind::Io`]; then the folder is as it was before.
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
        private_folder(&parent).map_err(|error| Error::os(error, &parent))?;
    }
    let staging = staging_folder(&parent).map_err(|error| Error::os(error, &parent))?;
    fill(conversation, staging.path()).map_err(|(error, name)| Error::os(error, &folder.join(name)))?;
    if is_new {
        // One rename makes the whole folder appear.
        let whole = staging.keep();
        return fs::rename(&whole, folder).map_err(|error| {
            let _ = fs::remove_dir_all(&whole);
            at_folder(error)
        });
    }
    put_in_place(conversation, &staging, folder)
}

/// Writes the whole of events.json to `out`: one event on each line.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_events(events: &[Event], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, event) in events.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        write_event(event, out)?;
    }
    out.write_all(b"\n]\n")
}

/// Writes one event, as it stands in events.json.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_event(event: &Event, out: &mut dyn Write) -> io::Result<()> {
    Ok(serde_json::to_writer(out, event)?)
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
    builder.prefix(".retell-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(parent)
}

fn parent_of(folder: &Path) -> PathBuf {
    match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn fill(conversation: &Conversation, folder: &Path) -> Result<(), (io::Error, String)> {
    let named = |name: &str| {
        let name = name.to_owned();
        move |error| (error, name)
    };
    create(&folder.join(EVENTS), |out| write_events(&conversation.events, out)).map_err(named(EVENTS))?;
    create(&folder.join(MANIFEST), |out| write_manifest(&conversation.manifest, out)).map_err(named(MANIFEST))?;
    if conversation.assets.is_empty() {
        return Ok(());
    }
    let assets = folder.join(ASSETS);
    private_folder(&assets).map_err(named(ASSETS))?;
    let mut images = conversation.images.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, image) in &conversation.assets {
        create(&assets.join(name), |out| images.copy_to(*image, out)).map_err(named(&format!("{ASSETS}/{name}")))?;
    }
    Ok(())
}

fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, private_file(path)?);
    fill(&mut out)?;
    out.flush()
}

fn put_in_place(conversation: &Conversation, staging: &TempDir, folder: &Path) -> Result<()> {
    let former = former_assets(&folder.join(MANIFEST));
    let place = |name: &str| {
        let to = folder.join(name);
        fs::rename(staging.path().join(name), &to).map_err(|error| Error::os(error, &to))
    };
    if !conversation.assets.is_empty() {
        let assets = folder.join(ASSETS);
        private_folder(&assets).map_err(|error| Error::os(error, &assets))?;
        for (name, _) in &conversation.assets {
            place(&format!("{ASSETS}/{name}"))?;
        }
    }
    place(EVENTS)?;
    place(MANIFEST)?;
    let kept: HashSet<&str> = conversation.assets.iter().map(|(name, _)| name.as_str()).collect();
    for name in former.iter().filter(|name| !kept.contains(name.as_str())) {
        // It may have been removed by hand.
        let _ = fs::remove_file(folder.join(ASSETS).join(name));
    }
    // Only goes when nothing is left in it.
    let _ = fs::remove_dir(folder.join(ASSETS));
    Ok(())
}

/// What the manifest of a former run says it wrote to assets/. Names that this program does not make are not
/// believed.
fn former_assets(manifest: &Path) -> Vec<String> {
    let manifest: serde_json::Value =
        fs::read(manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let names = manifest.get(ASSETS).and_then(serde_json::Value::as_array).into_iter().flatten();
    let ours = |name: &&str| name.starts_with("screenshot-") && !name.contains(['/', '\\']);
    names.filter_map(serde_json::Value::as_str).filter(ours).map(str::to_owned).collect()
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}
