//! What escapes spell.

fn push(decoded: &mut Vec<u8>, character: char) {
    decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What a letter behind a backslash spells, where that is one byte; else 0.
pub(super) static UNESCAPED: [u8; 256] = {
    let escapes = [
        (b'n', b'\n'),
        (b't', b'\t'),
        (b'r', b'\r'),
        (b'b', 8),
        (b'f', 12),
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
    ];
    let (mut table, mut at) = ([0; 256], 0);
    while at < escapes.len() {
        table[escapes[at].0 as usize] = escapes[at].1;
        at += 1;
    }
    table
};

/// Decodes the escape that `raw` starts with; returns how many bytes it took.
#[inline]
pub(super) fn push_escape(decoded: &mut Vec<u8>, raw: &[u8]) -> usize {
    match raw.get(1) {
        Some(&letter) if UNESCAPED[usize::from(letter)] != 0 => {
            decoded.push(UNESCAPED[usize::from(letter)]);
            2
        }
        Some(b'u') => push_unicode(decoded, raw),
        _ => {
            decoded.push(b'\\');
            1
        }
    }
}

fn push_unicode(decoded: &mut Vec<u8>, raw: &[u8]) -> usize {
    let Some(first) = code_unit(raw) else {
        decoded.push(b'\\');
        return 1;
    };
    if let Some(character) = char::from_u32(first) {
        push(decoded, character);
        return 6;
    }
    // A surrogate: the first half of a pair makes one character with the second, else it stands alone.
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = code_unit(&raw[6..])
        && let Some(character) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        push(decoded, character);
        return 12;
    }
    push(decoded, char::REPLACEMENT_CHARACTER);
    6
}

/// The code unit of the `\uXXXX` that `raw` starts with.
fn code_unit(raw: &[u8]) -> Option<u32> {
    let digits = raw.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}
