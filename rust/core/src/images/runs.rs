//! Runs of base64 that are images, wherever they stand: the finder of the image codec.
//!
//! ```text
//! every 64 bytes, look at 48: all base64?            no -> on (most of the time the first few say so)
//!   the run around them: maximal, and up to two `=` behind it
//!   does it begin a string value, or follow `;base64,`?  is it long enough, and not past the cap?
//!   does it decode, and encode again to the same characters?  are the bytes an image?
//! ```
//! A run of 128 characters holds 48 that begin at a multiple of 64, so none is missed; and since the multiples are
//! those of the whole input's offsets, the result does not depend on how the input was cut into blocks. The JSON
//! around a run is never parsed: what is swapped out is put back byte for byte, whatever surrounds it.

use base64_simd::STANDARD;

use super::format::ImageFormat;

/// The shortest run that is lifted, in characters: a placeholder is always shorter.
pub const SHORTEST_RUN: usize = 128;

/// How many decoded bytes an image may have unless the caller says otherwise: 64 MiB.
pub const DEFAULT_CAP: usize = 64 << 20;

/// Distance of the places that are looked at, and how much of each is.
const STRIDE: usize = 64;
const SAMPLE: usize = 48;

/// How far before a run its beginning is judged by.
pub const LOOK_BACK: usize = 32;

/// White space that may stand between a colon and a quote.
const MOST_BLANKS: usize = 16;

/// Which bytes are base64 characters (RFC 4648, section 4), without the padding.
const IS_BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0;
    while at < letters.len() {
        table[letters[at] as usize] = true;
        at += 1;
    }
    table
};

fn is_base64(byte: u8) -> bool {
    IS_BASE64[usize::from(byte)]
}

/// Why a run that looks like an image was left where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftInline {
    /// Encoding the bytes again would give other characters.
    NotCanonical,
    /// The bytes are no image of a known format.
    NotAnImage,
    /// The image is past the cap.
    TooLarge,
}

impl LeftInline {
    /// As it stands in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotCanonical => "not_canonical",
            Self::NotAnImage => "not_an_image",
            Self::TooLarge => "too_large",
        }
    }
}

/// A run of base64 in a window of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Of its first character.
    pub start: usize,
    /// Behind its last, padding included.
    pub end: usize,
    /// Whether it stands where an image can.
    pub eligible: bool,
}

/// The first run of at least [`SHORTEST_RUN`] characters that is not over by `from`, in `window`, whose first byte
/// is at `offset` of the input. A run that reaches the window's end is given as far as it goes.
#[must_use]
pub fn next_run(window: &[u8], from: usize, offset: u64) -> Option<Run> {
    let misaligned = (offset % STRIDE as u64) as usize;
    // The first multiple of the stride, in the whole input, that is not before `from`; the one before it may lie in
    // a run that goes on behind `from`.
    let mut at = (from + misaligned).div_ceil(STRIDE) * STRIDE - misaligned.min((from + misaligned).div_ceil(STRIDE) * STRIDE);
    while at < window.len() {
        let sample = &window[at..window.len().min(at + SAMPLE)];
        if !sample.iter().all(|&byte| is_base64(byte)) {
            at += STRIDE;
            continue;
        }
        let before = window[from..at].iter().rev().take_while(|&&byte| is_base64(byte)).count();
        let start = at - before;
        let letters = end_of_letters(window, at + sample.len());
        let padding = window[letters..].iter().take(2).take_while(|&&byte| byte == b'=').count();
        let end = letters + padding;
        if end - start >= SHORTEST_RUN || end == window.len() {
            return Some(Run { start, end, eligible: begins_value(window, start) || follows_base64(window, start) });
        }
        at += (end - at).div_ceil(STRIDE).max(1) * STRIDE;
    }
    None
}

fn end_of_letters(window: &[u8], from: usize) -> usize {
    let mut at = from;
    // In pieces that the compiler can look at side by side.
    while let Some(piece) = window.get(at..at + 32) {
        if !piece.iter().fold(true, |all, &byte| all & is_base64(byte)) {
            break;
        }
        at += 32;
    }
    at + window[at..].iter().take_while(|&&byte| is_base64(byte)).count()
}

/// Whether a string value begins right before `start`: a quote behind a colon, a bracket or a comma.
fn begins_value(window: &[u8], start: usize) -> bool {
    let Some((b'"', before)) = window[..start].split_last().map(|(last, rest)| (*last, rest)) else { return false };
    let blanks = before.iter().rev().take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let before = &before[..before.len() - blanks.count()];
    matches!(before.last(), Some(b':' | b'[' | b','))
}

fn follows_base64(window: &[u8], start: usize) -> bool {
    const MARK: &[u8] = b";base64,";
    start >= MARK.len() && window[start - MARK.len()..start].eq_ignore_ascii_case(MARK)
}

/// The bytes of the image that the characters of a run encode.
///
/// # Errors
/// Why it has to stay where it is.
pub fn image_of(characters: &[u8], cap: usize) -> Result<(Vec<u8>, ImageFormat), LeftInline> {
    if characters.len() / 4 * 3 > cap.saturating_add(2) {
        return Err(LeftInline::TooLarge);
    }
    // The first bytes tell most runs that are no images, before all of them are decoded.
    let head = &characters[..characters.len().min(64) / 4 * 4];
    let format = STANDARD.decode_to_vec(head).ok().and_then(|bytes| ImageFormat::of(&bytes));
    if format.is_none() {
        return Err(LeftInline::NotAnImage);
    }
    let bytes = STANDARD.decode_to_vec(characters).map_err(|_| LeftInline::NotCanonical)?;
    if bytes.len() > cap {
        return Err(LeftInline::TooLarge);
    }
    // Only the last group can be written in more than one way.
    let last_group = bytes.len().saturating_sub(1) / 3;
    let again = STANDARD.encode_to_string(&bytes[last_group * 3..]);
    if characters.len() % 4 != 0 || characters[last_group * 4..] != *again.as_bytes() {
        return Err(LeftInline::NotCanonical);
    }
    let format = ImageFormat::of(&bytes).ok_or(LeftInline::NotAnImage)?;
    Ok((bytes, format))
}
