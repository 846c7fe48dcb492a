//! Decoded images, once each, kept in a temporary file so that memory does not grow with them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxSeededState;

use super::format::ImageFormat;
use super::runs::{DEFAULT_CAP, LeftInline, decode_image};
use crate::event::{ImageId, InlineImage, MetImage, NotExtracted};
use crate::io::spool::Spool;
use crate::json;

/// The most memory for decoded bytes that a thread keeps for its next image.
const MAX_KEPT: usize = 16 << 20;

thread_local! {
    /// Made once for each thread: fresh memory for each image costs more than to decode it.
    static DECODED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Stored {
    format: ImageFormat,
    place: Range<u64>,
}

/// The distinct images of a conversation.
pub struct ImageStore {
    images: Vec<Stored>,
    /// By a hash of the bytes that is fast and proves nothing: what has the same is compared. It is seeded by chance, so
    /// that no input can be made in which many images have the same.
    by_hash: HashMap<u64, ImageId>,
    hasher: FxSeededState,
    spool: Spool,
}

impl Default for ImageStore {
    fn default() -> Self {
        Self {
            images: Vec::new(),
            by_hash: HashMap::new(),
            hasher: FxSeededState::with_seed(RandomState::new().hash_one(()) as usize),
            spool: Spool::default(),
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
        DECODED.with_borrow_mut(|bytes| {
            // Some writers escape the slashes (`\/`); JSON says that is the same string.
            let escaped = memchr::memchr(b'\\', image.base64).map(|_| json::decode(image.base64).text);
            let characters = escaped.as_deref().map_or(image.base64, str::as_bytes);
            let format = match decode_image(characters, DEFAULT_CAP, bytes) {
                Ok(format) => format,
                Err(reason) => return Ok(Err(reason.into())),
            };
            let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
            let hasher = lock().hasher.clone();
            let hash = hasher.hash_one(bytes.as_slice());
            let kept = lock().keep(bytes, hash, format);
            if bytes.capacity() > MAX_KEPT {
                *bytes = Vec::new();
            }
            kept.map(Ok)
        })
    }

    fn keep(&mut self, bytes: &[u8], hash: u64, format: ImageFormat) -> io::Result<ImageId> {
        if let Some(&known) = self.by_hash.get(&hash)
            && self.spool.holds(&self.images[known.0].place, bytes)?
        {
            return Ok(known);
        }
        let place = self.spool.add(bytes)?;
        let id = ImageId(self.images.len());
        self.images.push(Stored { format, place });
        self.by_hash.insert(hash, id);
        Ok(id)
    }

    /// What `image` is.
    #[must_use]
    pub fn format(&self, image: ImageId) -> ImageFormat {
        self.images[image.0].format
    }

    /// Copies the bytes of `image` to `out`. To a file the system copies what lies in the temporary one by itself.
    ///
    /// # Errors
    /// When the temporary file cannot be read or `out` not be written.
    pub fn copy_to<W: Write + ?Sized>(&mut self, image: ImageId, out: &mut W) -> io::Result<()> {
        self.spool.copy_to(&self.images[image.0].place, out)
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
