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

/// Adds one event, as it stands in events.json.
pub(super) fn push_event(out: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
    let user = event.role == Role::User;
    out.extend_from_slice(b"{\"index\":");
    push_number(out, event.index as u64);
    out.extend_from_slice(b",\"timestamp\":");
    push_string(out, &event.timestamp);
    out.extend_from_slice(
        if user { ",\"role\":\"user\",\"says\":" } else { ",\"role\":\"assistant\",\"says\":" }.as_bytes(),
    );
    push_string(out, &event.says);
    if !event.thinks.is_empty() {
        out.extend_from_slice(b",\"thinks\":");
        push_string(out, &event.thinks);
    }
    if !event.tools.is_empty() {
        out.extend_from_slice(b",\"tools\":[");
        for (at, tool) in event.tools.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_string(out, tool);
        }
        out.push(b']');
    }
    if user || event.session_break() {
        out.extend_from_slice(
            if event.session_break() { ",\"session_break\":true" } else { ",\"session_break\":false" }.as_bytes(),
        );
    }
    if event.session_break() {
        out.extend_from_slice(b",\"boundary\":");
        serde_json::to_writer(&mut *out, &event.boundary)?;
    }
    if user {
        out.extend_from_slice(b",\"continuation_summary\":");
        push_string(out, &event.continuation_summary);
    }
    if let Some(duration) = event.duration_ms {
        out.extend_from_slice(b",\"duration_ms\":");
        push_number(out, duration);
    }
    if !event.screenshots.is_empty() {
        out.extend_from_slice(b",\"screenshots\":");
        serde_json::to_writer(&mut *out, &event.screenshots)?;
    }
    if !event.subagent_refs.is_empty() {
        out.extend_from_slice(b",\"subagent_refs\":");
        serde_json::to_writer(&mut *out, &event.subagent_refs)?;
    }
    if event.interrupted {
        out.extend_from_slice(b",\"interrupted\":true");
    }
    if event.rolled_back {
        out.extend_from_slice(b",\"rolled_back\":true");
    }
    if let Some(source) = event.source {
        out.extend_from_slice(b",\"source\":");
        push_string(out, source.as_str());
    }
    out.extend_from_slice(b",\"uuid\":");
    push_id(out, &event.uuid);
    if !user {
        out.extend_from_slice(b",\"message_id\":");
        push_string(out, &event.message_id);
    }
    out.extend_from_slice(b",\"line\":");
    push_number(out, event.place.line);
    out.extend_from_slice(b",\"offset\":");
    push_number(out, event.place.offset);
    out.extend_from_slice(b",\"length\":");
    push_number(out, event.place.length);
    out.push(b'}');
    Ok(())
}
