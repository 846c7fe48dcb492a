//! Skipping: where a string or a container ends, without looking at what is in it.
//!
//! ```text
//! a quote counts unless an odd number of backslashes stands right before it
//! a string ends at the next quote
//! a container ends where as many of its brackets have closed as have opened, those in strings not counted
//! a string inside a container is broken unless a comma, a colon, a closing bracket or a blank follows
//! ```
//! The last rule finds a record glued to one that was cut inside a string: `"cut off{"key":…`. What was outside
//! strings is inside from there on, and brackets in the text could seem to close everything. No JSON has anything else
//! behind a string, whatever the keys are called that an agent's records begin with.
//!
//! This is the plain way, with memchr and without `unsafe`: the twin of `simd/`, and what does it all where the processor
//! has no vectors for it or `RETELL_SIMD` is `off`. `scan.rs` chooses.
//! Only brackets of the container's own kind are counted (three bytes are what memchr searches for at once);
//! in JSON that is whole the result is the same. Iterative, so no nesting can overflow the stack; every byte
//! is looked at a bounded number of times, so no input is slow.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3, memrchr3};

/// Up to this many bytes of a string are looked at one by one first.
const SHORT: usize = 12;

/// The bytes are not whole JSON at the place that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

/// Where a member's key (between its quotes) and value stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberPlace {
    /// Between the quotes.
    pub key: Range<usize>,
    /// From its first byte to its last.
    pub value: Range<usize>,
}

/// The place of the first byte at or behind `at` that is not JSON white space.
#[inline]
#[must_use]
pub fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The place behind the closing quote of the string that opens at `open`, if it is short and has no escapes: for keys and
/// ids nothing is gained by calling anything.
#[inline]
pub(in crate::json) fn short_string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let short = bytes.iter().enumerate().skip(open + 1).take(SHORT);
    let mut ends = short.take_while(|&(_, &byte)| byte != b'\\').filter(|&(_, &byte)| byte == b'"');
    ends.next().map(|(at, _)| at + 1)
}

/// The place behind the closing quote of the string that opens at `open`.
pub(in crate::json) fn string_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
    let mut from = open + 1;
    loop {
        let quote = from + memchr(b'"', bytes.get(from..).ok_or(Broken)?).ok_or(Broken)?;
        if is_unescaped(bytes, open + 1, quote) {
            return Ok(quote + 1);
        }
        from = quote + 1;
    }
}

/// Whether an even number of backslashes stands before `at`, none of them before `floor`.
fn is_unescaped(bytes: &[u8], floor: usize, at: usize) -> bool {
    let backslashes = bytes[floor..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
    backslashes % 2 == 0
}

/// Whether `byte` may stand behind a string inside a container.
pub(in crate::json) const fn may_follow_string(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
}

/// The place behind the number, `true`, `false` or `null` that starts at `at`.
#[inline]
pub(in crate::json) fn scalar_end(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    let rest = bytes.get(at..).unwrap_or_default();
    if !matches!(rest.first(), Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N' | b'I')) {
        return Err(Broken);
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    Ok(at + length.count())
}

/// Whether a key (between its quotes) is written with escapes, which no known writer does.
#[inline]
#[must_use]
#[expect(clippy::manual_contains, reason = "a search that has to be called costs more than looking at each byte")]
pub fn has_escapes(key: &[u8]) -> bool {
    key.iter().any(|&byte| byte == b'\\')
}

/// The place behind the value that starts at `at`.
fn value_end(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{') => container_end(bytes, at, b'{', b'}'),
        Some(b'[') => container_end(bytes, at, b'[', b']'),
        _ => scalar_end(bytes, at),
    }
}

/// The member whose key's opening quote is at `key`.
pub(in crate::json) fn member(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    if bytes.get(key) != Some(&b'"') {
        return Err(Broken);
    }
    let key_end = short_string_end(bytes, key).map_or_else(|| string_end(bytes, key), Ok)?;
    let colon = skip_blank(bytes, key_end);
    if bytes.get(colon) != Some(&b':') {
        return Err(Broken);
    }
    let value = skip_blank(bytes, colon + 1);
    Ok(MemberPlace { key: key + 1..key_end - 1, value: value..value_end(bytes, value)? })
}

/// The place behind the container that opens at `open`.
pub(in crate::json) fn container_end(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
    let mut depth = 1_usize;
    let mut at = open + 1;
    loop {
        at += memchr3(b'"', opening, closing, bytes.get(at..).ok_or(Broken)?).ok_or(Broken)?;
        let byte = bytes[at];
        if byte == b'"' {
            if !is_unescaped(bytes, open + 1, at) {
                at += 1;
                continue;
            }
            at = string_end(bytes, at)?;
            if !bytes.get(at).is_some_and(|&byte| may_follow_string(byte)) {
                return Err(Broken);
            }
        } else {
            at += 1;
            if byte == opening {
                depth += 1;
            } else {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
}

/// [`super::object_start`], a place at a time.
pub(in crate::json) fn object_start(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
    let places = memchr_iter(b'{', bytes.get(from..)?).map(|place| from + place);
    let mut starts = places.filter(|&place| {
        bytes.get(place + 1) == Some(&b'"') && bytes.get(place + 2).is_some_and(|letter| letters.contains(letter))
    });
    starts.next()
}

/// Where the object begins whose closing brace is the last byte of `bytes`, found by reading backwards.
///
/// This tells a record that was glued to the end of a broken one from an object nested in a whole one: in the
/// first case it gives the glued record's start, in the second the start of everything. `None` when the last
/// byte is no brace or nothing matches it.
#[must_use]
pub fn enclosing_object_start(bytes: &[u8]) -> Option<usize> {
    if bytes.last() != Some(&b'}') {
        return None;
    }
    let mut end = bytes.len();
    let mut depth = 0_usize;
    loop {
        let at = memrchr3(b'"', b'{', b'}', &bytes[..end])?;
        match bytes[at] {
            b'}' => depth += 1,
            b'{' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {
                end = string_start(bytes, at)?;
                continue;
            }
        }
        if depth == 0 {
            return None;
        }
        end = at;
    }
}

/// The opening quote of the string whose closing quote is at `close`.
fn string_start(bytes: &[u8], close: usize) -> Option<usize> {
    let mut end = close;
    loop {
        let quote = memchr::memrchr(b'"', &bytes[..end])?;
        if is_unescaped(bytes, 0, quote) {
            return Some(quote);
        }
        end = quote;
    }
}
