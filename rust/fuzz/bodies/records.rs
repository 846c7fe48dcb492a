//! Whole records of every kind, to be cut, glued and mutated.

/// A picture of one pixel.
pub const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPYmKoEAAMDATn8OudIAAAAAElFTkSuQmCC";

/// A user entry that says `words`, in the key order that begins with the parent's id.
#[must_use]
pub fn human(words: &str, uuid: &str) -> String {
    let words = quoted(words);
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/home/you/boats","sessionId":"5e55104a","version":"2.1.39","type":"user","message":{{"role":"user","content":{words}}},"uuid":"{uuid}","timestamp":"2026-03-04T05:06:07.008Z"}}"#
    )
}

/// The same in the key order that begins with the type.
#[must_use]
pub fn human_type_first(words: &str, uuid: &str) -> String {
    let words = quoted(words);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","sessionId":"5e55104a","message":{{"role":"user","content":[{{"type":"text","text":{words}}}]}}}}"#
    )
}

/// One record of each kind, with `words` where text stands.
#[must_use]
pub fn all(words: &str) -> Vec<String> {
    let words = quoted(words);
    let envelope = r#""parentUuid":"p-1","isSidechain":false,"userType":"external","cwd":"/home/you/boats","sessionId":"5e55104a","version":"2.1.39""#;
    let ends = |number: u32| format!(r#""uuid":"r-{number}","timestamp":"2026-03-04T05:06:07.008Z""#);
    vec![
        format!(r#"{{{envelope},"type":"user","message":{{"role":"user","content":{words}}},{}}}"#, ends(1)),
        format!(
            r#"{{{envelope},"type":"user","message":{{"role":"user","content":[{{"type":"text","text":{words}}},{{"type":"image","source":{{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAACw="}}}}]}},{}}}"#,
            ends(2)
        ),
        format!(
            r#"{{{envelope},"message":{{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{{"type":"text","text":{words}}}],"usage":{{"input_tokens":3}}}},"requestId":"q","type":"assistant",{}}}"#,
            ends(3)
        ),
        format!(
            r#"{{{envelope},"message":{{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{{"type":"thinking","thinking":{words},"signature":""}}]}},"type":"assistant",{}}}"#,
            ends(4)
        ),
        format!(
            r#"{{{envelope},"message":{{"model":"m","id":"msg_2","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"call-1","name":"Task","input":{{"description":"d","prompt":{words},"subagent_type":"x"}}}}]}},"type":"assistant",{}}}"#,
            ends(5)
        ),
        format!(
            r#"{{{envelope},"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"call-1","type":"tool_result","content":[{{"type":"text","text":{words}}},{{"type":"text","text":"agentId: a1"}}]}}]}},{},"toolUseResult":{{"status":"completed","agentId":"a1","content":[{{"type":"text","text":{words}}}],"totalTokens":12}}}}"#,
            ends(6)
        ),
        format!(
            r#"{{{envelope},"type":"progress","data":{{"type":"agent_progress","agentId":"a1","message":{{"type":"user","message":{{"role":"user","content":{words}}},"uuid":"n-1"}},"normalizedMessages":[{{"type":"user"}},{{"parentUuid":null,"type":"assistant"}}]}},"toolUseID":"call-1","parentToolUseID":"call-1",{}}}"#,
            ends(7)
        ),
        format!(
            r#"{{{envelope},"attachment":{{"type":"queued_command","prompt":[{{"type":"text","text":{words}}}],"commandMode":"prompt"}},"type":"attachment",{}}}"#,
            ends(8)
        ),
        format!(
            r#"{{{envelope},"attachment":{{"type":"skill_listing","content":{words}}},"type":"attachment",{}}}"#,
            ends(9)
        ),
        format!(r#"{{{envelope},"type":"system","subtype":"turn_duration","durationMs":12,{}}}"#, ends(10)),
        format!(
            r#"{{{envelope},"type":"system","subtype":"compact_boundary","content":{words},"compactMetadata":{{"trigger":"auto"}},{}}}"#,
            ends(11)
        ),
        format!(r#"{{{envelope},"type":"system","subtype":"local_command","content":{words},{}}}"#, ends(12)),
        format!(
            r#"{{"type":"queue-operation","operation":"enqueue","timestamp":"t","sessionId":"5e55104a","content":{words}}}"#
        ),
        r#"{"type":"queue-operation","operation":"dequeue","timestamp":"t","sessionId":"5e55104a"}"#.to_owned(),
        format!(
            r#"{{"type":"file-history-snapshot","messageId":"r-1","snapshot":{{"trackedFileBackups":{{{words}:{{"version":1}}}}}},"isSnapshotUpdate":false}}"#
        ),
        format!(r#"{{"type":"summary","summary":{words},"leafUuid":"r-1"}}"#),
        format!(r#"{{"type":"pr-link","prNumber":12,"prUrl":{words},"prRepository":"you/boats"}}"#),
        format!(
            r#"{{"type":"api-request-blob","message":{{"role":"user","content":[{{"type":"text","text":{words}}}]}}}}"#
        ),
        format!(r#"{{"type":"never-heard-of","about":{words},"more":[{{"type":"user"}}]}}"#),
        format!(
            r#"{{"parentUuid":null,"isSidechain":true,"agentId":"a1","type":"user","message":{{"role":"user","content":{words}}},"uuid":"s-1"}}"#
        ),
        format!(
            r#"{{{envelope},"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"call-2","type":"tool_result","content":[{{"type":"text","text":{words}}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PIXEL}"}}}}]}}]}},{}}}"#,
            ends(13)
        ),
    ]
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
