//! A whole parse: it never panics, points into the input, and does not depend on how the bytes came.

use std::io::Write;
use std::num::NonZero;

use retell_core::event::Event;
use retell_core::sinks::{write_events, write_manifest};
use retell_core::{Conversation, ErrorKind, ParseOptions, Source};

use super::{Dripping, ZSTD_MAGIC, conversation};

/// Anything at all is an input; the length of it also chooses in which pieces it is read again.
pub fn parse(bytes: &[u8]) {
    if bytes.starts_with(&ZSTD_MAGIC) {
        return;
    }
    let plain = ParseOptions::default();
    let whole = conversation(Source::Bytes(bytes.to_vec()), &plain);
    if let Ok(whole) = &whole {
        points_into(whole, bytes);
    }
    let expected = written(whole);
    let pieces = [vec![1 + bytes.len() % 7], vec![1, 2 + bytes.len() % 100, 1000]];
    for sizes in pieces {
        assert_eq!(written(conversation(Dripping::source(bytes, sizes), &plain)), expected);
    }
    let Ok(compressed) = zstd::encode_all(bytes, 1) else { panic!("zstd compresses anything") };
    assert_eq!(written(conversation(Source::Bytes(compressed), &plain)), expected);
    with_other_options(bytes, &expected);
    in_stretches(bytes);
}

/// A file gives the same whatever it is cut into, on however many threads.
fn in_stretches(bytes: &[u8]) {
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let read = |threads, least_stretch| {
        let options =
            ParseOptions { threads: NonZero::new(threads), least_stretch: Some(least_stretch), ..<_>::default() };
        written(conversation(Source::Path(file.path().to_owned()), &options))
    };
    let expected = read(1, 1);
    let length = bytes.len() as u64;
    for (threads, least) in [(2, length / 2), (2, 1), (3, length / 5), (4, 40)] {
        same(&read(threads, least), &expected, &format!("{threads} threads, {least} bytes"));
    }
}

/// Panics with the first line that differs: the whole of both would hide it.
fn same(actual: &Written, expected: &Written, how: &str) {
    let (Ok(actual), Ok(expected)) = (actual, expected) else {
        assert_eq!(actual, expected, "{how}");
        return;
    };
    for (actual, expected) in [(&actual.0, &expected.0), (&actual.1, &expected.1)] {
        let lines = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        for (actual, expected) in lines(actual).iter().zip(&lines(expected)) {
            assert_eq!(actual, expected, "{how}");
        }
        assert_eq!(actual.len(), expected.len(), "{how}");
    }
}

fn points_into(conversation: &Conversation, bytes: &[u8]) {
    let manifest = &conversation.manifest;
    let input = bytes.len() as u64;
    assert_eq!(manifest.source.bytes, input);
    assert_eq!(manifest.source.lines, bytes.split_inclusive(|&byte| byte == b'\n').count() as u64);
    assert!(manifest.entries.values().map(|counted| counted.bytes).sum::<u64>() <= input);
    let counted: u64 = manifest.entries.values().map(|counted| counted.count).sum();
    assert!(conversation.events.len() as u64 <= counted);
    for damaged in &manifest.damaged_lines {
        let damage = damaged.damage;
        assert!(damage.length > 0 && damage.offset + damage.length <= input, "{damage:?}");
        assert_eq!(damage.line, line_of(bytes, damage.offset), "{damage:?}");
    }
    if let Some(tail) = manifest.incomplete_tail {
        assert_eq!(tail.line, manifest.source.lines);
        assert!(tail.offset + tail.length <= input);
    }
    let mut last_end = 0;
    for (at, event) in conversation.events.iter().enumerate() {
        let place = event.place;
        assert!(last_end <= place.offset && place.offset + place.length <= input, "{place:?} behind {last_end}");
        last_end = place.offset + place.length;
        let record = &bytes[place.offset as usize..last_end as usize];
        assert!(record.starts_with(b"{") && record.ends_with(b"}") && !record.contains(&b'\n'));
        assert_eq!(place.line, line_of(bytes, place.offset));
        assert_eq!(event.index, at);
    }
    let signal: u64 = conversation.events.iter().map(Event::signal_bytes).sum();
    assert_eq!(manifest.main_signal_bytes, signal);
    assert_eq!(manifest.total_events, conversation.events.len());
}

fn line_of(bytes: &[u8], offset: u64) -> u64 {
    1 + memchr::memchr_iter(b'\n', &bytes[..offset as usize]).count() as u64
}

/// Both files as they are written, or what went wrong.
type Written = Result<(Vec<u8>, Vec<u8>), (ErrorKind, String)>;

fn written(result: retell_core::Result<Conversation>) -> Written {
    let mut conversation = result.map_err(|error| (error.kind(), error.to_string()))?;
    conversation.manifest.parsed_at.clear();
    let (mut events, mut manifest) = (Vec::new(), Vec::new());
    let done = write_events(&conversation.events, &mut events)
        .and_then(|()| write_manifest(&conversation.manifest, &mut manifest));
    assert!(done.is_ok(), "{done:?}");
    for file in [&events, &manifest] {
        assert!(serde_json::from_slice::<serde_json::Value>(file).is_ok());
    }
    Ok((events, manifest))
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
