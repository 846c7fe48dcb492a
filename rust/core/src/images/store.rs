//! Decoded images, once each, kept in a temporary file so that memory does not grow with them.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tempfile::SpooledTempFile;

use super::format::ImageFormat;
use super::recent::Recent;
use super::runs::{DEFAULT_CAP, LeftInline, image_of};
use crate::event::{ImageId, InlineImage, MetImage, NotExtracted};
use crate::json;

/// How much is kept in memory before the temporary file is made.
const SPOOL_LIMIT: usize = 4 * 1024 * 1024;

struct Stored {
    format: ImageFormat,
    start: u64,
    length: u64,
}

/// The distinct images of a conversation. What is written goes to an unnamed temporary file that the system
/// removes with the store, whatever happens.
pub struct ImageStore {
    images: Vec<Stored>,
    by_hash: HashMap<[u8; 32], ImageId>,
    recent: Recent<ImageId>,
    spool: SpooledTempFile,
    length: u64,
}

impl Default for ImageStore {
    fn default() -> Self {
        Self {
            images: Vec::new(),
            by_hash: HashMap::new(),
            recent: Recent::default(),
            spool: SpooledTempFile::new(SPOOL_LIMIT),
            length: 0,
        }
    }
}

impl From<LeftInline> for NotExtracted {
    fn from(reason: LeftInline) -> Self {
        match reason {
            LeftInline::NotCanonical => Self::NotCanonical,
            LeftInline::NotAnImage => Self::NotAnImage,
            LeftInline::TooLarge => Self::TooLarge,
        }
    }
}

impl ImageStore {
    /// Decodes `image` and keeps it in `store`, unless the same bytes are kept already. The image codec judges what is
    /// one. Several threads may do so: they wait for each other only to look up and to write, not to decode and hash.
    ///
    /// # Errors
    /// The outer one when the temporary file cannot be written, the inner one when it is no image.
    pub fn add(store: &Mutex<Self>, image: InlineImage<'_>) -> io::Result<MetImage> {
        let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = lock().recent.get(&[], image.base64) {
            return Ok(Ok(known));
        }
        // Some writers escape the slashes (`\/`); JSON says that is the same string.
        let characters = json::decode(image.base64).text;
        let (bytes, format) = match image_of(characters.as_bytes(), DEFAULT_CAP) {
            Ok(image) => image,
            Err(reason) => return Ok(Err(reason.into())),
        };
        let hash: [u8; 32] = Sha256::digest(&bytes).into();
        lock().keep(image, &bytes, hash, format).map(Ok)
    }

    fn keep(
        &mut self,
        image: InlineImage<'_>,
        bytes: &[u8],
        hash: [u8; 32],
        format: ImageFormat,
    ) -> io::Result<ImageId> {
        if let Some(&known) = self.by_hash.get(&hash) {
            self.recent.remember_copy(image.base64, known);
            return Ok(known);
        }
        self.spool.seek(SeekFrom::Start(self.length))?;
        self.spool.write_all(bytes)?;
        let id = ImageId(self.images.len());
        self.images.push(Stored { format, start: self.length, length: bytes.len() as u64 });
        self.length += bytes.len() as u64;
        self.by_hash.insert(hash, id);
        self.recent.remember_copy(image.base64, id);
        Ok(id)
    }

    /// What `image` is.
    #[must_use]
    pub fn format(&self, image: ImageId) -> ImageFormat {
        self.images[image.0].format
    }

    /// Copies the bytes of `image` to `out`.
    ///
    /// # Errors
    /// When the temporary file cannot be read or `out` not be written.
    pub fn copy_to(&mut self, image: ImageId, out: &mut dyn Write) -> io::Result<()> {
        let Stored { start, length, .. } = self.images[image.0];
        self.spool.seek(SeekFrom::Start(start))?;
        let copied = io::copy(&mut (&mut self.spool).take(length), out)?;
        if copied == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use base64_simd::STANDARD;

    use super::*;

    #[test]
    fn the_same_image_is_kept_once_and_comes_back() {
        let store = Mutex::new(ImageStore::default());
        let gif = |tail: &str| STANDARD.encode_to_string(format!("GIF89a{tail}"));
        let (one, two) = (gif("one"), gif(&"two?".repeat(40)));
        assert!(two.contains('/'));
        let add = |text: &str| ImageStore::add(&store, InlineImage { base64: text.as_bytes() }).expect("a spool");
        let escaped = two.replace('/', "\\/");
        let ids = [add(&one), add(&two), add(&one), add(&escaped), add(&two), add(&escaped)];
        assert_eq!(ids.map(|met| met.map(|id| id.0)), [Ok(0), Ok(1), Ok(0), Ok(1), Ok(1), Ok(1)]);
        let mut out = Vec::new();
        store.lock().expect("a store").copy_to(ImageId(1), &mut out).expect("a spool");
        assert_eq!(out, format!("GIF89a{}", "two?".repeat(40)).into_bytes());
    }

    #[test]
    fn what_the_codec_leaves_inline_is_not_kept() {
        let store = Mutex::new(ImageStore::default());
        let large = STANDARD.encode_to_string([b"GIF89a".to_vec(), vec![0; DEFAULT_CAP]].concat());
        let gif = STANDARD.encode_to_string(format!("GIF89a{}12", ", and one more".repeat(10)));
        for (text, reason) in [
            ("!!", NotExtracted::NotAnImage),
            ("", NotExtracted::NotAnImage),
            ("aGVsbG8=", NotExtracted::NotAnImage),
            (&format!("{}!!", &gif[..80]), NotExtracted::NotCanonical),
            (gif.trim_end_matches('='), NotExtracted::NotCanonical),
            (&gif.replace("Mg==", "Mh=="), NotExtracted::NotCanonical),
            (&format!("{gif}\\n"), NotExtracted::NotCanonical),
            (&large, NotExtracted::TooLarge),
        ] {
            let met = ImageStore::add(&store, InlineImage { base64: text.as_bytes() }).expect("a spool");
            assert_eq!(met, Err(reason), "{}", &text[..text.len().min(40)]);
        }
        assert!(gif.ends_with("Mg=="));
    }
}
