//! Which records are one message: the same words stand in an item that went to or came from the model, and in an event
//! or a finished item that tells what happened.
//!
//! ```text
//! record ─► key (its words without white space) ─► the latest open message of that key without such a record ─► joins
//!                                                  none                                                      ─► a new one
//! words of the other speaker close all open messages, as turns do
//! ```
//! Nothing is left out because the file has records of the other kind, but only because its own counterpart is there:
//! either half can be torn, or never have been written. Each record looks at the end of a few stacks, so that a file of
//! nothing but equal messages takes no longer than its length.

mod thoughts;

use std::collections::{HashMap, HashSet};

use crate::event::{MetImage, Passed, Recording, Said, Signal};

/// Ways to record the same words, and so the records of one message.
const WAYS: usize = 4;

/// Where a signal stands among all that was said.
type At = (usize, usize);

/// The way in which a message is recorded; none for what is recorded once.
fn way(recording: Recording) -> Option<usize> {
    match recording {
        Recording::Event => Some(0),
        Recording::Item => Some(1),
        Recording::Response => Some(2),
        Recording::Only => Some(3),
        Recording::Plan => None,
    }
}

/// Whether the record tells what happened, and is not what went to or came from the model.
pub(super) fn is_told(recording: Recording) -> bool {
    matches!(recording, Recording::Event | Recording::Item | Recording::Plan)
}

/// What makes two records the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Words(String),
    Plan(String),
    /// No words: the images, where there are any.
    Images(Vec<MetImage>),
    Thoughts(String),
}

/// One message, and the records of it in the order of the file.
#[derive(Default)]
struct Message {
    members: Vec<At>,
    recorded: [bool; WAYS],
    /// The turn, or the part of it, that it stands in.
    stretch: usize,
}

/// Messages that may still have another record, by what was said; of each key and way those that lack that way, the
/// latest at the end. Some that no longer lack it may stand there too.
#[derive(Default)]
struct Open {
    by_key: HashMap<Key, [Vec<usize>; WAYS]>,
    /// Those without words, whatever images they have.
    wordless: [Vec<usize>; WAYS],
}

impl Open {
    fn clear(&mut self) {
        self.by_key.clear();
        self.wordless.iter_mut().for_each(Vec::clear);
    }

    /// The message that a record of `key` belongs to; a new one if there is none.
    fn join(&mut self, key: Key, way: usize, messages: &mut Vec<Message>) -> usize {
        fn latest(stacks: &mut [Vec<usize>; WAYS], way: usize, messages: &[Message]) -> Option<usize> {
            let stack = &mut stacks[way];
            while stack.pop_if(|message| messages[*message].recorded[way]).is_some() {}
            stack.last().copied()
        }
        let of_key = |open: &mut Self, key: &Key| latest(open.by_key.get_mut(key)?, way, messages);
        let found = match &key {
            Key::Images(images) if images.is_empty() => latest(&mut self.wordless, way, messages),
            // One of two records may hold the images, and the other only say where they are.
            Key::Images(_) => of_key(self, &key).max(of_key(self, &Key::Images(Vec::new()))),
            _ => of_key(self, &key),
        };
        if let Some(found) = found {
            messages[found].recorded[way] = true;
            return found;
        }
        let new = messages.len();
        let mut message = Message::default();
        message.recorded[way] = true;
        messages.push(message);
        let others = (0..WAYS).filter(|&other| other != way);
        if matches!(key, Key::Images(_)) {
            others.clone().for_each(|other| self.wordless[other].push(new));
        }
        let stacks = self.by_key.entry(key).or_default();
        others.for_each(|other| stacks[other].push(new));
        new
    }
}

/// The text without white space: the kinds of record join their pieces differently.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The words without white space, and without what differs between two records of them: images are numbered in another
/// way, and who shares a rollout may have blackened both in their own way.
fn key_of_words(text: &str) -> String {
    const IMAGE: &str = "[Image#";
    const BLACKENED: &str = "[REDACTED_";
    let words = squeezed(text);
    if !words.contains(IMAGE) && !words.contains(BLACKENED) {
        return words;
    }
    let (mut left, mut rest) = (String::with_capacity(words.len()), words.as_str());
    while let Some((before, behind)) = rest.split_once(IMAGE) {
        left.push_str(before);
        let digits = behind.trim_start_matches(|digit: char| digit.is_ascii_digit());
        match digits.strip_prefix(']') {
            Some(behind_it) if digits.len() < behind.len() => rest = behind_it,
            _ => {
                left.push_str(IMAGE);
                rest = behind;
            }
        }
    }
    left.push_str(rest);
    let mut pieces = left.split(BLACKENED);
    let mut key = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        key.push_str("[REDACTED");
        key.push_str(piece.trim_start_matches(|letter: char| letter.is_ascii_uppercase() || letter == '_'));
    }
    key
}

/// Whether the words are nothing but what stands where words were.
fn is_blackened(text: &str) -> bool {
    let words = text.trim();
    let mut rest = words;
    while let Some(behind) = rest.strip_prefix("[REDACTED") {
        let Some((inside, behind)) = behind.split_once(']') else { return false };
        if inside.contains('[') {
            return false;
        }
        rest = behind.trim_start();
    }
    rest.is_empty() && !words.is_empty()
}

/// Who says something in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Human,
    Assistant,
}

/// The message that a signal is a record of, if it is one.
fn message_of(signal: &Signal) -> Option<(Speaker, Key)> {
    let words = |text: &str| Some(Key::Words(key_of_words(text))).filter(|key| *key != Key::Words(String::new()));
    match signal {
        Signal::User { text, images, .. } if !text.is_empty() || !images.is_empty() => {
            Some((Speaker::Human, words(text).unwrap_or_else(|| Key::Images(images.clone()))))
        }
        Signal::Assistant { says, plan, tools, .. } if tools.is_empty() && !(says.is_empty() && plan.is_empty()) => {
            let planned = || if plan.is_empty() { Key::Images(Vec::new()) } else { Key::Plan(squeezed(plan)) };
            Some((Speaker::Assistant, words(says).unwrap_or_else(planned)))
        }
        _ => None,
    }
}

/// Leaves one record of each message, with what only the others have; the others say nothing any more.
pub(super) fn settle(held: &mut [Said]) {
    let mut twins = Twins::default();
    for at in 0..held.len() {
        twins.take(held, at);
    }
    twins.end_stretch(held);
    let told_elsewhere = twins.blackened(held);
    for (message, is_blackened) in twins.messages.iter().zip(told_elsewhere) {
        if is_blackened {
            message.members.iter().for_each(|&at| silence(held, at));
        } else {
            unite(held, message, &twins.plans);
        }
    }
}

#[derive(Default)]
struct Twins {
    messages: Vec<Message>,
    human: Open,
    assistant: Open,
    /// A stretch ends with each turn and each message of the human.
    stretch: usize,
    /// Plans that items of their own tell, by the stretch.
    plans: HashSet<(usize, String)>,
    /// The records of thoughts in this stretch.
    thoughts: Vec<At>,
}

impl Twins {
    fn take(&mut self, held: &mut [Said], said: usize) {
        for number in 0..held[said].signals.len() {
            let signal = &held[said].signals[number];
            let at = (said, number);
            match signal {
                Signal::TurnStarted | Signal::TurnEnded => {
                    self.human.clear();
                    self.assistant.clear();
                    self.end_stretch(held);
                }
                Signal::Assistant { thinks, .. } if !thinks.is_empty() => self.thoughts.push(at),
                Signal::AlsoThought(_) => self.thoughts.push(at),
                Signal::Assistant { plan, .. } if held[said].envelope.recording == Recording::Plan => {
                    self.plans.insert((self.stretch, squeezed(plan)));
                }
                _ => {
                    let way = way(held[said].envelope.recording);
                    if let Some(((speaker, key), way)) = message_of(signal).zip(way) {
                        if speaker == Speaker::Human {
                            self.end_stretch(held);
                        }
                        self.message(speaker, key, way, at);
                    }
                }
            }
        }
    }

    fn message(&mut self, speaker: Speaker, key: Key, way: usize, at: At) {
        let (own, other) = match speaker {
            Speaker::Human => (&mut self.human, &mut self.assistant),
            Speaker::Assistant => (&mut self.assistant, &mut self.human),
        };
        // Who says "yes" again behind an answer has said it twice.
        other.clear();
        let message = own.join(key, way, &mut self.messages);
        let message = &mut self.messages[message];
        if message.members.is_empty() {
            message.stretch = self.stretch;
        }
        message.members.push(at);
    }

    fn end_stretch(&mut self, held: &mut [Said]) {
        thoughts::settle(held, &std::mem::take(&mut self.thoughts));
        self.stretch += 1;
    }

    /// Which messages are blackened and told by items alone, where the human's words stand elsewhere: such a one may be
    /// anything that the program said in the human's place.
    fn blackened(&self, held: &[Said]) -> Vec<bool> {
        let text = |message: &Message| match message.members.first().map(|&at| signal(held, at)) {
            Some(Signal::User { text, .. }) => Some(text.as_str()),
            _ => None,
        };
        let by_items = |message: &Message| !message.members.iter().any(|&at| is_told(held[at.0].envelope.recording));
        let has_images = |message: &Message| {
            let images = |&at: &At| matches!(signal(held, at), Signal::User { images, .. } if !images.is_empty());
            message.members.iter().any(images)
        };
        let is_told = self.messages.iter().any(|message| text(message).is_some() && !by_items(message));
        let is_one =
            |message| is_told && text(message).is_some_and(is_blackened) && by_items(message) && !has_images(message);
        self.messages.iter().map(is_one).collect()
    }
}

fn signal(held: &[Said], at: At) -> &Signal {
    &held[at.0].signals[at.1]
}

/// Takes away what a record says; what it tells beside that stays.
fn silence(held: &mut [Said], at: At) {
    let signal = &mut held[at.0].signals[at.1];
    *signal = match signal {
        Signal::User { words, .. } if words.interrupted => Signal::Interrupted,
        _ => Signal::Passed(Passed::Plain),
    };
}

/// Leaves of a message the record that tells what happened, or else the first.
fn unite(held: &mut [Said], message: &Message, told_plans: &HashSet<(usize, String)>) {
    let Some(&first) = message.members.first() else { return };
    let tells = |at: &&At| is_told(held[at.0].envelope.recording);
    let kept = message.members.iter().find(tells).copied().unwrap_or(first);
    let (mut all_images, mut own_plan) = (Vec::new(), String::new());
    for &at in &message.members {
        match &mut held[at.0].signals[at.1] {
            Signal::User { images, .. } => all_images.append(images),
            Signal::Assistant { plan, .. } if own_plan.is_empty() => own_plan = std::mem::take(plan),
            _ => {}
        }
        if at != kept {
            silence(held, at);
        }
    }
    let mut known = HashSet::new();
    all_images.retain(|image| known.insert(*image));
    match &mut held[kept.0].signals[kept.1] {
        Signal::User { images, words, .. } => {
            *images = all_images;
            words.bare_images &= message.members.len() == 1;
        }
        Signal::Assistant { plan, .. } => {
            let is_told = !own_plan.is_empty() && told_plans.contains(&(message.stretch, squeezed(&own_plan)));
            *plan = if is_told { String::new() } else { own_plan };
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_records_differ_in_white_space_and_placeholders() {
        for (one, other) in [
            ("a  b\n", " a b"),
            ("[Image #1] like this", "like this\n\n[Image #2]"),
            ("[REDACTED_TEXT len=3 sha=ab]", "[REDACTED_MESSAGE len=3 sha=ab]"),
            ("[Image #1]", ""),
        ] {
            assert_eq!(key_of_words(one), key_of_words(other));
        }
        for (one, other) in [("[Image #]", ""), ("[Image #1", ""), ("[REDACTED_TEXT len=3]", "[REDACTED_TEXT len=4]")] {
            assert_ne!(key_of_words(one), key_of_words(other));
        }
    }

    #[test]
    fn only_what_is_blackened_as_a_whole_is_blackened() {
        for (text, is) in [
            ("[REDACTED_TEXT len=3 sha=ab]", true),
            (" [REDACTED] [REDACTED x]\n", true),
            ("", false),
            ("why [REDACTED]", false),
            ("[REDACTED", false),
            ("[\nREDACTED]", false),
            ("[REDACTED [x]]", false),
        ] {
            assert_eq!(is_blackened(text), is, "{text}");
        }
    }

    fn ways_joined(keys: &[(&str, usize)]) -> Vec<usize> {
        let (mut open, mut messages) = (Open::default(), Vec::new());
        keys.iter().map(|(key, way)| open.join(Key::Words((*key).to_owned()), *way, &mut messages)).collect()
    }

    #[test]
    fn a_record_joins_the_latest_message_that_lacks_it() {
        assert_eq!(ways_joined(&[("yes", 2), ("yes", 0), ("yes", 2), ("yes", 0)]), [0, 0, 1, 1]);
        assert_eq!(ways_joined(&[("yes", 0), ("yes", 0), ("yes", 2), ("yes", 2), ("yes", 2)]), [0, 1, 1, 0, 2]);
        assert_eq!(ways_joined(&[("yes", 0), ("no", 2), ("yes", 1), ("yes", 3), ("yes", 2)]), [0, 1, 0, 0, 0]);
    }

    #[test]
    fn images_without_words_meet_records_without_them() {
        let (mut open, mut messages) = (Open::default(), Vec::new());
        let lost = |reason| Key::Images(vec![Err(reason)]);
        let (one, other) = (crate::event::NotExtracted::TooLarge, crate::event::NotExtracted::NotAnImage);
        let mut join = |key, way| open.join(key, way, &mut messages);
        assert_eq!(join(lost(one), 2), 0);
        assert_eq!(join(lost(other), 0), 1);
        assert_eq!(join(Key::Images(Vec::new()), 0), 0);
        assert_eq!(join(Key::Images(Vec::new()), 2), 1);
        assert_eq!(join(Key::Images(Vec::new()), 2), 2);
        assert_eq!(join(lost(one), 0), 2);
    }
}
