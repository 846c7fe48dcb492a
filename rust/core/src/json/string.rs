//! Decoding a string: escapes, surrogates, and bytes that are no UTF-8.

mod escapes;
mod unescape;

use std::borrow::Cow;

use memchr::memchr;

use escapes::push_escape;

/// A decoded string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    /// What it says. Invalid UTF-8 and lone surrogate escapes stand as U+FFFD.
    pub text: Cow<'a, str>,
    /// Whether invalid UTF-8 was replaced (a lone surrogate escape is not invalid UTF-8).
    pub lossy: bool,
}

/// Decodes the bytes between a string's quotes.
///
/// Real files hold lone surrogate escapes (`\ud83d` cut from its partner) and raw bytes that are not UTF-8:
/// neither costs the text around it. An escape that JSON does not know is kept as it stands.
#[must_use]
#[inline]
pub fn decode(raw: &[u8]) -> Text<'_> {
    if let Some(text) = unescape::plain(raw) {
        return Text { text: Cow::Borrowed(text), lossy: false };
    }
    decode_any(raw)
}

fn decode_any(raw: &[u8]) -> Text<'_> {
    let Some(first) = memchr(b'\\', raw) else {
        let (text, lossy) = utf8(raw);
        return Text { text, lossy };
    };
    // Escapes make whole characters, so what they leave of the bytes around them is valid if and only if it was.
    match unescape::unescaped(raw, first) {
        Some(text) => Text { text: Cow::Owned(text), lossy: false },
        None => decode_lossy(raw, first),
    }
}

/// The same a piece at a time, for what is not UTF-8: slower, and the safe twin of [`unescape::unescaped`].
#[cold]
fn decode_lossy(raw: &[u8], first: usize) -> Text<'_> {
    let mut decoded = String::with_capacity(raw.len());
    let mut lossy = push_utf8(&mut decoded, &raw[..first]);
    let mut at = first;
    while at < raw.len() {
        // raw[at] is a backslash.
        let mut escape = Vec::new();
        at += push_escape(&mut escape, &raw[at..]);
        decoded.push_str(&String::from_utf8_lossy(&escape));
        let next = memchr(b'\\', &raw[at..]).map_or(raw.len(), |found| at + found);
        lossy |= push_utf8(&mut decoded, &raw[at..next]);
        at = next;
    }
    Text { text: Cow::Owned(decoded), lossy }
}

/// Decodes a key, where whether it was lossy does not matter.
pub(super) fn decode_key(raw: &[u8]) -> Cow<'_, str> {
    decode(raw).text
}

fn utf8(raw: &[u8]) -> (Cow<'_, str>, bool) {
    match simdutf8::basic::from_utf8(raw) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (String::from_utf8_lossy(raw), true),
    }
}

fn push_utf8(decoded: &mut String, raw: &[u8]) -> bool {
    let (text, lossy) = utf8(raw);
    decoded.push_str(&text);
    lossy
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_surrogates_and_bad_bytes() {
        let cases: [(&[u8], &str, bool); 12] = [
            (b"plain", "plain", false),
            (br#"a\n\t\r\b\f\"\\\/z"#, "a\n\t\r\u{8}\u{c}\"\\/z", false),
            (br"\u00e9\u20AC", "é€", false),
            (br"\ud83d\ude00", "😀", false),
            (br"\ud83d", "\u{fffd}", false),
            (br"\ude00x", "\u{fffd}x", false),
            (br"\ud83d\ud83d\ude00", "\u{fffd}😀", false),
            (br"\\ud83d", r"\ud83d", false),
            (b"a\xff\xe2\x82\\n", "a\u{fffd}\u{fffd}\n", true),
            (br"\q\u12", r"\q\u12", false),
            (b"tail\\", "tail\\", false),
            ("\u{2028}\u{85}".as_bytes(), "\u{2028}\u{85}", false),
        ];
        for (raw, text, lossy) in cases {
            assert_eq!(decode(raw), Text { text: text.into(), lossy }, "{}", raw.escape_ascii());
        }
    }

    /// Text with escapes, whole and cut, and bytes that are not UTF-8, in runs long enough to cross chunks.
    fn mostly_text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => "[ -~é😀]{0,80}".prop_map(String::into_bytes),
            3 => r#"\\[ntrbfuq"\\/]"#.prop_map(String::into_bytes),
            2 => r"\\u[dD][89a-fA-F][0-9a-f]{2}|\\u00[0-9a-f]{2}|\\u[0-9a-f]{0,5}".prop_map(String::into_bytes),
            1 => proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn every_string_that_serde_json_writes_is_read_back(text: String) {
            let written = serde_json::to_string(&text).expect("a string");
            let raw = &written.as_bytes()[1..written.len() - 1];
            prop_assert_eq!(decode(raw), Text { text: text.into(), lossy: false });
        }

        #[test]
        fn decoding_at_once_gives_what_decoding_piece_by_piece_does(raw in mostly_text()) {
            let first = memchr(b'\\', &raw).unwrap_or(raw.len());
            prop_assert_eq!(decode(&raw), decode_lossy(&raw, first));
        }
    }
}
