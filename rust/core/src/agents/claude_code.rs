//! Claude Code transcripts: the entry types, and how words, calls and results stand in them.
//!
//! There is no official schema. The types and shapes are those found in files of versions 1.0 to 2.1.3xx.

mod entry_types;
mod human;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Agent, Context, Evidence, Home, SubagentFiles};
use crate::entry::{Class, Classify, Entry, Fields};
use crate::event::{
    EntryId, Envelope, Fact, InlineImage, LinkedBy, MetImage, PullRequest, Queue, QueuedWords, Signal, SubagentCall,
    ToolCall, Usage,
};
use crate::glue::Recognize;
use crate::images::inline_images;
use crate::json::{self, Broken, Member, Members, Value, has_escapes, key_is};

use human::{human_words, is_slash_command};

/// Claude Code.
pub struct ClaudeCode;

/// `projects/<project>/<id>.jsonl` and nothing deeper; subagents' files are not sessions.
static HOME: Home = Home {
    variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    sessions: &[("projects", 1..=1)],
    session_id,
    // The same session may be copied into several projects.
    unique_names: false,
    subagents: SubagentFiles::Beside,
};

fn session_id(name: &str) -> Option<&str> {
    let is_other = name.starts_with('.') || name == "journal.jsonl" || name.starts_with("agent-");
    name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl").filter(|_| !is_other)
}

/// Tools that start a subagent: `Task` up to 2.1.39, `Agent` from 2.1.83 on.
const SUBAGENT_TOOLS: [&str; 2] = ["Task", "Agent"];

/// Members of a tool's input that say what the call is about, the most telling first.
const TARGETS: [&str; 4] = ["file_path", "path", "url", "filename"];

/// What the text of a result holds that tells of a subagent; and how an escape begins that may spell a letter of that.
static TELLS_OF_SUBAGENT: LazyLock<[Finder<'_>; 2]> =
    LazyLock::new(|| [Finder::new("agentId:"), Finder::new("<usage>")]);
static ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u00"));

/// Whether the text of a result, as it is written, may tell of a subagent.
fn may_tell_of_subagent(raw: &[u8]) -> bool {
    let is_letter = |at: usize| matches!(raw.get(at + 4), Some(b'3' | b'4' | b'6' | b'7'));
    TELLS_OF_SUBAGENT.iter().any(|word| word.find(raw).is_some()) || ESCAPE.find_iter(raw).any(is_letter)
}

/// Every progress entry that names a subagent holds this.
static NAMES_SUBAGENT: LazyLock<[Finder<'_>; 1]> = LazyLock::new(|| [Finder::new("agent_progress")]);

impl Classify for ClaudeCode {
    fn classify(&self, kind: &str, entry: &Fields<'_>, complete: bool) -> Class {
        entry_types::classify(kind, entry, complete)
    }

    fn is_told_early(&self, kind: &str) -> bool {
        entry_types::is_told_early(kind)
    }

    fn opens(&self, kind: &str) -> Option<&'static str> {
        matches!(kind, "user" | "assistant").then_some("message")
    }

    fn opens_early(&self) -> Option<&'static str> {
        Some("message")
    }

    fn lists(&self) -> Option<&'static str> {
        Some("content")
    }

    fn detailed<'k>(&self, kind: &'k str, entry: &Fields<'_>) -> Cow<'k, str> {
        entry_types::detailed(kind, entry)
    }
}

impl Recognize for ClaudeCode {
    fn may_be_record(&self, kind: &str) -> bool {
        entry_types::find(kind).is_some()
    }

    fn is_record(&self, kind: &str, object: Value<'_>) -> bool {
        // Progress entries nest whole messages; what makes a turn of one is the session that it belongs to.
        let is_turn = matches!(kind, "user" | "assistant");
        self.may_be_record(kind) && (!is_turn || object.get("sessionId").is_some())
    }

    fn record_starts(&self) -> &'static [&'static [u8]] {
        &[b"{\"parentUuid\"", b"{\"type\""]
    }
}

impl Agent for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn envelope(&self, entry: &Entry<'_>, context: &mut dyn Context) -> Envelope {
        let sidechain = entry.is_true("isSidechain");
        Envelope {
            uuid: entry_id(entry.get("uuid")),
            parent_uuid: if sidechain { entry_id(entry.get("parentUuid")) } else { EntryId::default() },
            session_id: context.shared(entry.get("sessionId")),
            timestamp: entry.text("timestamp").into(),
            cwd: context.shared(entry.get("cwd")),
            version: context.shared(entry.get("version")),
            sidechain,
            agent_id: context.shared(entry.get("agentId")),
            place: entry.place,
            ..Envelope::default()
        }
    }

    fn version<'e>(&self, entry: &Entry<'e>) -> Cow<'e, str> {
        entry.text("version")
    }

    fn wants_evidence(&self, of_use: Evidence, upcoming: &Members<'_>) -> bool {
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

    fn evidence_markers(&self, of_use: Evidence) -> Option<&'static [Finder<'static>]> {
        Some(if of_use.subagents { &NAMES_SUBAGENT[..] } else { &[] })
    }

    fn home(&self) -> &'static Home {
        &HOME
    }

    fn claims(&self, record: Value<'_>) -> bool {
        record.get("type").and_then(Value::text).is_some_and(|kind| self.may_be_record(&kind.text))
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

/// A content block with the members that matter.
#[derive(Default)]
struct Block<'a> {
    /// The whole block.
    whole: Option<Value<'a>>,
    kind: Option<Value<'a>>,
    text: Option<Value<'a>>,
    thinking: Option<Value<'a>>,
    id: Option<Value<'a>>,
    name: Option<Value<'a>>,
    input: Option<Value<'a>>,
    content: Option<Value<'a>>,
    tool_use_id: Option<Value<'a>>,
}

impl<'a> Block<'a> {
    /// The same of an entry, where they may have been noted on the way.
    fn of_entry(entry: &Entry<'a>, content: Option<Value<'a>>) -> Result<Vec<Self>, Broken> {
        let Some(objects) = content.and_then(|content| entry.objects(content)) else { return Self::all(content) };
        let block = |(whole, members): (Value<'a>, &[Member])| {
            let mut block = Self { whole: Some(whole), ..Self::default() };
            for member in members {
                block.take_noted(entry.record(), member);
            }
            block
        };
        Ok(objects.map(block).collect())
    }

    fn take_noted(&mut self, record: &'a [u8], member: &Member) {
        const TYPE: u64 = json::tag(b"type");
        const TEXT: u64 = json::tag(b"text");
        const THINKING: u64 = json::tag(b"thinking");
        const ID: u64 = json::tag(b"id");
        const NAME: u64 = json::tag(b"name");
        const INPUT: u64 = json::tag(b"input");
        const CONTENT: u64 = json::tag(b"content");
        const TOOL_USE_ID: u64 = json::tag(b"tool_use_id");
        let slot = match member.tag() {
            TYPE => &mut self.kind,
            TEXT => &mut self.text,
            THINKING if member.key(record) == b"thinking" => &mut self.thinking,
            ID => &mut self.id,
            NAME => &mut self.name,
            INPUT => &mut self.input,
            CONTENT => &mut self.content,
            TOOL_USE_ID if member.key(record) == b"tool_use_id" => &mut self.tool_use_id,
            _ => return,
        };
        slot.get_or_insert_with(|| member.value(record));
    }

    /// The blocks of `content`, found in one pass. A bare string is a block of text.
    fn all(content: Option<Value<'a>>) -> Result<Vec<Self>, Broken> {
        let mut blocks = Vec::new();
        let Some(content) = content else { return Ok(blocks) };
        if content.is_string() {
            blocks.push(Self { whole: Some(content), ..Self::default() });
        }
        content.each_object(Self::default, Self::take, |whole, block| {
            blocks.push(Self { whole: Some(whole), ..block.unwrap_or_default() });
        })?;
        Ok(blocks)
    }

    fn take(&mut self, key: &'a [u8], value: Value<'a>) {
        let slot = match json::key(key).as_ref() {
            b"type" => &mut self.kind,
            b"text" => &mut self.text,
            b"thinking" => &mut self.thinking,
            b"id" => &mut self.id,
            b"name" => &mut self.name,
            b"input" => &mut self.input,
            b"content" => &mut self.content,
            b"tool_use_id" => &mut self.tool_use_id,
            _ => return,
        };
        slot.get_or_insert(value);
    }

    fn kind(&self) -> Cow<'a, str> {
        string(self.kind)
    }

    fn is_tool_result(&self) -> bool {
        self.kind() == "tool_result"
    }

    /// The text that the block is made of, if it is one of text.
    fn said(&self) -> Option<Value<'a>> {
        match self.whole {
            Some(whole) if whole.is_string() => Some(whole),
            _ => self.text.filter(|_| self.kind() == "text"),
        }
    }
}

/// Text blocks, joined and one by one.
#[derive(Default)]
struct Joined {
    text: String,
    parts: Vec<String>,
    lossy: bool,
}

impl Joined {
    fn push(&mut self, value: Option<Value<'_>>) {
        let Some(text) = value.and_then(Value::text) else { return };
        if text.text.trim().is_empty() {
            return;
        }
        self.lossy |= text.lossy;
        if self.text.is_empty() {
            // Most texts are one block: what was decoded is what is kept.
            self.text = text.text.into_owned();
            return;
        }
        self.text.push('\n');
        self.text.push_str(&text.text);
    }
}

fn string(value: Option<Value<'_>>) -> Cow<'_, str> {
    value.and_then(Value::text).map_or(Cow::Borrowed(""), |text| text.text)
}

/// The text and the images of blocks that a human may have made.
fn words_and_images<'a>(blocks: &[Block<'a>]) -> (Joined, Vec<InlineImage<'a>>) {
    let mut joined = Joined::default();
    let mut images = Vec::new();
    for block in blocks {
        let said = block.said();
        if said.is_some() {
            let before = joined.text.len();
            joined.push(said);
            joined.parts.push(joined.text[before..].to_owned());
        } else if let Some(whole) = block.whole.filter(|_| !block.is_tool_result()) {
            inline_images(whole, &mut images);
        }
    }
    (joined, images)
}

fn read_user(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    let content = entry.inner("message", "content")?;
    let blocks = Block::of_entry(entry, content)?;
    let results = read_tool_results(entry, &blocks, context, say);
    if results > 0 && results == blocks.len() {
        return Ok(());
    }
    let human = !(entry.is_true("isMeta")
        || (entry.is_true("isVisibleInTranscriptOnly") && !entry.is_true("isCompactSummary"))
        || is_foreign(entry.get("origin"))
        || !entry.text("sourceToolUseID").is_empty()
        || !entry.text("teamName").is_empty());
    let (joined, images) = words_and_images(&blocks);
    let text = joined.text.trim().to_owned();
    let words = if human { human_words(&joined.parts, entry.is_true("isCompactSummary")) } else { <_>::default() };
    let images = if human { keep_all(&images, context) } else { Vec::new() };
    say(Signal::User { words, text, images, human, lossy: joined.lossy });
    Ok(())
}

fn keep_all(images: &[InlineImage<'_>], context: &mut dyn Context) -> Vec<MetImage> {
    images.iter().filter_map(|&image| context.keep(image)).collect()
}

/// Whether an `origin` says that somebody other than the human wrote. Absent means unattributed; a kind that
/// is not recognised is not human (the vendor's own rule).
fn is_foreign(origin: Option<Value<'_>>) -> bool {
    origin.and_then(|origin| origin.get("kind")).and_then(Value::text).is_some_and(|kind| kind.text != "human")
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
        let (mut agent, mut usage) = (None, Usage::default());
        if context.is_subagent_call(&call) {
            // The entry's toolUseResult can only belong to a single result.
            let structured = entry.get("toolUseResult").filter(|result| results == 1 && result.is_object());
            (agent, usage) = subagent_evidence(structured, block.content);
        }
        if images.is_empty() && !context.is_subagent_call(&call) {
            say(Signal::PlainResult);
        } else {
            say(Signal::ToolResult { call: call.into_owned(), images, agent, other_name: None, usage });
        }
    }
    results
}

/// Which subagent a result comes from, and what it used: from the structured result, else from the text.
fn subagent_evidence(structured: Option<Value<'_>>, content: Option<Value<'_>>) -> (Option<(LinkedBy, String)>, Usage) {
    let mut agent = None;
    let mut usage = Usage::default();
    if let Some(result) = structured {
        // The first of each name counts; all in one pass, for some results are megabytes.
        let mut found = [None; 4];
        for (key, value) in result.members() {
            let names = ["agentId", "totalTokens", "totalToolUseCount", "totalDurationMs"];
            if let Some(at) = names.iter().position(|name| key_is(key, name)) {
                found[at].get_or_insert(value);
            }
        }
        let id = string(found[0]);
        agent = (!id.is_empty()).then(|| (LinkedBy::Result, id.into_owned()));
        let number = |at: usize| found[at].and_then(Value::integer);
        usage = Usage { total_tokens: number(1), tool_uses: number(2), duration_ms: number(3) };
    }
    // Most results are of calls that started nothing, and are not decoded to find that out.
    let content = content.filter(|content| may_tell_of_subagent(content.raw()));
    let text = words_and_images(&Block::all(content).unwrap_or_default()).0.text;
    if agent.is_none() {
        agent = last_line_value(&text, "agentId:").map(|id| (LinkedBy::Text, id.to_owned()));
    }
    if let Some(block) = text.rfind("<usage>").map(|at| &text[at..]) {
        let number = |name| line_number_after(block, name);
        usage.total_tokens = usage.total_tokens.or_else(|| number("total_tokens:"));
        usage.tool_uses = usage.tool_uses.or_else(|| number("tool_uses:"));
        usage.duration_ms = usage.duration_ms.or_else(|| number("duration_ms:"));
    }
    (agent, usage)
}

/// The first word behind `label` on the last line that starts with it.
fn last_line_value<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()
}

fn line_number_after(text: &str, label: &str) -> Option<u64> {
    let rest = text[text.find(label)? + label.len()..].trim_start();
    rest[..rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

fn read_assistant(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    if entry.get("message").is_none() {
        return Ok(());
    }
    let part = |name| entry.inner("message", name);
    // All of the message is read: what is broken behind its content is broken too.
    let (id, model, content, _) = (part("id")?, part("model")?, part("content")?, part("")?);
    if entry.is_true("isApiErrorMessage") || string(model) == "<synthetic>" {
        say(Signal::ClientMessage);
        return Ok(());
    }
    let blocks = Block::of_entry(entry, content)?;
    let (mut says, mut thinks, mut tools) = (Joined::default(), Joined::default(), Vec::new());
    for block in &blocks {
        match block.kind().as_ref() {
            "thinking" => thinks.push(block.thinking),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => tools.extend(tool_call(block)),
            _ => says.push(block.said()),
        }
    }
    say(Signal::Assistant {
        says: says.text,
        thinks: thinks.text,
        tools,
        plan: String::new(),
        message_id: string(id).into_owned(),
        lossy: says.lossy || thinks.lossy,
    });
    read_tool_results(entry, &blocks, context, say);
    Ok(())
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
    if SUBAGENT_TOOLS.contains(&call.name.as_str()) {
        let input = block.input.unwrap_or(Value::new(b"null"));
        // Some versions before 2.1.92 wrote the input as a string of JSON.
        let spelled_out = input.text().map(|text| text.text.into_owned());
        let input = spelled_out.as_ref().map_or(input, |text| Value::new(text.trim().as_bytes()));
        call.subagent = Some(SubagentCall {
            description: string(input.get("description")).into_owned(),
            prompt: string(input.get("prompt")).into_owned(),
            agent_type: string(input.get("subagent_type")).into_owned(),
        });
    }
    Some(call)
}

fn target(input: Value<'_>) -> String {
    let mut best: Option<(usize, Value<'_>)> = None;
    for (key, value) in input.members() {
        let Some(rank) = TARGETS.iter().position(|name| key_is(key, name)) else { continue };
        if best.is_none_or(|(found, _)| rank < found) && value.raw_string().is_some_and(|raw| !raw.is_empty()) {
            best = Some((rank, value));
        }
        if best.is_some_and(|(found, _)| found == 0) {
            break;
        }
    }
    best.map(|(_, value)| string(Some(value)).into_owned()).unwrap_or_default()
}

fn read_attachment(entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) -> Result<(), Broken> {
    let Some(attachment) = entry.get("attachment") else { return Ok(()) };
    let mut words = queued_words(attachment.find("prompt")?, context)?;
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
    let operation = match entry.text("operation").as_ref() {
        "enqueue" => Queue::Enqueue(queued_words(content, context)?),
        "dequeue" => Queue::Dequeue,
        "remove" => Queue::Remove(queued_words(content, context)?),
        "popAll" => Queue::PopAll,
        _ => return Ok(()),
    };
    say(Signal::Queue(operation));
    Ok(())
}

fn queued_words(content: Option<Value<'_>>, context: &mut dyn Context) -> Result<QueuedWords, Broken> {
    let (joined, images) = words_and_images(&Block::all(content)?);
    let text = joined.text.trim().to_owned();
    let words = human_words(&joined.parts, false);
    let human = !words.markup
        && !words.interrupted
        && words.source.is_none()
        && !is_slash_command(&words.says)
        && !(words.says.is_empty() && images.is_empty());
    Ok(QueuedWords {
        notification: text.starts_with("<task-notification>"),
        says: if human { words.says } else { String::new() },
        text,
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
        "summary" => text("summary").map(Fact::Summary),
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
