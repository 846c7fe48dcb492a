//! A record that was cut off, and a whole one of the human's glued to it: the words come out, once.

use retell_core::event::Role;
use retell_core::{Conversation, ParseOptions, Source};

use super::records::{all, human, human_type_first};
use super::{conversation, conversation_in, events_of};

const UUID: &str = "glued-human";

/// Two bytes choose the cut, one the records; the rest is text in both, half and half.
pub fn glued(bytes: &[u8]) {
    let Some((&[high, low, kinds], text)) = bytes.split_first_chunk() else { return };
    let (cut_words, human_words) = text.split_at(text.len() / 2);
    let records = all(&String::from_utf8_lossy(cut_words));
    let record = &records[usize::from(kinds & 127) % records.len()];
    let cut = usize::from(u16::from_be_bytes([high, low])) % (record.len() + 1);
    let words = format!("mind the ferry {}", String::from_utf8_lossy(human_words));
    for end in ["\n", ""] {
        if let Err(wrong) = glued_at(record, cut, &words, kinds & 128 != 0, end) {
            panic!("{wrong}");
        }
    }
}

/// What is wrong when `record`, cut at `cut`, has the human's `words` glued to it, and `end` behind that.
pub fn glued_at(record: &str, cut: usize, words: &str, type_first: bool, end: &str) -> Result<(), String> {
    let human = if type_first { human_type_first(words, UUID) } else { human(words, UUID) };
    let alone = conversation_in(&[human.as_bytes(), b"\n"].concat());
    let line = [&record.as_bytes()[..cut], human.as_bytes(), end.as_bytes()].concat();
    let glued = conversation(Source::Bytes(line.clone()), &ParseOptions::default());
    let checked = glued.map_err(|error| error.to_string()).and_then(|glued| compare(&glued, &alone, cut, record.len()));
    checked.map_err(|wrong| format!("{wrong}: {}", line.escape_ascii()))
}

fn compare(glued: &Conversation, alone: &Conversation, cut: usize, whole: usize) -> Result<(), String> {
    let said = events_of(glued, UUID);
    let [said] = said[..] else { return Err(format!("{} events of the human's", said.len())) };
    let expected = &alone.events[0];
    if (&said.says, &said.continuation_summary) != (&expected.says, &expected.continuation_summary) {
        return Err(format!("other words: {:?}", said.says));
    }
    if said.place.offset != cut as u64 || said.place.length != expected.place.length {
        return Err(format!("another place: {:?}", said.place));
    }
    // What was cut off says nothing; only a record that is whole may.
    if cut < whole && glued.events.len() > 1 {
        return Err("the cut record says something".to_owned());
    }
    let again = glued.events.iter().filter(|event| event.role == Role::User && event.says == expected.says).count();
    if cut < whole && again > 1 {
        return Err("the words come twice".to_owned());
    }
    if (glued.manifest.damaged_lines_total > 0) != (cut > 0) {
        return Err("damage is not reported, or where there is none".to_owned());
    }
    Ok(())
}
