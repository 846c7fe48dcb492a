//! Words typed while the assistant worked: which of them were delivered, and where.
//!
//! Versions up to about 2.1.9x record such words only in `queue-operation` entries: `enqueue` with the words,
//! then `remove` (without them) when the assistant got them in the middle of its turn, or `dequeue` when they
//! come again as a user entry. Later versions record them in an attachment, and again in a `remove`. Notes that a
//! background task ended go through the same queue and often have no closing operation at all.
//!
//! Every delivery has to give exactly one event, whatever the version wrote:
//! ```text
//! remove        the open enqueue of its text, else the oldest of its session that is no note  -> an event
//!               (an attachment that came before it has told of it already)
//! attachment    words delivered by a remove before -> the same event again;  its own open enqueue -> an event
//! user entry    after a dequeue its own enqueue;  words delivered since the assistant spoke -> the same event again
//! ```
//! Every lookup is by text or from one end: a hostile file can hold a hundred thousand operations.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::QueuedWords;

/// Open texts, or texts delivered in a turn, that may be part of one combined delivery.
const MOST_COMBINED: usize = 64;

/// What an entry that repeats words turns out to be.
#[derive(Debug)]
pub enum Outcome {
    /// A delivery of its own.
    New(QueuedWords),
    /// The delivery that is this event already.
    Repeats(usize, QueuedWords),
    /// Nothing to tell.
    Nothing,
}

#[derive(Debug)]
struct Open {
    words: QueuedWords,
    session: Arc<str>,
}

/// An event that words became.
#[derive(Debug, Clone, Copy)]
struct Delivered {
    event: usize,
    /// How often the assistant had spoken.
    turn: u64,
}

/// The queue, as far as the transcript tells.
#[derive(Debug, Default)]
pub struct WordQueue {
    open: BTreeMap<u64, Open>,
    next: u64,
    /// Images without words stand under "", and are taken in the order in which they came.
    by_text: FxHashMap<String, VecDeque<u64>>,
    /// Open ones that are no notes: all, and by session.
    waiting: BTreeSet<u64>,
    waiting_in: FxHashMap<Arc<str>, BTreeSet<u64>>,
    /// Attachments whose duplicate `remove` has not come yet.
    credits: usize,
    /// `dequeue`s whose user entry has not come yet.
    dequeued: usize,
    /// Events made of words by `remove`.
    delivered: FxHashMap<String, VecDeque<Delivered>>,
    /// Texts delivered by `remove` since the assistant spoke.
    fresh: VecDeque<String>,
    /// Every text that has been delivered in any way.
    told: FxHashSet<String>,
    turn: u64,
}

impl WordQueue {
    /// Words were put in.
    pub fn enqueue(&mut self, words: QueuedWords, session: &Arc<str>) {
        let at = self.next;
        self.next += 1;
        if !words.text.is_empty() || words.human {
            self.by_text.entry(words.text.clone()).or_default().push_back(at);
        }
        if !words.notification {
            self.waiting.insert(at);
            self.waiting_in.entry(session.clone()).or_default().insert(at);
        }
        self.open.insert(at, Open { words, session: session.clone() });
    }

    /// The next user entry is one that was in the queue.
    pub fn dequeue(&mut self) {
        self.dequeued += 1;
    }

    /// Everything went back to the editor.
    pub fn pop_all(&mut self) {
        self.open.clear();
        self.by_text.clear();
        self.waiting.clear();
        self.waiting_in.clear();
    }

    /// Something was taken out and given to the assistant; `words` are empty when the entry does not repeat them.
    /// Gives what has to become an event here.
    pub fn remove(&mut self, words: QueuedWords, session: &Arc<str>) -> Option<QueuedWords> {
        let found = if words.text.is_empty() {
            if self.credits > 0 {
                self.credits -= 1;
                return None;
            }
            self.oldest(session)
        } else {
            self.first_of(&words.text)
        };
        let taken = match found {
            Some(at) => self.close(at)?.words,
            None if self.credits > 0 => {
                self.credits -= 1;
                return None;
            }
            // Its `enqueue` may stand in another file.
            None if self.told.contains(&words.text) => return None,
            None => words,
        };
        taken.human.then_some(taken)
    }

    /// What [`WordQueue::remove`] gave has become an event.
    pub fn became(&mut self, text: &str, event: usize) {
        self.told.insert(text.to_owned());
        self.delivered.entry(text.to_owned()).or_default().push_back(Delivered { event, turn: self.turn });
        self.fresh.push_back(text.to_owned());
        if self.fresh.len() > MOST_COMBINED {
            self.fresh.pop_front();
        }
    }

    /// An attachment records a delivery.
    pub fn attachment(&mut self, words: QueuedWords) -> Outcome {
        let own = self.first_of(&words.text);
        // One that was removed since the assistant spoke is the same; later, one that is still open is meant first.
        let repeated = self.take_delivered(&words.text, true);
        let repeated = repeated.or_else(|| if own.is_none() { self.take_delivered(&words.text, false) } else { None });
        if let Some(event) = repeated {
            return Outcome::Repeats(event, words);
        }
        // Several texts may be delivered as one; each had its own place in the queue, and gets its own `remove`.
        let closed = match own {
            Some(at) => usize::from(self.close(at).is_some()),
            None => self.close_parts(&words.text),
        };
        self.credits += closed.max(1);
        if !words.human {
            return Outcome::Nothing;
        }
        self.told.insert(words.text.clone());
        Outcome::New(words)
    }

    /// A user entry comes by: its trimmed text, and the human's words in it, "" when it is markup (a command, a
    /// note). Gives the event that it was already, if it was.
    pub fn user_entry(&mut self, text: &str, words: &str) -> Option<usize> {
        let own = self.first_of_words(text).or_else(|| self.first_of_words(words));
        if self.dequeued == 0 || own.is_none() {
            let repeated = self.take_delivered(text, true).or_else(|| self.take_delivered(words, true));
            if repeated.is_some() {
                return repeated;
            }
        }
        let mut closed = own.map_or(0, |at| usize::from(self.close(at).is_some()));
        if self.dequeued > 0 {
            if closed == 0 {
                closed = self.close_parts(text);
            }
            if closed == 0 {
                closed = usize::from(self.close_like(words.is_empty()));
            }
            self.dequeued = if self.open.is_empty() { 0 } else { self.dequeued.saturating_sub(closed.max(1)) };
        }
        if closed > 0 {
            self.told.insert(text.to_owned());
        }
        None
    }

    /// The assistant spoke: words that the human types from now on are new ones.
    pub fn assistant_spoke(&mut self) {
        self.turn += 1;
        self.fresh.clear();
    }

    /// Human words that never left the queue.
    #[must_use]
    pub fn undelivered(&self) -> usize {
        self.open.values().filter(|open| open.words.human).count()
    }

    fn first_of(&self, text: &str) -> Option<u64> {
        self.by_text.get(text)?.front().copied()
    }

    fn first_of_words(&self, text: &str) -> Option<u64> {
        if text.is_empty() { None } else { self.first_of(text) }
    }

    /// The oldest of the session that is no note; of any session when this one has none open (its id may have
    /// changed in between).
    fn oldest(&self, session: &Arc<str>) -> Option<u64> {
        let own = self.waiting_in.get(session).and_then(BTreeSet::first);
        own.or(self.waiting.first()).copied()
    }

    fn close(&mut self, at: u64) -> Option<Open> {
        let open = self.open.remove(&at)?;
        let text = open.words.text.as_str();
        if let Some(places) = self.by_text.get_mut(text) {
            if places.front() == Some(&at) {
                places.pop_front();
            } else {
                places.retain(|&place| place != at);
            }
            if places.is_empty() {
                self.by_text.remove(text);
            }
        }
        self.waiting.remove(&at);
        if let Some(waiting) = self.waiting_in.get_mut(&open.session) {
            waiting.remove(&at);
        }
        Some(open)
    }

    /// The event that `text` became by a `remove`, taken so that it is found once; `this_turn` when only since the
    /// assistant spoke. A text may also be several that were delivered one by one.
    fn take_delivered(&mut self, text: &str, this_turn: bool) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        if let Some(delivered) = self.delivered.get_mut(text)
            && let Some(place) = delivered.iter().position(|delivered| !this_turn || delivered.turn == self.turn)
        {
            return delivered.remove(place).map(|delivered| delivered.event);
        }
        let parts = parts_of(text, self.fresh.iter().map(String::as_str))?;
        let first = self.delivered.get(parts.first()?.as_str()).and_then(|delivered| delivered.back())?.event;
        for part in parts {
            self.delivered.remove(&part);
            self.fresh.retain(|fresh| *fresh != part);
        }
        Some(first)
    }

    /// Closes the oldest open texts that `text` is made of. Gives how many those were.
    fn close_parts(&mut self, text: &str) -> usize {
        let oldest = self.waiting.iter().take(MOST_COMBINED).filter_map(|at| self.open.get(at));
        let made_of = parts_of(text, oldest.map(|open| open.words.text.as_str()));
        let Some(parts) = made_of else { return 0 };
        let places: Vec<u64> = parts.iter().filter_map(|part| self.first_of(part)).collect();
        places.into_iter().filter_map(|at| self.close(at)).count()
    }

    /// Closes the oldest of the same kind: words close words, markup closes markup (a command that was queued comes
    /// back spelled in tags).
    fn close_like(&mut self, markup: bool) -> bool {
        let is_alike = |at: &&u64| self.open.get(at).is_some_and(|open| open.words.human != markup);
        let alike = self.waiting.iter().take(MOST_COMBINED).find(is_alike).copied();
        alike.is_some_and(|at| self.close(at).is_some())
    }
}

/// The `known` texts, in their order, that `text` is made of with line ends between; `None` when it is not, or is
/// made of one alone.
fn parts_of<'k>(text: &str, known: impl Iterator<Item = &'k str>) -> Option<Vec<String>> {
    let mut rest = text;
    let mut parts = Vec::new();
    for part in known.filter(|part| !part.is_empty()) {
        if let Some(behind) = rest.strip_prefix(part)
            && (behind.is_empty() || behind.starts_with('\n'))
        {
            parts.push(part.to_owned());
            rest = behind.trim_start_matches('\n');
        }
    }
    (rest.is_empty() && parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> QueuedWords {
        let notification = text.starts_with('<');
        let human = !notification && !text.is_empty();
        QueuedWords { text: text.into(), says: text.into(), human, notification, images: vec![], lossy: false }
    }

    /// Name, operations, events, how many stay undelivered.
    type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c [&'c str], usize);

    /// Plays operations; gives the texts of the events.
    fn events(operations: &[(&str, &str)]) -> (Vec<String>, usize) {
        let mut queue = WordQueue::default();
        let mut events: Vec<String> = Vec::new();
        for &(operation, text) in operations {
            let (operation, session) = operation.split_once('@').unwrap_or((operation, "s"));
            let session: Arc<str> = session.into();
            match operation {
                "enqueue" => queue.enqueue(words(text), &session),
                "dequeue" => queue.dequeue(),
                "pop" => queue.pop_all(),
                "spoke" => queue.assistant_spoke(),
                "remove" => {
                    if let Some(words) = queue.remove(words(text), &session) {
                        queue.became(&words.text, events.len());
                        events.push(words.says);
                    }
                }
                "attachment" => {
                    if let Outcome::New(words) = queue.attachment(words(text)) {
                        events.push(words.says);
                    }
                }
                _ => {
                    if queue.user_entry(text, text).is_none() {
                        events.push(format!("user {text}"));
                    }
                }
            }
        }
        (events, queue.undelivered())
    }

    #[test]
    fn every_delivery_is_one_event() {
        let cases: [Case<'_>; 16] = [
            (
                "notes are passed over",
                &[
                    ("enqueue", "<task-notification>"),
                    ("enqueue", "a"),
                    ("enqueue", "b"),
                    ("remove", ""),
                    ("remove", ""),
                    ("remove", ""),
                ],
                &["a", "b"],
                0,
            ),
            (
                "attachment, then its remove",
                &[("enqueue", "a"), ("enqueue", "b"), ("attachment", "a"), ("remove", "")],
                &["a"],
                1,
            ),
            (
                "remove, then its attachment",
                &[("enqueue", "a"), ("enqueue", "b"), ("remove", ""), ("attachment", "a")],
                &["a"],
                1,
            ),
            ("a late attachment", &[("enqueue", "a"), ("remove", ""), ("spoke", ""), ("attachment", "a")], &["a"], 0),
            (
                "dequeued words come as a user entry",
                &[("enqueue", "a"), ("dequeue", ""), ("user", "a"), ("remove", "")],
                &["user a"],
                0,
            ),
            (
                "two dequeued in one entry",
                &[("enqueue", "a"), ("enqueue", "b"), ("dequeue", ""), ("user", "a\nb"), ("remove", "")],
                &["user a\nb"],
                0,
            ),
            (
                "two attached as one",
                &[("enqueue", "a"), ("enqueue", "b"), ("attachment", "a\nb"), ("remove", ""), ("remove", "")],
                &["a\nb"],
                0,
            ),
            (
                "two removed, attached as one",
                &[("enqueue", "a"), ("enqueue", "b"), ("remove", ""), ("remove", ""), ("attachment", "a\nb")],
                &["a", "b"],
                0,
            ),
            (
                "two removed, then a user entry of both",
                &[("enqueue", "a"), ("enqueue", "b"), ("remove", ""), ("remove", ""), ("user", "a\nb")],
                &["a", "b"],
                0,
            ),
            ("taken back", &[("enqueue", "a"), ("pop", ""), ("remove", "")], &[], 0),
            (
                "typed again later",
                &[("enqueue", "a"), ("remove", ""), ("spoke", ""), ("user", "a")],
                &["a", "user a"],
                0,
            ),
            (
                "queued again and dequeued",
                &[("enqueue", "a"), ("remove", ""), ("enqueue", "a"), ("dequeue", ""), ("user", "a")],
                &["a", "user a"],
                0,
            ),
            ("another session's", &[("enqueue@s", "old"), ("enqueue@t", "new"), ("remove@t", "")], &["new"], 1),
            ("a remove that tells alone", &[("remove", "a")], &["a"], 0),
            ("a remove that tells again", &[("enqueue", "a"), ("remove", "a"), ("remove", "a")], &["a"], 0),
            ("left open", &[("enqueue", "a"), ("enqueue", "<task-notification>")], &[], 1),
        ];
        for (name, operations, expected, undelivered) in cases {
            assert_eq!(
                events(operations),
                (expected.iter().map(|&text| text.to_owned()).collect(), undelivered),
                "{name}"
            );
        }
    }

    #[test]
    fn a_hundred_thousand_operations_are_no_trouble() {
        let texts: Vec<String> = (0..100_000).map(|at| format!("text {at}")).collect();
        let mut operations: Vec<(&str, &str)> = texts.iter().map(|text| ("enqueue", text.as_str())).collect();
        operations.extend((0..50_000).map(|at| if at % 2 == 0 { ("attachment", "other") } else { ("user", "words") }));
        operations.extend((0..50_000).flat_map(|_| [("dequeue", ""), ("user", "more words")]));
        operations.extend((0..100_000).map(|_| ("remove", "")));
        assert!(!events(&operations).0.is_empty());
    }
}
