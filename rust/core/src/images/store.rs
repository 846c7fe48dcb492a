//! Decoded images, once each, kept in a temporary file so that memory does not grow with them.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use base64_simd::STANDARD;
use sha2::{Digest, Sha256};
use tempfile::SpooledTempFile;

use super::format::ImageFormat;
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
    spool: SpooledTempFile,
    length: u64,
}

impl Default for ImageStore {
    fn default() -> Self {
        Self { images: Vec::new(), by_hash: HashMap::new(), spool: SpooledTempFile::new(SPOOL_LIMIT), length: 0 }
    }
}

impl ImageStore {
    /// Decodes `image` and keeps it, unless the same bytes are kept already.
    ///
    /// # Errors
    /// The outer one when the temporary file cannot be written, the inner one when it is no image.
    pub fn add(&mut self, image: InlineImage<'_>) -> io::Result<MetImage> {
        // Some writers escape the slashes (`\/`); JSON says that is the same string.
        let characters = json::decode(image.base64).text;
        let Ok(bytes) = STANDARD.decode_to_vec(characters.as_bytes()) else {
            return Ok(Err(NotExtracted::InvalidBase64));
        };
        let Some(format) = ImageFormat::of(&bytes) else { return Ok(Err(NotExtracted::NotAnImage)) };
        let hash: [u8; 32] = Sha256::digest(&bytes).into();
        if let Some(&known) = self.by_hash.get(&hash) {
            return Ok(Ok(known));
        }
        self.spool.seek(SeekFrom::Start(self.length))?;
        self.spool.write_all(&bytes)?;
        let id = ImageId(self.images.len());
        self.images.push(Stored { format, start: self.length, length: bytes.len() as u64 });
        self.length += bytes.len() as u64;
        self.by_hash.insert(hash, id);
        Ok(Ok(id))
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
    use super::*;

    #[test]
    fn the_same_image_is_kept_once_and_comes_back() {
        let mut store = ImageStore::default();
        let gif = |tail: &str| STANDARD.encode_to_string(format!("GIF89a{tail}"));
        let (one, two) = (gif("one"), gif("two!"));
        let mut add = |text: &str| store.add(InlineImage { base64: text.as_bytes() }).expect("a spool");
        let ids = [add(&one), add(&two), add(&one), add(&two.replace('/', "\\/"))];
        assert_eq!(ids, [Ok(ImageId(0)), Ok(ImageId(1)), Ok(ImageId(0)), Ok(ImageId(1))]);
        assert_eq!(add("!!"), Err(NotExtracted::InvalidBase64));
        assert_eq!(add("aGVsbG8="), Err(NotExtracted::NotAnImage));
        let mut out = Vec::new();
        store.copy_to(ImageId(1), &mut out).expect("a spool");
        assert_eq!(out, b"GIF89atwo!");
    }
}
