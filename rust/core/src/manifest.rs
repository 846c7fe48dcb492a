//! Everything in manifest.json: what is known about a conversation beside its events.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::entry::{Damage, Place};
use crate::event::{Event, LinkedBy, Origin, PullRequest};
use crate::story::LostImage;
use crate::subagents::{ChapterBridge, Subagent, UnreadableFile};
use crate::transcript::{TypeCount, UnknownType};

/// Everything in manifest.json, in its order there.
#[derive(Debug, Serialize)]
pub struct Manifest {
    /// Version of the shape.
    pub schema_version: u32,
    /// The session's id.
    pub conversation_id: String,
    /// Whose transcript it is.
    pub agent: &'static str,
    /// The project folder's name as the agent encodes it (lossy).
    pub project_encoded: Option<String>,
    /// The first working directory that the entries name.
    pub project_path: Option<String>,
    /// The best title there is.
    pub title: Option<String>,
    /// How many distinct session ids.
    pub sessions: usize,
    /// The ids.
    pub session_ids: Vec<String>,
    /// How many events.
    pub total_events: usize,
    /// How many of them stand on a branch that was left.
    pub dead_events: usize,
    /// UTF-8 bytes of what is said and thought in the main story.
    pub main_signal_bytes: u64,
    /// The same in tokens.
    pub main_signal_tokens_estimate: u64,
    /// How tokens are estimated.
    pub estimation_method: &'static str,
    /// Tokens of the main story and all subagents.
    pub total_signal_tokens_if_all_subagents: u64,
    /// Bytes of the main story's signal per byte of input.
    pub signal_ratio: f64,
    /// Subagents found, by the time they began.
    pub subagents: Vec<SubagentSummary>,
    /// Subagents that no call claims, with their events, when events were asked for.
    pub unlinked_subagents: Vec<UnlinkedSubagent>,
    /// Files beside the session that could not be read.
    pub unreadable_files: Vec<UnreadableFile>,
    /// Summaries at compactions.
    pub chapter_bridges: Vec<ChapterBridge>,
    /// How many images were written.
    pub screenshots_extracted: usize,
    /// Their names in `assets/`.
    pub assets: Vec<String>,
    /// Images that are in the transcript and not in the result.
    pub images_not_extracted: Vec<LostImage>,
    /// What looks like a secret.
    pub pii_warnings: Vec<SecretWarning>,
    /// The input.
    pub source: SourceSummary,
    /// Entries by type.
    pub entries: BTreeMap<String, TypeCount>,
    /// Entries of unknown types.
    pub unknown_entries: BTreeMap<String, UnknownEntries>,
    /// Entries dropped because their id had been seen.
    pub duplicates_dropped: u64,
    /// Entries that the client wrote in the assistant's name.
    pub client_messages_dropped: u64,
    /// Human words that never left the queue.
    pub queued_undelivered: usize,
    /// Damaged pieces, the first thousand.
    pub damaged_lines: Vec<DamagedLine>,
    /// All damaged pieces.
    pub damaged_lines_total: u64,
    /// A last line that is not whole yet.
    pub incomplete_tail: Option<Place>,
    /// The record that began a turn which nothing ends; `None` where agents record no beginnings.
    pub incomplete_turn: Option<Place>,
    /// What it is, when it is no conversation with the human.
    pub origin: Option<Origin>,
    /// Records that were copied from another session's file, and are not part of this one.
    pub inherited_records: u64,
    /// How often the context was compacted.
    pub compactions: u64,
    /// One-line summaries.
    pub summaries: Vec<String>,
    /// Pull requests.
    pub pr_links: Vec<PullRequest>,
    /// Sessions that this one goes on in.
    pub continued_in: Vec<String>,
    /// The last prompt that was recorded apart.
    pub last_prompt: Option<String>,
    /// The last entry of the active branch.
    pub leaf_uuid: Option<String>,
    /// Versions of the agent program.
    pub versions: Vec<String>,
    /// When this was made.
    pub parsed_at: String,
    /// What made it.
    pub parser: Parser,
}

/// A subagent in the manifest.
#[derive(Debug, Clone, Serialize)]
pub struct SubagentSummary {
    /// Its id.
    pub id: String,
    /// A few words.
    pub description: String,
    /// The kind of agent.
    pub agent_type: String,
    /// Its file, below the session's folder; `None` for inline ones.
    pub file: Option<String>,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// How that is known.
    pub linked_by: Option<LinkedBy>,
    /// How many events it has.
    pub events: usize,
    /// Of its words and thinking.
    pub signal_tokens_estimate: u64,
}

/// A subagent that no call claims.
#[derive(Debug, Serialize)]
pub struct UnlinkedSubagent {
    /// Its id.
    pub id: String,
    /// Its file, below the session's folder; `None` for inline ones.
    pub file: Option<String>,
    /// A few words.
    pub description: String,
    /// The kind of agent.
    pub agent_type: String,
    /// What it did.
    pub events: Vec<Event>,
}

impl UnlinkedSubagent {
    /// Takes the subagent's events out of it.
    #[must_use]
    pub(crate) fn of(agent: &mut Subagent) -> Self {
        Self {
            id: agent.id.clone(),
            file: agent.file.clone(),
            description: agent.description.clone(),
            agent_type: agent.agent_type.clone(),
            events: std::mem::take(&mut agent.story.events),
        }
    }
}

/// Something that looks like a secret.
#[derive(Debug, Serialize)]
pub struct SecretWarning {
    /// Index of the event; `None` when it stands in the manifest itself.
    pub event: Option<usize>,
    /// The field of the event or of the manifest.
    pub field: &'static str,
    /// Which rule found it.
    pub rule: &'static str,
    /// The line that the event's record stands on.
    pub line: Option<u64>,
    /// Its public beginning and its length.
    pub preview: String,
    /// The subagent whose event it is; absent for the main story.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
}

/// Entries of a type that is in no table, and the agent file that the first stands in if it is not the session's own.
#[derive(Debug, Serialize)]
pub struct UnknownEntries {
    /// How many, and where the first stands.
    #[serde(flatten)]
    pub unknown: UnknownType,
    /// The agent file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A damaged piece, and the agent file that it stands in if it is not the session's own.
#[derive(Debug, Serialize)]
pub struct DamagedLine {
    /// Where and what.
    #[serde(flatten)]
    pub damage: Damage,
    /// The agent file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The input.
#[derive(Debug, Serialize)]
pub struct SourceSummary {
    /// File name, `None` for standard input and bytes.
    pub name: Option<String>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// Of the first entry that has one.
    pub first_timestamp: Option<String>,
    /// Of the last entry that has one, in file order.
    pub last_timestamp: Option<String>,
    /// Whether the last line is not whole: the session is still being written.
    pub in_progress: bool,
}

/// What made the files.
#[derive(Debug, Serialize)]
pub struct Parser {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}
