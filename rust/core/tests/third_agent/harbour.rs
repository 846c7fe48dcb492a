//! An agent that is made up: all that a third one needs, and nothing else in the crate knows of it.
//!
//! Its records name their type under `kind`, and begin with one of three keys. A session is a record on each line, or
//! one document that says whose the records are, once for all of them.

use std::borrow::Cow;

use crate::agents::{Agent, Context, DocumentPart, Home, SubagentFiles, WrittenSetting};
use crate::entry::{Class, Entry, RecordTypes};
use crate::event::{Envelope, Fact, HumanWords, Signal, ToolCall};
use crate::glue::RecordShape;
use crate::json::{Members, Value, skip_blank};

/// The agent.
pub struct Harbour;

/// `logbook/log-<voyage>.jsonl`, or `.json` for a document.
static HOME: Home = Home {
    variable: "HARBOUR_HOME",
    folder: ".harbour",
    sessions: &[("logbook", 0..=0)],
    session_id: |name| {
        let name = name.strip_prefix("log-")?;
        name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))
    },
    unique_names: true,
    projects: None,
    not_sessions: &[],
    not_transcripts: &[],
    subagents: SubagentFiles::None,
};

static RECORD_TYPES: RecordTypes = RecordTypes::of(
    RecordShape {
        type_key: "kind",
        starts: &[b"{\"seq\"", b"{\"at\"", b"{\"kind\""],
        is_known: |kind| class_of(kind) != Class::Unknown,
        // What a soundings record nests has a kind as well, but nobody who wrote it.
        is_record: |_, object| object.get("by").is_some(),
    },
    |kind, _, _| class_of(kind),
);

fn class_of(kind: &str) -> Class {
    match kind {
        "said" => Class::Signal,
        "named" => Class::Fact,
        "soundings" => Class::Noise,
        _ => Class::Unknown,
    }
}

impl Agent for Harbour {
    fn name(&self) -> &'static str {
        "harbour"
    }

    fn record_types(&self) -> &'static RecordTypes {
        &RECORD_TYPES
    }

    fn home(&self) -> &'static Home {
        &HOME
    }

    fn claims(&self, record: Value<'_>) -> bool {
        text(record.get("kind")).is_some_and(|kind| class_of(&kind) != Class::Unknown)
    }

    fn envelope(&self, entry: &Entry<'_>, context: &mut dyn Context) -> Envelope {
        Envelope {
            timestamp: entry.text("at").into(),
            setting: context.setting(setting(|name| entry.get(name))),
            place: entry.place,
            ..Envelope::default()
        }
    }

    fn version<'e>(&self, entry: &Entry<'e>) -> Cow<'e, str> {
        entry.text("build")
    }

    fn read(&self, entry: &Entry<'_>, _context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
        let words = |name: &str| entry.text(name).into_owned();
        match (entry.kind, entry.text("by").as_ref()) {
            ("named", _) => say(Signal::Fact(Fact::CustomTitle(words("title")))),
            (_, "captain") => {
                let says = words("words");
                let words = HumanWords { says: says.clone(), ..HumanWords::default() };
                say(Signal::User { words, text: says, images: Vec::new(), human: true, lossy: false });
            }
            _ => {
                let called = entry.get("orders").into_iter().flat_map(Value::elements);
                let tool = |order: Value<'_>| ToolCall {
                    name: text(order.get("gear")).unwrap_or_default().into_owned(),
                    target: text(order.get("on")).unwrap_or_default().into_owned(),
                    ..ToolCall::default()
                };
                say(Signal::Assistant {
                    says: words("words"),
                    thinks: words("muses"),
                    tools: called.map(tool).collect(),
                    plan: String::new(),
                    message_id: String::new(),
                    lossy: false,
                });
            }
        }
    }

    fn is_document(&self, beginning: &[u8]) -> bool {
        let mut members = Members::open(beginning, skip_blank(beginning, 0));
        members.as_mut().is_some_and(|members| members.key() == Ok(Some(b"voyage")))
    }

    fn document_records<'v>(&self, document: Value<'v>) -> Vec<DocumentPart<'v>> {
        let log = document.open_members().find(|(key, _)| *key == b"log");
        log.map(|(_, log)| DocumentPart::Records(log)).into_iter().collect()
    }

    fn document_setting<'v>(&self, document: Value<'v>) -> WrittenSetting<'v> {
        setting(|name| document.get(name))
    }
}

fn text(value: Option<Value<'_>>) -> Option<Cow<'_, str>> {
    value.and_then(Value::text).map(|text| text.text)
}

fn setting<'v>(get: impl Fn(&str) -> Option<Value<'v>>) -> WrittenSetting<'v> {
    WrittenSetting { session_id: get("voyage"), cwd: get("berth"), version: get("build"), ..WrittenSetting::default() }
}
