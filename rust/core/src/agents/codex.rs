//! Codex rollouts of every era: the record types, and how words, calls and results stand in them.
//!
//! There is no official schema. The shapes are those found in files, and those that the program's own source writes.
//! Nothing is inferred from a version: each record is read by what it holds. The same words stand in up to three
//! records; [`sieve`] tells which of them count once the whole file is known.

mod body;
mod record_types;
mod requests;
mod sieve;
mod spoken;
mod tools;
mod twins;
mod words;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::text::{Texts, string};
use super::{Agent, Context, DocumentPart, Evidence, Home, Sieve, SubagentFiles};
use crate::entry::{Class, Entry, Fields, RecordTypes};
use crate::event::{Envelope, Fact, Origin, Passed, Recording, Signal, Thread};
use crate::glue::RecordShape;
use crate::json::{Broken, Members, Value, key_is, skip_blank};

use body::{Body, lines, message, planned, thought};

/// Codex.
pub struct Codex;

/// `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, in 2025 also `sessions/rollout-<day>-<id>.json`;
/// `archived_sessions/` is flat.
static HOME: Home = Home {
    variable: "CODEX_HOME",
    folder: ".codex",
    sessions: &[("sessions", 0..=3), ("archived_sessions", 0..=0)],
    session_id,
    unique_names: true,
    projects: None,
    not_sessions: &[],
    not_transcripts: &[],
    subagents: SubagentFiles::Threads,
};

/// Tools that every session uses.
const PLAIN_TOOLS: [&str; 14] = [
    "apply_patch",
    "container.exec",
    "exec",
    "exec_command",
    "grep_files",
    "list_dir",
    "local_shell",
    "read_file",
    "shell",
    "shell_command",
    "update_plan",
    "view_image",
    "wait",
    "write_stdin",
];

/// Characters of a UUID.
const ID: usize = 36;

fn session_id(name: &str) -> Option<&str> {
    let name = name.strip_prefix("rollout-")?;
    let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json"))?;
    stem.len().checked_sub(ID).and_then(|from| stem.get(from..)).or(Some(stem))
}

static RECORD_TYPES: RecordTypes = RecordTypes {
    // What a payload is, is told by the type that stands in it; where none was seen yet it is nothing known.
    is_told_early: |_| true,
    classify_untyped: |entry| {
        let row = record_types::judge_untyped(entry);
        (row.name, row.class)
    },
    counted_as,
    detailed: counted_as,
    ..RecordTypes::of(
        RecordShape {
            type_key: "type",
            // Bare records begin as every object in them does.
            starts: &[START],
            is_known: record_types::is_known,
            is_record: |_, _| true,
        },
        classify,
    )
};

const START: &[u8] = b"{\"timestamp\"";

fn classify(kind: &str, entry: &Fields<'_>, complete: bool) -> Class {
    match record_types::judge(kind, entry, complete) {
        Ok(row) => row.class,
        Err(member) => Class::Await(member),
    }
}

fn counted_as<'k>(kind: &'k str, entry: &Fields<'_>) -> Cow<'k, str> {
    record_types::judge(kind, entry, true).map_or(Cow::Borrowed(kind), |row| row.name)
}

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn record_types(&self) -> &'static RecordTypes {
        &RECORD_TYPES
    }

    fn envelope(&self, entry: &Entry<'_>, _context: &mut dyn Context) -> Envelope {
        let recording = match entry.kind {
            "response_item" => Recording::Response,
            "event_msg" if Body::of(entry).text("type") == "item_completed" => {
                let item = Body::of(entry).get("item").and_then(|item| item.get("type"));
                if record_types::is_item("Plan", &string(item)) { Recording::Plan } else { Recording::Item }
            }
            "event_msg" | "user_message" | "agent_message" => Recording::Event,
            _ => Recording::Only,
        };
        Envelope {
            timestamp: entry.text("timestamp").into(),
            ordinal: entry.get("ordinal").and_then(Value::integer),
            recording,
            place: entry.place,
            ..Envelope::default()
        }
    }

    fn version<'e>(&self, entry: &Entry<'e>) -> Cow<'e, str> {
        let is_meta = matches!(entry.kind, "session_meta" | record_types::BARE_META);
        if is_meta { Body::of(entry).text("cli_version") } else { Cow::Borrowed("") }
    }

    fn wants_evidence(&self, of_use: Evidence, upcoming: &Members<'_>) -> bool {
        let rest = upcoming.bytes();
        let Some(([answers], others)) = self.evidence_markers(of_use).and_then(<[_]>::split_first_chunk) else {
            return true;
        };
        others.iter().any(|marker| marker.find(rest).is_some())
            || (tools::may_be_answers(rest) && answers.find(rest).is_some())
    }

    fn evidence_markers(&self, of_use: Evidence) -> Option<&'static [Finder<'static>]> {
        /// What the human answered; an image in an output, as a data URI or as MCP writes it; what it says about the
        /// subagent that was started.
        static MARKERS: LazyLock<[Finder<'_>; 5]> =
            LazyLock::new(|| ["\"answers", ";base64,", "\"image\"", "agent_id", "task_name"].map(Finder::new));
        // Of records that may be copies all are read.
        (!of_use.copies).then(|| if of_use.subagents { &MARKERS[..] } else { &MARKERS[..3] })
    }

    fn read(&self, entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
        if read(entry, context, say).is_err() {
            say(Signal::Broken);
        }
    }

    fn home(&self) -> &'static Home {
        &HOME
    }

    fn plain_tools(&self) -> &'static [&'static str] {
        &PLAIN_TOOLS
    }

    fn claims(&self, record: Value<'_>) -> bool {
        let has = |name: &str| record.get(name).is_some();
        if let Some(kind) = record.get("type").and_then(Value::text) {
            // Other agents have messages too, whose role stands deeper.
            return record_types::is_known(&kind.text) && (kind.text != "message" || has("role"));
        }
        has("record_type") || (is_bare_meta(record) && has("timestamp") && has("instructions"))
    }

    fn is_document(&self, beginning: &[u8]) -> bool {
        let mut members = Members::open(beginning, skip_blank(beginning, 0));
        let first = members.as_mut().map_or(Ok(None), Members::key);
        first.is_ok_and(|key| key.is_some_and(|key| key_is(key, "session") || key_is(key, "items")))
    }

    fn document_records<'v>(&self, document: Value<'v>) -> Vec<DocumentPart<'v>> {
        // Of two equal keys the first counts.
        let (mut session, mut items) = (false, false);
        let part = |(key, value): (&'v [u8], Value<'v>)| match key {
            _ if key_is(key, "session") => {
                (!std::mem::replace(&mut session, true)).then_some(DocumentPart::Record(value))
            }
            _ if key_is(key, "items") => (!std::mem::replace(&mut items, true)).then_some(DocumentPart::Records(value)),
            _ => None,
        };
        document.open_members().filter_map(part).collect()
    }

    fn copies(&self, beginning: &[u8]) -> bool {
        const META: &[u8] = b"session_meta";
        let says_so = |record: Value<'_>| {
            // What is no whole record is taken for one that says so: more is read then, and nothing else changes.
            let Ok(payload) = record.find("payload") else { return true };
            let payload = payload.filter(|payload| payload.is_object()).unwrap_or(record);
            record.get("type").is_none() || thread(&Body::Payload(payload)).copies
        };
        beginning.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).any(|line| {
            let Some(last) = memmem::rfind(line, META) else { return false };
            // It may be glued to a record before it.
            let starts = memmem::find_iter(line, START).filter(|at| (1..last).contains(at));
            std::iter::once(0).chain(starts).any(|at| says_so(Value::new(&line[at..])))
        })
    }

    fn thread(&self, record: Value<'_>) -> Option<Thread> {
        let is_meta = match record.get("type") {
            Some(kind) => kind.text().is_some_and(|kind| kind.text == "session_meta"),
            None => is_bare_meta(record),
        };
        let payload = record.get("payload").filter(|payload| payload.is_object()).unwrap_or(record);
        is_meta.then(|| thread(&Body::Payload(payload)))
    }

    fn sieve(&self) -> Option<Box<dyn Sieve>> {
        Some(Box::new(sieve::CodexSieve::default()))
    }
}

/// Whether a record without a type is the one that a bare file begins with.
fn is_bare_meta(record: Value<'_>) -> bool {
    let has = |name: &str| record.get(name).is_some();
    !has("record_type") && has("id") && (has("instructions") || has("timestamp"))
}

fn read(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    let body = Body::of(entry);
    let kind = match entry.kind {
        "response_item" | "event_msg" => body.text("type"),
        kind => Cow::Borrowed(kind),
    };
    match (entry.kind, kind.as_ref()) {
        ("session_meta" | record_types::BARE_META, _) => say(Signal::Fact(Fact::Thread(Box::new(thread(&body))))),
        ("compacted", _) => say(Signal::Compaction),
        ("event_msg", event) => read_event(event, &body, context, say)?,
        ("user_message" | "agent_message", event) if body.get("message").is_some_and(Value::is_string) => {
            read_event(event, &body, context, say)?;
        }
        (_, item) => read_response_item(item, &body, context, say)?,
    }
    Ok(())
}

fn read_response_item(
    kind: &str,
    body: &Body<'_, '_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    match kind {
        "message" | "" => words::read_message(body, context, say)?,
        "reasoning" => {
            let (summary, content) = (lines(body.get("summary"))?, lines(body.get("content"))?);
            if summary.text.is_empty() {
                say(content.thought());
            } else {
                say(summary.thought());
                if !content.text.is_empty() {
                    say(Signal::AlsoThought(content.text));
                }
            }
        }
        "function_call_output" | "custom_tool_call_output" => tools::read_output(body, context, say),
        _ if tools::is_call(kind) => tools::read_call(kind, body, context, say),
        _ => say(Signal::Passed(Passed::Plain)),
    }
    Ok(())
}

fn read_event(
    kind: &str,
    body: &Body<'_, '_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    match kind {
        "user_message" => words::read_user_event(body, context, say),
        "agent_message" => {
            let mut words = Texts::default();
            words.push(body.get("message"));
            say(words.said());
        }
        "agent_reasoning" | "agent_reasoning_raw_content" => say(thought(body.get("text"))),
        "task_started" | "turn_started" => say(Signal::TurnStarted),
        "task_complete" | "turn_complete" => {
            if let Some(milliseconds) = body.get("duration_ms").and_then(Value::integer) {
                say(Signal::TurnDuration(milliseconds));
            }
            say(Signal::TurnEnded);
        }
        "turn_aborted" => {
            say(Signal::Interrupted);
            say(Signal::TurnEnded);
        }
        "thread_rolled_back" => {
            say(Signal::RolledBack(body.get("num_turns").and_then(Value::integer).unwrap_or_default()));
        }
        "thread_name_updated" => {
            let name = body.text("thread_name").into_owned();
            if !name.is_empty() {
                say(Signal::Fact(Fact::CustomTitle(name)));
            }
        }
        "context_compacted" => say(Signal::Compaction),
        "mcp_tool_call_end" => {
            let invocation = body.get("invocation");
            let part = |name: &str| string(invocation.and_then(|invocation| invocation.get(name)));
            tools::read_mcp_call(
                &body.text("call_id"),
                &part("server"),
                &part("tool"),
                body.get("result"),
                context,
                say,
            );
        }
        "image_generation_end" => tools::read_generated(&body.text("call_id"), body.get("result"), context, say),
        "collab_agent_spawn_end" => tools::say_started(&body.text("call_id"), &body.text("new_thread_id"), say),
        "sub_agent_activity" if words::spelled_alike(&body.text("kind"), "started") => {
            let call = body.text("event_id");
            let call = if call.is_empty() { body.text("call_id") } else { call };
            tools::say_started(&call, &body.text("agent_thread_id"), say);
        }
        "item_completed" => {
            if let Some(item) = body.get("item") {
                if words::is_inherited(body) && record_types::is_item("UserMessage", &string(item.get("type"))) {
                    say(Signal::Passed(Passed::Inherited));
                } else {
                    read_item(&Body::Payload(item), context, say)?;
                }
            }
        }
        _ => say(Signal::Passed(if kind == "token_count" { Passed::Tokens } else { Passed::Plain })),
    }
    Ok(())
}

fn read_item(item: &Body<'_, '_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    match record_types::item_type(&item.text("type")).as_str() {
        "UserMessage" => words::read_user_item(item, context, say)?,
        "AgentMessage" => say(message(item.get("content"))?.said()),
        "Plan" => say(planned(item.get("text"))),
        "Reasoning" => {
            let summary = lines(item.get("summary_text"))?;
            say(if summary.text.is_empty() { lines(item.get("raw_content"))? } else { summary }.thought());
        }
        "ContextCompaction" => say(Signal::Compaction),
        "McpToolCall" => {
            let (id, server, tool) = (item.text("id"), item.text("server"), item.text("tool"));
            tools::read_mcp_call(&id, &server, &tool, item.get("result"), context, say);
        }
        "ImageGeneration" | "Extension" => tools::read_generated(&item.text("id"), item.get("result"), context, say),
        "CollabAgentToolCall" if words::spelled_alike(&item.text("tool"), "spawn_agent") => {
            let started = item.get("receiver_thread_ids").and_then(|ids| ids.elements().next());
            tools::say_started(&item.text("id"), &string(started), say);
        }
        "SubAgentActivity" if words::spelled_alike(&item.text("kind"), "started") => {
            tools::say_started(&item.text("id"), &item.text("agent_thread_id"), say);
        }
        // It may be a copy, which is counted.
        _ => say(Signal::Passed(Passed::Plain)),
    }
    Ok(())
}

/// What a session says about itself.
fn thread(meta: &Body<'_, '_>) -> Thread {
    let source = meta.get("source");
    let subagent = source.and_then(|source| source.get("subagent"));
    let spawn = subagent.and_then(|subagent| subagent.get("thread_spawn")).filter(|spawn| spawn.is_object());
    let of_spawn = |name: &str, own: &str| {
        let spawned = string(spawn.and_then(|spawn| spawn.get(name))).into_owned();
        if spawned.is_empty() { meta.text(own).into_owned() } else { spawned }
    };
    let number = |value: Option<Value<'_>>| value.and_then(Value::integer);
    let base = || number(meta.get("history_base").and_then(|base| base.get("end_ordinal_exclusive")));
    let own_from = number(meta.get("subagent_history_start_ordinal")).or_else(base);
    let is_subagent = spawn.is_some() || meta.text("thread_source") == "subagent";
    let parent = of_spawn("parent_thread_id", "parent_thread_id");
    let has = |name: &str| !meta.text(name).is_empty();
    Thread {
        id: meta.text("id").into_owned(),
        copies: own_from.is_some() || is_subagent || has("forked_from_id") || has("parent_thread_id"),
        parent: Some(parent).filter(|parent| is_subagent && !parent.is_empty()),
        agent_path: of_spawn("agent_path", "agent_path"),
        nickname: of_spawn("agent_nickname", "agent_nickname"),
        role: of_spawn("agent_role", "agent_role"),
        origin: origin(subagent, &meta.text("thread_source"), &meta.text("originator"), &string(source)),
        own_from,
        cwd: meta.text("cwd").into_owned(),
        version: meta.text("cli_version").into_owned(),
    }
}

/// Who a session is a conversation with, when it says that this is not the human.
fn origin(subagent: Option<Value<'_>>, thread_source: &str, originator: &str, source: &str) -> Option<Origin> {
    let named = |name: &str| match name {
        "guardian" | "guardian_review" => Some(Origin::Guardian),
        "review" => Some(Origin::Review),
        "compact" => Some(Origin::Compaction),
        "memory_consolidation" => Some(Origin::Memory),
        "thread_spawn" | "subagent" => Some(Origin::Subagent),
        _ => None,
    };
    let by_subagent = || {
        let subagent = subagent?;
        let other = subagent.get("other").and_then(Value::text).map(|text| text.text);
        let key =
            || subagent.members().next().map(|(key, _)| String::from_utf8_lossy(&crate::json::key(key)).into_owned());
        let name = subagent.text().map(|text| text.text).or(other).map(Cow::into_owned).or_else(key)?;
        named(&name)
    };
    let script = || (originator == "codex_exec" || source == "exec").then_some(Origin::Script);
    by_subagent().or_else(|| named(thread_source)).or_else(script)
}
