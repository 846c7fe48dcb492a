//! The vocabulary of the project: what an entry says ([`Signal`]), and what a conversation is made of ([`Event`]).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use compact_str::CompactString;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use strum::IntoStaticStr;

use crate::branches::{Link, Node};
use crate::entry::{Class, Place};

/// Names an image in an [`crate::images::ImageStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageId(pub usize);

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// The human.
    User,
    /// The model.
    Assistant,
}

/// How the human's words came in, when not by plain typing at the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum WordsSource {
    /// The arguments of a slash command.
    Command,
    /// A shell command run with `!`.
    Bash,
    /// A note saved with `#`.
    Memory,
    /// Typed while the assistant worked.
    Queued,
    /// An answer to questions of the assistant.
    Answer,
    /// What the human said when they turned a call of the assistant down.
    Rejection,
    /// A prompt that the program wrote for the human from a plan they agreed to.
    Plan,
}

/// Why the story breaks before an event. Ordered as listed in events.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Boundary {
    /// The session id differs from that of the event before.
    SessionChange,
    /// The event is the summary of a conversation that went before.
    Continuation,
    /// The context was compacted.
    Compaction,
    /// The context was cleared.
    Clear,
}

/// What told which agent a call started; the strongest evidence first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum LinkedBy {
    /// `agent-<id>.meta.json` names the call.
    Meta,
    /// All the subagent's lines name the call.
    Parent,
    /// `toolUseResult.agentId` of the call's result.
    Result,
    /// An `agentId:` line in the text of the call's result.
    Text,
    /// An `agent_progress` entry.
    Progress,
    /// The call's result says that an agent of a team was started.
    Team,
    /// The agent's file lies in the folder of the workflow that the call ran.
    Workflow,
    /// The call's prompt is the agent's first user text.
    Prompt,
}

/// An entry's id, kept without a string of its own when it has the usual form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryId {
    /// `01234567-89ab-cdef-0123-456789abcdef`, in small letters.
    Uuid(u128),
    /// Anything else; "" when there is none.
    Other(Box<str>),
}

impl Default for EntryId {
    fn default() -> Self {
        Self::Other(Box::default())
    }
}

impl EntryId {
    /// The id that is written as `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::of_uuid(text.as_bytes()).unwrap_or_else(|| Self::Other(text.into()))
    }

    /// The id of the usual form that is written as `bytes`; `None` when that is something else.
    #[must_use]
    pub fn of_uuid(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 36] = bytes.try_into().ok()?;
        let dashes = bytes[8] & bytes[13] & bytes[18] & bytes[23] == b'-'
            && bytes[8] | bytes[13] | bytes[18] | bytes[23] == b'-';
        let four = |at: usize| u64::from(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        // Capitals are another id: only the spelling that is always written is packed.
        let eights =
            [four(0) << 32 | four(4), four(9) << 32 | four(14), four(19) << 32 | four(24), four(28) << 32 | four(32)];
        let (mut packed, mut wrong) = (0, u64::from(!dashes));
        for eight in eights {
            let (digits, differs) = hex_digits(eight);
            wrong |= differs;
            // Two digits to a byte, then bytes to pairs, pairs to fours.
            let bytes = (digits | digits >> 4) & 0x00FF_00FF_00FF_00FF;
            let pairs = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF;
            let fours = (pairs | pairs >> 16) & 0xFFFF_FFFF;
            packed = packed << 32 | u128::from(fours);
        }
        (wrong == 0).then_some(Self::Uuid(packed))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Other(text) if text.is_empty())
    }
}

/// What eight characters are as hexadecimal digits, side by side; the second number is 0 if they are that, in small letters.
#[inline]
fn hex_digits(characters: u64) -> (u64, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = (characters & (0x0F * EACH)).wrapping_add((characters >> 6 & EACH) * 9);
    // Written again they have to be the same.
    let letters = (digits.wrapping_add(0x76 * EACH) >> 7) & EACH;
    let written = digits.wrapping_add(0x30 * EACH).wrapping_add(letters * 0x27);
    (digits, written ^ characters)
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(text) => f.write_str(text),
            Self::Uuid(value) => write!(
                f,
                "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                value >> 96,
                value >> 80 & 0xffff,
                value >> 64 & 0xffff,
                value >> 48 & 0xffff,
                value & 0xffff_ffff_ffff
            ),
        }
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<&EntryId> for Node {
    fn from(id: &EntryId) -> Self {
        match id {
            EntryId::Other(text) => Self::of(text.as_bytes()),
            EntryId::Uuid(_) => Self::of(id.to_string().as_bytes()),
        }
    }
}

/// The envelope that entries share; empty strings for what an entry lacks. Made for every entry that is read, so
/// what repeats from line to line is shared, and what does not has no memory of its own in its usual form.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// The entry's own id.
    pub uuid: EntryId,
    /// The entry it answers; only read for subagents' entries.
    pub parent_uuid: EntryId,
    /// As written.
    pub timestamp: CompactString,
    /// What it shares with the entries around it; `None` when it says nothing of that. See [`Envelope::setting`].
    pub setting: Option<Arc<Setting>>,
    /// Whether it belongs to a subagent.
    pub sidechain: bool,
    /// Its place in the tree that the transcript is.
    pub link: Option<Link>,
    /// Which of several records of the same words it is.
    pub recording: Recording,
    /// Its number in a file whose records are numbered.
    pub ordinal: Option<u64>,
    /// Where the record stands.
    pub place: Place,
}

/// Some agents record the same words more than once: what is said, and what was sent to or came from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Recording {
    /// There is only this record of them.
    #[default]
    Only,
    /// An event of the program.
    Event,
    /// A finished item of a turn.
    Item,
    /// An item of the model's input or output.
    Response,
    /// A finished item that is a plan: a message of the model may hold it as well.
    Plan,
}

/// What one entry says.
pub struct Said {
    /// The entry's envelope.
    pub envelope: Envelope,
    /// Its class.
    pub class: Class,
    /// In order.
    pub signals: Vec<Signal>,
}

/// What many entries one after the other have in common: they share one. "" for what they do not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// The session they belong to.
    pub session_id: Arc<str>,
    /// The working directory.
    pub cwd: Arc<str>,
    /// The agent program's version.
    pub version: Arc<str>,
    /// The subagent they belong to.
    pub agent_id: Arc<str>,
    /// What that is called in its team.
    pub agent_name: Arc<str>,
    /// The call that started it.
    pub parent_call: Arc<str>,
}

impl Setting {
    /// This one, with what `other` says where it says nothing.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let text = |own: Arc<str>, other: &Arc<str>| if own.is_empty() { other.clone() } else { own };
        Self {
            session_id: text(self.session_id, &other.session_id),
            cwd: text(self.cwd, &other.cwd),
            version: text(self.version, &other.version),
            agent_id: text(self.agent_id, &other.agent_id),
            agent_name: text(self.agent_name, &other.agent_name),
            parent_call: text(self.parent_call, &other.parent_call),
        }
    }
}

impl Envelope {
    /// What the entry shares with those around it.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        static NONE: LazyLock<Setting> = LazyLock::new(Setting::default);
        self.setting.as_deref().unwrap_or(&NONE)
    }

    /// Whether it tells nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let setting = self.setting();
        let texts = [&setting.session_id, &setting.cwd, &setting.version, &setting.agent_id];
        self.uuid.is_empty()
            && self.timestamp.is_empty()
            && self.ordinal.is_none()
            && texts.iter().all(|text| text.is_empty())
    }
}

/// An inline image: the raw characters of its base64 value.
#[derive(Debug, Clone, Copy)]
pub struct InlineImage<'a> {
    /// Between the quotes, undecoded.
    pub base64: &'a [u8],
}

/// Why an image was not extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum NotExtracted {
    /// Encoding its bytes again would give other characters: they are damaged, or unusual.
    NotCanonical,
    /// Its bytes are no image of a known format.
    NotAnImage,
    /// It is past the cap.
    TooLarge,
    /// There is no event that it could belong to.
    NoEvent,
}

/// An image that was met: kept, or why not.
pub type MetImage = Result<ImageId, NotExtracted>;

/// A tool that the assistant called.
#[derive(Debug, Clone, Default)]
pub struct ToolCall {
    /// The call's id, "" when absent.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// What the call is about: a path or an address, "" when there is none.
    pub target: String,
    /// Set when the call starts a subagent.
    pub subagent: Option<SubagentCall>,
    /// What comes of it for the human.
    pub purpose: Purpose,
    /// Whether the call runs a workflow, which starts subagents of its own.
    pub workflow: bool,
}

impl ToolCall {
    /// Whether its result tells of subagents.
    #[must_use]
    pub fn starts_agents(&self) -> bool {
        self.subagent.is_some() || self.workflow
    }
}

/// What a call is for, as far as that tells what the records behind it are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Anything.
    #[default]
    Work,
    /// It asks the human.
    Ask(Vec<Question>),
    /// It shows the assistant an image.
    View,
}

/// The id by which an image finds the last call that shows one, where it stands in a record of its own.
pub const VIEWED: &str = "\0viewed";

/// A question of the assistant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its id in the call.
    pub id: String,
    /// The question itself.
    pub text: String,
}

/// What a tool gave back that may be answers of the human.
#[derive(Debug, Clone, Default)]
pub struct GivenAnswers {
    /// The call's id.
    pub call: String,
    /// By the ids of the questions.
    pub answers: Vec<(String, Vec<String>)>,
    /// Whether it can be nothing else.
    pub sure: bool,
    /// Whether invalid UTF-8 was replaced.
    pub lossy: bool,
}

/// What a call that starts a subagent asks for.
#[derive(Debug, Clone, Default)]
pub struct SubagentCall {
    /// A few words.
    pub description: String,
    /// The whole prompt.
    pub prompt: String,
    /// The kind of agent.
    pub agent_type: String,
}

/// Tokens, tools and time that a subagent used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens in all.
    pub total_tokens: Option<u64>,
    /// Tool calls.
    pub tool_uses: Option<u64>,
    /// Milliseconds.
    pub duration_ms: Option<u64>,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a finding of its own, and most come together")]
/// Human words after all that the human did not type has been taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HumanWords {
    /// The words; "" when nothing is left.
    pub says: String,
    /// How they came in.
    pub source: Option<WordsSource>,
    /// The questions that they answer, in the same order.
    pub questions: Vec<String>,
    /// They were asked for within a turn, and begin none.
    pub within_turn: bool,
    /// There are no words and only images, without the marks that stand around those which the human pasted.
    pub bare_images: bool,
    /// The entry reports that the human interrupted the assistant.
    pub interrupted: bool,
    /// The entry asks for a compaction.
    pub compaction: bool,
    /// The entry clears the context.
    pub clear: bool,
    /// All of it was written by the program.
    pub program: bool,
    /// Part of it is a note of the program's, as it goes through the queue as well.
    pub note: bool,
    /// The summary of the conversation before; also the words, where they mention such a summary.
    pub summary: String,
    /// There is a summary, and not words that mention one.
    pub continuation: bool,
    /// The entry is markup as a whole: no event, whatever else it carries.
    pub markup: bool,
}

impl Usage {
    /// The figures of this one, and those of `other` that it lacks.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            total_tokens: self.total_tokens.or(other.total_tokens),
            tool_uses: self.tool_uses.or(other.tool_uses),
            duration_ms: self.duration_ms.or(other.duration_ms),
        }
    }
}

/// What one entry says, in terms that all agents share.
#[derive(Debug)]
pub enum Signal {
    /// A user entry.
    User {
        /// The human's words.
        words: HumanWords,
        /// The text before anything was taken off, trimmed: what queued text is compared with.
        text: String,
        /// Pasted images.
        images: Vec<MetImage>,
        /// Whether there is anything of the human's in it at all.
        human: bool,
        /// Whether invalid UTF-8 was replaced.
        lossy: bool,
    },
    /// The entry could not be read to its end: its record closes, but is broken inside.
    Broken,
    /// The result of a tool call, of which nothing is kept but the call's [`mark`](crate::branches::mark).
    PlainResult(Option<u64>),
    /// The result of a tool call.
    ToolResult {
        /// The call's id.
        call: String,
        /// Images in the result.
        images: Vec<MetImage>,
        /// The subagent that the entry names, and how.
        agent: Option<(LinkedBy, String)>,
        /// Another name of it, which tells something only where a subagent has that name.
        other_name: Option<String>,
        /// What it used.
        usage: Usage,
    },
    /// The human said something through the result of a tool call.
    Reply {
        /// The call's id.
        call: String,
        /// The tool whose results alone say such; a call that is known is one of it.
        tool: Option<&'static str>,
        /// The words.
        words: HumanWords,
        /// Pasted images.
        images: Vec<MetImage>,
        /// Whether invalid UTF-8 was replaced.
        lossy: bool,
    },
    /// The human turned the call of this id down, and said nothing.
    Rejected(String),
    /// The result of a call shows a plan.
    Plan {
        /// The call's id.
        call: String,
        /// The tool that shows plans.
        tool: &'static str,
        /// The plan.
        plan: String,
    },
    /// Images that the human mentioned in what they said last.
    Mentioned(Vec<MetImage>),
    /// An assistant entry.
    Assistant {
        /// Text.
        says: String,
        /// Thinking.
        thinks: String,
        /// Tool calls, in order.
        tools: Vec<ToolCall>,
        /// A plan that is shown to the human.
        plan: String,
        /// The id of the answer that this entry is a block of.
        message_id: String,
        /// Whether invalid UTF-8 was replaced.
        lossy: bool,
    },
    /// Text that the client made and not the model. Its place in the tree is known as that of any answer.
    ClientMessage {
        /// The mark of the answer that it says it is a block of.
        answer: Option<u64>,
        /// The marks of its calls.
        calls: Vec<u64>,
    },
    /// How long the turn took, in milliseconds.
    TurnDuration(u64),
    /// A turn begins.
    TurnStarted,
    /// The turn ends.
    TurnEnded,
    /// The human interrupted the assistant.
    Interrupted,
    /// So many of the last turns were taken back.
    RolledBack(u64),
    /// The context was compacted here.
    Compaction,
    /// The context was cleared here.
    Cleared,
    /// The folder in which the agents' files of the workflow lie that a call ran.
    Workflow {
        /// The call's id.
        call: String,
        /// The folder's name.
        folder: String,
    },
    /// What the subagent used that a call started in the background.
    Used {
        /// The call's id.
        call: String,
        /// What it used.
        usage: Usage,
    },
    /// Something happened to the queue of words typed while the assistant worked.
    Queue(Queue),
    /// A subagent's progress names the call it works for.
    Progress {
        /// The call's id.
        call: String,
        /// The subagent's id.
        agent: String,
    },
    /// The human may have answered a call.
    Answers(GivenAnswers),
    /// Thoughts that the entry holds beside those that it tells.
    AlsoThought(String),
    /// The entry tells nothing, and only counts.
    Passed(Passed),
    /// Something about the session as a whole.
    Fact(Fact),
}

impl Signal {
    /// Whether it tells nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::User { words, text, images, .. } => text.is_empty() && images.is_empty() && !words.interrupted,
            Self::Broken => true,
            Self::Mentioned(images) => images.is_empty(),
            Self::Passed(passed) => *passed != Passed::Inherited,
            Self::Assistant { says, thinks, tools, plan, .. } => {
                says.is_empty() && thinks.is_empty() && tools.is_empty() && plan.is_empty()
            }
            _ => false,
        }
    }
}

/// What an entry counts as that tells nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// Nothing but an entry.
    Plain,
    /// One that only an answer of the model brings about.
    Tokens,
    /// One that says that it is a copy of another session's.
    Inherited,
}

/// An operation on the queue of words typed while the assistant worked.
#[derive(Debug)]
pub enum Queue {
    /// Put in.
    Enqueue(QueuedWords),
    /// Taken out, to come again as a user entry.
    Dequeue,
    /// Taken out and given to the assistant; with the words when the entry repeats them.
    Remove(QueuedWords),
    /// All taken back to the editor.
    PopAll,
    /// Given to the assistant, recorded with its words.
    Delivered(QueuedWords),
}

/// Words in the queue.
#[derive(Debug)]
pub struct QueuedWords {
    /// As enqueued, trimmed: the key by which operations find each other.
    pub text: String,
    /// What the human said; "" when it was not the human.
    pub says: String,
    /// Whether the human said something, or pasted an image.
    pub human: bool,
    /// Whether it is a note that a background task ended.
    pub notification: bool,
    /// Pasted images.
    pub images: Vec<MetImage>,
    /// Whether invalid UTF-8 was replaced.
    pub lossy: bool,
}

/// Something about the session as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A title made by the assistant; the last one counts.
    AssistantTitle(String),
    /// A title given by the human; it goes before the assistant's.
    CustomTitle(String),
    /// A one-line summary, often of another session.
    Summary {
        /// The words.
        text: String,
        /// The last entry of what it sums up.
        leaf_uuid: EntryId,
    },
    /// A pull request.
    PullRequest(PullRequest),
    /// The last prompt (older versions), "" when absent, and the last entry of the active branch.
    LastPrompt {
        /// Words.
        prompt: String,
        /// Entry id.
        leaf_uuid: String,
    },
    /// The session goes on in another one.
    ContinuedIn(String),
    /// What the session says about itself where it begins.
    Thread(Box<Thread>),
    /// The working directory, where no envelope names it.
    Folder(String),
}

/// What a session is when it is no conversation with a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A subagent's.
    Subagent,
    /// A script's.
    Script,
    /// A check of what a command may do.
    Guardian,
    /// A review.
    Review,
    /// A summary for a compaction.
    Compaction,
    /// The agent's upkeep of its memory.
    Memory,
}

/// A session among others: where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// The session that started it as a subagent.
    pub parent: Option<String>,
    /// Its name among the subagents of one session, a path.
    pub agent_path: String,
    /// What it is called.
    pub nickname: String,
    /// The kind of agent it is.
    pub role: String,
    /// Who it is a conversation with, when that is not the human.
    pub origin: Option<Origin>,
    /// Whether its file may begin with a copy of another session's history.
    pub copies: bool,
    /// Records with a lower number are such a copy.
    pub own_from: Option<u64>,
    /// The working directory.
    pub cwd: String,
    /// The agent program's version.
    pub version: String,
}

/// A pull request that the session made or worked on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct PullRequest {
    /// Its number.
    pub number: Option<u64>,
    /// Its address.
    pub url: String,
    /// The repository, `owner/name`.
    pub repository: String,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in events.json")]
/// One event of a conversation, as in events.json.
#[derive(Debug, Clone)]
pub struct Event {
    /// Position among its siblings.
    pub index: usize,
    /// As written, "" when absent.
    pub timestamp: CompactString,
    /// Who speaks.
    pub role: Role,
    /// The words.
    pub says: String,
    /// The thinking, "" when there is none.
    pub thinks: String,
    /// Names of the tools called.
    pub tools: Vec<String>,
    /// Why the story breaks before this event; empty when it does not.
    pub boundary: BTreeSet<Boundary>,
    /// The summary of the conversation before, "" on every other event.
    pub continuation_summary: String,
    /// How long the turn took whose last assistant event this is.
    pub duration_ms: Option<u64>,
    /// Images that belong to it.
    pub screenshots: Vec<Screenshot>,
    /// Subagents that it started.
    pub subagent_refs: Vec<SubagentRef>,
    /// Whether the human interrupted the assistant behind it.
    pub interrupted: bool,
    /// Whether the human turned a call of it down.
    pub rejected: bool,
    /// Whether the turn it belongs to was taken back later.
    pub rolled_back: bool,
    /// How the human's words came in.
    pub source: Option<WordsSource>,
    /// The plan that it shows, "" when there is none.
    pub plan: String,
    /// The questions that the words answer, in the same order.
    pub questions: Vec<String>,
    /// Whether it stands on the branch that the session went on on.
    pub live: bool,
    /// The entry's id, "" when absent.
    pub uuid: EntryId,
    /// The id of the answer it is a block of, "" when absent or the human's.
    pub message_id: String,
    /// The session it belongs to; not in events.json.
    pub session_id: Arc<str>,
    /// Where the record stands.
    pub place: Place,
}

impl Event {
    /// UTF-8 bytes of what it says and thinks.
    #[must_use]
    pub fn signal_bytes(&self) -> u64 {
        (self.says.len() + self.thinks.len()) as u64
    }

    /// Whether the story breaks before this event.
    #[must_use]
    pub fn session_break(&self) -> bool {
        !self.boundary.is_empty()
    }
}

/// Equal is what stands as the same in events.json.
impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_vec(self).ok() == serde_json::to_vec(other).ok()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let user = self.role == Role::User;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("says", &self.says)?;
        if !self.thinks.is_empty() {
            map.serialize_entry("thinks", &self.thinks)?;
        }
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
        }
        if user || self.session_break() {
            map.serialize_entry("session_break", &self.session_break())?;
        }
        if self.session_break() {
            map.serialize_entry("boundary", &self.boundary)?;
        }
        if user {
            map.serialize_entry("continuation_summary", &self.continuation_summary)?;
        }
        if let Some(duration) = self.duration_ms {
            map.serialize_entry("duration_ms", &duration)?;
        }
        if !self.screenshots.is_empty() {
            map.serialize_entry("screenshots", &self.screenshots)?;
        }
        if !self.subagent_refs.is_empty() {
            map.serialize_entry("subagent_refs", &self.subagent_refs)?;
        }
        if self.interrupted {
            map.serialize_entry("interrupted", &true)?;
        }
        if self.rejected {
            map.serialize_entry("rejected", &true)?;
        }
        if self.rolled_back {
            map.serialize_entry("rolled_back", &true)?;
        }
        if let Some(source) = self.source {
            map.serialize_entry("source", &source)?;
        }
        if !self.plan.is_empty() {
            map.serialize_entry("plan", &self.plan)?;
        }
        if !self.questions.is_empty() {
            map.serialize_entry("questions", &self.questions)?;
        }
        if !self.live {
            map.serialize_entry("live", &false)?;
        }
        map.serialize_entry("uuid", &self.uuid)?;
        if !user {
            map.serialize_entry("message_id", &self.message_id)?;
        }
        map.serialize_entry("line", &self.place.line)?;
        map.serialize_entry("offset", &self.place.offset)?;
        map.serialize_entry("length", &self.place.length)?;
        map.end()
    }
}

/// An image that belongs to an event.
#[derive(Debug, Clone, Serialize)]
pub struct Screenshot {
    /// Its name in `assets/`.
    pub filename: String,
    /// Where it comes from.
    pub description: String,
    /// By its own bytes, not by what the transcript declares.
    pub media_type: &'static str,
    /// The image itself.
    #[serde(skip)]
    pub image: ImageId,
}

/// A subagent that an event started.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SubagentRef {
    /// The call.
    pub tool_use_id: String,
    /// The subagent, when it is known which one.
    pub id: Option<String>,
    /// A few words.
    pub description: String,
    /// The prompt's first 300 characters.
    pub prompt: String,
    /// The whole prompt, which is looked through for secrets: one could be cut in the middle.
    #[serde(skip)]
    pub whole_prompt: String,
    /// Tokens in all.
    pub total_tokens: Option<u64>,
    /// Tool calls.
    pub tool_uses: Option<u64>,
    /// Milliseconds.
    pub duration_ms: Option<u64>,
    /// Of the subagent's words and thinking.
    pub signal_tokens_estimate: Option<u64>,
    /// How the subagent was found.
    pub linked_by: Option<LinkedBy>,
    /// The subagent's own events, when they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
}
