//! The two ids of an entry that is dropped: which it is, and which it answers.
//!
//! Seventy percent of the lines of many sessions are dropped, and what stands in them is not walked through. But
//! `parentUuid` is the first member of every such line, and `uuid` stands near its end:
//! ```text
//! {"parentUuid":"…", …,"uuid":"…","timestamp":"2026-02-10T09:14:03.120Z"}                 progress up to 2.1.39
//! {"parentUuid":"…", …,"uuid":"…","timestamp":"…","userType":"external","entrypoint":…}   from 2.1.81 on
//! {"parentUuid":"…", …,"timestamp":"…","uuid":"…","isMeta":false}                         system
//! ```
//! So the end is compared with the ends of the lines before, which is quick: what follows the timestamp (or the id, where
//! none follows it) is the same for long. An end that is new is looked at once: no other id and no timestamp may stand
//! in it, and only plain members, so that the one brace in it closes the record. What looks otherwise in any way is
//! walked through, member by member. Which ends are known changes no result.

use std::sync::LazyLock;

use memchr::memmem::FinderRev;

use crate::agents::text::string;
use crate::branches::Node;
use crate::json::{Members, Value, has_escapes};

const PARENT: &[u8] = b"{\"parentUuid\":";
const ID: &[u8] = b",\"uuid\":\"";
const TIME: &[u8] = b"\",\"timestamp\":\"";
/// The length of an id, and that of a timestamp.
const ID_LENGTH: usize = 36;
const TIME_LENGTH: usize = 24;

/// How far from its end a new kind of end is looked for.
const MAX_END: usize = 2 << 10;
/// Ends that are kept: sessions, folders and branches change rarely.
const MAX_KNOWN: usize = 8;

/// The hook that runs when the context was cleared.
const CLEARED: &str = "SessionStart:clear";

static FIND_ID: LazyLock<FinderRev<'_>> = LazyLock::new(|| FinderRev::new(ID));

/// How entries end: what stands behind the timestamp that follows the id, or behind the id.
struct End {
    bytes: Box<[u8]>,
    behind_time: bool,
}

/// The ends of the entries before.
#[derive(Default)]
pub struct Ends {
    known: Vec<End>,
    next: usize,
}

/// The ids of the entry that `begun` begins and `ended` ends (both may be all of it), and of its parent; `None` when
/// these do not show them.
pub(super) fn at_ends(begun: &[u8], ended: &[u8], ends: &mut Ends) -> Option<(Node, Node)> {
    let parent = begun.strip_prefix(PARENT)?;
    let parent = if parent.starts_with(b"null") {
        Node::default()
    } else {
        let quoted = parent.get(..ID_LENGTH + 2)?;
        Node::written(quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?
    };
    for (at, end) in ends.known.iter().enumerate() {
        if ended.ends_with(&end.bytes)
            && let Some(id) = id_before(&ended[..ended.len() - end.bytes.len()], end.behind_time)
        {
            ends.known.swap(0, at);
            return Some((id, parent));
        }
    }
    let (id, end) = new_end(ended)?;
    if ends.known.len() < MAX_KNOWN {
        ends.known.push(end);
    } else {
        // The one in the first place was used last.
        ends.known[1 + ends.next % (MAX_KNOWN - 1)] = end;
        ends.next += 1;
    }
    Some((id, parent))
}

/// The id that `bytes` end with, or that the timestamp follows which they end with.
fn id_before(bytes: &[u8], behind_time: bool) -> Option<Node> {
    let bytes = if behind_time {
        let (before, time) = bytes.split_last_chunk()?;
        before.strip_suffix(TIME).filter(|_| is_time(time))?
    } else {
        bytes
    };
    let (before, id) = bytes.split_at_checked(bytes.len().checked_sub(ID_LENGTH)?)?;
    if before.ends_with(ID) { Node::written(id) } else { None }
}

/// Whether `text` is a timestamp of the usual form: nothing can be hidden between its marks.
#[inline]
fn is_time(text: &[u8; TIME_LENGTH]) -> bool {
    [text[4], text[7], text[10], text[13], text[16], text[19], text[23]] == *b"--T::.Z"
}

fn new_end(ended: &[u8]) -> Option<(Node, End)> {
    let from = ended.len().saturating_sub(MAX_END);
    let start = from + FIND_ID.rfind(&ended[from..])? + ID.len();
    let id = Node::written(ended.get(start..start + ID_LENGTH)?)?;
    let behind = &ended[start + ID_LENGTH..];
    let time = behind.strip_prefix(TIME).and_then(|time| time.split_first_chunk());
    let (bytes, behind_time) = match time {
        Some((time, rest)) if is_time(time) => (rest, true),
        _ => (behind, false),
    };
    is_flat(bytes).then(|| (id, End { bytes: bytes.into(), behind_time }))
}

/// Whether `end` closes a string, then holds plain members that are neither an id nor a timestamp, and the record's
/// closing brace.
fn is_flat(end: &[u8]) -> bool {
    let object = [b"{\"\":\"", end].concat();
    let Some(mut members) = Members::open(&object, 0) else { return false };
    loop {
        match members.member() {
            Ok(None) => return members.at() == object.len(),
            Ok(Some((key, value))) => {
                let names_id = key == b"uuid" || key == b"timestamp" || has_escapes(key);
                if names_id || value.is_object() || value.is_array() {
                    return false;
                }
            }
            Err(_) => return false,
        }
    }
}

/// The id that a value spells, to be compared.
pub(super) fn node(value: Option<Value<'_>>) -> Node {
    let written = value.and_then(Value::raw_string).and_then(Node::written);
    written.unwrap_or_else(|| Node::of(string(value).as_bytes()))
}

/// The same of a whole entry, walked through.
pub(super) fn walked(record: Value<'_>) -> Option<(Node, Node)> {
    let (mut id, mut parent) = (None, None);
    let mut members = Members::open(record.raw(), 0)?;
    while let Some((key, value)) = members.member().ok()? {
        match crate::json::key(key).as_ref() {
            b"uuid" => id.get_or_insert(value),
            b"parentUuid" => parent.get_or_insert(value),
            _ => continue,
        };
    }
    Some((node(id), node(parent)))
}

/// Whether a root is the hook that runs when the context was cleared.
pub(super) fn clears(record: Value<'_>) -> bool {
    let hook = |member| record.get(member).and_then(|member| member.get("hookName")).and_then(Value::text);
    let is_clear = |member| hook(member).is_some_and(|hook| hook.text == CLEARED);
    (is_clear("data") || is_clear("attachment")) && !record.get("isSidechain").is_some_and(Value::is_true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDS: [&str; 3] = [
        "3f2b7c1e-0d4a-4b6f-9e8d-5a1c2b3d4e5f",
        "00000000-0000-4000-8000-000000000001",
        "00000000-0000-4000-8000-000000000002",
    ];
    const BEGINNINGS: [&str; 5] = [
        "{\"parentUuid\":null",
        "{\"parentUuid\":\"3f2b7c1e-0d4a-4b6f-9e8d-5a1c2b3d4e5f\"",
        "{\"parentUuid\":\"short\"",
        "{\"parentUuid\":\"00000000-0000-4000-8000-00000000000\\u0031\"",
        "{\"type\":\"progress\",\"parentUuid\":\"00000000-0000-4000-8000-000000000002\"",
    ];
    const MIDDLES: [&str; 6] = [
        ",\"type\":\"progress\"",
        ",\"data\":{\"message\":{\"a\":1,\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-02-10T09:14:03.120Z\"}}",
        ",\"data\":\"\\\",\\\"uuid\\\":\\\"00000000-0000-4000-8000-000000000001\\\",\\\"timestamp\\\":\\\"2026-02-10T09:14:03.120Z\\\"}\"",
        ",\"timestamp\":\"2026-02-10T09:14:03.120Z\"",
        ",\"content\":[{\"x\":\"}\"}]",
        ",\"level\":null",
    ];
    const ENDS: [&str; 7] = [
        "}",
        ",\"timestamp\":\"2026-02-10T09:14:03.120Z\"}",
        ",\"timestamp\":\"2026-02-11T09:14:03.120Z\",\"userType\":\"external\",\"cwd\":\"/a\\\"}b\",\"version\":\"2.1.9\"}",
        ",\"timestamp\":\"2026-02-11T09:14:03.120Z\",\"userType\":\"external\",\"cwd\":\"/c\",\"n\":1}",
        ",\"isMeta\":false}",
        ",\"timestamp\":\"yesterday\",\"slug\":{\"a\":1}}",
        ",\"slug\":{\"a\":1,\"timestamp\":\"2026-02-10T09:14:03.120Z\"}}",
    ];

    fn any_record() -> impl Strategy<Value = String> {
        let of = |texts: &'static [&'static str]| proptest::sample::select(texts);
        let middles = proptest::collection::vec(of(&MIDDLES), 0..4);
        (of(&BEGINNINGS), middles, proptest::option::of(of(&IDS)), of(&ENDS)).prop_map(|(begun, middles, id, end)| {
            let id = id.map_or_else(String::new, |id| format!(",\"uuid\":\"{id}\""));
            format!("{begun}{}{id}{end}", middles.concat())
        })
    }

    proptest! {
        #[test]
        fn the_ends_say_what_a_walk_finds(records in proptest::collection::vec(any_record(), 1..12)) {
            let mut ends = Ends::default();
            for record in &records {
                let bytes = record.as_bytes();
                let found = at_ends(bytes, bytes, &mut ends);
                prop_assert_eq!(found, at_ends(bytes, bytes, &mut Ends::default()), "{}", record);
                let walked = walked(Value::new(bytes));
                prop_assert!(found.is_none() || found == walked, "{} {:?} {:?}", record, found, walked);
            }
        }
    }

    #[test]
    fn the_usual_ends_are_enough() {
        let mut ends = Ends::default();
        for (begun, middle, end) in [(1, 1, 1), (0, 0, 2), (1, 5, 3), (1, 3, 4), (1, 2, 1), (0, 4, 2)] {
            let record = format!("{}{},\"uuid\":\"{}\"{}", BEGINNINGS[begun], MIDDLES[middle], IDS[2], ENDS[end]);
            let parent = [Node::default(), Node::of(IDS[0].as_bytes())][begun];
            let expected = Some((Node::of(IDS[2].as_bytes()), parent));
            assert_eq!(at_ends(record.as_bytes(), record.as_bytes(), &mut ends), expected, "{record}");
        }
        assert_eq!(ends.known.len(), 4);
    }

    #[test]
    fn only_a_root_hook_of_its_name_clears() {
        for (record, expected) in [
            ("{\"data\":{\"hookName\":\"SessionStart:clear\"}}", true),
            ("{\"attachment\":{\"hookName\":\"SessionStart:clear\"}}", true),
            ("{\"data\":{\"hookName\":\"SessionStart:resume\"}}", false),
            ("{\"isSidechain\":true,\"data\":{\"hookName\":\"SessionStart:clear\"}}", false),
            ("{\"data\":\"SessionStart:clear\"}", false),
        ] {
            assert_eq!(clears(Value::new(record.as_bytes())), expected, "{record}");
        }
    }
}
