//! Whole records of Codex, of every era, to be cut, glued and mutated.

use super::records::PIXEL;

/// The thread that [`child`] says it was started by.
pub const THREAD: &str = "t-1";

const PLAN: &str = r"First this:\n<proposed_plan>\n1. dig\n</proposed_plan>";
const REPLY: &str = r#"<send_user_message_question_reply>\n[{\"answer\":\"red\",\"question\":\"Which?\"}]"#;

/// The first record of a thread that a human started.
#[must_use]
pub fn meta() -> String {
    line("session_meta", &format!(r#""id":"{THREAD}","cwd":"/home/you/boats","cli_version":"0.153.1","source":"cli""#))
}

/// The file of a thread that [`THREAD`] started: its parent's history stands before its own words.
#[must_use]
pub fn child(id: &str, parent: &str) -> String {
    let spawn = format!(r#"{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{parent}","agent_role":"diver"}}}}}}"#);
    let meta = line("session_meta", &format!(r#""id":"{id}","source":{spawn},"subagent_history_start_ordinal":2"#));
    let said = |ordinal, words: &str| {
        format!(
            r#"{{"timestamp":"2026-02-02T10:00:07.000Z","ordinal":{ordinal},"type":"event_msg","payload":{{"type":"user_message","message":"{words}"}}}}"#
        )
    };
    [meta, self::meta(), said(1, "copied"), said(2, "count the gulls")].join("\n") + "\n"
}

/// One record of each kind, with `words` where text stands.
#[must_use]
pub fn all(words: &str) -> Vec<String> {
    let words = serde_json::Value::from(words).to_string();
    let said = |kind: &str, more: &str| line("event_msg", &format!(r#""type":"{kind}"{more}"#));
    let item = |kind: &str, more: &str| line("response_item", &format!(r#""type":"{kind}"{more}"#));
    let input = format!(r#","role":"user","content":[{{"type":"input_text","text":{words}}}]"#);
    let output = format!(r#","role":"assistant","content":[{{"type":"output_text","text":{words}}}]"#);
    let image = format!("data:image/png;base64,{PIXEL}");
    let picture = format!(r#"{{"type":"input_text","text":{words}}},{{"type":"input_image","image_url":"{image}"}}"#);
    vec![
        meta(),
        line("session_meta", &format!(r#""id":"t-2","forked_from_id":"{THREAD}","cwd":"/home/you/boats""#)),
        line("session_meta", r#""id":"t-3","source":{"subagent":{"thread_spawn":{"parent_thread_id":"t-1"}}}"#),
        line("session_meta", r#""id":"t-4","parent_thread_id":"t-1","subagent_history_start_ordinal":3"#),
        said("user_message", &format!(r#","message":{words},"images":[]"#)),
        said("user_message", &format!(r#","message":{words},"images":["{image}"]"#)),
        said("agent_message", &format!(r#","message":{words},"phase":"commentary""#)),
        said("agent_reasoning", &format!(r#","text":{words}"#)),
        said("item_completed", &format!(r#","item":{{"type":"Plan","id":"p","text":{words}}}"#)),
        said(
            "item_completed",
            &format!(r#","item":{{"type":"UserMessage","id":"u","content":[{{"type":"text","text":{words}}}]}}"#),
        ),
        said(
            "item_completed",
            &format!(r#","item":{{"type":"AgentMessage","id":"a","content":[{{"type":"Text","text":{words}}}]}}"#),
        ),
        said("token_count", r#","info":null"#),
        said("task_started", r#","turn_id":"t""#),
        said("task_complete", r#","turn_id":"t","last_agent_message":null,"duration_ms":61500"#),
        said("turn_aborted", r#","reason":"interrupted""#),
        said("thread_rolled_back", r#","num_turns":1"#),
        said("context_compacted", ""),
        said("thread_name_updated", &format!(r#","thread_name":{words}"#)),
        said(
            "mcp_tool_call_end",
            &format!(
                r#","call_id":"c-3","invocation":{{"server":"charts","tool":"shot","arguments":{{}}}},"result":{{"Ok":{{"content":[{{"type":"text","text":{words}}},{{"type":"image","data":"R0lGODlhAQABAAAAACw=","mimeType":"image/gif"}}]}}}}"#
            ),
        ),
        item("message", &input),
        item("message", &output),
        item("message", &format!(r#","role":"user","content":[{picture}]"#)),
        item("reasoning", &format!(r#","summary":[{{"type":"summary_text","text":{words}}}],"content":null"#)),
        item("function_call", r#","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c-1""#),
        item("function_call", &format!(r#","name":"spawn_agent","arguments":{words},"call_id":"c-2""#)),
        item("function_call_output", r#","call_id":"c-2","output":"{\"agent_id\":\"t-2\"}""#),
        item("function_call_output", &format!(r#","call_id":"c-1","output":{words}"#)),
        item("message", &format!(r#","role":"assistant","content":[{{"type":"output_text","text":"{PLAN}"}}]"#)),
        item("message", &format!(r#","role":"user","content":[{{"type":"input_text","text":"{REPLY}"}}]"#)),
        item(
            "function_call",
            r#","name":"request_user_input","arguments":"{\"questions\":[{\"id\":\"q\",\"question\":\"Which?\"}]}","call_id":"c-5""#,
        ),
        item("function_call_output", r#","call_id":"c-5","output":"{\"answers\":{\"q\":{\"answers\":[\"red\"]}}}""#),
        item("function_call", r#","name":"view_image","arguments":"{}","call_id":"c-6""#),
        item("message", &format!(r#","role":"user","content":[{{"type":"input_image","image_url":"{image}"}}]"#)),
        item("function_call_output", &format!(r#","call_id":"c-1","output":[{picture}]"#)),
        item("custom_tool_call", &format!(r#","call_id":"c-4","name":"apply_patch","input":{words}"#)),
        item("image_generation_call", &format!(r#","id":"g-1","revised_prompt":{words},"result":"{PIXEL}""#)),
        line("turn_context", r#""cwd":"/home/you/boats","model":"m""#),
        line("compacted", &format!(r#""message":{words},"replacement_history":[]"#)),
        line("world_state", &format!(r#""type":"tide","about":{words}"#)),
        r#"{"id":"t-1","timestamp":"2025-05-01T08:00:00.000Z","instructions":null}"#.to_owned(),
        format!(r#"{{"type":"message"{input}}}"#),
        format!(r#"{{"type":"message"{output}}}"#),
        r#"{"record_type":"state"}"#.to_owned(),
    ]
}

fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-02-02T10:00:07.000Z","type":"{kind}","payload":{{{payload}}}}}"#)
}
