//! Thoughts are told in pieces while the assistant thinks, and stand whole in an item of the model's output.

use memchr::memmem;

use crate::event::{Said, Signal};

use super::{At, Key, Open, is_told, signal, silence, squeezed, way};

/// How often all thoughts of a stretch may be looked through for pieces that do not stand where they are looked for
/// first, behind the one before: a stretch of nothing but such pieces must not take longer than a few readings of it.
const READINGS: usize = 64;

/// Leaves of the thoughts of one stretch each once: those in items, and of what is told beside them what stands in none.
pub(super) fn settle(held: &mut [Said], thoughts: &[At]) {
    let is_piece = |&at: &At| is_told(held[at.0].envelope.recording);
    let mut whole = String::new();
    if thoughts.iter().any(is_piece) {
        let mut before = None;
        for &at in thoughts.iter().filter(|at| !is_piece(at)) {
            // Two items are not read as one.
            if before.replace(at.0).is_some_and(|before| before != at.0) {
                whole.push('\n');
            }
            whole.push_str(&squeezed(text(signal(held, at))));
        }
    }
    let mut search = Search { whole: &whole, at: 0, left: 0 };
    let (mut open, mut messages) = (Open::default(), Vec::new());
    for &at in thoughts {
        if matches!(signal(held, at), Signal::AlsoThought(_)) {
            continue;
        }
        let key = squeezed(text(signal(held, at)));
        let recording = held[at.0].envelope.recording;
        if is_told(recording) && search.holds(&key) {
            silence(held, at);
        } else if let Some(way) = way(recording) {
            let before = messages.len();
            open.join(Key::Thoughts(key), way, &mut messages);
            if messages.len() == before {
                silence(held, at);
            }
        }
    }
}

fn text(signal: &Signal) -> &str {
    match signal {
        Signal::Assistant { thinks, .. } => thinks,
        Signal::AlsoThought(text) => text,
        _ => "",
    }
}

/// Looks for pieces of a text.
struct Search<'t> {
    whole: &'t str,
    /// Behind the piece found last.
    at: usize,
    /// Bytes that were looked through in vain.
    left: usize,
}

impl Search<'_> {
    fn holds(&mut self, piece: &str) -> bool {
        let whole = self.whole.as_bytes();
        if whole.len() < piece.len() || self.left > READINGS.saturating_mul(whole.len()) {
            return false;
        }
        let finder = memmem::Finder::new(piece);
        if let Some(found) = finder.find(&whole[self.at..]) {
            // What lies between will be looked through again if the pieces stand in another order.
            self.left += found;
            self.at += found + piece.len();
            return true;
        }
        self.left += whole.len();
        let found = finder.find(whole);
        if let Some(found) = found {
            self.at = found + piece.len();
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(whole: &str) -> Search<'_> {
        Search { whole, at: 0, left: 0 }
    }

    #[test]
    fn pieces_are_found_in_any_order() {
        let mut search = search("firstsecond\nthird");
        for (piece, holds) in [("third", true), ("first", true), ("ondth", false), ("second", true), ("fourth", false)]
        {
            assert_eq!(search.holds(piece), holds, "{piece}");
        }
    }

    #[test]
    fn pieces_in_order_are_found_however_many_there_are() {
        let pieces: Vec<String> = (0..5_000).map(|number| format!("thought-{number};")).collect();
        let whole = pieces.concat();
        let mut search = search(&whole);
        assert!(pieces.iter().all(|piece| search.holds(piece)));
    }

    #[test]
    fn looking_in_vain_ends_some_time() {
        let whole = "ab".repeat(1_000);
        let mut search = search(&whole);
        assert_eq!((0..100_000).filter(|_| search.holds("c")).count(), 0);
        assert!(search.left < (READINGS + 2) * whole.len());
    }
}
