//! Where sessions are, and what lies beside them.
//!
//! ```text
//! ~/.claude/projects/<project>/
//!   <session>.jsonl
//!   agent-<id>.jsonl              a subagent of the session that its lines name, up to 2.1.4x
//!   <session>/subagents/**/
//!     agent-<id>.jsonl            a subagent, later
//!     agent-<id>.meta.json        what it was asked for, and by which call
//!   <session>/tool-results/       what tools gave back
//! ```

use crate::agents::{AboutSubagent, FilesBeside, Home, SubagentFiles, SubagentRole};

const FOLDER: &str = "projects";
const SUBAGENTS: &str = "subagents";
const TOOL_RESULTS: &str = "tool-results";

/// Sessions lie in the folders of projects and nowhere deeper; subagents' files are not sessions.
pub(super) static HOME: Home = Home {
    variable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    sessions: &[(FOLDER, 1..=1)],
    session_id,
    // The same session may be copied into several projects.
    unique_names: false,
    projects: Some(FOLDER),
    not_sessions: &[SUBAGENTS],
    not_transcripts: &[TOOL_RESULTS],
    subagents: SubagentFiles::Beside(&BESIDE),
};

static BESIDE: FilesBeside = FilesBeside {
    folder: SUBAGENTS,
    id: agent_id,
    role,
    session: |record| record.get("sessionId"),
    about: |id| format!("agent-{id}.meta.json"),
    read_about,
};

fn session_id(name: &str) -> Option<&str> {
    let is_other = name.starts_with('.') || name == "journal.jsonl" || name.starts_with("agent-");
    name.strip_suffix(".jsonl").filter(|_| !is_other)
}

fn agent_id(name: &str) -> Option<&str> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl")
}

fn role(id: &str) -> SubagentRole {
    if ["aprompt_suggestion-", "aside_question-"].iter().any(|internal| id.starts_with(internal)) {
        return SubagentRole::Internal;
    }
    if id.starts_with("acompact-") { SubagentRole::Compacts } else { SubagentRole::Works }
}

fn read_about(json: &[u8]) -> AboutSubagent {
    let about: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let text = |name: &str| about.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    AboutSubagent {
        description: text("description"),
        agent_type: text("agentType"),
        call: text("toolUseId"),
        name: text("name"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_what_stands_between_prefix_and_suffix() {
        for (name, id) in [
            ("agent-a93ccab.jsonl", Some("a93ccab")),
            ("agent-name@team.x_1.jsonl", Some("name@team.x_1")),
            ("agent-a1.meta.json", None),
            ("journal.jsonl", None),
        ] {
            assert_eq!(agent_id(name), id, "{name}");
        }
    }
}
