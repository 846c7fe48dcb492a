//! The on-demand reader against `serde_json`, and its two ways to search against each other: the same ends, the same
//! strings, the same members.

use std::collections::HashSet;
use std::ops::Range;

use retell_core::json::{Broken, Value, decode, enclosing_object_start, object_start, skip_blank, value_end};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::Searches;

/// Places from which is looked on, both ways.
const MOST_PLACES: usize = 200;

/// Where JSON is valid the reader agrees with `serde_json`; where it is not, it still stays inside the bytes.
pub fn scan(bytes: &[u8]) {
    let start = skip_blank(bytes, 0);
    ends(bytes, start);
    strings(bytes);
    let whole = bytes.trim_ascii();
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(whole) {
        assert_eq!(value_end(whole, 0), Ok(whole.len()), "{}", whole.escape_ascii());
        members(Value::new(whole), &value);
    }
    if let Some(start) = enclosing_object_start(bytes) {
        assert!(bytes[start] == b'{' && bytes.ends_with(b"}"));
    }
    let searches = Searches::hold();
    let [with_vectors, plainly] = [false, true].map(|plainly| searches.choose(plainly, || places(bytes)));
    assert_eq!(with_vectors, plainly, "{}", bytes.escape_ascii());
}

/// The end of the value, the start of an object, keys and values of the members.
type Found = (Result<usize, Broken>, Option<usize>, Vec<Range<usize>>);

/// Whatever is found from the first places on, whole or not: ends of values, members, and starts of objects.
fn places(bytes: &[u8]) -> Vec<Found> {
    let place = |part: &[u8]| {
        let start = part.as_ptr() as usize - bytes.as_ptr() as usize;
        start..start + part.len()
    };
    let found = |at: usize| {
        let members = Value::new(&bytes[at..]).members();
        let members = members.flat_map(|(key, value)| [place(key), place(value.raw())]).collect();
        (value_end(bytes, at), object_start(bytes, at, b"pts"), members)
    };
    (0..bytes.len().min(MOST_PLACES)).map(found).collect()
}

fn ends(bytes: &[u8], start: usize) {
    let mut values = Deserializer::from_slice(&bytes[start..]).into_iter::<IgnoredAny>();
    let theirs = values.next().and_then(Result::ok).map(|_| start + values.byte_offset());
    let ours = value_end(bytes, start);
    if let Ok(end) = ours {
        assert!(start < end && end <= bytes.len());
    }
    if let Some(end) = theirs {
        assert_eq!(ours, Ok(end), "{}", bytes.escape_ascii());
        if bytes[start] == b'{' {
            // Read backwards, the object begins where it began.
            assert_eq!(enclosing_object_start(&bytes[start..end]), Some(0), "{}", bytes.escape_ascii());
        }
    }
}

fn strings(raw: &[u8]) {
    let ours = decode(raw);
    assert_eq!(ours.lossy, std::str::from_utf8(raw).is_err(), "{}", raw.escape_ascii());
    let quoted = [b"\"", raw, b"\""].concat();
    // Where a lone surrogate stands, serde_json gives up and we do not.
    if let Ok(theirs) = serde_json::from_slice::<String>(&quoted) {
        assert_eq!(ours.text, theirs, "{}", raw.escape_ascii());
        assert_eq!(value_end(&quoted, 0), Ok(quoted.len()));
    }
}

fn members(ours: Value<'_>, theirs: &serde_json::Value) {
    match theirs {
        serde_json::Value::Object(object) => {
            let found: Vec<_> = ours.members().map(|(key, value)| (decode(key).text.into_owned(), value)).collect();
            let names: HashSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, object.keys().map(String::as_str).collect());
            if found.len() > object.len() {
                // A key stands twice: we take the first, serde_json the last.
                return;
            }
            for (name, value) in found {
                assert_eq!(ours.get(&name).map(Value::raw), Some(value.raw()));
                members(value, &object[&name]);
            }
        }
        serde_json::Value::Array(array) => {
            let found: Vec<_> = ours.elements().collect();
            assert_eq!(found.len(), array.len());
            for (value, theirs) in found.into_iter().zip(array) {
                members(value, theirs);
            }
        }
        serde_json::Value::String(text) => {
            assert_eq!(ours.text().map(|text| text.text).as_deref(), Some(text.as_str()));
        }
        serde_json::Value::Number(number) => {
            if let Some(integer) = number.as_u64() {
                assert_eq!(ours.integer(), Some(integer));
            }
        }
        serde_json::Value::Bool(value) => assert_eq!(ours.is_true(), *value),
        serde_json::Value::Null => assert_eq!(ours.raw(), b"null"),
    }
}
