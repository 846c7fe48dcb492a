//! Strings as JSON, byte for byte as `serde_json` writes them, at the speed of copying.
//!
//! ```text
//! copy a chunk, and look where in it the first byte stands that has to be escaped
//!   none: the next chunk; one: its escape over it, and go on behind it
//! ```
//! `serde_json` looks at one byte after the other. It is the safe twin: the tests hold both against each other.
#![expect(unsafe_code, reason = "writes into reserved room, and vector loads")]

/// How many bytes of a string are looked at and copied at a time.
const CHUNK: usize = 32;

/// What stands for a byte that has to be escaped: `u` where that is `\u00XX`, 0 for those that need not be.
static ESCAPED: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 32 {
        table[at] = b'u';
        at += 1;
    }
    table[8] = b'b';
    table[9] = b't';
    table[10] = b'n';
    table[12] = b'f';
    table[13] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

/// The two hexadecimal digits of a byte.
#[inline]
pub(super) fn hex_digits(byte: u8) -> [u8; 2] {
    let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
    [digit(byte >> 4), digit(byte & 15)]
}

/// The escape of `byte`, which needs one, and its length; what is behind that is of no meaning.
#[inline]
fn escape(byte: u8) -> ([u8; 6], usize) {
    match ESCAPED[usize::from(byte)] {
        b'u' => {
            let [upper, lower] = hex_digits(byte);
            ([b'\\', b'u', b'0', b'0', upper, lower], 6)
        }
        letter => ([b'\\', letter, 0, 0, 0, 0], 2),
    }
}

/// One bit for each byte that has to be escaped, the lowest for the first.
#[cfg(target_arch = "x86_64")]
#[inline]
fn to_escape(chunk: &[u8; CHUNK]) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    #[expect(clippy::cast_ptr_alignment, reason = "the load is the one that needs no alignment")]
    let start = chunk.as_ptr().cast::<__m128i>();
    // SAFETY: the chunk is 32 bytes long, and the loads need no alignment; every x86-64 has SSE2.
    unsafe {
        let (quote, backslash, control) =
            (_mm_set1_epi8(b'"'.cast_signed()), _mm_set1_epi8(b'\\'.cast_signed()), _mm_set1_epi8(31));
        let found = |half| {
            let either = _mm_or_si128(_mm_cmpeq_epi8(half, quote), _mm_cmpeq_epi8(half, backslash));
            let small = _mm_cmpeq_epi8(_mm_min_epu8(half, control), half);
            _mm_movemask_epi8(_mm_or_si128(either, small)).cast_unsigned()
        };
        found(_mm_loadu_si128(start)) | found(_mm_loadu_si128(start.add(1))) << 16
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn to_escape(chunk: &[u8; CHUNK]) -> u32 {
    chunk.iter().position(|&byte| ESCAPED[usize::from(byte)] != 0).map_or(0, |at| 1 << at)
}

/// The most that a chunk and an escape behind it take, and more.
const ROOM: usize = 2 * CHUNK;

/// Adds `text` as a JSON string.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + ROOM);
    out.push(b'"');
    let (mut at, mut length) = (0, out.len());
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
        if out.capacity() - length < ROOM {
            // SAFETY: there is room for `length` bytes, and all of them were written.
            unsafe { out.set_len(length) };
            out.reserve(bytes.len() - at + ROOM);
        }
        // SAFETY: there is room for `ROOM` bytes behind `length`, and a chunk is half of it.
        unsafe { std::ptr::copy_nonoverlapping(chunk.as_ptr(), out.as_mut_ptr().add(length), CHUNK) };
        let plain = to_escape(chunk).trailing_zeros() as usize;
        (at, length) = (at + plain, length + plain);
        if plain < CHUNK {
            let (escape, written) = escape(bytes[at]);
            // SAFETY: less than a chunk of the room is taken, so six bytes are left.
            unsafe { out.as_mut_ptr().add(length).cast::<[u8; 6]>().write(escape) };
            (at, length) = (at + 1, length + written);
        }
    }
    // SAFETY: there is room for `length` bytes, and all of them were written.
    unsafe { out.set_len(length) };
    for &byte in &bytes[at..] {
        if ESCAPED[usize::from(byte)] == 0 {
            out.push(byte);
        } else {
            let (escape, written) = escape(byte);
            out.extend_from_slice(&escape[..written]);
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_string_is_written_as_serde_json_does(text: String, more in "[ -~\\x00-\\x1f]{0,100}") {
            let text = text + &more;
            let mut out = Vec::new();
            push_string(&mut out, &text);
            prop_assert_eq!(out, serde_json::to_vec(&text).unwrap());
        }
    }
}
