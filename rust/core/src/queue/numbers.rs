//! The enqueued and the delivered, numbered in order and found by text, by session or from one end.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Which of the enqueued, or of the delivered: they are numbered in order.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(not(test), derive(PartialEq, Eq, PartialOrd, Ord))]
pub(super) struct Number(pub(super) u64);

/// Numbers in order, all of them and by session.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) all: BTreeSet<Number>,
    of_session: FxHashMap<Arc<str>, BTreeSet<Number>>,
}

impl Numbers {
    pub(super) fn add(&mut self, number: Number, session: &Arc<str>) {
        self.all.insert(number);
        self.of_session.entry(session.clone()).or_default().insert(number);
    }

    pub(super) fn take(&mut self, number: Number, session: &Arc<str>) {
        self.all.remove(&number);
        if let Some(own) = self.of_session.get_mut(session) {
            own.remove(&number);
            if own.is_empty() {
                self.of_session.remove(session);
            }
        }
    }

    /// The first from `from` on: of the session, else of any (its id may have changed in between).
    pub(super) fn first(&self, session: &Arc<str>, from: Number) -> Option<Number> {
        let first = |numbers: &BTreeSet<Number>| numbers.range(from..).next().copied();
        self.of_session.get(session).and_then(first).or_else(|| first(&self.all))
    }
}

/// Numbers by text. Images without words stand under "", and are taken in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct ByText(pub(super) FxHashMap<String, Numbers>);

impl ByText {
    pub(super) fn add(&mut self, text: &str, number: Number, session: &Arc<str>) {
        if !self.0.contains_key(text) {
            self.0.insert(text.to_owned(), Numbers::default());
        }
        if let Some(numbers) = self.0.get_mut(text) {
            numbers.add(number, session);
        }
    }

    pub(super) fn take(&mut self, text: &str, number: Number, session: &Arc<str>) {
        if let Some(numbers) = self.0.get_mut(text) {
            numbers.take(number, session);
            if numbers.all.is_empty() {
                self.0.remove(text);
            }
        }
    }

    pub(super) fn first(&self, text: &str, session: &Arc<str>, from: Number) -> Option<Number> {
        self.0.get(text)?.first(session, from)
    }
}

#[cfg(test)]
pub(super) mod counted {
    //! Comparisons of numbers, counted: how the queue's work grows is told without a clock.

    use std::cell::Cell;
    use std::cmp::Ordering;

    use super::Number;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    /// Begins to count.
    pub fn reset() {
        STEPS.set(0);
    }

    /// How many there were.
    pub fn steps() -> u64 {
        STEPS.get()
    }

    impl PartialEq for Number {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other) == Ordering::Equal
        }
    }

    impl Eq for Number {}

    impl PartialOrd for Number {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Number {
        fn cmp(&self, other: &Self) -> Ordering {
            STEPS.set(STEPS.get() + 1);
            self.0.cmp(&other.0)
        }
    }
}
