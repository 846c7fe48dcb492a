//! A record that was cut off, and a whole one of the human's glued to it: the words come out, once.

use retell_core::event::Role;

use super::conversation_in;
use super::records::{all, human, human_type_first};

const UUID: &str = "glued-human";

/// Two bytes choose the cut, one the records; the rest is text in both, half and half.
pub fn glued(bytes: &[u8]) {
    let Some((&[high, low, kinds], text)) = bytes.split_first_chunk() else { return };
    let (cut_words, human_words) = text.split_at(text.len() / 2);
    let words = format!("mind the ferry {}", String::from_utf8_lossy(human_words));
    let record = if kinds & 128 == 0 { human(&words, UUID) } else { human_type_first(&words, UUID) };
    let records = all(&String::from_utf8_lossy(cut_words));
    let first = &records[usize::from(kinds & 127) % records.len()];
    let cut = usize::from(u16::from_be_bytes([high, low])) % (first.len() + 1);
    let line = [&first.as_bytes()[..cut], record.as_bytes(), b"\n"].concat();

    let alone = conversation_in(&[record.as_bytes(), b"\n"].concat());
    let expected = &alone.events[0];
    let conversation = conversation_in(&line);
    let said: Vec<_> = conversation.events.iter().filter(|event| event.uuid == UUID).collect();
    assert_eq!(said.len(), 1, "{}", line.escape_ascii());
    assert_eq!(said[0].says, expected.says, "{}", line.escape_ascii());
    assert_eq!(said[0].continuation_summary, expected.continuation_summary);
    assert_eq!(said[0].place.offset, cut as u64, "{}", line.escape_ascii());
    // What was cut off says nothing; only a record that is whole may.
    let others = conversation.events.len() - 1;
    assert!(others <= usize::from(cut == first.len()), "{}", line.escape_ascii());
    let own = conversation.events.iter().filter(|event| event.role == Role::User && event.says == expected.says);
    assert!(own.count() == 1 || cut == first.len());
    let damaged = cut > 0;
    assert_eq!(conversation.manifest.damaged_lines_total > 0, damaged, "{}", line.escape_ascii());
}
