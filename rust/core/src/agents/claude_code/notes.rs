//! Notes that a background task ended: what the program writes into the queue and into user entries.

use crate::event::Usage;
use crate::json::Value;

const NOTE: &str = "<task-notification>";

/// Whether `text` is a note as versions 2.1.45 to 2.1.50 enqueue it: one JSON object.
pub(super) fn is_task_note(text: &str) -> bool {
    let note = Value::new(text.as_bytes());
    text.starts_with('{')
        && text.ends_with('}')
        && ["task_id", "task_type"].iter().all(|name| note.get(name).is_some())
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The call that started the task which ended, and what it used, as a note says it.
pub(super) fn usage_of_note(text: &str) -> Option<(String, Usage)> {
    let note = without_result(&text[text.find(NOTE)?..]);
    let call = between(&note, "<tool-use-id>", "</tool-use-id>")?.trim();
    let (told, _) = note.rsplit_once("</usage>")?;
    let used = between(&note, "<usage>", "</usage>").and_then(|_| told.rsplit_once("<usage>"))?.1;
    let number = |name| number_of(used, name);
    let usage = Usage {
        total_tokens: number("subagent_tokens").or_else(|| number("total_tokens")),
        tool_uses: number("tool_uses"),
        duration_ms: number("duration_ms"),
    };
    (!call.is_empty() && usage != Usage::default()).then(|| (call.to_owned(), usage))
}

/// The note without the agent's own words, which may hold tags.
fn without_result(note: &str) -> String {
    let cut = note.find("<result>").and_then(|start| {
        let end = note.rfind("</result>").filter(|&end| end > start)?;
        Some((start, end + "</result>".len()))
    });
    cut.map_or_else(|| note.to_owned(), |(start, end)| format!("{}{}", &note[..start], &note[end..]))
}

fn between<'t>(text: &'t str, opening: &str, closing: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(opening)?;
    behind.split_once(closing).map(|(inside, _)| inside)
}

/// The number called `name`: `<name>5</name>`, or `name: 5`.
fn number_of(text: &str, name: &str) -> Option<u64> {
    text.match_indices(name).find_map(|(at, _)| {
        let behind = text[at + name.len()..].strip_prefix(['>', ':'])?.trim_start();
        let end = behind.find(|character: char| !character.is_ascii_digit()).unwrap_or(behind.len());
        behind[..end].parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_in_json_names_a_task_and_its_type() {
        for (text, expected) in [
            (r#"{"task_id":"b7","task_type":"local_bash"}"#, true),
            (r#"{"task_type":"local_agent", "description":"look {here}", "task_id":"a2"}"#, true),
            (r#"{"task_id":"b7"}"#, false),
            (r#"see {"task_id":"b7","task_type":"x"}"#, false),
            (r#"{"task_id":"b7","task_type":"x"} please"#, false),
            (r#"{"task_id":"b7","task_type":"x"}{}"#, false),
        ] {
            assert_eq!(is_task_note(text), expected, "{text}");
        }
    }

    #[test]
    fn usage_stands_behind_the_agents_own_words() {
        let note = "[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification>\n<task-id>a1</task-id>\n\
                    <tool-use-id> toolu_1 </tool-use-id>\n<result>I read <usage>total_tokens: 7</usage> and \
                    <tool-use-id>x</tool-use-id></result>\n<usage><subagent_tokens>20</subagent_tokens>\
                    <tool_uses>3</tool_uses></usage></task-notification>";
        let usage = Usage { total_tokens: Some(20), tool_uses: Some(3), duration_ms: None };
        assert_eq!(usage_of_note(note), Some(("toolu_1".to_owned(), usage)));
        let old =
            "<task-notification><tool-use-id>t</tool-use-id><usage>total_tokens: 9\nduration_ms: 4</usage> <usage>";
        let usage = Usage { total_tokens: Some(9), tool_uses: None, duration_ms: Some(4) };
        assert_eq!(usage_of_note(old), Some(("t".to_owned(), usage)));
        assert_eq!(usage_of_note("<task-notification><tool-use-id>t</tool-use-id></task-notification>"), None);
    }
}
