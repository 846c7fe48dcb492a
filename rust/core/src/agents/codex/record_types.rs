//! The tables of Codex's record types. A new version's types are added here and nowhere else.
//!
//! Sources: the rollouts of versions 0.1 to 0.15x, and what `codex-rs/rollout/src/policy.rs` says is written.

use std::borrow::Cow;

use crate::entry::{Class, Fields};
use crate::json::Value;

use Class::{Evidence as Noise, Mark, Signal};

/// Top-level types.
const TOP_LEVEL: &[(&str, Class)] = &[
    ("turn_context", Noise),
    ("session_meta", Signal),
    // It holds the whole history once more, up to 50 MB, of which nothing is read.
    ("compacted", Mark),
    ("world_state", Noise),
    ("token_usage_record", Noise),
    ("inter_agent_communication", Noise),
    ("inter_agent_communication_metadata", Noise),
];

/// What goes to and comes from the model. Outputs are noise that is looked into when they may hold an image or name
/// a subagent.
const RESPONSE_ITEMS: &[(&str, Class)] = &[
    ("response_item/function_call_output", Noise),
    ("response_item/function_call", Signal),
    ("response_item/message", Signal),
    ("response_item/reasoning", Signal),
    ("response_item/custom_tool_call_output", Noise),
    ("response_item/custom_tool_call", Signal),
    ("response_item/local_shell_call", Signal),
    ("response_item/web_search_call", Signal),
    ("response_item/tool_search_call", Signal),
    ("response_item/image_generation_call", Signal),
    ("response_item/agent_message", Noise),
    ("response_item/local_shell_call_output", Noise),
    ("response_item/tool_search_output", Noise),
    ("response_item/compaction", Noise),
    ("response_item/compaction_summary", Noise),
    ("response_item/context_compaction", Noise),
    ("response_item/compaction_trigger", Noise),
    ("response_item/configuration_update", Noise),
    ("response_item/ghost_snapshot", Noise),
    ("response_item/additional_tools", Noise),
    ("response_item/other", Noise),
];

/// What happens in the program.
const EVENTS: &[(&str, Class)] = &[
    ("event_msg/token_count", Noise),
    ("event_msg/agent_message", Signal),
    ("event_msg/agent_reasoning", Signal),
    ("event_msg/agent_reasoning_raw_content", Signal),
    ("event_msg/user_message", Signal),
    ("event_msg/exec_command_end", Noise),
    ("event_msg/patch_apply_end", Noise),
    ("event_msg/mcp_tool_call_end", Signal),
    ("event_msg/web_search_end", Noise),
    ("event_msg/task_started", Signal),
    ("event_msg/turn_started", Signal),
    ("event_msg/task_complete", Signal),
    ("event_msg/turn_complete", Signal),
    ("event_msg/turn_aborted", Signal),
    ("event_msg/thread_rolled_back", Signal),
    ("event_msg/thread_name_updated", Signal),
    ("event_msg/context_compacted", Signal),
    ("event_msg/image_generation_end", Signal),
    ("event_msg/collab_agent_spawn_end", Signal),
    ("event_msg/sub_agent_activity", Signal),
    ("event_msg/thread_goal_updated", Noise),
    ("event_msg/thread_settings_applied", Noise),
    ("event_msg/entered_review_mode", Noise),
    ("event_msg/exited_review_mode", Noise),
    ("event_msg/error", Noise),
    ("event_msg/warning", Noise),
    ("event_msg/guardian_warning", Noise),
    ("event_msg/guardian_assessment", Noise),
    ("event_msg/view_image_tool_call", Noise),
    ("event_msg/collab_agent_interaction_end", Noise),
    ("event_msg/collab_waiting_end", Noise),
    ("event_msg/collab_close_end", Noise),
    ("event_msg/collab_resume_end", Noise),
    ("event_msg/dynamic_tool_call_request", Noise),
    ("event_msg/dynamic_tool_call_response", Noise),
    ("event_msg/stream_error", Noise),
    ("event_msg/background_event", Noise),
    ("event_msg/plan_update", Noise),
    ("event_msg/shutdown_complete", Noise),
    ("event_msg/turn_diff", Noise),
    ("event_msg/session_configured", Noise),
    ("event_msg/deprecation_notice", Noise),
    ("event_msg/model_reroute", Noise),
    ("event_msg/hook_started", Noise),
    ("event_msg/hook_completed", Noise),
    ("event_msg/item_started", Noise),
    ("event_msg/turn_moderation_metadata", Noise),
    ("event_msg/undo_completed", Noise),
];

/// Finished items of a turn; the first letter may be small.
const ITEMS: &[(&str, Class)] = &[
    ("UserMessage", Signal),
    ("AgentMessage", Signal),
    ("Reasoning", Signal),
    ("McpToolCall", Signal),
    ("ImageGeneration", Signal),
    ("Extension", Signal),
    ("ContextCompaction", Signal),
    ("CollabAgentToolCall", Signal),
    ("SubAgentActivity", Signal),
    ("Plan", Signal),
    ("CommandExecution", Noise),
    ("FileChange", Noise),
    ("WebSearch", Noise),
    ("ImageView", Noise),
    ("Sleep", Noise),
    ("HookPrompt", Noise),
    ("DynamicToolCall", Noise),
];

const RESPONSE: &str = "response_item/";
const EVENT: &str = "event_msg/";
const COMPLETED: &str = "event_msg/item_completed";

/// The name that records without a type are counted under when they say whose session it is.
pub(super) const BARE_META: &str = "(session)";

/// A record as the tables know it.
pub(super) struct Row {
    /// What it is counted as; the table's own name where it has one.
    pub(super) name: Cow<'static, str>,
    pub(super) class: Class,
}

fn row(table: &'static [(&str, Class)], prefix: &str, kind: &str) -> Option<Row> {
    // All names of a table have its prefix: the length tells most of them apart.
    let length = prefix.len() + kind.len();
    let found = table.iter().find(|(name, _)| name.len() == length && name.ends_with(kind));
    found.map(|&(name, class)| Row { name: Cow::Borrowed(name), class })
}

fn unknown(name: String) -> Row {
    Row { name: Cow::Owned(name), class: Class::Unknown }
}

/// Whether records of type `kind` exist, in any era.
pub(super) fn is_known(kind: &str) -> bool {
    matches!(kind, "response_item" | "event_msg") || row(TOP_LEVEL, "", kind).is_some() || flat(kind).is_some()
}

/// Records that are no envelopes have the types of what stands in one.
fn flat(kind: &str) -> Option<Class> {
    let words = matches!(kind, "user_message" | "agent_message").then_some(Class::Signal);
    words.or_else(|| row(RESPONSE_ITEMS, RESPONSE, kind).map(|row| row.class))
}

/// What a record of type `kind` is, given the fields seen so far; `None` while that depends on the member named.
pub(super) fn judge(kind: &str, entry: &Fields<'_>, complete: bool) -> Result<Row, &'static str> {
    if matches!(kind, "response_item" | "event_msg") {
        return match entry.get("payload") {
            None if !complete => Err("payload"),
            Some(payload) if payload.is_object() => Ok(judge_payload(kind, payload)),
            _ => Ok(unknown(kind.to_owned())),
        };
    }
    if let Some(row) = row(TOP_LEVEL, "", kind) {
        // What stands before the payload is read.
        let awaits = row.class == Mark && !complete && entry.get("payload").is_none();
        return if awaits { Err("payload") } else { Ok(row) };
    }
    let class = match flat(kind) {
        None => Class::Unknown,
        // Two records have this type: what the assistant says, and what one agent sends to another.
        Some(_) if kind == "agent_message" => match entry.get("message") {
            None if !complete => return Err("message"),
            Some(message) if message.is_string() => Signal,
            _ => Noise,
        },
        Some(class) => class,
    };
    Ok(Row { name: Cow::Owned(kind.to_owned()), class })
}

fn judge_payload(kind: &str, payload: Value<'_>) -> Row {
    let inner = payload.get("type").and_then(Value::text);
    let Some(inner) = inner.map(|text| text.text) else {
        // Some writers leave the type of messages out.
        let is_message = kind == "response_item" && payload.get("role").is_some();
        return if is_message {
            Row { name: "response_item/message".into(), class: Signal }
        } else {
            unknown(kind.into())
        };
    };
    if kind == "response_item" {
        return row(RESPONSE_ITEMS, RESPONSE, &inner).unwrap_or_else(|| unknown(format!("{RESPONSE}{inner}")));
    }
    if inner != "item_completed" {
        return row(EVENTS, EVENT, &inner).unwrap_or_else(|| unknown(format!("{EVENT}{inner}")));
    }
    let item = payload.get("item").and_then(|item| item.get("type"));
    let Some(item) = item.and_then(Value::text) else { return unknown(COMPLETED.to_owned()) };
    let class = ITEMS.iter().find(|(name, _)| is_item(name, &item.text)).map_or(Class::Unknown, |row| row.1);
    Row { name: Cow::Owned(format!("{COMPLETED}/{}", item.text)), class }
}

/// The type of an item as the table spells it: its first letter may be small.
pub(super) fn item_type(written: &str) -> String {
    let mut letters = written.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Whether an item's type is the one that the table spells so.
pub(super) fn is_item(name: &str, written: &str) -> bool {
    let (name, written) = (name.as_bytes(), written.as_bytes());
    name.len() == written.len() && name.get(1..) == written.get(1..) && name[..1].eq_ignore_ascii_case(&written[..1])
}

/// What a whole record without a type is.
pub(super) fn judge_untyped(entry: &Fields<'_>) -> Row {
    if let Some(name) = entry.get("record_type").and_then(Value::text) {
        return Row { name: Cow::Owned(format!("({})", name.text)), class: Noise };
    }
    let is_meta =
        entry.get("id").is_some() && (entry.get("instructions").is_some() || entry.get("timestamp").is_some());
    if is_meta { Row { name: BARE_META.into(), class: Signal } } else { unknown(crate::entry::UNTYPED.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_stands_in_a_table_twice() {
        for table in [TOP_LEVEL, RESPONSE_ITEMS, EVENTS, ITEMS] {
            for (at, (name, _)) in table.iter().enumerate() {
                assert!(table[at + 1..].iter().all(|(other, _)| other != name), "{name}");
            }
        }
    }

    #[test]
    fn every_name_has_its_table_s_prefix() {
        assert!(RESPONSE_ITEMS.iter().all(|(name, _)| name.starts_with(RESPONSE)));
        assert!(EVENTS.iter().all(|(name, _)| name.starts_with(EVENT)));
    }

    #[test]
    fn an_item_s_first_letter_may_be_small() {
        assert_eq!(item_type("userMessage"), "UserMessage");
        assert_eq!(item_type(""), "");
        for (written, is) in [("plan", true), ("Plan", true), ("PLAN", false), ("", false), ("Plane", false)] {
            assert_eq!(is_item("Plan", written), is);
        }
    }
}
