//! Words typed while the assistant worked: which of them were delivered, and where.
//!
//! Versions up to about 2.1.9x record such words only in `queue-operation` entries: `enqueue` with the words,
//! then `remove` (without them) when the assistant got them in the middle of its turn, or `dequeue` when they
//! come again as a user entry. Later versions record them in an attachment, and again in a `remove`. Notes that a
//! background task ended go through the same queue and often have no closing operation at all.
//!
//! Every delivery has to give exactly one event, whatever the version wrote.

use crate::event::QueuedWords;

/// The queue, as far as the transcript tells.
#[derive(Debug, Default)]
pub struct WordQueue {
    open: Vec<QueuedWords>,
    /// Attachments whose duplicate `remove` has not come yet.
    credits: usize,
    /// `dequeue`s whose user entry has not come yet.
    dequeued: usize,
    /// Texts delivered by `remove` since the assistant last spoke: their attachment or user entry may follow.
    delivered: Vec<String>,
}

impl WordQueue {
    /// Words were put in.
    pub fn enqueue(&mut self, queued: QueuedWords) {
        self.open.push(queued);
    }

    /// The next user entry is one that was in the queue.
    pub fn dequeue(&mut self) {
        self.dequeued += 1;
    }

    /// Everything went back to the editor.
    pub fn pop_all(&mut self) {
        self.open.clear();
    }

    /// Something was taken out and given to the assistant; `text` is "" when the entry does not repeat it.
    /// Gives what has to become an event here.
    pub fn remove(&mut self, text: &str) -> Option<QueuedWords> {
        let place = if text.is_empty() {
            if self.credits > 0 {
                self.credits -= 1;
                return None;
            }
            self.open.iter().position(|queued| !queued.notification)
        } else {
            self.open.iter().position(|queued| queued.text == text)
        };
        let Some(place) = place else {
            self.credits = self.credits.saturating_sub(1);
            return None;
        };
        let queued = self.open.remove(place);
        if !queued.human {
            return None;
        }
        self.delivered.push(queued.text.clone());
        Some(queued)
    }

    /// An attachment records a delivery. Gives it back when it has to become an event here, and not when it
    /// was one already.
    pub fn attachment(&mut self, queued: QueuedWords) -> Option<QueuedWords> {
        if self.take_delivered(&queued.text) {
            return None;
        }
        // Several texts may be delivered as one; each had its own place in the queue, and gets its own `remove`.
        let closed = if self.close(&queued.text) { 1 } else { self.close_parts(&queued.text) };
        self.credits += closed.max(1);
        queued.human.then_some(queued)
    }

    /// A user entry comes by: its trimmed text, and the human's words in it, "" when it is markup (a command, a
    /// notification). Says whether it was an event already.
    pub fn user_entry(&mut self, text: &str, words: &str) -> bool {
        if self.take_delivered(text) || self.take_delivered(words) {
            return true;
        }
        let closed = self.close(text) || self.close(words);
        if self.dequeued > 0 {
            let closed = if closed { 1 } else { self.close_contained(text, words) };
            self.dequeued = if self.open.is_empty() { 0 } else { self.dequeued.saturating_sub(closed.max(1)) };
        }
        false
    }

    /// The assistant spoke: words that come from now on are new ones.
    pub fn assistant_spoke(&mut self) {
        self.delivered.clear();
    }

    /// Human words that never left the queue.
    #[must_use]
    pub fn undelivered(&self) -> usize {
        self.open.iter().filter(|queued| queued.human).count()
    }

    fn take_delivered(&mut self, text: &str) -> bool {
        let place = self.delivered.iter().position(|delivered| !text.is_empty() && delivered == text);
        place.map(|place| self.delivered.remove(place)).is_some()
    }

    fn close(&mut self, text: &str) -> bool {
        let place = self.open.iter().position(|queued| !text.is_empty() && queued.text == text);
        place.map(|place| self.open.remove(place)).is_some()
    }

    /// Closes everything of which the text is part of `text`. Gives how many those were.
    fn close_parts(&mut self, text: &str) -> usize {
        let before = self.open.len();
        self.open.retain(|queued| queued.notification || queued.text.is_empty() || !text.contains(&queued.text));
        before - self.open.len()
    }

    /// A dequeued user entry may hold several queued texts, or a command in another spelling. Gives how many were
    /// closed.
    fn close_contained(&mut self, text: &str, words: &str) -> usize {
        let before = self.open.len();
        if self.close_parts(text) == 0 {
            // Words close words, markup closes markup: a command that was queued comes back spelled in tags.
            let same_kind = |queued: &QueuedWords| !queued.notification && queued.human != words.is_empty();
            if let Some(place) = self.open.iter().position(same_kind) {
                self.open.remove(place);
            }
        }
        before - self.open.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> QueuedWords {
        let notification = text.starts_with('<');
        QueuedWords {
            text: text.into(),
            says: text.into(),
            human: !notification,
            notification,
            images: vec![],
            lossy: false,
        }
    }

    fn says(queued: Option<QueuedWords>) -> Option<String> {
        queued.map(|queued| queued.says)
    }

    #[test]
    fn a_remove_without_words_delivers_the_oldest_that_is_no_notification() {
        let mut queue = WordQueue::default();
        for text in ["<task-notification>", "first", "second"] {
            queue.enqueue(words(text));
        }
        assert_eq!(says(queue.remove("")).as_deref(), Some("first"));
        assert_eq!(says(queue.remove("")).as_deref(), Some("second"));
        assert_eq!(says(queue.remove("")), None);
    }

    #[test]
    fn an_attachment_and_its_remove_are_one_delivery_in_either_order() {
        for attachment_first in [true, false] {
            let mut queue = WordQueue::default();
            queue.enqueue(words("go on"));
            queue.enqueue(words("other"));
            let mut delivered = Vec::new();
            if attachment_first {
                delivered.extend(says(queue.attachment(words("go on"))));
                delivered.extend(says(queue.remove("")));
            } else {
                delivered.extend(says(queue.remove("")));
                delivered.extend(says(queue.attachment(words("go on"))));
            }
            assert_eq!(delivered, ["go on"]);
            assert_eq!(queue.undelivered(), 1);
        }
    }

    #[test]
    fn dequeued_words_come_as_user_entries_alone() {
        let mut queue = WordQueue::default();
        queue.enqueue(words("<task-notification>"));
        queue.enqueue(words("one"));
        queue.enqueue(words("two"));
        queue.dequeue();
        assert!(!queue.user_entry("one\ntwo", "one\ntwo"));
        assert_eq!(queue.undelivered(), 0);
        assert_eq!(says(queue.remove("")), None);
    }

    #[test]
    fn words_taken_back_are_not_delivered() {
        let mut queue = WordQueue::default();
        queue.enqueue(words("oops"));
        queue.pop_all();
        assert_eq!(says(queue.remove("")), None);
        assert_eq!(queue.undelivered(), 0);
    }

    #[test]
    fn the_same_words_typed_again_later_are_new() {
        let mut queue = WordQueue::default();
        queue.enqueue(words("continue"));
        assert!(queue.remove("").is_some());
        queue.assistant_spoke();
        assert!(!queue.user_entry("continue", "continue"));
    }
}
