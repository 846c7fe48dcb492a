//! Operations on the queue, played one after the other.

use std::sync::Arc;

use super::numbers::counted;
use super::{Outcome, WordQueue};
use crate::event::QueuedWords;

fn words(text: &str) -> QueuedWords {
    let notification = text.starts_with('<') || text.starts_with('{');
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
                    queue.became(&words.text, &session, events.len());
                    events.push(words.says);
                }
            }
            "attachment" => {
                if let Outcome::New(words) = queue.attachment(words(text), &session) {
                    events.push(words.says);
                }
            }
            "note" => queue.foreign_entry(text, true, &session),
            "meta" => queue.foreign_entry(text, false, &session),
            _ => {
                if queue.user_entry(text, text, &session).is_none() {
                    events.push(format!("user {text}"));
                }
            }
        }
    }
    (events, queue.undelivered())
}

const CASES: [Case<'_>; 22] = [
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
    ("typed again later", &[("enqueue", "a"), ("remove", ""), ("spoke", ""), ("user", "a")], &["a", "user a"], 0),
    (
        "queued again and dequeued",
        &[("enqueue", "a"), ("remove", ""), ("enqueue", "a"), ("dequeue", ""), ("user", "a")],
        &["a", "user a"],
        0,
    ),
    ("another session's", &[("enqueue@s", "old"), ("enqueue@t", "new"), ("remove@t", "")], &["new"], 1),
    ("a remove that tells alone", &[("remove", "a")], &["a"], 0),
    ("a remove that tells again", &[("enqueue", "a"), ("remove", "a"), ("remove", "a")], &["a"], 0),
    (
        "a note uses up only its own",
        &[
            ("enqueue", "<task-notification>1"),
            ("enqueue", "a"),
            ("remove", "<task-notification>1"),
            ("attachment", "<task-notification>2"),
            ("remove", "<task-notification>2"),
            ("remove", ""),
        ],
        &["a"],
        0,
    ),
    (
        "a note in JSON is passed over",
        &[("enqueue", "{\"task_id\":1}"), ("enqueue", "a"), ("remove", ""), ("remove", "")],
        &["a"],
        0,
    ),
    (
        "a note that is dequeued takes its own dequeue with it",
        &[
            ("enqueue", "<task-notification>"),
            ("dequeue", ""),
            ("note", "<task-notification>"),
            ("enqueue", "a"),
            ("user", "b"),
            ("remove", ""),
        ],
        &["user b", "a"],
        0,
    ),
    (
        "notes that are dequeued come as one",
        &[
            ("enqueue", "<a"),
            ("enqueue", "<b"),
            ("dequeue", ""),
            ("dequeue", ""),
            ("meta", "<a\n<b"),
            ("enqueue", "a"),
            ("user", "b"),
            ("remove", ""),
        ],
        &["user b", "a"],
        0,
    ),
    ("a note never takes a prompt", &[("enqueue", "a"), ("dequeue", ""), ("note", "<x"), ("remove", "")], &["a"], 0),
    (
        "of equal texts the session's own is meant",
        &[("enqueue@s", "a"), ("enqueue@t", "a"), ("remove@t", "a"), ("enqueue@t", "b"), ("remove@t", "")],
        &["a", "b"],
        1,
    ),
    ("left open", &[("enqueue", "a"), ("enqueue", "<task-notification>")], &[], 1),
];

#[test]
fn every_delivery_is_one_event() {
    for (name, operations, expected, undelivered) in CASES {
        assert_eq!(events(operations), (expected.iter().map(|&text| text.to_owned()).collect(), undelivered), "{name}");
    }
}

/// Comparisons of numbers that `operations` take, for so many and for twice as many: those of an ordered set grow
/// with the logarithm of its size, those of a list that is gone through with its square.
fn growth(operations: impl Fn(usize) -> Vec<(&'static str, String)>) -> f64 {
    let steps = |count| {
        let operations = operations(count);
        let operations: Vec<_> = operations.iter().map(|(name, text)| (*name, text.as_str())).collect();
        counted::reset();
        events(&operations);
        counted::steps().max(1) as f64
    };
    steps(8_000) / steps(4_000)
}

/// What is done in a round.
type Step = Box<dyn Fn(usize) -> (&'static str, String)>;

#[test]
fn many_operations_take_time_in_proportion() {
    let same = |name| move |_: usize| (name, "text".to_owned());
    let each = |name| move |at: usize| (name, format!("text {at}"));
    let note = |name| move |at: usize| (name, format!("<note {at}"));
    let bare = |name| move |_: usize| (name, String::new());
    let ways: Vec<(&str, Vec<Vec<Step>>)> = vec![
        (
            "one text in two sessions",
            vec![vec![Box::new(same("enqueue@s")), Box::new(same("enqueue@t"))], vec![Box::new(bare("remove@t"))]],
        ),
        (
            "one text again and again",
            vec![
                vec![Box::new(same("enqueue")), Box::new(same("remove")), Box::new(bare("spoke"))],
                vec![Box::new(same("user")), Box::new(same("attachment"))],
            ],
        ),
        (
            "many texts, left open",
            vec![vec![Box::new(each("enqueue"))], vec![Box::new(each("attachment")), Box::new(bare("remove"))]],
        ),
        (
            "many notes",
            vec![
                vec![Box::new(note("enqueue")), Box::new(bare("dequeue"))],
                vec![Box::new(note("note")), Box::new(note("remove"))],
            ],
        ),
        (
            "many notes of no use",
            vec![vec![Box::new(note("enqueue")), Box::new(each("enqueue"))], vec![Box::new(bare("remove"))]],
        ),
        ("all taken back", vec![vec![Box::new(each("enqueue")), Box::new(bare("pop")), Box::new(bare("remove"))]]),
        ("dequeued", vec![vec![Box::new(each("enqueue"))], vec![Box::new(bare("dequeue")), Box::new(each("user"))]]),
    ];
    for (name, rounds) in ways {
        let growth = growth(|count| {
            let of_round = |round: &Vec<Step>| -> Vec<_> {
                (0..count).flat_map(|at| round.iter().map(move |step| step(at))).collect()
            };
            rounds.iter().flat_map(of_round).collect()
        });
        assert!(growth < 2.6, "{name}: {growth}");
    }
}
