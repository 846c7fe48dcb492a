//! Claude Code transcripts: the entry types, and how words, calls and results stand in them.
//!
//! There is no official schema. The types and shapes are those found in files of versions 1.0 to 2.1.3xx.

mod answers;
mod authors;
mod blocks;
mod entry_types;
mod evidence;
mod files;
mod human;
mod links;
mod markers;
mod notes;
mod pictures;
mod replies;
mod tags;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::text::{Texts, spelled_out, string, target};
use super::{Agent, Context, Home, WrittenSetting};
use crate::branches::{Link, Node, Part, mark};
use crate::entry::{Entry, RecordTypes};
use crate::event::{
    EntryId, Envelope, Fact, HumanWords, PullRequest, Queue, QueuedWords, Signal, SubagentCall, ToolCall, WordsSource,
};
use crate::glue::RecordShape;
use crate::json::{Broken, Members, Value, has_escapes};

pub use links::Ends;

use authors::{author_of, feedback_on_plan, is_foreign, is_from_plan, is_said_to_be_human, is_synthetic};
use blocks::{Block, keep_all, words_and_images};
use evidence::Evidence;
use human::{Author, human_words, is_bare_command};
use markers::is_notice;
use notes::{is_task_note, usage_of_note};
use pictures::inline_images;
use replies::{SHOWS_PLAN, plan_of, say_replies};

/// Claude Code.
pub struct ClaudeCode;

/// Tools that start a subagent: `Task` up to 2.1.39, `Agent` from 2.1.83 on.
const SUBAGENT_TOOLS: [&str; 2] = ["Task", "Agent"];

/// Tools that every session uses.
const PLAIN_TOOLS: [&str; 12] = [
    "Bash",
    "BashOutput",
    "Edit",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "TodoWrite",
    "Write",
];

/// The tool that runs a workflow, whose subagents have no calls of their own.
const WORKFLOW_TOOL: &str = "Workflow";

/// Every progress entry that names a subagent holds this.
static NAMES_SUBAGENT: LazyLock<[Finder<'_>; 1]> = LazyLock::new(|| [Finder::new("agent_progress")]);

static RECORD_TYPES: RecordTypes = RecordTypes {
    is_told_early: entry_types::is_told_early,
    opens: |kind| matches!(kind, "user" | "assistant").then_some("message"),
    opens_early: Some("message"),
    lists: Some("content"),
    detailed: entry_types::detailed,
    ..RecordTypes::of(
        RecordShape {
            type_key: "type",
            starts: &[b"{\"parentUuid\"", b"{\"type\""],
            is_known: entry_types::is_known,
            // Progress entries nest whole messages; what makes a turn of one is the session that it belongs to.
            is_record: |kind, object| {
                let is_turn = matches!(kind, "user" | "assistant");
                !is_turn || ["sessionId", "session_id"].iter().any(|name| object.get(name).is_some())
            },
        },
        entry_types::classify,
    )
};

impl Agent for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn record_types(&self) -> &'static RecordTypes {
        &RECORD_TYPES
    }

    fn envelope(&self, entry: &Entry<'_>, context: &mut dyn Context) -> Envelope {
        // Saved output of the program names the call instead of the subagent.
        let call = entry.get("parent_tool_use_id").filter(|call| call.raw_string().is_some_and(|id| !id.is_empty()));
        let sidechain = entry.is_true("isSidechain") || call.is_some();
        Envelope {
            uuid: entry_id(entry.get("uuid")),
            parent_uuid: if sidechain { entry_id(entry.get("parentUuid")) } else { EntryId::default() },
            link: self.part(entry.kind).map(|part| {
                let (id, parent) = (links::node(entry.get("uuid")), links::node(entry.get("parentUuid")));
                Link::new(id, parent, part, !sidechain && !entry.is_true("isMeta"))
            }),
            timestamp: entry.text("timestamp").into(),
            setting: context.setting(WrittenSetting {
                session_id: entry.get("sessionId").or_else(|| entry.get("session_id")),
                cwd: entry.get("cwd"),
                version: entry.get("version"),
                agent_id: entry.get("agentId"),
                agent_name: entry.get("agentName"),
                parent_call: call,
            }),
            sidechain,
            place: entry.place,
            ..Envelope::default()
        }
    }

    fn version<'e>(&self, entry: &Entry<'e>) -> Cow<'e, str> {
        entry.text("version")
    }

    fn wants_evidence(&self, of_use: super::Evidence, upcoming: &Members<'_>) -> bool {
        if !of_use.subagents {
            return false;
        }
        // The data come next in most, and begin with their type unless a message stands first in them.
        let place = upcoming.upcoming_object();
        let data = place.filter(|place| &upcoming.bytes()[place.key.clone()] == b"data");
        let first = data.and_then(|data| Members::open(upcoming.bytes(), data.value.start)?.member().ok()?);
        match first.and_then(|(key, kind)| kind.raw_string().filter(|_| key == b"type")) {
            Some(kind) if !has_escapes(kind) => kind == b"agent_progress",
            _ => NAMES_SUBAGENT.iter().any(|marker| marker.find(upcoming.bytes()).is_some()),
        }
    }

    fn evidence_markers(&self, of_use: super::Evidence) -> Option<&'static [Finder<'static>]> {
        Some(if of_use.subagents { &NAMES_SUBAGENT[..] } else { &[] })
    }

    fn part(&self, kind: &str) -> Option<Part> {
        match kind {
            "user" => Some(Part::User),
            "assistant" => Some(Part::Assistant),
            "progress" | "attachment" | "system" => Some(Part::Other),
            _ => None,
        }
    }

    fn ids_at_ends(&self, begun: &[u8], ended: &[u8], ends: &mut Ends) -> Option<(Node, Node)> {
        links::at_ends(begun, ended, ends)
    }

    fn ids_within(&self, record: Value<'_>) -> Option<(Node, Node)> {
        links::walked(record)
    }

    fn root_says(&self, record: Value<'_>) -> Option<Signal> {
        links::clears(record).then_some(Signal::Cleared)
    }

    fn home(&self) -> &'static Home {
        &files::HOME
    }

    fn plain_tools(&self) -> &'static [&'static str] {
        &PLAIN_TOOLS
    }

    fn asked<'p>(&self, prompt: &'p str) -> &'p str {
        tags::without_message(prompt)
    }

    fn claims(&self, record: Value<'_>) -> bool {
        record.get("type").and_then(Value::text).is_some_and(|kind| entry_types::is_known(&kind.text))
    }

    fn read(&self, entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
        let read = match entry.kind {
            "user" => read_user(entry, context, say),
            "assistant" => read_assistant(entry, context, say),
            "attachment" => read_attachment(entry, context, say),
            "queue-operation" => read_queue_operation(entry, context, say),
            _ => read_single(entry).map(|signal| signal.into_iter().for_each(&mut *say)),
        };
        if read.is_err() {
            say(Signal::Broken);
        }
    }
}

/// The id that a value spells. Most are ids of the usual form, which need no decoding.
fn entry_id(value: Option<Value<'_>>) -> EntryId {
    let usual = value.and_then(Value::raw_string).and_then(EntryId::of_uuid);
    usual.unwrap_or_else(|| EntryId::of(&string(value)))
}

/// Entries that tell one thing.
fn read_single(entry: &Entry<'_>) -> Result<Option<Signal>, Broken> {
    Ok(match entry.kind {
        "progress" => read_progress(entry)?,
        "system" if entry.text("subtype") == "compact_boundary" => Some(Signal::Compaction),
        "system" => entry.get("durationMs").and_then(Value::integer).map(Signal::TurnDuration),
        _ => read_fact(entry).map(Signal::Fact),
    })
}

fn read_user(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    let content = entry.inner("message", "content")?;
    let blocks = Block::of_entry(entry, content)?;
    let results = read_tool_results(entry, &blocks, context, say);
    if results > 0 && results == blocks.len() {
        say_replies(entry, &blocks, results, Vec::new(), say);
        return Ok(());
    }
    let author = author_of(entry);
    let (joined, images) = words_and_images(&blocks);
    let mut words = author.map(|author| human_words(&joined.parts, author)).unwrap_or_default();
    let mut human = author.is_some() && (words.continuation || !is_synthetic(entry));
    if !human {
        let feedback = feedback_on_plan(entry, &joined.text);
        human = feedback.is_some();
        words = HumanWords { says: feedback.unwrap_or_default(), ..HumanWords::default() };
        words.source = human.then_some(WordsSource::Plan);
    } else if words.source.is_none() && !words.says.is_empty() && is_from_plan(entry, author, &words.says) {
        words.source = Some(WordsSource::Plan);
    }
    words.note = joined.parts.iter().any(|text| is_notice(text));
    if words.note && author != Some(Author::Human) {
        say_usage(&joined.parts, say);
    }
    let (text, lossy) = (joined.text, joined.lossy);
    let mut images = if human { keep_all(&images, context) } else { Vec::new() };
    if results > 0 {
        // Images without text belong to what was said through a result.
        let beside = if text.is_empty() { std::mem::take(&mut images) } else { Vec::new() };
        images.extend(say_replies(entry, &blocks, results, beside, say));
    }
    if results == 0 || !text.is_empty() || !images.is_empty() {
        say(Signal::User { words, text, images, human, lossy });
    }
    Ok(())
}

/// Says what subagents in the background used, as the notes among `texts` tell it.
fn say_usage(texts: &[String], say: &mut dyn FnMut(Signal)) {
    for text in texts.iter().filter(|text| is_notice(text)) {
        if let Some((call, usage)) = usage_of_note(text) {
            say(Signal::Used { call, usage });
        }
    }
}

/// What a tool gave back as data; saved output of the program spells the name in its own way.
fn given_back<'a>(entry: &Entry<'a>) -> Option<Value<'a>> {
    let found = |name| entry.get(name).filter(|data| data.is_object());
    found("toolUseResult").or_else(|| found("tool_use_result"))
}

/// Says what the results among `blocks` tell, and gives how many there are.
fn read_tool_results(
    entry: &Entry<'_>,
    blocks: &[Block<'_>],
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> usize {
    let results = blocks.iter().filter(|block| block.is_tool_result()).count();
    for block in blocks.iter().filter(|block| block.is_tool_result()) {
        let call = string(block.tool_use_id);
        let mut images = Vec::new();
        if let Some(content) = block.content.filter(|content| content.is_array() || content.is_object()) {
            inline_images(content, &mut images);
        }
        let images = keep_all(&images, context);
        let mut told = Evidence::default();
        if context.is_subagent_call(&call) {
            // The entry's data can only belong to a single result.
            told = Evidence::of((results == 1).then(|| given_back(entry)).flatten(), block.content);
        }
        if images.is_empty() && !context.is_subagent_call(&call) {
            say(Signal::PlainResult((!call.is_empty()).then(|| mark(&call))));
            continue;
        }
        let Evidence { agent, name, usage, folder } = told;
        if let Some(folder) = folder {
            say(Signal::Workflow { call: call.to_string(), folder });
        }
        say(Signal::ToolResult { call: call.into_owned(), images, agent, other_name: name, usage });
    }
    results
}

fn read_assistant(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    if entry.get("message").is_none() {
        return Ok(());
    }
    let part = |name| entry.inner("message", name);
    // All of the message is read: what is broken behind its content is broken too.
    let (id, model, content, _) = (part("id")?, part("model")?, part("content")?, part("")?);
    if entry.is_true("isApiErrorMessage") || string(model) == "<synthetic>" {
        say(client_message(&string(id), content));
        return Ok(());
    }
    let blocks = Block::of_entry(entry, content)?;
    let (mut says, mut thinks, mut tools) = (Texts::default(), Texts::default(), Vec::new());
    let mut plan = None;
    for block in &blocks {
        match block.kind().as_ref() {
            "thinking" => thinks.push_line(block.thinking),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let call = tool_call(block);
                if call.as_ref().is_some_and(|call| call.name == SHOWS_PLAN) {
                    plan = plan.or_else(|| spelled_out(block.input, |input| plan_of(input.get("plan"))));
                }
                tools.extend(call);
            }
            _ => says.push_line(block.said()),
        }
    }
    say(Signal::Assistant {
        says: says.text,
        thinks: thinks.text,
        tools,
        plan: plan.unwrap_or_default(),
        message_id: string(id).into_owned(),
        lossy: says.lossy || thinks.lossy,
    });
    read_tool_results(entry, &blocks, context, say);
    Ok(())
}

fn client_message(id: &str, content: Option<Value<'_>>) -> Signal {
    let marked = |id: &str| (!id.is_empty()).then(|| mark(id));
    let blocks = Block::all(content).unwrap_or_default();
    let calls = blocks.iter().filter(|block| block.kind() == "tool_use");
    Signal::ClientMessage { answer: marked(id), calls: calls.filter_map(|call| marked(&string(call.id))).collect() }
}

fn tool_call(block: &Block<'_>) -> Option<ToolCall> {
    let name = string(block.name);
    if name.is_empty() {
        return None;
    }
    let mut call = ToolCall {
        id: string(block.id).into_owned(),
        name: name.into_owned(),
        target: block.input.map(target).unwrap_or_default(),
        ..ToolCall::default()
    };
    call.workflow = call.name == WORKFLOW_TOOL;
    if SUBAGENT_TOOLS.contains(&call.name.as_str()) {
        call.subagent = Some(spelled_out(block.input, |input| SubagentCall {
            description: string(input.get("description")).into_owned(),
            prompt: string(input.get("prompt")).into_owned(),
            agent_type: string(input.get("subagent_type")).into_owned(),
        }));
    }
    Some(call)
}

fn read_attachment(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    let Some(attachment) = entry.get("attachment") else { return Ok(()) };
    if string(attachment.get("type")) == "file" {
        let mut images = Vec::new();
        inline_images(attachment, &mut images);
        say(Signal::Mentioned(keep_all(&images, context)));
        return Ok(());
    }
    let human = is_said_to_be_human(attachment) || author_of(entry) == Some(Author::Human);
    let author = if human { Author::Human } else { Author::Unsaid };
    let mut words = queued_words(attachment.find("prompt")?, author, context, say)?;
    words.human &= !(words.notification
        || string(attachment.get("commandMode")) == "task-notification"
        || entry.is_true("isMeta")
        || attachment.get("isMeta").is_some_and(Value::is_true)
        || is_foreign(attachment.get("origin"))
        || is_foreign(entry.get("origin")));
    say(Signal::Queue(Queue::Delivered(words)));
    Ok(())
}

fn read_queue_operation(
    entry: &Entry<'_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    let content = entry.get("content");
    let operation: fn(QueuedWords) -> Queue = match entry.text("operation").as_ref() {
        "enqueue" => Queue::Enqueue,
        "remove" => Queue::Remove,
        "dequeue" => |_| Queue::Dequeue,
        "popAll" => |_| Queue::PopAll,
        _ => return Ok(()),
    };
    let words = queued_words(content, Author::Unsaid, context, say)?;
    say(Signal::Queue(operation(words)));
    Ok(())
}

fn queued_words(
    content: Option<Value<'_>>,
    author: Author,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<QueuedWords, Broken> {
    let (joined, images) = words_and_images(&Block::all(content)?);
    let words = human_words(&joined.parts, author);
    // A prompt in the queue continues nothing, even if it begins so.
    let says = if words.says.is_empty() { words.summary } else { words.says };
    let notification = words.program || (author != Author::Human && is_task_note(&joined.text));
    let human = !words.markup
        && !words.interrupted
        && words.source.is_none()
        && !is_bare_command(&says)
        && !notification
        && !(says.is_empty() && images.is_empty());
    if author != Author::Human {
        say_usage(&joined.parts, say);
    }
    Ok(QueuedWords {
        notification,
        says: if human { says } else { String::new() },
        text: joined.text,
        human,
        images: if human { keep_all(&images, context) } else { Vec::new() },
        lossy: joined.lossy,
    })
}

fn read_progress(entry: &Entry<'_>) -> Result<Option<Signal>, Broken> {
    let Some(data) = entry.get("data").filter(|data| string(data.get("type")) == "agent_progress") else {
        return Ok(None);
    };
    let (call, agent) = (entry.text("parentToolUseID"), string(data.find("agentId")?));
    let named = !call.is_empty() && !agent.is_empty();
    Ok(named.then(|| Signal::Progress { call: call.into_owned(), agent: agent.into_owned() }))
}

fn read_fact(entry: &Entry<'_>) -> Option<Fact> {
    let text = |name| Some(entry.text(name).into_owned()).filter(|text| !text.is_empty());
    match entry.kind {
        "summary" => text("summary").map(|text| Fact::Summary { text, leaf_uuid: entry_id(entry.get("leafUuid")) }),
        "ai-title" => text("aiTitle").map(Fact::AssistantTitle),
        "custom-title" => text("customTitle").map(Fact::CustomTitle),
        "continued-in" => text("continuedInSessionId").map(Fact::ContinuedIn),
        "last-prompt" => Some(Fact::LastPrompt {
            prompt: entry.text("lastPrompt").into_owned(),
            leaf_uuid: entry.text("leafUuid").into_owned(),
        }),
        "pr-link" => Some(Fact::PullRequest(PullRequest {
            number: entry.get("prNumber").and_then(Value::integer),
            url: entry.text("prUrl").into_owned(),
            repository: entry.text("prRepository").into_owned(),
        })),
        _ => None,
    }
}
