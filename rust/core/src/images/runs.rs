//! Runs of base64 that are images, wherever they stand: the finder of the image codec.
//!
//! ```text
//! every 64 bytes, look at 48: all base64?            no -> on (most of the time the first few say so)
//!   the run around them: maximal, and up to two `=` behind it
//!   does it begin a string value, or follow `;base64,`?  is it long enough, and not past the cap?
//!   does it decode, and encode again to the same characters?  are the bytes an image?
//! ```
//! Base64 whose slashes are written as `\\/` stays, for what is put back would have them plain; it is counted.
//!
//! A run of 128 characters holds 48 that begin at a multiple of 64, so none is missed; and since the multiples are
//! those of the whole input's offsets, the result does not depend on how the input was cut into blocks. The JSON
//! around a run is never parsed: what is swapped out is put back byte for byte, whatever surrounds it.

use std::ops::Range;

use base64_simd::{STANDARD, STANDARD_NO_PAD};

use super::format::ImageFormat;

/// The shortest run that is lifted, in characters: a placeholder is always shorter.
pub const SHORTEST_RUN: usize = 128;

/// How many decoded bytes an image may have unless the caller says otherwise: 64 MiB.
pub const DEFAULT_CAP: usize = 64 << 20;

/// Distance of the places that are looked at, and how much of each is.
const STRIDE: usize = 64;
const SAMPLE: usize = 48;

/// How much of a run is checked at a time: whole groups of characters, so that all that it proves is letters.
const BLOCK: usize = 4096;

/// White space that may stand between a colon and a quote.
const MOST_BLANKS: usize = 16;

/// How many bytes before a run its beginning is judged by.
const BEFORE_RUN: usize = MOST_BLANKS + 2;

/// How a slash may be written in a string.
pub const ESCAPED_SLASH: &[u8] = b"\\/";

/// How many bytes from an escaped slash on tell whether it stands in an image.
pub const BEHIND_ESCAPE: usize = 2 * SHORTEST_RUN;

/// How many bytes are looked back at: an escaped slash is judged again from where the run before it begins.
pub const LOOK_BACK: usize = BEHIND_ESCAPE + SHORTEST_RUN + BEFORE_RUN;

/// Characters of a run that are decoded to tell whether it can be an image at all.
const HEAD: usize = 64;

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

/// Whether `byte` is a base64 character, padding apart.
#[inline]
#[must_use]
pub fn is_base64(byte: u8) -> bool {
    IS_BASE64[usize::from(byte)]
}

/// Why a run that stands where an image can was left there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LeftInline {
    /// The bytes are no image of a known format.
    NotAnImage,
    /// Encoding the bytes again would give other characters.
    NotCanonical,
    /// The image is past the cap.
    TooLarge,
}

impl LeftInline {
    /// As it is told to a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NotAnImage => "no image",
            Self::NotCanonical => "unusual base64",
            Self::TooLarge => "too large",
        }
    }
}

/// A run of base64 in a window of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Of its first character.
    pub start: usize,
    /// Behind its last, padding included.
    pub end: usize,
    /// Whether it reaches the window's end, so that more of it may follow.
    pub open: bool,
}

/// The first run at or behind `from` in `window`, whose first byte is at `offset` of the input: one of at least
/// [`SHORTEST_RUN`] characters, or one that reaches the window's end and is long enough to be seen.
#[must_use]
pub fn next_run(window: &[u8], from: usize, offset: u64) -> Option<Run> {
    let misaligned = (offset % STRIDE as u64) as usize;
    let mut from = from;
    let mut at = (from + misaligned).div_ceil(STRIDE) * STRIDE - misaligned;
    while at < window.len() {
        let sample = &window[at..window.len().min(at + SAMPLE)];
        if !sample.iter().all(|&byte| is_base64(byte)) {
            at += STRIDE;
            continue;
        }
        let before = window[from..at].iter().rev().take_while(|&&byte| is_base64(byte)).count();
        let letters = end_of_letters(window, at + sample.len());
        let padding = window[letters..].iter().take(2).take_while(|&&byte| byte == b'=').count();
        let run = Run { start: at - before, end: letters + padding, open: letters + padding == window.len() };
        if run.open || run.end - run.start >= SHORTEST_RUN {
            return Some(run);
        }
        from = run.end;
        at += (run.end - at).div_ceil(STRIDE).max(1) * STRIDE;
    }
    None
}

/// Where the letters that go on at `from` end.
#[must_use]
pub fn end_of_letters(window: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = window.get(at..at + BLOCK) {
        if STANDARD_NO_PAD.check(block).is_err() {
            break;
        }
        at += BLOCK;
    }
    // In pieces, so that the compiler can look at the bytes of one side by side.
    while let Some(piece) = window.get(at..at + 32) {
        if !piece.iter().fold(true, |all, &byte| all & is_letter(byte)) {
            break;
        }
        at += 32;
    }
    at + window[at..].iter().take_while(|&&byte| is_base64(byte)).count()
}

/// [`is_base64`] by comparing, which vectorises where a table does not.
#[inline]
fn is_letter(byte: u8) -> bool {
    let small = byte | 0x20;
    small.wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'+' || byte == b'/'
}

/// Whether an image can begin at `start`: at the beginning of a string value, or behind `;base64,`.
#[must_use]
pub fn can_begin(window: &[u8], start: usize) -> bool {
    begins_value(&window[..start]) || follows_mark(&window[..start])
}

const MARK: &[u8] = b";base64,";

/// Whether `before` ends with the mark that base64 follows in a data URI.
#[must_use]
pub fn follows_mark(before: &[u8]) -> bool {
    before.len().checked_sub(MARK.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(MARK))
}

/// Whether `before` ends with the quote that begins a value: one behind a colon, a bracket or a comma.
fn begins_value(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b"\"") else { return false };
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let blanks = before.iter().rev().take(MOST_BLANKS).take_while(blank).count();
    matches!(before[..before.len() - blanks].last(), Some(b':' | b'[' | b','))
}

/// The most characters that an image of `cap` bytes takes, and a group more: a longer run is past the cap for sure.
#[must_use]
pub fn most_characters(cap: usize) -> usize {
    (cap / 3).saturating_add(2).saturating_mul(4)
}

/// Whether the first characters of a run are those of an image: tells most runs that are none without decoding them.
#[must_use]
pub fn looks_like_image(characters: &[u8]) -> bool {
    let head = &characters[..characters.len().min(HEAD)];
    let plain;
    let head = if memchr::memchr(b'\\', head).is_some() {
        plain = without_escapes(characters).take(HEAD).collect::<Vec<u8>>();
        &plain
    } else {
        head
    };
    let whole = &head[..head.len() / 4 * 4];
    STANDARD.decode_to_vec(whole).is_ok_and(|bytes| ImageFormat::of(&bytes).is_some())
}

/// The bytes with slashes written plainly.
fn without_escapes(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let is_escape = |at: usize| bytes[at..].starts_with(ESCAPED_SLASH);
    (0..bytes.len()).filter(move |&at| !is_escape(at)).map(|at| bytes[at])
}

/// Whether the slash behind a run is written as an escape, so that the run is not all of its base64.
#[must_use]
pub fn goes_on_escaped(window: &[u8], run: Run) -> bool {
    window[run.end..].starts_with(ESCAPED_SLASH) && window[run.start..run.end].last() != Some(&b'=')
}

/// Base64 in which an escaped slash comes before a run of it is long enough to be found: why each stays whose first such
/// slash is at one of `places` in `window`.
pub fn escaped_early(window: &[u8], places: Range<usize>) -> impl Iterator<Item = LeftInline> {
    let slashes = memchr::memmem::find_iter(&window[places.clone()], ESCAPED_SLASH).map(move |at| places.start + at);
    slashes.filter_map(move |at| {
        let before = window[..at].iter().rev().take(SHORTEST_RUN).take_while(|&&byte| is_base64(byte)).count();
        let start = at - before;
        if before == SHORTEST_RUN || !can_begin(window, start) {
            return None;
        }
        let (mut end, mut characters) = (start, 0);
        while characters < SHORTEST_RUN {
            let escaped = window[end..].starts_with(ESCAPED_SLASH);
            if !escaped && !window.get(end).is_some_and(|&byte| is_base64(byte)) {
                return None;
            }
            (end, characters) = (end + 1 + usize::from(escaped), characters + 1);
        }
        let is_image = looks_like_image(&window[start..end]);
        Some(if is_image { LeftInline::NotCanonical } else { LeftInline::NotAnImage })
    })
}

/// Puts the bytes of the image that the characters of a run encode into `bytes`, instead of what was there.
///
/// # Errors
/// Why it has to stay where it is.
pub fn decode_image(characters: &[u8], cap: usize, bytes: &mut Vec<u8>) -> Result<ImageFormat, LeftInline> {
    if !looks_like_image(characters) {
        return Err(LeftInline::NotAnImage);
    }
    // Before anything that only the end of the run tells: a run that is cut off here gets the same reason.
    if characters.len() > most_characters(cap) {
        return Err(LeftInline::TooLarge);
    }
    // What is no letter, an escaped slash say, makes the decoding fail.
    if !characters.len().is_multiple_of(4) {
        return Err(LeftInline::NotCanonical);
    }
    bytes.clear();
    STANDARD.decode_append(characters, bytes).map_err(|_| LeftInline::NotCanonical)?;
    if bytes.len() > cap {
        return Err(LeftInline::TooLarge);
    }
    // Only the last group of characters can be written in more than one way.
    let last = characters.len() / 4 - 1;
    if STANDARD.encode_to_string(&bytes[last * 3..]).as_bytes() != &characters[last * 4..] {
        return Err(LeftInline::NotCanonical);
    }
    ImageFormat::of(bytes).ok_or(LeftInline::NotAnImage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every run of letters and up to two `=`, one byte at a time.
    fn naive_runs(bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let letters = bytes[at..].iter().take_while(|&&byte| is_base64(byte)).count();
            if letters == 0 {
                at += 1;
                continue;
            }
            let padding = bytes[at + letters..].iter().take(2).take_while(|&&byte| byte == b'=').count();
            runs.push((at, at + letters + padding));
            at += letters + padding;
        }
        runs
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[A-Za-z0-9+/]{0,300}={0,3}".prop_map(String::into_bytes),
            "[ -~]{0,80}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..40),
        ];
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn base64_with_escaped_slashes_is_judged_where_its_first_one_is() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0xff; 96]].concat();
        let png = STANDARD.encode_to_string(png);
        let escaped = png.replace('/', "\\/");
        assert!(png.contains('/') && png.len() >= SHORTEST_RUN);
        let early = |text: &str| escaped_early(text.as_bytes(), 0..text.len()).collect::<Vec<_>>();
        assert_eq!(early(&format!("{{\"data\":\"{escaped}\"}}")), [LeftInline::NotCanonical]);
        assert_eq!(early(&format!("[\"{}\"]", "ab\\/".repeat(60))), [LeftInline::NotAnImage]);
        for none in [format!("[\"{png}\"]"), format!("[\"x {escaped}\"]"), "[\"ab\\/cd\"]".to_owned()] {
            assert!(early(&none).is_empty(), "{none}");
        }
        assert_eq!(decode_image(escaped.as_bytes(), DEFAULT_CAP, &mut Vec::new()), Err(LeftInline::NotCanonical));
    }

    proptest! {
        // More where PROPTEST_CASES says so.
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2000)))]

        #[test]
        fn no_long_run_is_missed_wherever_it_stands(bytes in texts(), offset in 0_u64..200) {
            let mut found = Vec::new();
            let mut from = 0;
            while let Some(run) = next_run(&bytes, from, offset) {
                if run.end - run.start >= SHORTEST_RUN {
                    found.push((run.start, run.end));
                }
                from = run.end;
            }
            let long: Vec<_> = naive_runs(&bytes).into_iter().filter(|(start, end)| end - start >= SHORTEST_RUN).collect();
            prop_assert_eq!(found, long);
        }

        #[test]
        fn letters_are_the_same_by_table_and_by_comparing(byte: u8) {
            prop_assert_eq!(is_base64(byte), is_letter(byte));
        }
    }

    #[test]
    fn an_image_begins_a_value_or_follows_the_mark() {
        for (before, expected) in [
            (r#"{"data":""#, true),
            (r#"{"data": ""#, true),
            (r#"[""#, true),
            (r#",""#, true),
            (r#""text""#, false),
            (r#"\""#, false),
            ("data:image/png;base64,", true),
            ("data:image/png;charset=utf-8;BASE64,", true),
            ("base64,", false),
            ("", false),
            ("\"", false),
        ] {
            assert_eq!(can_begin(before.as_bytes(), before.len()), expected, "{before}");
        }
    }
}
