//! Which of a rollout's records count: those that are this thread's own, and of words recorded twice one.
//!
//! ```text
//! all that was said ─► own records ─► one of each twin ─► the story
//!                      (a child's file begins with a copy of its parent's)
//! ```
//! Both depend on the file as a whole, so everything is held until its end; it is the conversation, not the file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::agents::Sieve;
use crate::entry::Class;
use crate::event::{Envelope, Fact, MetImage, Passed, Recording, Said, Signal, Thread, ToolCall, Usage};

/// Bytes of a timestamp up to its second.
const SECOND: usize = "2026-01-01T00:00:00".len();

/// Holds the records of one file.
#[derive(Default)]
pub(super) struct CodexSieve {
    held: Vec<Said>,
}

impl Sieve for CodexSieve {
    fn take(&mut self, said: Said) {
        self.held.push(said);
    }

    fn finish(self: Box<Self>, keep: &mut dyn FnMut(Said)) -> u64 {
        let mut held = self.held;
        let meta = held.iter().position(|said| thread_of(said).is_some());
        let thread = meta.and_then(|at| thread_of(&held[at])).cloned();
        let before = held.len();
        if let (Some(thread), Some(meta)) = (&thread, meta) {
            let copied = copied(&held, thread, meta);
            let mut at = 0..;
            held.retain(|_| at.next().is_some_and(|at| !copied[at]));
        }
        held.retain(|said| !is_passed(said, Passed::Inherited));
        let inherited = before - held.len();
        held.retain(|said| said.class != Class::Evidence || !said.signals.iter().all(Signal::is_empty));
        if let Some(thread) = &thread {
            let (id, cwd, version): (Arc<str>, Arc<str>, Arc<str>) =
                (thread.id.as_str().into(), thread.cwd.as_str().into(), thread.version.as_str().into());
            for envelope in held.iter_mut().map(|said| &mut said.envelope) {
                (envelope.session_id, envelope.cwd, envelope.version) = (id.clone(), cwd.clone(), version.clone());
            }
        }
        let mut twins = Twins::of(&held);
        for said in held {
            twins.take(said);
        }
        twins.settle();
        twins.story.into_iter().for_each(keep);
        inherited as u64
    }
}

fn thread_of(said: &Said) -> Option<&Thread> {
    said.signals.iter().find_map(|signal| match signal {
        Signal::Fact(Fact::Thread(thread)) => Some(&**thread),
        _ => None,
    })
}

fn is_passed(said: &Said, wanted: Passed) -> bool {
    matches!(said.signals.as_slice(), [Signal::Passed(passed)] if *passed == wanted)
}

/// Which records were copied from another thread's file. By their numbers; where there are none, a copy is known by
/// having been written in one second, in which the model answered twice.
fn copied(held: &[Said], thread: &Thread, meta: usize) -> Vec<bool> {
    let mut copied = vec![false; held.len()];
    if let Some(own) = thread.own_from {
        for (at, said) in held.iter().enumerate() {
            copied[at] = at != meta && said.envelope.ordinal.is_some_and(|ordinal| ordinal < own);
        }
        return copied;
    }
    if !thread.copies {
        return copied;
    }
    let second = |at: usize| {
        let timestamp = held[at].envelope.timestamp.as_str();
        timestamp.get(..SECOND).unwrap_or(timestamp)
    };
    let mut tokens = (0..held.len()).filter(|&at| is_passed(&held[at], Passed::Tokens));
    if let (Some(first), Some(next)) = (tokens.next(), tokens.next())
        && second(first) == second(next)
    {
        let end = (first..held.len()).find(|&at| second(at) != second(first)).unwrap_or(held.len());
        copied[meta + 1..end.max(meta + 1)].fill(true);
    }
    copied
}

/// What a record that may have a twin says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Words {
    User,
    Assistant,
    Thinking,
}

/// Whether the record tells what happened, and is not what went to or came from the model.
fn is_told(recording: Recording) -> bool {
    matches!(recording, Recording::Event | Recording::Item)
}

/// The ids of the calls that a signal makes, where they have any.
fn call_ids(signal: &Signal) -> impl Iterator<Item = &str> {
    let tools: &[ToolCall] = if let Signal::Assistant { tools, .. } = signal { tools } else { &[] };
    tools.iter().map(|tool| tool.id.as_str()).filter(|id| !id.is_empty())
}

/// Whose words a signal is, if it is any.
fn words_of(signal: &Signal) -> Option<Words> {
    match signal {
        Signal::User { .. } => Some(Words::User),
        Signal::Assistant { says, .. } if !says.is_empty() => Some(Words::Assistant),
        Signal::Assistant { thinks, .. } if !thinks.is_empty() => Some(Words::Thinking),
        _ => None,
    }
}

/// Where the last answer of the model stands that is before all that was told of words. What is told of an answer stands
/// before it, so that this one, and what was said before it, is told nowhere.
fn untold_until(held: &[Said]) -> Option<u64> {
    let said_by =
        |said: &Said, who: &[Words]| said.signals.iter().filter_map(words_of).any(|words| who.contains(&words));
    let first = held
        .iter()
        .position(|said| is_told(said.envelope.recording) && said_by(said, &[Words::User, Words::Assistant]))?;
    let is_answer = |said: &&Said| said.envelope.recording == Recording::Response && said_by(said, &[Words::Assistant]);
    held[..first].iter().rfind(is_answer).map(|said| said.envelope.place.offset)
}

/// Words that were kept, and the recordings they were met in.
struct Kept {
    words: Words,
    recordings: Vec<Recording>,
    /// Where they stand in the story.
    at: usize,
}

/// Keeps one of the records that hold the same words.
struct Twins {
    /// Words that are told by the kind of record that goes before the other in this file.
    told: HashSet<Words>,
    /// Up to where a program wrote the file that told nothing: a later one that went on in it tells what it said.
    untold_until: Option<u64>,
    last_said: Option<Kept>,
    last_thought: Option<Kept>,
    /// Ids of the calls that were kept.
    calls: HashSet<String>,
    /// Ids of the calls that records of their own tell, wherever these stand.
    told_calls: HashSet<String>,
    /// What came of such a call before its record: events are written when something ends, and items behind them.
    early: HashMap<String, Vec<Said>>,
    /// Images of a record that only repeats, until it is known which event they belong to.
    waiting: Vec<(Envelope, Vec<MetImage>)>,
    /// The last record that makes an event.
    last_event: Option<usize>,
    /// Whether a compaction was told since.
    compacted: bool,
    story: Vec<Said>,
}

impl Twins {
    fn of(held: &[Said]) -> Self {
        let (mut told, mut told_calls) = (HashSet::new(), HashSet::new());
        for said in held {
            let is_told = is_told(said.envelope.recording);
            if !is_told {
                told_calls.extend(said.signals.iter().flat_map(call_ids).map(str::to_owned));
            }
            let words = said.signals.iter().filter_map(words_of);
            // Events tell what was said; but they cut thoughts into pieces, which are whole in what the model sent.
            told.extend(words.filter(|&words| is_told != (words == Words::Thinking)));
        }
        Self {
            told,
            untold_until: untold_until(held),
            last_said: None,
            last_thought: None,
            calls: HashSet::new(),
            told_calls,
            early: HashMap::new(),
            waiting: Vec::new(),
            last_event: None,
            compacted: false,
            story: Vec::with_capacity(held.len()),
        }
    }

    fn take(&mut self, mut said: Said) {
        for signal in std::mem::take(&mut said.signals) {
            let kept = match signal {
                Signal::Passed(_) => None,
                signal @ (Signal::TurnStarted | Signal::TurnEnded) => {
                    // Words and their images stand in one turn.
                    self.settle();
                    Some(signal)
                }
                Signal::Compaction => (!std::mem::replace(&mut self.compacted, true)).then_some(signal),
                signal => match words_of(&signal) {
                    Some(words) => self.words(words, signal, &said.envelope),
                    None => self.call(signal, &said.envelope),
                },
            };
            said.signals.extend(kept);
        }
        let early: Vec<_> = if self.early.is_empty() {
            Vec::new()
        } else {
            said.signals.iter().flat_map(call_ids).filter_map(|id| self.early.remove(id)).collect()
        };
        self.story.push(said);
        self.story.extend(early.into_iter().flatten());
    }

    /// Words, unless they repeat others; what only a repetition has is given to those.
    fn words(&mut self, words: Words, mut signal: Signal, envelope: &Envelope) -> Option<Signal> {
        let recording = envelope.recording;
        let is_told = is_told(recording);
        let repeats_all = if words == Words::Thinking { is_told } else { recording == Recording::Response };
        let is_untold = words != Words::Thinking && Some(envelope.place.offset) <= self.untold_until;
        if repeats_all && !is_untold && self.told.contains(&words) {
            let Signal::User { images, words, .. } = signal else { return None };
            if !images.is_empty() {
                self.waiting.push((envelope.clone(), images));
            }
            return words.interrupted.then_some(Signal::Interrupted);
        }
        let last = if words == Words::Thinking { &mut self.last_thought } else { &mut self.last_said };
        if let Some(last) = last
            && last.words == words
            && !last.recordings.contains(&recording)
            && self.story[last.at].signals.iter().any(|told| is_same(told, &signal))
        {
            last.recordings.push(recording);
            if let Signal::User { images, words, .. } = signal {
                show(&mut self.story[last.at], images);
                return words.interrupted.then_some(Signal::Interrupted);
            }
            return None;
        }
        if let Signal::User { images, .. } = &mut signal {
            let own = std::mem::take(images);
            let waiting = std::mem::take(&mut self.waiting).into_iter().flat_map(|(_, images)| images);
            add_new(images, waiting.chain(own));
        }
        if makes_event(&signal) {
            let at = self.event();
            let kept = Some(Kept { words, recordings: vec![recording], at });
            *(if words == Words::Thinking { &mut self.last_thought } else { &mut self.last_said }) = kept;
        }
        Some(signal)
    }

    /// A call, unless another record tells it; what comes of a call that is told later waits for that; anything else
    /// as it is.
    fn call(&mut self, signal: Signal, envelope: &Envelope) -> Option<Signal> {
        let Signal::Assistant { tools, .. } = &signal else { return self.result(signal, envelope) };
        let known = |tool: &ToolCall| self.calls.contains(&tool.id) || self.told_calls.contains(&tool.id);
        if tools.is_empty() || (is_told(envelope.recording) && tools.iter().all(known)) {
            return None;
        }
        self.calls.extend(call_ids(&signal).map(str::to_owned));
        self.event();
        Some(signal)
    }

    fn result(&mut self, signal: Signal, envelope: &Envelope) -> Option<Signal> {
        match &signal {
            Signal::ToolResult { call, .. }
                if is_told(envelope.recording) && !self.calls.contains(call) && self.told_calls.contains(call) =>
            {
                let said = Said { envelope: envelope.clone(), class: Class::Evidence, signals: Vec::new() };
                self.early.entry(call.clone()).or_default().push(Said { signals: vec![signal], ..said });
                None
            }
            _ => Some(signal),
        }
    }

    /// The record at hand makes an event; gives where it will stand in the story.
    fn event(&mut self) -> usize {
        self.settle();
        self.compacted = false;
        *self.last_event.insert(self.story.len())
    }

    /// Images that no words came for belong to the event before.
    fn settle(&mut self) {
        for (envelope, images) in std::mem::take(&mut self.waiting) {
            if let Some(last) = self.last_event
                && self.story[last].signals.iter().any(|signal| words_of(signal) == Some(Words::User))
            {
                show(&mut self.story[last], images);
            } else {
                let result = Signal::ToolResult {
                    call: String::new(),
                    images,
                    agent: None,
                    other_name: None,
                    usage: Usage::default(),
                };
                // Its record was met before: only its images come here.
                self.story.push(Said { envelope, class: Class::Evidence, signals: vec![result] });
            }
        }
    }
}

/// Adds images to the human's words.
fn show(said: &mut Said, more: Vec<MetImage>) {
    for signal in &mut said.signals {
        if let Signal::User { images, .. } = signal {
            add_new(images, more);
            return;
        }
    }
}

/// Adds the images that are not there yet.
fn add_new(images: &mut Vec<MetImage>, more: impl IntoIterator<Item = MetImage>) {
    let mut known: HashSet<MetImage> = images.iter().copied().collect();
    images.extend(more.into_iter().filter(|image| known.insert(*image)));
}

/// Whether an event comes of it.
fn makes_event(signal: &Signal) -> bool {
    match signal {
        Signal::User { words, images, .. } => !words.says.is_empty() || images.iter().any(Result::is_ok),
        Signal::Assistant { says, thinks, tools, .. } => !(says.is_empty() && thinks.is_empty() && tools.is_empty()),
        _ => false,
    }
}

/// The text of words.
fn text_of(signal: &Signal) -> &str {
    match signal {
        Signal::User { words, .. } => &words.says,
        Signal::Assistant { says, thinks, .. } => {
            if says.is_empty() {
                thinks
            } else {
                says
            }
        }
        _ => "",
    }
}

/// Whether two signals are the same words but for white space: the kinds of record join their pieces differently.
fn is_same(one: &Signal, other: &Signal) -> bool {
    let letters = |signal| str::chars(text_of(signal)).filter(|letter| !letter.is_whitespace());
    words_of(one).is_some() && letters(one).eq(letters(other))
}
