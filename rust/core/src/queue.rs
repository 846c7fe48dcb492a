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
//! a note        in any of them: an open note of its own, never a prompt
//! ```
//! Of several with one text the first of the same session is meant, else the first. Every lookup is by text or from one
//! end: a hostile file can hold a hundred thousand operations, on one text or on many.

mod numbers;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::QueuedWords;

use numbers::{ByText, Number, Numbers};

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

/// An event that words became by a `remove`.
#[derive(Debug)]
struct Delivered {
    event: usize,
    session: Arc<str>,
}

/// The queue, as far as the transcript tells.
#[derive(Debug, Default)]
pub struct WordQueue {
    open: BTreeMap<Number, Open>,
    next: u64,
    by_text: ByText,
    /// Open prompts, and open notes that a background task ended.
    prompts: Numbers,
    notes: Numbers,
    /// Attachments whose duplicate `remove` has not come yet.
    credits: usize,
    /// `dequeue`s whose user entry has not come yet.
    dequeued: usize,
    delivered: FxHashMap<u64, Delivered>,
    delivered_by_text: ByText,
    next_delivery: u64,
    /// The first delivery since the assistant spoke.
    turn: u64,
    /// Texts delivered by `remove` since the assistant spoke.
    fresh: VecDeque<String>,
    /// Every text that has been delivered in any way.
    told: FxHashSet<String>,
}

impl WordQueue {
    /// Words were put in.
    pub fn enqueue(&mut self, words: QueuedWords, session: &Arc<str>) {
        let at = Number(self.next);
        self.next += 1;
        if !words.text.is_empty() || words.human {
            self.by_text.add(&words.text, at, session);
        }
        self.of_kind(words.notification).add(at, session);
        self.open.insert(at, Open { words, session: session.clone() });
    }

    /// The next user entry is one that was in the queue.
    pub fn dequeue(&mut self) {
        self.dequeued += 1;
    }

    /// Everything went back to the editor.
    pub fn pop_all(&mut self) {
        self.open.clear();
        self.by_text = ByText::default();
        self.prompts = Numbers::default();
        self.notes = Numbers::default();
    }

    /// Something was taken out and given to the assistant; `words` are empty when the entry does not repeat them.
    /// Gives what has to become an event here.
    pub fn remove(&mut self, words: QueuedWords, session: &Arc<str>) -> Option<QueuedWords> {
        if words.notification {
            self.close_equal(&words.text, session);
            return None;
        }
        let found = if words.text.is_empty() {
            if self.credits > 0 {
                self.credits -= 1;
                return None;
            }
            self.prompts.first(session, Number::default())
        } else {
            self.equal(&words.text, session)
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
    pub fn became(&mut self, text: &str, session: &Arc<str>, event: usize) {
        self.told.insert(text.to_owned());
        let number = self.next_delivery;
        self.next_delivery += 1;
        self.delivered_by_text.add(text, Number(number), session);
        self.delivered.insert(number, Delivered { event, session: session.clone() });
        self.fresh.push_back(text.to_owned());
        if self.fresh.len() > MOST_COMBINED {
            self.fresh.pop_front();
        }
    }

    /// An attachment records a delivery.
    pub fn attachment(&mut self, words: QueuedWords, session: &Arc<str>) -> Outcome {
        if words.notification {
            self.close_equal(&words.text, session);
            return Outcome::Nothing;
        }
        let own = self.equal(&words.text, session);
        // One that was removed since the assistant spoke is the same; later, one that is still open is meant first.
        let repeated = self.take_delivered(&words.text, session, true);
        let repeated = repeated.or_else(|| own.is_none().then(|| self.take_delivered(&words.text, session, false))?);
        if let Some(event) = repeated {
            return Outcome::Repeats(event, words);
        }
        // Several texts may be delivered as one; each had its own place in the queue, and gets its own `remove`.
        let closed = match own {
            Some(at) => usize::from(self.close(at).is_some()),
            None => self.close_parts(&words.text, false),
        };
        self.credits += closed.max(1);
        if !words.human {
            return Outcome::Nothing;
        }
        self.told.insert(words.text.clone());
        Outcome::New(words)
    }

    /// A user entry of the human comes by: its trimmed text, and the human's words in it, "" when it is markup (a
    /// command). Gives the event that it was already, if it was.
    pub fn user_entry(&mut self, text: &str, words: &str, session: &Arc<str>) -> Option<usize> {
        let equal = |queue: &Self, text: &str| if text.is_empty() { None } else { queue.equal(text, session) };
        let own = equal(self, text).or_else(|| equal(self, words));
        if self.dequeued == 0 || own.is_none() {
            let repeated = self.take_delivered(text, session, true);
            let repeated = repeated.or_else(|| self.take_delivered(words, session, true));
            if repeated.is_some() {
                return repeated;
            }
        }
        let mut closed = own.map_or(0, |at| usize::from(self.close(at).is_some()));
        if self.dequeued > 0 {
            if closed == 0 {
                closed = self.close_parts(text, false);
            }
            if closed == 0 {
                closed = usize::from(self.close_like(words.is_empty()));
            }
            self.use_up(closed.max(1));
        }
        if closed > 0 {
            self.told.insert(text.to_owned());
        }
        None
    }

    /// A user entry comes by that is not the human's; `note` when it says that a background task ended. It uses up what
    /// the program itself had put in.
    pub fn foreign_entry(&mut self, text: &str, note: bool, session: &Arc<str>) {
        let mut closed = self.close_equal(text, session);
        if closed == 0 {
            closed = self.close_parts(text, true);
        }
        if closed == 0 && note && self.dequeued > 0 {
            let oldest = self.notes.all.first().copied();
            closed = usize::from(oldest.is_some_and(|at| self.close(at).is_some()));
        }
        if closed > 0 {
            self.use_up(closed);
        }
    }

    /// The assistant spoke: words that the human types from now on are new ones.
    pub fn assistant_spoke(&mut self) {
        self.turn = self.next_delivery;
        self.fresh.clear();
    }

    /// Human words that never left the queue.
    #[must_use]
    pub fn undelivered(&self) -> usize {
        self.open.values().filter(|open| open.words.human).count()
    }

    /// So many entries came that were dequeued.
    fn use_up(&mut self, count: usize) {
        self.dequeued = if self.open.is_empty() { 0 } else { self.dequeued.saturating_sub(count) };
    }

    fn of_kind(&mut self, notes: bool) -> &mut Numbers {
        if notes { &mut self.notes } else { &mut self.prompts }
    }

    /// The open one of this text.
    fn equal(&self, text: &str, session: &Arc<str>) -> Option<Number> {
        self.by_text.first(text, session, Number::default())
    }

    fn close(&mut self, at: Number) -> Option<Open> {
        let open = self.open.remove(&at)?;
        self.by_text.take(&open.words.text, at, &open.session);
        self.of_kind(open.words.notification).take(at, &open.session);
        Some(open)
    }

    /// Closes the open one of this text. Gives how many those were.
    fn close_equal(&mut self, text: &str, session: &Arc<str>) -> usize {
        let equal = if text.is_empty() { None } else { self.equal(text, session) };
        equal.map_or(0, |at| usize::from(self.close(at).is_some()))
    }

    /// The event that `text` became by a `remove`, taken so that it is found once; `this_turn` when only since the
    /// assistant spoke. A text may also be several that were delivered one by one.
    fn take_delivered(&mut self, text: &str, session: &Arc<str>, this_turn: bool) -> Option<usize> {
        if text.is_empty() {
            return None;
        }
        if this_turn && self.turn == self.next_delivery {
            return None;
        }
        let from = Number(if this_turn { self.turn } else { 0 });
        if let Some(number) = self.delivered_by_text.first(text, session, from) {
            let Delivered { event, session } = self.delivered.remove(&number.0)?;
            self.delivered_by_text.take(text, number, &session);
            return Some(event);
        }
        let parts = parts_of(text, self.fresh.iter().map(String::as_str))?;
        let first = self.delivered_by_text.0.get(parts.first()?)?.all.last()?.0;
        let first = self.delivered.get(&first)?.event;
        for part in parts {
            for number in self.delivered_by_text.0.remove(&part).into_iter().flat_map(|numbers| numbers.all) {
                self.delivered.remove(&number.0);
            }
            self.fresh.retain(|fresh| *fresh != part);
        }
        Some(first)
    }

    /// Closes the oldest open texts that `text` is made of. Gives how many those were.
    fn close_parts(&mut self, text: &str, notes: bool) -> usize {
        let of_kind = if notes { &self.notes } else { &self.prompts };
        let oldest = of_kind.all.iter().take(MOST_COMBINED).filter_map(|at| self.open.get(at));
        let made_of = parts_of(text, oldest.map(|open| open.words.text.as_str()));
        let Some(parts) = made_of else { return 0 };
        let mut closed = 0;
        for part in parts {
            let equal = self.by_text.0.get(&part).and_then(|numbers| numbers.all.first().copied());
            closed += usize::from(equal.is_some_and(|at| self.close(at).is_some()));
        }
        closed
    }

    /// Closes the oldest of the same kind: words close words, markup closes markup (a command that was queued comes
    /// back spelled in tags).
    fn close_like(&mut self, markup: bool) -> bool {
        let is_alike = |at: &&Number| self.open.get(at).is_some_and(|open| open.words.human != markup);
        let alike = self.prompts.all.iter().take(MOST_COMBINED).find(is_alike).copied();
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
