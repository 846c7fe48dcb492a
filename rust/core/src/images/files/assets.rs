//! The folder that assets lie in.
//!
//! What is on the disk when: an asset's bytes before it gets its name, the names before the transcript that needs them
//! gets its own. So after a loss of power a transcript's assets are there if it is, and whole.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::images::extract::Asset;
use crate::images::placeholder::matches_name;
use crate::io::atomic::{AtomicFile, settle_folder};
use crate::io::{Stamp, open_file, permissions, read_file};

/// The folder that assets lie in.
pub struct Assets {
    pub folder: PathBuf,
    writes: bool,
    /// What files were like when they were verified: one that is still like that is not hashed again.
    verified: Mutex<HashMap<String, Stamp>>,
}

/// An asset's bytes, which the next placeholder often asks for again.
#[derive(Clone)]
pub struct Bytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Remembers the asset that was asked for last.
#[derive(Default)]
pub struct Last(Option<(String, Bytes)>);

impl Last {
    /// The asset called `name`, by `get` unless it was the last.
    pub fn or(&mut self, name: &str, get: impl FnOnce() -> io::Result<Option<Vec<u8>>>) -> io::Result<Option<Bytes>> {
        if let Some((last, bytes)) = &self.0
            && last == name
        {
            return Ok(Some(bytes.clone()));
        }
        // Let go before another is read: there is never more than one.
        self.0 = None;
        let bytes = get()?.map(|data| Bytes(Arc::new(data)));
        self.0 = bytes.clone().map(|bytes| (name.to_owned(), bytes));
        Ok(bytes)
    }
}

impl Assets {
    /// The assets in `folder`, which is made if they are to be written.
    pub fn open(folder: &Path, writes: bool) -> Result<Self> {
        if writes {
            permissions::folder(folder).map_err(|error| Error::os(error, folder))?;
        }
        Ok(Self { folder: folder.to_owned(), writes, verified: Mutex::default() })
    }

    /// Those of nowhere, to which nothing is written.
    pub fn none() -> Self {
        Self { folder: PathBuf::new(), writes: false, verified: Mutex::default() }
    }

    /// Writes `asset`, unless it is there.
    pub fn put(&self, asset: &Asset<'_>) -> io::Result<()> {
        let path = self.folder.join(asset.name);
        let same_length = || path.metadata().is_ok_and(|metadata| metadata.len() == asset.data.len() as u64);
        if !self.writes || same_length() && read_file(&path).is_ok_and(|there| there == asset.data) {
            return Ok(());
        }
        let mut file = AtomicFile::new(&path)?;
        file.write_all(asset.data)?;
        file.sync()?;
        file.rename()
    }

    /// Sees to it that the names of assets outlast a loss of power.
    pub fn settle(&self) -> io::Result<()> {
        if self.writes { settle_folder(&self.folder) } else { Ok(()) }
    }

    /// The asset called `name`, whatever is in it: for those who compare.
    pub fn unverified(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.read(name)?.map(|(data, _)| data))
    }

    /// The asset called `name`, verified against it; `None` when it is missing or altered.
    pub fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((data, stamp)) = self.read(name)? else { return Ok(None) };
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified().get(name) == Some(&stamp) {
            return Ok(Some(data));
        }
        if !matches_name(&data, name) {
            return Ok(None);
        }
        verified().insert(name.to_owned(), stamp);
        Ok(Some(data))
    }

    fn read(&self, name: &str) -> io::Result<Option<(Vec<u8>, Stamp)>> {
        let (mut file, stamp) = match open_file(&self.folder.join(name)) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut data = Vec::with_capacity(stamp.length as usize + 1);
        file.read_to_end(&mut data)?;
        Ok(Some((data, stamp)))
    }
}
