//! What is no transcript of a known agent, told by its first bytes.
//!
//! But for archives and the like nothing is looked at here unless nobody says anything in an input: what holds a
//! conversation is never taken for something else. The evidence of the other agents is what their programs write, and what the readers of
//! their files that others publish go by.

use std::ops::Range;

use crate::agents::AGENTS;
use crate::error::{Error, ErrorKind};
use crate::json::{Value, key_is, skip_blank};
use crate::lines::without_bom;

/// Lines that are looked at for a record.
const MOST_RECORDS: usize = 20;

/// Bytes that are looked at for the NULs of UTF-16: JSON begins with ASCII.
const CHARACTERS: usize = 32;

/// Where in an archive of tar its name stands, and the mode of its first file, in octal digits.
const TAR_NAME: usize = 257;
const TAR_MODE: Range<usize> = 100..108;

/// What an input is, other than a transcript of a known agent.
pub struct Stranger {
    /// In one word, for counting.
    pub name: &'static str,
    /// As it is told.
    what: &'static str,
    hint: Hint,
    certainty: Certainty,
    is_told_by: fn(&Beginning<'_>) -> bool,
}

/// How sure the evidence is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// No transcript begins so, whatever stands in it: an archive may hold several.
    Always,
    /// Its records may have the types of a known agent's, and no agent's are like that.
    Alike,
    /// A transcript may begin so after damage.
    InDoubt,
}

#[derive(Clone, Copy)]
enum Hint {
    /// It can be made one: how.
    Do(&'static str),
    /// It is another program's.
    Foreign,
}

const fn form(
    name: &'static str,
    what: &'static str,
    hint: &'static str,
    told: fn(&Beginning<'_>) -> bool,
) -> Stranger {
    Stranger { name, what, hint: Hint::Do(hint), certainty: Certainty::InDoubt, is_told_by: told }
}

const fn foreign(name: &'static str, what: &'static str, told: fn(&Beginning<'_>) -> bool) -> Stranger {
    Stranger { name, what, hint: Hint::Foreign, certainty: Certainty::InDoubt, is_told_by: told }
}

const fn always(
    name: &'static str,
    what: &'static str,
    hint: &'static str,
    told: fn(&Beginning<'_>) -> bool,
) -> Stranger {
    Stranger { certainty: Certainty::Always, ..form(name, what, hint, told) }
}

const fn alike(name: &'static str, what: &'static str, told: fn(&Beginning<'_>) -> bool) -> Stranger {
    Stranger { certainty: Certainty::Alike, ..foreign(name, what, told) }
}

/// Every one that is known, in the order in which they are tried: the more is known of it the earlier.
static STRANGERS: [Stranger; 24] = [
    always("compressed_twice", "compressed twice", "decompress it once: gzip -dc FILE | retell-fast parse -", |it| {
        it.begins(b"\x1F\x8B\x08") || it.begins(b"\x28\xB5\x2F\xFD")
    }),
    form("utf_32", "UTF-32 text", "convert it first: iconv -f UTF-32 -t UTF-8", is_utf_32),
    form("utf_16", "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8", is_utf_16),
    form(
        "utf_16",
        "UTF-16 text without a byte order mark",
        "convert it first: iconv -f UTF-16 -t UTF-8, or from UTF-16LE or UTF-16BE where that gives nonsense",
        is_utf_16_without_mark,
    ),
    always("zip", "a zip archive", "unpack it, and name a session file that was in it", |it| {
        it.begins(b"PK\x03\x04") || it.begins(b"PK\x05\x06")
    }),
    always("tar", "a tar archive", "unpack it, and name a session file that was in it", |it| {
        let is_octal = |byte: &u8| matches!(byte, b'0'..=b'7' | b' ' | 0);
        let mode = it.bytes.get(TAR_MODE).is_some_and(|mode| mode.iter().all(is_octal));
        mode && it.bytes.get(TAR_NAME..).is_some_and(|bytes| bytes.starts_with(b"ustar"))
    }),
    always("xz", "compressed with xz", "decompress it first: xz -dc FILE | retell-fast parse -", |it| {
        it.begins(b"\xFD7zXZ\0")
    }),
    always("bzip2", "compressed with bzip2", "decompress it first: bzip2 -dc FILE | retell-fast parse -", |it| {
        it.begins(b"BZh") && it.bytes.get(4..10) == Some(b"1AY&SY")
    }),
    foreign("sqlite", "an SQLite database, as Cursor and others keep their sessions in", |it| {
        it.begins(b"SQLite format 3\0")
    }),
    foreign("html", "an HTML page", |it| {
        let start = it.text.get(..9).unwrap_or(it.text).to_ascii_lowercase();
        start.starts_with(b"<!doctype") || start.starts_with(b"<html")
    }),
    // ~/.gemini/tmp/<project>/chats/session-*.json, later .jsonl with this as its first line; logs.json; checkpoints.
    alike("gemini_cli", "a session of Gemini CLI (or of an early Qwen Code)", |it| {
        has(it.first, &["sessionId", "projectHash"])
            || has(it.element, &["sessionId", "messageId", "type", "message"])
            || has(it.element, &["role", "parts"])
    }),
    // ~/.qwen/projects/<project>/chats/<id>.jsonl: the tree of Claude Code, and messages that have parts.
    alike("qwen_code", "a session of Qwen Code", |it| {
        let has_parts = |record: &Value<'_>| member(*record, "message").is_some_and(|message| has(message, &["parts"]));
        it.any_record(|record| has(*record, &["uuid"]) && (has_parts(record) || has(*record, &["systemPayload"])))
    }),
    // ~/.copilot/session-state/<id>/events.jsonl
    foreign("copilot_cli", "a session of Copilot CLI", |it| {
        it.any_record(|record| kind_of(*record).contains('.') && has(*record, &["data", "id", "parentId"]))
    }),
    // chatSessions/<id>.json below the folder of a workspace
    foreign("copilot_chat", "a session of Copilot in VS Code", |it| {
        has(it.first, &["requests"]) && has(it.first, &["responderUsername"])
    }),
    // ~/.cursor/projects/<project>/agent-transcripts/<id>.jsonl: records that have no type; earlier as text.
    foreign("cursor", "a session of Cursor", |it| {
        let has_content = |record: &Value<'_>| member(*record, "message").is_some_and(|value| has(value, &["content"]));
        let is_record = |record: &Value<'_>| member(*record, "type").is_none() && has(*record, &["role"]);
        let is_text = it.text.starts_with(b"user:") && memchr::memmem::find(it.text, b"<user_query>").is_some();
        it.any_record(|record| is_record(record) && has_content(record)) || is_text
    }),
    // ~/.factory/sessions/<project>/<id>.jsonl; droid exec --output-format stream-json
    foreign("droid", "a session of Droid (Factory)", |it| {
        let is_start = |record: &Value<'_>| kind_of(*record) == "session_start" && has(*record, &["id"]);
        let is_named = |record: &Value<'_>| ["sessionTitle", "owner", "title"].iter().any(|key| has(*record, &[key]));
        let has_role = |record: &Value<'_>| member(*record, "message").is_some_and(|message| has(message, &["role"]));
        it.any_record(|record| is_start(record) && is_named(record))
            || (it.any_record(is_start) && it.any_record(|record| kind_of(*record) == "message" && has_role(record)))
            || it.any_record(|record| kind_of(*record) == "message" && has(*record, &["session_id", "role", "text"]))
    }),
    // ~/.local/share/amp/threads/T-<uuid>.json
    foreign("amp", "a thread of Amp", |it| {
        member(it.first, "id").is_some_and(|id| id.raw().starts_with(b"\"T-")) && has(it.first, &["messages"])
    }),
    Stranger {
        name: "codex_exec",
        what: "what `codex exec --json` printed, which holds no prompts",
        hint: Hint::Do("the session itself is among Codex's: retell-fast parse and the thread_id of the first line"),
        certainty: Certainty::InDoubt,
        is_told_by: |it| {
            it.any_record(|record| match kind_of(*record).as_str() {
                "thread.started" => has(*record, &["thread_id"]),
                "turn.started" | "turn.completed" | "turn.failed" => true,
                "item.started" | "item.updated" | "item.completed" => has(*record, &["item"]),
                // Earlier.
                "" => member(*record, "msg").is_some_and(|message| has(message, &["type"])) && has(*record, &["id"]),
                _ => false,
            })
        },
    },
    foreign("chatgpt_export", "an export of chats from ChatGPT", |it| {
        it.any_document(|one| has(one, &["mapping"]) && (has(one, &["title"]) || has(one, &["create_time"])))
    }),
    foreign("claude_ai_export", "an export of chats from Claude.ai", |it| {
        it.any_document(|one| has(one, &["chat_messages"]) || has(one, &["uuid", "name", "created_at", "account"]))
    }),
    form(
        "json_array",
        "one JSON array",
        "put each record on a line of its own: jq -c '.[]' FILE | retell-fast parse -",
        |it| it.element.raw().first().is_some_and(|first| b"{[\"]".contains(first)),
    ),
    form(
        "json_over_lines",
        "JSON laid out over several lines",
        "put each record on a line of its own: jq -c . FILE | retell-fast parse -",
        |it| {
            let open = it.text.strip_prefix(b"{").unwrap_or_default();
            let blank = open.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            open[..blank].contains(&b'\n') && open.get(blank) == Some(&b'"')
        },
    ),
    form("json_string", "one JSON string", "decode it first: jq -r . FILE | retell-fast parse -", |it| {
        it.text.starts_with(b"\"{\\\"")
    }),
    foreign("pdf", "a PDF document", |it| it.begins(b"%PDF-")),
];

/// The beginning of an input, and what stands in it where it is JSON.
struct Beginning<'b> {
    bytes: &'b [u8],
    /// From the first byte on that is not blank.
    text: &'b [u8],
    /// The first value, which may be cut off.
    first: Value<'b>,
    /// The first element of it, where it is an array.
    element: Value<'b>,
}

impl<'b> Beginning<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let plain = without_bom(bytes);
        let text = &plain[skip_blank(plain, 0)..];
        let element = text.strip_prefix(b"[").map(|list| &list[skip_blank(list, 0)..]);
        Self { bytes, text, first: Value::new(text), element: Value::new(element.unwrap_or_default()) }
    }

    fn begins(&self, with: &[u8]) -> bool {
        self.bytes.starts_with(with)
    }

    fn any_record(&self, is_one: impl Fn(&Value<'b>) -> bool) -> bool {
        let lines = self.text.split(|&byte| byte == b'\n').map(|line| Value::new(line.trim_ascii()));
        lines.filter(|value| value.is_object()).take(MOST_RECORDS).any(|value| is_one(&value))
    }

    /// Whether the document, or the first of a list of them, is one.
    fn any_document(&self, is_one: fn(Value<'b>) -> bool) -> bool {
        is_one(self.first) || is_one(self.element)
    }
}

/// A member of an object that may be cut off.
fn member<'v>(object: Value<'v>, name: &str) -> Option<Value<'v>> {
    object.open_members().find(|(key, _)| key_is(key, name)).map(|(_, value)| value)
}

fn has(object: Value<'_>, names: &[&str]) -> bool {
    names.iter().all(|name| member(object, name).is_some())
}

fn kind_of(record: Value<'_>) -> String {
    member(record, "type").and_then(Value::text).map(|kind| kind.text.into_owned()).unwrap_or_default()
}

fn is_utf_32(it: &Beginning<'_>) -> bool {
    it.begins(b"\xFF\xFE\0\0") || it.begins(b"\0\0\xFE\xFF")
}

fn is_utf_16(it: &Beginning<'_>) -> bool {
    it.begins(b"\xFF\xFE") || it.begins(b"\xFE\xFF")
}

fn is_utf_16_without_mark(it: &Beginning<'_>) -> bool {
    let pairs = it.bytes.get(..CHARACTERS).unwrap_or(it.bytes).chunks_exact(2);
    let every = |high: usize| pairs.clone().all(|pair| pair[high] == 0 && pair[1 - high] != 0);
    pairs.len() >= 2 && (every(0) || every(1))
}

impl Stranger {
    /// What an input is that begins like this and holds no conversation.
    pub fn of(beginning: &[u8]) -> Option<&'static Self> {
        let beginning = Beginning::new(beginning);
        STRANGERS.iter().find(|stranger| (stranger.is_told_by)(&beginning))
    }

    /// The same, of those that no transcript begins like, whatever it holds.
    pub fn surely(beginning: &[u8]) -> Option<&'static Self> {
        let beginning = Beginning::new(beginning);
        let mut sure = STRANGERS.iter().filter(|stranger| stranger.certainty == Certainty::Always);
        sure.find(|stranger| (stranger.is_told_by)(&beginning))
    }

    /// Whether it is one even if records of a known agent's types were found in it.
    pub fn is_alike(&self) -> bool {
        self.certainty == Certainty::Alike
    }

    /// The error that says so.
    pub fn error(&self) -> Error {
        let known: Vec<_> = AGENTS.iter().map(|agent| agent.name()).collect();
        let hint = match self.hint {
            Hint::Do(what) => what.to_owned(),
            Hint::Foreign => {
                format!("what is read are sessions of {}: `retell-fast preview` lists them", known.join(", "))
            }
        };
        Error::new(ErrorKind::NotATranscript, format!("not a transcript: it is {}", self.what)).with_hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn name(beginning: &[u8]) -> Option<&'static str> {
        Stranger::of(beginning).map(|stranger| stranger.name)
    }

    #[test]
    fn no_session_is_taken_for_something_else() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let mut looked_at = 0;
        for agent in ["claude-code", "codex"] {
            for entry in std::fs::read_dir(data.join(agent)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let content = std::fs::read(&path).unwrap();
                    assert_eq!(name(&content[..content.len().min(64 << 10)]), None, "{}", path.display());
                    looked_at += 1;
                }
            }
        }
        assert!(looked_at > 10);
    }

    #[test]
    fn what_is_cut_off_is_told_all_the_same() {
        let gemini = br#"{"sessionId":"s","projectHash":"h","startTime":"t","messages":[{"id":"1","type":"us"#;
        assert_eq!(name(gemini), Some("gemini_cli"));
        let export = br#"[{"title":"Boats","create_time":1.5,"mapping":{"a":{"id":"a","message":{"auth"#;
        assert_eq!(name(export), Some("chatgpt_export"));
    }

    #[test]
    fn what_tells_nothing_is_nothing() {
        for beginning in
            [&b""[..], b"\0\0\0\0\0\0\0\0", b"{\"type\":\"user\",\"mess", b"[2026-01-01] started", b"[1,2]", b"{"]
        {
            assert_eq!(name(beginning), None, "{}", String::from_utf8_lossy(beginning));
        }
    }
}
