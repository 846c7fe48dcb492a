//! A whole parse: it never panics, points into the input, and depends on nothing but the bytes.

use std::collections::HashSet;

use retell_core::event::{Event, WordsSource};
use retell_core::{Conversation, ErrorKind, ParseOptions, Source};

use super::ways::ways;
use super::written::{Written, written};
use super::{Searches, ZSTD_MAGIC, conversation};

/// Anything at all is an input; the length of it also chooses in which pieces it is read again.
pub fn parse(bytes: &[u8]) {
    if bytes.starts_with(&ZSTD_MAGIC) {
        return;
    }
    let searches = Searches::hold();
    let whole = conversation(Source::Bytes(bytes.to_vec()), &ParseOptions::default());
    if let Ok(whole) = &whole {
        points_into(whole, bytes);
    }
    let expected = written(whole);
    ways(bytes, &expected, &searches);
    with_other_options(bytes, &expected);
}

fn points_into(conversation: &Conversation, bytes: &[u8]) {
    let manifest = &conversation.manifest;
    let input = bytes.len() as u64;
    // The records of a document may have several lines, and what is found inside of one is told to be on its first.
    let document = is_document(bytes);
    assert_eq!(manifest.source.bytes, input);
    assert_eq!(manifest.source.lines, bytes.split_inclusive(|&byte| byte == b'\n').count() as u64);
    assert!(manifest.entries.values().map(|counted| counted.bytes).sum::<u64>() <= input);
    let counted: u64 = manifest.entries.values().map(|counted| counted.count).sum();
    let places: HashSet<u64> = conversation.events.iter().map(|event| event.place.offset).collect();
    assert!(places.len() as u64 <= counted);
    for damaged in &manifest.damaged_lines {
        let damage = damaged.damage;
        assert!(damage.length > 0 && damage.offset + damage.length <= input, "{damage:?}");
        let line = line_of(bytes, damage.offset);
        assert!(damage.line == line || document && damage.line < line, "{damage:?} on line {line}");
    }
    if let Some(tail) = manifest.incomplete_tail {
        let line = if document { line_of(bytes, tail.offset) } else { manifest.source.lines };
        assert_eq!(tail.line, line);
        assert!(tail.offset + tail.length <= input);
    }
    let (mut last, mut last_end) = (0, 0);
    for (at, event) in conversation.events.iter().enumerate() {
        let place = event.place;
        let end = place.offset + place.length;
        // Words that left the queue stand where they left it, and may have their identity from an attachment behind;
        // one entry may hold several answers.
        let in_order = last_end <= place.offset || last == place.offset || event.source == Some(WordsSource::Queued);
        assert!(in_order && end <= input, "{place:?} behind {last_end}");
        if event.source != Some(WordsSource::Queued) {
            (last, last_end) = (place.offset, end);
        }
        let record = &bytes[place.offset as usize..end as usize];
        assert!(record.starts_with(b"{") && record.ends_with(b"}"));
        assert!(!record.contains(&b'\n') || document);
        let line = line_of(bytes, place.offset);
        assert!(place.line == line || document && place.line < line, "{place:?} on line {line}");
        assert_eq!(event.index, at);
    }
    let signal: u64 = conversation.events.iter().map(Event::signal_bytes).sum();
    assert_eq!(manifest.main_signal_bytes, signal);
    assert_eq!(manifest.total_events, conversation.events.len());
}

fn is_document(bytes: &[u8]) -> bool {
    let object = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start().strip_prefix(b"{");
    let first = object.unwrap_or_default().trim_ascii_start();
    first.starts_with(b"\"session\"") || first.starts_with(b"\"items\"")
}

fn line_of(bytes: &[u8], offset: u64) -> u64 {
    1 + memchr::memchr_iter(b'\n', &bytes[..offset as usize]).count() as u64
}

fn with_other_options(bytes: &[u8], expected: &Written) {
    let include = ParseOptions { include_subagents: true, ..ParseOptions::default() };
    let included = conversation(Source::Bytes(bytes.to_vec()), &include);
    assert_eq!(included.is_ok(), expected.is_ok());
    let Ok(included) = included else { return };
    let strict = ParseOptions { strict: true, ..ParseOptions::default() };
    let refused = conversation(Source::Bytes(bytes.to_vec()), &strict).err().map(|error| error.kind());
    let unknown = !included.manifest.unknown_entries.is_empty();
    assert_eq!(refused, unknown.then_some(ErrorKind::UnknownEntryType));
}
