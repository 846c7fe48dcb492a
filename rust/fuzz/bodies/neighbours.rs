//! One line, whatever stands in it, never costs the lines beside it.

use super::records::human;
use super::{conversation_in, events_of};

const BEFORE: (&str, &str) = ("an otter floats above the weir", "otter-before");
const BEHIND: (&str, &str) = ("a heron waits below the weir", "heron-behind");

/// The bytes, without line ends, are the line between two human ones.
pub fn neighbours(bytes: &[u8]) {
    let middle: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'\n').collect();
    let holds = |text: &str| memchr::memmem::find(&middle, text.as_bytes()).is_some();
    if [BEFORE.0, BEFORE.1, BEHIND.0, BEHIND.1].into_iter().any(holds) {
        // A line that repeats an id is a duplicate, and one that queues the same words stands for them.
        return;
    }
    let before = human(BEFORE.0, BEFORE.1);
    let behind = human(BEHIND.0, BEHIND.1);
    let session = [before.as_bytes(), &middle, behind.as_bytes(), b""].join(&b'\n');
    let conversation = conversation_in(&session);
    let offset = before.len() + 1 + middle.len() + 1;
    for ((words, uuid), line, offset, length) in [(BEFORE, 1, 0, before.len()), (BEHIND, 3, offset, behind.len())] {
        let said = events_of(&conversation, uuid);
        assert_eq!(said.len(), 1, "{words:?} beside {}", middle.escape_ascii());
        let (event, place) = (said[0], said[0].place);
        assert_eq!((event.says.as_str(), event.source), (words, None), "beside {}", middle.escape_ascii());
        assert_eq!((place.line, place.offset, place.length), (line, offset as u64, length as u64));
    }
}
