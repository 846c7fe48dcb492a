//! What a tool's result tells of the subagents that its call started.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::agents::text::string;
use crate::event::{LinkedBy, Usage};
use crate::json::{Value, key_is};

use super::blocks::{Block, words_and_images};

/// What the text of a result holds that tells of a subagent; and how an escape begins that may spell a letter of that.
static TELLS_OF_SUBAGENT: LazyLock<[Finder<'_>; 3]> =
    LazyLock::new(|| [Finder::new("agentId:"), Finder::new("<usage>"), Finder::new(FOLDER)]);
static ESCAPE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u00"));

/// What stands before the folder of a workflow.
const FOLDER: &str = "Transcript dir:";

/// The state that a result has when an agent of a team was started.
const SPAWNED: &str = "teammate_spawned";

/// What a result tells.
#[derive(Default)]
pub(super) struct Evidence {
    /// The agent, and how it is known.
    pub(super) agent: Option<(LinkedBy, String)>,
    /// What it is called in its team.
    pub(super) name: Option<String>,
    /// What it used.
    pub(super) usage: Usage,
    /// The folder of the workflow that the call ran, in which its agents' files lie.
    pub(super) folder: Option<String>,
}

impl Evidence {
    /// From the structured result, else from the text.
    pub(super) fn of(structured: Option<Value<'_>>, content: Option<Value<'_>>) -> Self {
        let mut told = structured.map(Self::of_structured).unwrap_or_default();
        // Most results are of calls that started nothing, and are not decoded to find that out.
        let content = content.filter(|content| may_tell_of_subagent(content.raw()));
        let text = words_and_images(&Block::all(content).unwrap_or_default()).0.text;
        if told.agent.is_none() {
            let id = last_line_behind(&text, "agentId:").and_then(|line| line.split_whitespace().next());
            told.agent = id.map(|id| (LinkedBy::Text, id.to_owned()));
        }
        if told.folder.is_none() && text.contains(FOLDER) {
            told.folder = text.lines().find_map(|line| line.strip_prefix(FOLDER)).and_then(last_component);
        }
        if let Some(block) = text.rfind("<usage>").map(|at| &text[at..]) {
            let number = |name| line_number_after(block, name);
            told.usage.total_tokens = told.usage.total_tokens.or_else(|| number("total_tokens:"));
            told.usage.tool_uses = told.usage.tool_uses.or_else(|| number("tool_uses:"));
            told.usage.duration_ms = told.usage.duration_ms.or_else(|| number("duration_ms:"));
        }
        told
    }

    fn of_structured(result: Value<'_>) -> Self {
        const NAMES: [&str; 9] = [
            "totalTokens",
            "totalToolUseCount",
            "totalDurationMs",
            "agentId",
            "status",
            "agent_id",
            "name",
            "runId",
            "transcriptDir",
        ];
        // The first of each name counts; all in one pass, for some results are megabytes.
        let mut found = [None; NAMES.len()];
        for (key, value) in result.members() {
            if let Some(at) = NAMES.iter().position(|name| key_is(key, name)) {
                found[at].get_or_insert(value);
            }
        }
        let number = |at: usize| found[at].and_then(Value::integer);
        let text = |at: usize| Some(string(found[at]).into_owned()).filter(|text| !text.is_empty());
        let spawned = string(found[4]) == SPAWNED;
        let of_team = || spawned.then(|| (LinkedBy::Team, text(5).unwrap_or_default()));
        Self {
            agent: text(3).map(|id| (LinkedBy::Result, id)).or_else(of_team),
            name: text(6).filter(|_| spawned),
            usage: Usage { total_tokens: number(0), tool_uses: number(1), duration_ms: number(2) },
            folder: text(7).or_else(|| last_component(&text(8)?)),
        }
    }
}

/// Whether the text of a result, as it is written, may tell of a subagent.
fn may_tell_of_subagent(raw: &[u8]) -> bool {
    let is_letter = |at: usize| matches!(raw.get(at + 4), Some(b'3' | b'4' | b'5' | b'6' | b'7'));
    TELLS_OF_SUBAGENT.iter().any(|word| word.find(raw).is_some()) || ESCAPE.find_iter(raw).any(is_letter)
}

/// What stands behind `label` on the last line that starts with it.
fn last_line_behind<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().rev().find_map(|line| line.strip_prefix(label))
}

/// The last component of a path.
fn last_component(path: &str) -> Option<String> {
    let path = path.trim().trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).map(str::to_owned)
}

fn line_number_after(text: &str, label: &str) -> Option<u64> {
    let rest = text[text.find(label)? + label.len()..].trim_start();
    rest[..rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
