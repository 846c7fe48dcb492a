//! Images out of a transcript and back, byte for byte, in one pass and in memory bounded by the longest image.
//!
//! ```text
//! extract   an image's base64         -> retell-asset:assets/img-<sha256>.<extension>;
//!           `retell-asset:` in the text -> `retell-asset:~`
//! restore   a whole placeholder       -> the asset's bytes, in base64
//!           `retell-asset:~`           -> `retell-asset:`
//! ```
//! For every input, restore(extract(x)) == x: whatever looks like a placeholder in x is escaped, so all that are in
//! the result are extract's own; each ends with its `;`, so what follows is never taken for part of it; and only
//! base64 that encodes back to the same characters is swapped. Nothing is said about JSON, and none is parsed.

use std::io::{self, Read, Write};

use base64_simd::STANDARD;
use memchr::memmem::Finder;
use sha2::{Digest, Sha256};

use super::format::ImageFormat;
use super::runs::{self, LOOK_BACK, LeftInline, SHORTEST_RUN, next_run};

/// What every placeholder begins with.
pub const PREFIX: &str = "retell-asset:";
/// What stands behind [`PREFIX`] where the text held it before.
const ESCAPE: u8 = b'~';
/// What stands behind [`PREFIX`] in a placeholder.
const FOLDER: &str = "assets/";
/// The prefix of another tool's placeholders, `entire-asset:assets/img-<hex>.<extension>`, which have no terminator.
const ENTIRE_PREFIX: &str = "entire-asset:";

/// How much is read at a time.
const CHUNK: usize = 1 << 20;

/// The longest placeholder, with room to spare: what may be cut by a window's end.
const LONGEST_PLACEHOLDER: usize = 256;

/// An image that was lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// `img-<sha256 of the bytes>.<extension>`.
    pub name: String,
    /// By the bytes' own signature.
    pub media_type: &'static str,
    /// The image.
    pub data: Vec<u8>,
}

/// The name of an image: the same picture has the same name everywhere.
#[must_use]
pub fn asset_name(data: &[u8], format: ImageFormat) -> String {
    let mut name = String::with_capacity(80);
    name.push_str("img-");
    for byte in Sha256::digest(data) {
        for digit in [byte >> 4, byte & 15] {
            name.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    name.push('.');
    name.push_str(format.extension);
    name
}

/// Whether `data` is what `name` says: the hash in an asset's name is that of its bytes.
#[must_use]
pub fn matches_name(data: &[u8], name: &str) -> bool {
    ImageFormat::of(data).is_some_and(|format| {
        let actual = asset_name(data, format);
        // Other tools shorten the hash.
        let hash = name.strip_prefix("img-").and_then(|rest| rest.split('.').next()).unwrap_or_default();
        hash.len() >= 16 && actual["img-".len()..].starts_with(hash)
    })
}
