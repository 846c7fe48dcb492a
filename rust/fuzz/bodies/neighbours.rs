//! One line, whatever stands in it, never costs the lines beside it, nor a record at its start.

use retell_core::Conversation;

use super::records::human;
use super::{conversation_in, events_of};

const BEFORE: (&str, &str) = ("an otter floats above the weir", "otter-before");
const BEHIND: (&str, &str) = ("a heron waits below the weir", "heron-behind");

/// The bytes, without line ends, stand between two human lines: on a line of their own, then glued to the first.
pub fn neighbours(bytes: &[u8]) {
    let middle: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\n').collect();
    let holds = |text: &str| memchr::memmem::find(&middle, text.as_bytes()).is_some();
    if [BEFORE.0, BEFORE.1, BEHIND.0, BEHIND.1].into_iter().any(holds) {
        // A line that repeats an id is a duplicate, and one that queues the same words stands for them.
        return;
    }
    let before = human(BEFORE.0, BEFORE.1);
    let behind = human(BEHIND.0, BEHIND.1);
    for between in [&b"\n"[..], b""] {
        let session = [before.as_bytes(), between, &middle, b"\n", behind.as_bytes(), b"\n"].concat();
        let conversation = conversation_in(&session);
        let says = |words, line, offset, length| said(&conversation, words, (line, offset, length), &middle);
        says(BEFORE, 1, 0, before.len());
        says(BEHIND, 2 + between.len(), before.len() + between.len() + middle.len() + 1, behind.len());
    }
}

fn said(conversation: &Conversation, (words, uuid): (&str, &str), place: (usize, usize, usize), middle: &[u8]) {
    let said = events_of(conversation, uuid);
    assert_eq!(said.len(), 1, "{words:?} beside {}", middle.escape_ascii());
    assert_eq!((said[0].says.as_str(), said[0].source), (words, None), "beside {}", middle.escape_ascii());
    let found = said[0].place;
    assert_eq!((found.line as usize, found.offset as usize, found.length as usize), place);
}
