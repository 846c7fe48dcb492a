//! The sessions in `tests/data`, and beside each what must come out of it. `tests/differential/test_corpus.py` reads the same files.
//!
//! `NAME.events.json` is all of events.json; `NAME.manifest.json` holds those keys of manifest.json that the session
//! is about. Subagents are put under the calls that started them.

use std::fs;
use std::path::{Path, PathBuf};

use retell_core::sinks::write_events;
use retell_core::{Conversation, ParseOptions, Progress, Source, parse};
use serde_json::Value;

fn sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let (mut paths, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { panic!("no corpus at {}", folder.display()) };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".events.json") {
                paths.push(session_of(&path));
            }
        }
    }
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// The session that stands beside what must come out of it.
fn session_of(expected: &Path) -> PathBuf {
    let lines = expected.with_extension("").with_extension("jsonl");
    if lines.exists() { lines } else { lines.with_extension("json") }
}

fn conversation(path: &Path, include_subagents: bool) -> Conversation {
    let options = ParseOptions { include_subagents, ..ParseOptions::default() };
    match parse(Source::Path(path.to_owned()), &options, &mut Progress::silent()) {
        Ok(conversation) => conversation,
        Err(error) => panic!("{error}"),
    }
}

fn events(conversation: &Conversation) -> Value {
    let mut written = Vec::new();
    let done = write_events(&conversation.events, &mut written);
    assert!(done.is_ok(), "{done:?}");
    read(&written, "events.json")
}

fn read(json: &[u8], name: &str) -> Value {
    match serde_json::from_slice(json) {
        Ok(value) => value,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn beside(session: &Path, extension: &str) -> Option<Value> {
    let path = session.with_extension(extension);
    fs::read(&path).ok().map(|json| read(&json, &path.to_string_lossy()))
}

/// The places where `found` lacks or contradicts what is `expected`. Objects may hold more when `more` says so.
fn differences(at: &str, expected: &Value, found: &Value, more: bool, told: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                match found.get(key) {
                    Some(found) => differences(&format!("{at}.{key}"), value, found, more, told),
                    None => told.push(format!("{at}.{key}: missing, expected {value}")),
                }
            }
            let unasked = found.keys().filter(|key| !more && !expected.contains_key(*key));
            told.extend(unasked.map(|key| format!("{at}.{key}: not expected, {}", found[key])));
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                differences(&format!("{at}[{index}]"), expected, found, false, told);
            }
        }
        _ if expected == found => {}
        _ => told.push(format!("{at}: expected {expected}, found {found}")),
    }
}

#[test]
fn every_session_gives_the_events_beside_it() {
    let mut told = Vec::new();
    for session in sessions() {
        let name = session.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(expected) = beside(&session, "events.json") else {
            told.push(format!("{name}.events.json is missing"));
            continue;
        };
        let whole = conversation(&session, true);
        differences(&name, &expected, &events(&whole), false, &mut told);
        if let Some(expected) = beside(&session, "manifest.json") {
            let Ok(manifest) = serde_json::to_value(&whole.manifest) else { panic!("{name}: no JSON") };
            differences(&format!("{name} manifest"), &expected, &manifest, true, &mut told);
        }
    }
    assert!(told.is_empty(), "\n{}", told.join("\n"));
}

#[test]
fn without_subagents_only_their_events_are_left_out() {
    for session in sessions() {
        let Some(Value::Array(mut expected)) = beside(&session, "events.json") else { continue };
        for event in &mut expected {
            let references = event.get_mut("subagent_refs").and_then(Value::as_array_mut);
            for reference in references.into_iter().flatten().filter_map(Value::as_object_mut) {
                reference.remove("events");
            }
        }
        let found = events(&conversation(&session, false));
        let mut told = Vec::new();
        differences("", &Value::Array(expected), &found, false, &mut told);
        assert!(told.is_empty(), "{}\n{}", session.display(), told.join("\n"));
    }
}
