//! Skipping, in the fastest way that there is on this processor: see `scalar.rs` for the rules.

use super::scalar::{self, Broken, MemberPlace, scalar_end, short_string_end};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::simd;

/// The place behind the closing quote of the string that opens at `open`.
#[inline]
pub(super) fn string_end(bytes: &[u8], open: usize) -> Result<usize, Broken> {
    if let Some(end) = short_string_end(bytes, open) {
        return Ok(end);
    }
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if simd::available() {
        return simd::string_end(bytes, open);
    }
    scalar::string_end(bytes, open)
}

fn container_end(bytes: &[u8], open: usize, opening: u8, closing: u8) -> Result<usize, Broken> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if simd::available() {
        return simd::container_end(bytes, open, opening, closing);
    }
    scalar::container_end(bytes, open, opening, closing)
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

/// The member whose key's opening quote is at `key`.
#[inline]
pub(super) fn member(bytes: &[u8], key: usize) -> Result<MemberPlace, Broken> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if simd::available() {
        return simd::member(bytes, key);
    }
    scalar::member(bytes, key)
}

/// The first place at or behind `from` where an object begins whose first key begins with one of `letters`, and
/// nothing stands between brace, quote and letter.
#[must_use]
pub fn object_start(bytes: &[u8], from: usize, letters: &[u8]) -> Option<usize> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if simd::available() {
        return simd::object_start(bytes, from, letters);
    }
    scalar::object_start(bytes, from, letters)
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
            prop_assert_eq!(scalar::container_end(&bytes, 0, opening, closing), expected);
        }

        #[test]
        fn members_stand_where_the_plain_way_says(mut bytes in json_like(), key in "[a-z]{0,70}", gap in "[ ]{0,2}") {
            bytes.splice(0..0, format!("\"{key}\"{gap}:{gap}").into_bytes());
            prop_assert_eq!(member(&bytes, 0), scalar::member(&bytes, 0));
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
            prop_assert_eq!(scalar::object_start(&bytes, from, &letters), expected);
        }

        #[test]
        fn strings_end_where_the_plain_way_says(mut bytes in json_like(), letters in 0_usize..200) {
            bytes.splice(0..0, std::iter::once(b'"').chain(std::iter::repeat_n(b'a', letters)));
            prop_assert_eq!(string_end(&bytes, 0), scalar::string_end(&bytes, 0));
        }

        #[test]
        fn a_whole_value_ends_at_its_end_whatever_follows(value in json_value(), tail in "[ ,}\\]]?", pretty: bool) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let followed = format!("{text}{tail}");
            prop_assert_eq!(value_end(followed.as_bytes(), 0), Ok(text.len()));
            let opening = text.as_bytes()[0];
            if matches!(opening, b'{' | b'[') {
                prop_assert_eq!(scalar::container_end(followed.as_bytes(), 0, opening, opening + 2), Ok(text.len()));
            }
        }

        #[test]
        fn backwards_finds_what_forwards_found(value in json_value(), head in r"[a-z{\[]{0,10}") {
            let whole = format!("{head}{}", serde_json::json!({ "a": value }));
            prop_assert_eq!(scalar::enclosing_object_start(whole.as_bytes()), Some(head.len()));
        }

        #[test]
        fn nothing_panics(bytes in json_like()) {
            let _ = scalar::enclosing_object_start(&bytes);
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
                assert_eq!(scalar::container_end(&glued, 0, b'{', b'}'), Err(Broken), "{letter} {shift}");
            }
        }
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let deep = [vec![b'['; 200_000], vec![b']'; 200_000]].concat();
        assert_eq!(value_end(&deep, 0), Ok(400_000));
        let objects = [b"{\"a\":".repeat(200_000), b"1".to_vec(), vec![b'}'; 200_000]].concat();
        assert_eq!(value_end(&objects, 0), Ok(objects.len()));
        assert_eq!(scalar::enclosing_object_start(&objects), Some(0));
    }
}
