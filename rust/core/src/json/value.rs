//! A value that was found, and the keys of members.

use std::borrow::Cow;

use super::scalar::has_escapes;
use super::string::{Text, decode, decode_key};

/// A JSON value that has been found but not read: its raw bytes, from its first to its last.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a>(&'a [u8]);

impl<'a> Value<'a> {
    /// The value whose raw bytes are `raw`.
    #[must_use]
    pub fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// The raw bytes.
    #[must_use]
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Whether it is `true`.
    #[must_use]
    pub fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Whether it is an array.
    #[must_use]
    pub fn is_array(self) -> bool {
        self.0.first() == Some(&b'[')
    }

    /// Whether it is a string.
    #[must_use]
    pub fn is_string(self) -> bool {
        self.0.first() == Some(&b'"')
    }

    /// The bytes between the quotes of a string, escapes as they stand.
    #[must_use]
    pub fn raw_string(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// The decoded string; `None` when it is not a string.
    #[must_use]
    pub fn text(self) -> Option<Text<'a>> {
        self.raw_string().map(decode)
    }

    /// The integer part of a number that is not negative and fits; `None` otherwise.
    #[must_use]
    pub fn integer(self) -> Option<u64> {
        let raw = std::str::from_utf8(self.0).ok()?;
        raw.parse::<u64>().ok().or_else(|| {
            // 2.0 and 1e3 are integers to a JavaScript writer.
            let number = raw.parse::<f64>().ok()?;
            (raw.starts_with(|first: char| first.is_ascii_digit()) && number < 9e15).then_some(number as u64)
        })
    }
}

/// Whether the raw key (between its quotes) spells `name`, escaped or not.
#[inline]
#[must_use]
pub fn key_is(raw: &[u8], name: &str) -> bool {
    raw == name.as_bytes() || (raw.len() > name.len() && has_escapes(raw) && decode_key(raw) == name)
}

/// The key that is spelled by `raw` (between its quotes): `raw` itself unless it holds escapes.
#[inline]
#[must_use]
pub fn key(raw: &[u8]) -> Cow<'_, [u8]> {
    if has_escapes(raw) { Cow::Owned(decode_key(raw).into_owned().into_bytes()) } else { Cow::Borrowed(raw) }
}
