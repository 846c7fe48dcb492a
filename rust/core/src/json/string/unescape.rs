//! Decoding at the speed of copying: what `string.rs` does a piece at a time, done a chunk at a time.
//!
//! ```text
//! room for all of the string and a chunk more, since an escape spells no more bytes than it is long
//! loop: an escape by a table of one byte; then copy whole chunks, each up to its first backslash
//! check all of it for UTF-8 at the end, once
//! ```
//! Why not `extend_from_slice` up to each backslash: the text of a transcript has an escape every 30 to 60 bytes, and
//! each call checks room and calls `memcpy`. The safe twin is `decode_lossy`; the tests hold both against each other.
#![expect(unsafe_code, reason = "writes into reserved room, vector loads, and text that was just checked")]

use super::escapes::{UNESCAPED, push_escape};

/// The longest string of which it is worth while to ask whether it is plain.
const MAX_PLAIN: usize = 128;

/// `raw` itself if it is short and has neither escapes nor other bytes than ASCII.
#[inline]
pub(super) fn plain(raw: &[u8]) -> Option<&str> {
    if raw.len() > MAX_PLAIN {
        return None;
    }
    // Without a branch for each byte, so that the compiler takes many at a time.
    let special = raw.iter().fold(0, |special, &byte| special | (byte & 0x80) | u8::from(byte == b'\\'));
    // SAFETY: every byte is ASCII.
    (special == 0).then(|| unsafe { std::str::from_utf8_unchecked(raw) })
}

/// What `raw` spells, whose first backslash is at `first`; `None` when that is not UTF-8.
pub(super) fn unescaped(raw: &[u8], first: usize) -> Option<String> {
    let decoded = unescaped_bytes(raw, first);
    simdutf8::basic::from_utf8(&decoded).ok()?;
    // SAFETY: just checked.
    Some(unsafe { String::from_utf8_unchecked(decoded) })
}

fn unescaped_bytes(raw: &[u8], first: usize) -> Vec<u8> {
    let mut decoded = Vec::<u8>::with_capacity(raw.len() + CHUNK);
    let start = decoded.as_mut_ptr();
    // An escape spells no more bytes than it is long, so `length` never gets past `at`.
    let (mut at, mut length) = (first, first);
    let mut escape = Vec::new();
    // SAFETY: `first` is within `raw`, and there is room for all of `raw`.
    unsafe { std::ptr::copy_nonoverlapping(raw.as_ptr(), start, first) };
    'escapes: while at < raw.len() {
        // raw[at] is a backslash.
        let byte = raw.get(at + 1).map_or(0, |&letter| UNESCAPED[usize::from(letter)]);
        if byte != 0 {
            // SAFETY: `length` is at most `at`, which is within `raw`.
            unsafe { start.add(length).write(byte) };
            (at, length) = (at + 2, length + 1);
        } else {
            escape.clear();
            at += push_escape(&mut escape, &raw[at..]);
            // SAFETY: `length` with the escape is at most `at`, since it spells no more bytes than it took.
            unsafe { std::ptr::copy_nonoverlapping(escape.as_ptr(), start.add(length), escape.len()) };
            length += escape.len();
        }
        while let Some(chunk) = raw.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
            // SAFETY: `length` is at most `at`, and there is room for a chunk more than `raw` is long.
            unsafe { std::ptr::copy_nonoverlapping(chunk.as_ptr(), start.add(length), CHUNK) };
            let plain = backslashes(chunk).trailing_zeros() as usize;
            (at, length) = (at + plain, length + plain);
            if plain < CHUNK {
                continue 'escapes;
            }
        }
        while at < raw.len() && raw[at] != b'\\' {
            // SAFETY: `length` is at most `at`, which is within `raw`.
            unsafe { start.add(length).write(raw[at]) };
            (at, length) = (at + 1, length + 1);
        }
    }
    // SAFETY: there is room for `length` bytes, and all of them were written.
    unsafe { decoded.set_len(length) };
    decoded
}

/// How many bytes are copied at a time.
const CHUNK: usize = 32;

/// One bit for each backslash, the lowest for the first byte.
#[cfg(target_arch = "x86_64")]
#[inline]
fn backslashes(chunk: &[u8; CHUNK]) -> u32 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    #[expect(clippy::cast_ptr_alignment, reason = "the load is the one that needs no alignment")]
    let start = chunk.as_ptr().cast::<__m128i>();
    // SAFETY: the chunk is 32 bytes long, and the loads need no alignment; every x86-64 has SSE2.
    let (low, high) = unsafe {
        let wanted = _mm_set1_epi8(b'\\'.cast_signed());
        let equal = |half| _mm_movemask_epi8(_mm_cmpeq_epi8(half, wanted)).cast_unsigned();
        (equal(_mm_loadu_si128(start)), equal(_mm_loadu_si128(start.add(1))))
    };
    low | high << 16
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn backslashes(chunk: &[u8; CHUNK]) -> u32 {
    memchr::memchr(b'\\', chunk).map_or(0, |at| 1 << at)
}
