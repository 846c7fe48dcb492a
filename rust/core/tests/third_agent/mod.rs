//! An agent that the product does not have: whatever it can do, the next one can.
//!
//! It is a row of [`AGENTS`] in tests only. Its records begin with other letters than those of the agents there are, and
//! its types stand under another key.

mod harbour;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agents::{AGENTS, Agent};
use crate::sinks::write_events;
use crate::{
    CensusOptions, Conversation, DiscoverOptions, ParseOptions, Progress, Source, census, discover, json, parse,
};

pub use harbour::Harbour;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/third_agent/data").join(name)
}

fn parsed(source: Source) -> Conversation {
    parse(source, &ParseOptions::default(), &mut Progress::silent()).expect("a conversation")
}

fn parsed_lines(lines: String) -> Conversation {
    parsed(Source::Bytes(lines.into_bytes()))
}

/// What is said, in order.
fn words(conversation: &Conversation) -> Vec<&str> {
    conversation.events.iter().map(|event| event.says.as_str()).collect()
}

#[test]
fn its_sessions_give_the_events_beside_them() {
    for name in ["log-v-17.jsonl", "log-v-18.json"] {
        let conversation = parsed(Source::Path(data(name)));
        assert_eq!(conversation.manifest.agent, "harbour", "{name}");
        let mut written = Vec::new();
        write_events(&conversation.events, &mut written).expect("written");
        let found: Value = serde_json::from_slice(&written).expect("JSON");
        let beside = fs::read(data(name).with_extension("events.json")).expect("the events beside the session");
        assert_eq!(found, serde_json::from_slice::<Value>(&beside).expect("JSON"), "{name}: {found:#}");
    }
}

#[test]
fn what_a_document_says_holds_for_its_records() {
    let manifest = parsed(Source::Path(data("log-v-18.json"))).manifest;
    assert_eq!((manifest.conversation_id.as_str(), manifest.session_ids), ("v-18", vec!["v-18".to_owned()]));
    assert_eq!((manifest.project_path.as_deref(), manifest.versions), (Some("/boats/egret"), vec!["4.0.1".to_owned()]));
    assert_eq!(manifest.entries["said"].count, 3);
}

#[test]
fn of_a_document_that_is_cut_off_what_is_whole_is_read() {
    let whole = fs::read_to_string(data("log-v-18.json")).expect("the session");
    let cut = whole.find("count again").expect("its last words");
    let conversation = parsed_lines(whole[..cut].to_owned());
    assert_eq!(words(&conversation), ["count the ropes", "forty"]);
    assert_eq!(conversation.manifest.session_ids, ["v-18"]);
    assert!(conversation.manifest.incomplete_tail.is_some());
}

#[test]
fn its_sessions_are_previewed() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("logbook");
    fs::create_dir(&folder).expect("a folder");
    for name in ["log-v-17.jsonl", "log-v-18.json"] {
        fs::copy(data(name), folder.join(name)).expect("a copy");
    }
    let options = DiscoverOptions { root: Some(home.path().to_owned()), ..DiscoverOptions::default() };
    let mut previews = discover(&options).expect("previews");
    previews.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    let [lines, document] = previews.as_slice() else { panic!("{previews:?}") };
    assert_eq!(
        (lines.agent, lines.session_id.as_str(), lines.title.as_deref()),
        ("harbour", "v-17", Some("A torn seam"))
    );
    assert_eq!((lines.first_words.as_str(), lines.last_words.as_str()), ("mend the mainsail", "and the jib"));
    assert_eq!(lines.tools, [("spyglass".to_owned(), 1)]);
    assert_eq!((document.agent, document.session_id.as_str()), ("harbour", "v-18"));
    assert_eq!(document.project_path.as_deref(), Some("/boats/egret"));
}

#[test]
fn its_types_are_counted() {
    let paths = vec![data("log-v-17.jsonl"), data("log-v-18.json")];
    let counted =
        census(&CensusOptions { paths, ..CensusOptions::default() }, &mut Progress::silent()).expect("a census");
    let harbour = &counted.agents["harbour"];
    let types = |name: &str| (harbour.types[name].count, harbour.types[name].unknown);
    assert_eq!((harbour.files, harbour.types.len()), (2, 4));
    assert_eq!(
        (types("said"), types("named"), types("soundings"), types("tide")),
        ((7, false), (1, false), (2, false), (1, true))
    );
    assert_eq!(harbour.versions.iter().map(String::as_str).collect::<Vec<_>>(), ["3.1.0", "3.2.0", "4.0.1"]);
}

/// A record that begins in the way of `start`, with what follows its first member.
fn record(start: &str, says: &str) -> String {
    let rest = format!(r#""by":"captain","words":"{says}","gear":{{"notes":["a }} b","{says}"]}},"voyage":"v-19""#);
    match start {
        "{\"kind\"" => format!(r#"{{"kind":"said",{rest}}}"#),
        start => format!(r#"{start}:"1","kind":"said",{rest}}}"#),
    }
}

/// Read from within a string that was cut, the brackets in it close the torn record.
const BEHIND: &str = "]}} behind";

#[test]
fn a_record_glued_to_a_torn_one_is_found_however_they_begin() {
    let starts = Harbour.record_types().shape.starts.iter().map(|start| String::from_utf8_lossy(start).into_owned());
    let starts: Vec<_> = starts.collect();
    assert_eq!(starts.len(), 3);
    for plainly in [false, true] {
        json::search_plainly(plainly);
        for (first, second) in starts.iter().flat_map(|first| starts.iter().map(move |second| (first, second))) {
            let torn = record(first, &"x".repeat(90));
            for cut in 1..torn.len() {
                let lines = format!("{}\n{}{}\n", record(first, "before"), &torn[..cut], record(second, BEHIND));
                let conversation = parsed_lines(lines);
                assert_eq!(words(&conversation), ["before", BEHIND], "{} before {second}", &torn[..cut]);
                let damage = &conversation.manifest.damaged_lines;
                assert!(damage.iter().all(|damage| damage.damage.recovered) && damage.len() == 1, "{damage:?}");
            }
        }
    }
    json::search_plainly(false);
}

#[test]
fn no_agent_takes_a_record_for_its_own_that_is_another_ones() {
    for name in ["log-v-17.jsonl", "log-v-18.json"] {
        let session = fs::read(data(name)).expect("the session");
        let first = session.split(|&byte| byte == b'\n').next().unwrap_or_default();
        for agent in AGENTS.iter().filter(|agent| agent.name() != "harbour") {
            assert!(!agent.claims(json::Value::new(first)) && !agent.is_document(&session), "{}", agent.name());
        }
    }
}
