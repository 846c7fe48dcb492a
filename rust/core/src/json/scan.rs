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
//! This is the plain way, with memchr; `blocks.rs` does the same faster where the processor can and `RETELL_SIMD` is
//! not `off`.
//! Only brackets of the container's own kind are counted (three bytes are what memchr searches for at once);
//! in JSON that is whole the result is the same. Iterative, so no nesting can overflow the stack; every byte
//! is looked at a bounded number of times, so no input is slow.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3, memrchr3};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::blocks;

/// Up to this many bytes of a string are looked at one by one first.
const SHORT: usize = 12;

/// The bytes are not whole JSON at the place that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

/// The place of the first byte at or behind `at` that is not JSON white space.
#[inline]
#[must_use]
pub fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The place behind the closing quote of the string that opens at `open`.
#[inline]
pub fn string_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
    // Keys and ids are short: nothing is gained by calling anything for them.
    for (at, &byte) in bytes.iter().enumerate().skip(open + 1).take(SHORT) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => break,
            _ => {}
        }
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if blocks::available() {
        return blocks::string_end(bytes, open);
    }
    plain_string_end(bytes, open)
}

fn container_end(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if blocks::available() {
        return blocks::container_end(bytes, open, opening, closing);
    }
    plain_container_end(bytes, open, opening, closing)
}

fn plain_string_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
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
pub(super) const fn may_follow_string(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
}

/// The place behind the value that starts at `at`.
///
/// # Errors
/// [`Broken`] when no value starts there or it does not end.
pub fn value_end(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{') => container_end(bytes, at, b'{', b'}'),
        Some(b'[') => container_end(bytes, at, b'[', b']'),
        _ => scalar_end(bytes, at),
    }
}

/// The place behind the number, `true`, `false` or `null` that starts at `at`.
#[inline]
pub(super) fn scalar_end(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    let rest = bytes.get(at..).unwrap_or_default();
    if !matches!(rest.first(), Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n' | b'N' | b'I')) {
        return Err(Broken);
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    Ok(at + length.count())
}

/// Where a member's key (between its quotes) and value stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberPlace {
    /// Between the quotes.
    pub key: Range<usize>,
    /// From its first byte to its last.
    pub value: Range<usize>,
}

/// Whether a key (between its quotes) is written with escapes, which no known writer does.
#[inline]
#[must_use]
#[expect(clippy::manual_contains, reason = "a search that has to be called costs more than looking at each byte")]
pub fn has_escapes(key: &[u8]) -> bool {
    key.iter().any(|&byte| byte == b'\\')
}

/// The member whose key's opening quote is at `key`.
#[inline]
pub(super) fn member(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if blocks::available() {
        return blocks::member(bytes, key);
    }
    plain_member(bytes, key)
}

fn plain_member(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    if bytes.get(key) != Some(&b'"') {
        return Err(Broken);
    }
    let key_end = string_end(bytes, key)?;
    let colon = skip_blank(bytes, key_end);
    if bytes.get(colon) != Some(&b':') {
        return Err(Broken);
    }
    let value = skip_blank(bytes, colon + 1);
    Ok(MemberPlace { key: key + 1..key_end - 1, value: value..value_end(bytes, value)? })
}

fn plain_container_end(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
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
            at = plain_string_end(bytes, at)?;
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

/// The first place at or behind `from` where an object begins whose first key begins with one of `letters`, and
/// nothing stands between brace, quote and letter.
#[must_use]
pub fn object_start(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if blocks::available() {
        return blocks::object_start(bytes, from, letters);
    }
    plain_object_start(bytes, from, letters)
}

pub(super) fn plain_object_start(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Thirty boring lines that are obviously right: one byte at a time, with a state for strings.
    fn naive_container_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
        let (opening, closing) = if bytes[open] == b'{' { (b'{', b'}') } else { (b'[', b']') };
        let (mut depth, mut in_string, mut escaped) = (0, false, false);
        for (at, &byte) in bytes.iter().enumerate().skip(open) {
            let counts = !escaped;
            escaped = byte == b'\\' && !escaped;
            if byte == b'"' {
                in_string ^= counts;
                if counts && !in_string && !bytes.get(at + 1).is_some_and(|next| b",:}] \t\r\n".contains(next)) {
                    return Err(Broken);
                }
            } else if in_string {
            } else if byte == opening {
                depth += 1;
            } else if byte == closing {
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
        }
        Err(Broken)
    }

    fn json_like() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            Just(b'"'),
            Just(b'\\'),
            Just(b'{'),
            Just(b'}'),
            Just(b'['),
            Just(b']'),
            Just(b','),
            Just(b':'),
            proptest::sample::select(b" \t\r\n".as_slice()),
            Just(b'p'),
            any::<u8>()
        ];
        // Runs of one byte, long enough to cross blocks in every way.
        proptest::collection::vec((byte, 1_usize..5), 0..120)
            .prop_map(|runs| runs.into_iter().flat_map(|(byte, count)| std::iter::repeat_n(byte, count)).collect())
    }

    fn json_value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            r#"[a-z{}\[\]"\\:,é]{0,20}"#.prop_map(Into::into),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                proptest::collection::vec((r#"[a-z"\\{]{0,6}"#, inner), 0..6)
                    .prop_map(|members| { serde_json::Value::Object(members.into_iter().collect()) }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2000)))]

        #[test]
        fn containers_end_where_the_naive_twin_says(mut bytes in json_like(), object: bool) {
            bytes.insert(0, if object { b'{' } else { b'[' });
            let (opening, closing) = if object { (b'{', b'}') } else { (b'[', b']') };
            let expected = naive_container_end(&bytes, 0);
            prop_assert_eq!(value_end(&bytes, 0), expected);
            prop_assert_eq!(plain_container_end(&bytes, 0, opening, closing), expected);
        }

        #[test]
        fn members_stand_where_the_plain_way_says(mut bytes in json_like(), key in "[a-z]{0,70}", gap in "[ ]{0,2}") {
            bytes.splice(0..0, format!("\"{key}\"{gap}:{gap}").into_bytes());
            prop_assert_eq!(member(&bytes, 0), plain_member(&bytes, 0));
        }

        #[test]
        fn objects_start_where_one_looks_at_every_place(
            bytes in json_like(),
            from in 0_usize..20,
            letters in proptest::collection::vec(prop_oneof![Just(b'p'), any::<u8>()], 0..6),
        ) {
            let is_wanted = |letter: &u8| letters.contains(letter);
            let begins = |place: &usize| bytes[*place..].starts_with(b"{\"");
            let expected = (from..bytes.len()).find(|place| begins(place) && bytes.get(place + 2).is_some_and(is_wanted));
            prop_assert_eq!(object_start(&bytes, from, &letters), expected);
            prop_assert_eq!(plain_object_start(&bytes, from, &letters), expected);
        }

        #[test]
        fn strings_end_where_the_plain_way_says(mut bytes in json_like(), letters in 0_usize..200) {
            bytes.splice(0..0, std::iter::once(b'"').chain(std::iter::repeat_n(b'a', letters)));
            prop_assert_eq!(string_end(&bytes, 0), plain_string_end(&bytes, 0));
        }

        #[test]
        fn a_whole_value_ends_at_its_end_whatever_follows(value in json_value(), tail in "[ ,}\\]]?", pretty: bool) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let followed = format!("{text}{tail}");
            prop_assert_eq!(value_end(followed.as_bytes(), 0), Ok(text.len()));
            let opening = text.as_bytes()[0];
            if matches!(opening, b'{' | b'[') {
                prop_assert_eq!(plain_container_end(followed.as_bytes(), 0, opening, opening + 2), Ok(text.len()));
            }
        }

        #[test]
        fn backwards_finds_what_forwards_found(value in json_value(), head in r"[a-z{\[]{0,10}") {
            let whole = format!("{head}{}", serde_json::json!({ "a": value }));
            prop_assert_eq!(enclosing_object_start(whole.as_bytes()), Some(head.len()));
        }

        #[test]
        fn nothing_panics(bytes in json_like()) {
            let _ = enclosing_object_start(&bytes);
            for at in 0..bytes.len() {
                let _ = value_end(&bytes, at);
            }
        }
    }

    #[test]
    fn a_string_with_a_record_glued_into_it_ends_no_container() {
        for letter in (1..=u8::MAX).filter(|letter| !b",:}] \t\r\n".contains(letter)) {
            for shift in 0..70 {
                let cut = format!("{{\"a\":[\"{}cut off{{\"", "x".repeat(shift));
                let glued = [cut.as_bytes(), &[letter], b"ey\":\"]}\"}"].concat();
                assert_eq!(value_end(&glued, 0), Err(Broken), "{letter} {shift}");
                assert_eq!(plain_container_end(&glued, 0, b'{', b'}'), Err(Broken), "{letter} {shift}");
            }
        }
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let deep = [vec![b'['; 200_000], vec![b']'; 200_000]].concat();
        assert_eq!(value_end(&deep, 0), Ok(400_000));
        let objects = [b"{\"a\":".repeat(200_000), b"1".to_vec(), vec![b'}'; 200_000]].concat();
        assert_eq!(value_end(&objects, 0), Ok(objects.len()));
        assert_eq!(enclosing_object_start(&objects), Some(0));
    }
}
