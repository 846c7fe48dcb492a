//! An event as JSON text, member by member, byte for byte as `serde_json` writes it: most of events.json is text, and
//! that is escaped here several times faster.

use crate::event::{EntryId, Event, Role};

use super::escape::{hex_digits, push_string};

fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn push_id(out: &mut Vec<u8>, id: &EntryId) {
    let EntryId::Uuid(value) = id else { return push_string(out, &id.to_string()) };
    out.push(b'"');
    for (at, byte) in value.to_be_bytes().into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend_from_slice(&hex_digits(byte));
    }
    out.push(b'"');
}

/// Adds a member of an object that others stand before.
fn push_name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn push_text(out: &mut Vec<u8>, name: &str, text: &str) {
    push_name(out, name);
    push_string(out, text);
}

fn push_texts(out: &mut Vec<u8>, name: &str, texts: &[String]) {
    push_name(out, name);
    out.push(b'[');
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_string(out, text);
    }
    out.push(b']');
}

fn push_count(out: &mut Vec<u8>, name: &str, number: u64) {
    push_name(out, name);
    push_number(out, number);
}

fn push_flag(out: &mut Vec<u8>, name: &str, flag: bool) {
    push_name(out, name);
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// Adds one event, as it stands in events.json: the members of its `Serialize`, in that order.
pub(super) fn push_event(out: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
    let user = event.role == Role::User;
    out.extend_from_slice(b"{\"index\":");
    push_number(out, event.index as u64);
    push_text(out, "timestamp", &event.timestamp);
    push_text(out, "role", if user { "user" } else { "assistant" });
    push_text(out, "says", &event.says);
    if !event.thinks.is_empty() {
        push_text(out, "thinks", &event.thinks);
    }
    if !event.tools.is_empty() {
        push_texts(out, "tools", &event.tools);
    }
    if user || event.session_break() {
        push_flag(out, "session_break", event.session_break());
    }
    if event.session_break() {
        push_name(out, "boundary");
        serde_json::to_writer(&mut *out, &event.boundary)?;
    }
    if user {
        push_text(out, "continuation_summary", &event.continuation_summary);
    }
    if let Some(duration) = event.duration_ms {
        push_count(out, "duration_ms", duration);
    }
    push_what_applies(out, event)?;
    push_name(out, "uuid");
    push_id(out, &event.uuid);
    if !user {
        push_text(out, "message_id", &event.message_id);
    }
    push_count(out, "line", event.place.line);
    push_count(out, "offset", event.place.offset);
    push_count(out, "length", event.place.length);
    out.push(b'}');
    Ok(())
}

/// The members that few events have.
fn push_what_applies(out: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
    if !event.screenshots.is_empty() {
        push_name(out, "screenshots");
        serde_json::to_writer(&mut *out, &event.screenshots)?;
    }
    if !event.subagent_refs.is_empty() {
        push_name(out, "subagent_refs");
        serde_json::to_writer(&mut *out, &event.subagent_refs)?;
    }
    for (name, flag) in
        [("interrupted", event.interrupted), ("rejected", event.rejected), ("rolled_back", event.rolled_back)]
    {
        if flag {
            push_flag(out, name, true);
        }
    }
    if let Some(source) = event.source {
        push_text(out, "source", source.into());
    }
    if !event.plan.is_empty() {
        push_text(out, "plan", &event.plan);
    }
    if !event.questions.is_empty() {
        push_texts(out, "questions", &event.questions);
    }
    if !event.live {
        push_flag(out, "live", false);
    }
    Ok(())
}
