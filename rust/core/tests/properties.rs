//! The bodies of the fuzz targets, on arbitrary bytes and on sessions that something happened to.
//!
//! `PROPTEST_CASES` sets how many cases each test draws. The bodies stand in `rust/fuzz/bodies`, so that the same
//! code is fuzzed.

#[path = "../../fuzz/bodies/mod.rs"]
mod bodies;

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Pieces of JSON and of records, and bytes that break both.
const PIECES: [&[u8]; 36] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\\\"",
    b"\\\\",
    b"\n",
    b"\r",
    b" ",
    b"\0",
    b"\xff",
    b"\xe2\x82",
    b"null",
    b"true",
    b"-1.5e3",
    b"0",
    b"\"\"",
    b"\"type\"",
    b"\"user\"",
    b"\"t\\u0079pe\"",
    b"\\ud83d",
    b"\\ude00",
    b"{\"type\"",
    b"{\"parentUuid\"",
    b"\"message\":",
    b"\"content\":",
    b"\"text\"",
    b"<system-reminder>",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"[Request interrupted by user]",
    b"continued from a previous conversation",
];

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => proptest::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 1..20),
    ];
    prop_oneof![1 => vec(any::<u8>(), 0..300), 3 => vec(piece, 0..60).prop_map(|pieces| pieces.concat())]
}

fn any_words() -> impl Strategy<Value = String> {
    any_bytes().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// What can happen to a line.
#[derive(Debug, Clone)]
enum Mishap {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Replace(Index, u8),
    Cut(Index),
    Double,
}

fn any_mishap() -> impl Strategy<Value = Mishap> {
    prop_oneof![
        (any::<Index>(), any_bytes()).prop_map(|(at, bytes)| Mishap::Insert(at, bytes)),
        (any::<Index>(), 1_usize..40).prop_map(|(at, count)| Mishap::Remove(at, count)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mishap::Replace(at, byte)),
        any::<Index>().prop_map(Mishap::Cut),
        Just(Mishap::Double),
    ]
}

fn suffer(line: &mut Vec<u8>, mishap: &Mishap) {
    let place = |at: &Index| at.index(line.len().max(1)).min(line.len());
    match mishap {
        Mishap::Insert(at, bytes) => {
            let at = place(at);
            line.splice(at..at, bytes.iter().copied());
        }
        Mishap::Remove(at, count) => {
            let at = place(at);
            line.drain(at..line.len().min(at + count));
        }
        Mishap::Replace(at, byte) => {
            let at = place(at);
            if let Some(replaced) = line.get_mut(at) {
                *replaced = *byte;
            }
        }
        Mishap::Cut(at) => line.truncate(place(at)),
        Mishap::Double => line.extend_from_within(..),
    }
}

/// A record, one of those that `kinds` gives, that something may have happened to.
fn any_line_of(kinds: fn(&str) -> Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    let mishaps = prop_oneof![2 => Just(Vec::new()), 3 => vec(any_mishap(), 1..4)];
    (any_words(), any::<Index>(), mishaps).prop_map(move |(words, kind, mishaps)| {
        let mut line = kind.get(&kinds(&words)).clone().into_bytes();
        for mishap in &mishaps {
            suffer(&mut line, mishap);
        }
        line
    })
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![any_line_of(bodies::records::all), any_line_of(bodies::rollouts::all)]
}

/// Records, most of them one to a line.
fn any_lines_of(kinds: fn(&str) -> Vec<String>) -> impl Strategy<Value = Vec<u8>> {
    let line_end =
        prop_oneof![8 => Just(&b"\n"[..]), 1 => Just(&b""[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(&b"\0\n"[..])];
    vec((any_line_of(kinds), line_end), 0..8)
        .prop_map(|lines| lines.iter().flat_map(|(line, end)| [line, *end]).collect::<Vec<_>>().concat())
}

fn any_session() -> impl Strategy<Value = Vec<u8>> {
    any_lines_of(bodies::records::all)
}

/// Records of Codex, most of them behind the one that says whose they are.
fn any_rollout() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![3 => Just(bodies::rollouts::meta() + "\n"), 1 => Just(String::new())];
    (first, any_lines_of(bodies::rollouts::all)).prop_map(|(first, lines)| [first.as_bytes(), &lines].concat())
}

/// Records in one document, which something may have happened to.
fn any_document() -> impl Strategy<Value = Vec<u8>> {
    let records = vec((any_words(), any::<Index>()), 0..6);
    let mishaps = prop_oneof![2 => Just(Vec::new()), 1 => vec(any_mishap(), 1..3)];
    (records, mishaps).prop_map(|(records, mishaps)| {
        let record = |(words, kind): &(String, Index)| kind.get(&bodies::rollouts::all(words)).clone();
        let items: Vec<_> = records.iter().map(record).collect();
        let mut document =
            format!(r#"{{"session":{{"id":"t-1","instructions":null}},"items":[{}]}}"#, items.join(",\n")).into_bytes();
        for mishap in &mishaps {
            suffer(&mut document, mishap);
        }
        document
    })
}

proptest! {
    #[test]
    fn scanning_agrees_with_serde_json(bytes in any_bytes(), line in any_line(), words in any_words()) {
        bodies::scan(&bytes);
        bodies::scan(&line);
        bodies::scan(serde_json::Value::from(words).to_string().as_bytes());
    }

    #[test]
    fn lines_are_those_of_a_plain_split(bytes in any_bytes(), session in any_session()) {
        bodies::lines(&bytes);
        bodies::lines(&session);
    }

    #[test]
    fn parsing_depends_on_nothing_but_the_bytes(
        bytes in prop_oneof![1 => any_bytes(), 2 => any_document()],
        session in prop_oneof![any_session(), any_rollout()],
    ) {
        bodies::parse(&bytes);
        bodies::parse(&session);
    }

    #[test]
    fn no_line_costs_its_neighbours(bytes in any_bytes(), line in any_line()) {
        bodies::neighbours(&bytes);
        bodies::neighbours(&line);
    }

    #[test]
    fn a_record_glued_to_a_cut_one_comes_out_once(cut in any::<[u8; 2]>(), kinds: u8, words in any_words()) {
        bodies::glued(&[&cut[..], &[kinds], words.as_bytes()].concat());
    }
}

#[test]
fn the_bundled_sessions_come_out_the_same_in_all_ways() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut sessions = 0;
    for agent in ["claude-code", "codex"] {
        let Ok(entries) = fs::read_dir(data.join(agent)) else { panic!("no corpus") };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.to_string_lossy();
            if name.ends_with(".jsonl") || name.ends_with("document.json") {
                let Ok(bytes) = fs::read(&path) else { panic!("{name} cannot be read") };
                bodies::parse(&bytes);
                sessions += 1;
            }
        }
    }
    assert!(sessions > 20, "{sessions}");
}

#[test]
fn every_cut_of_every_record_is_survived() {
    let awkward = ["ashore", "}} ]} {{", "a \"quoted\" pier\\", "[{,:"];
    let mut wrong = Vec::new();
    for record in awkward.iter().flat_map(|words| bodies::records::all(words)) {
        for cut in (0..=record.len()).filter(|&cut| record.is_char_boundary(cut)) {
            let words = awkward[cut % awkward.len()];
            for (type_first, end) in [(false, "\n"), (true, "\n"), (cut % 3 == 0, "")] {
                wrong.extend(bodies::glued_at(&record, cut, words, type_first, end).err());
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines, such as\n{}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
}
