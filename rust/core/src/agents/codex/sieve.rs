//! Which of a rollout's records count: those that are this thread's own, and of words recorded twice one.
//!
//! ```text
//! all that was said ─► own records ─► one of each twin (twins.rs) ─► calls with what came of them ─► the story
//!                      (a child's file begins with a copy of its parent's)
//! ```
//! All depend on what comes later in the file, so everything is held until its end; it is the conversation, not the
//! file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::agents::Sieve;
use crate::entry::Class;
use crate::event::{
    Envelope, Fact, GivenAnswers, Passed, Purpose, Question, Said, Setting, Signal, Thread, ToolCall, Usage, VIEWED,
};

use super::requests;
use super::twins::{self, is_told};

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
            let setting = Arc::new(Setting {
                session_id: thread.id.as_str().into(),
                cwd: thread.cwd.as_str().into(),
                version: thread.version.as_str().into(),
                ..Setting::default()
            });
            for said in &mut held {
                said.envelope.setting = Some(setting.clone());
            }
        }
        twins::settle(&mut held);
        let mut calls = Calls::of(&held);
        for said in held {
            calls.take(said);
        }
        calls.story.into_iter().for_each(keep);
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

/// The ids of the calls that a signal makes, where they have any.
fn call_ids(signal: &Signal) -> impl Iterator<Item = &str> {
    let tools: &[ToolCall] = if let Signal::Assistant { tools, .. } = signal { tools } else { &[] };
    tools.iter().map(|tool| tool.id.as_str()).filter(|id| !id.is_empty())
}

/// Keeps each call once, and brings what comes of it to it.
struct Calls {
    /// Ids of the calls that were kept.
    kept: HashSet<String>,
    /// Ids of the calls that records of their own tell, wherever these stand.
    told: HashSet<String>,
    /// What came of such a call before its record: events are written when something ends, and items behind them.
    early: HashMap<String, Vec<Said>>,
    /// Calls that ask the human, and what.
    asked: HashMap<String, Vec<Question>>,
    /// Whether a call shows the assistant an image, while nobody speaks.
    viewed: bool,
    /// Whether a compaction was told since the last event.
    compacted: bool,
    story: Vec<Said>,
}

impl Calls {
    fn of(held: &[Said]) -> Self {
        let items = held.iter().filter(|said| !is_told(said.envelope.recording));
        Self {
            kept: HashSet::new(),
            told: items.flat_map(|said| said.signals.iter().flat_map(call_ids)).map(str::to_owned).collect(),
            early: HashMap::new(),
            asked: HashMap::new(),
            viewed: false,
            compacted: false,
            story: Vec::with_capacity(held.len()),
        }
    }

    fn take(&mut self, mut said: Said) {
        let signals = std::mem::take(&mut said.signals).into_iter();
        said.signals = signals.filter_map(|signal| self.signal(signal, &said.envelope)).collect();
        let early: Vec<_> = if self.early.is_empty() {
            Vec::new()
        } else {
            said.signals.iter().flat_map(call_ids).filter_map(|id| self.early.remove(id)).collect()
        };
        self.story.push(said);
        self.story.extend(early.into_iter().flatten());
    }

    fn signal(&mut self, signal: Signal, envelope: &Envelope) -> Option<Signal> {
        match signal {
            Signal::Passed(_) | Signal::AlsoThought(_) => None,
            Signal::TurnStarted | Signal::TurnEnded => {
                self.viewed = false;
                Some(signal)
            }
            Signal::Compaction => (!std::mem::replace(&mut self.compacted, true)).then_some(signal),
            Signal::User { words, images, .. } if words.bare_images && self.viewed => Some(Signal::ToolResult {
                call: VIEWED.to_owned(),
                images,
                agent: None,
                other_name: None,
                usage: Usage::default(),
            }),
            Signal::Answers(answers) => self.answers(&answers),
            Signal::Assistant { ref tools, .. } if !tools.is_empty() => self.call(signal, envelope),
            Signal::User { .. } | Signal::Assistant { .. } => {
                if makes_event(&signal) {
                    self.event(
                        !matches!(&signal, Signal::Assistant { says, plan, .. } if says.is_empty() && plan.is_empty()),
                    );
                }
                Some(signal)
            }
            _ => self.result(signal, envelope),
        }
    }

    /// Something makes an event; somebody says something in it or not.
    fn event(&mut self, says: bool) {
        self.compacted = false;
        if says {
            self.viewed = false;
        }
    }

    /// A call, unless another record tells it.
    fn call(&mut self, mut signal: Signal, envelope: &Envelope) -> Option<Signal> {
        let Signal::Assistant { tools, .. } = &mut signal else { return None };
        let known = |tool: &ToolCall| self.kept.contains(&tool.id) || self.told.contains(&tool.id);
        if is_told(envelope.recording) && tools.iter().all(known) {
            return None;
        }
        for tool in tools {
            self.asked.remove(&tool.id);
            match std::mem::take(&mut tool.purpose) {
                Purpose::Ask(questions) => drop(self.asked.insert(tool.id.clone(), questions)),
                purpose @ Purpose::View => (tool.purpose, self.viewed) = (purpose, true),
                Purpose::Work => {}
            }
        }
        self.kept.extend(call_ids(&signal).map(str::to_owned));
        self.event(false);
        Some(signal)
    }

    /// What the human answered a call that asked; where no call is known, what can be nothing else.
    fn answers(&mut self, answers: &GivenAnswers) -> Option<Signal> {
        let call = Some(&answers.call).filter(|call| !call.is_empty());
        let is_known = call.is_some_and(|call| self.kept.contains(call));
        let asked = call.and_then(|call| self.asked.get(call)).map(Vec::as_slice);
        let questions = if is_known { asked? } else { answers.sure.then_some(&[][..])? };
        let words = requests::answered(answers, questions)?;
        self.event(true);
        Some(Signal::User { words, text: String::new(), images: Vec::new(), human: true, lossy: answers.lossy })
    }

    /// What comes of a call that is told later waits for that; anything else as it is.
    fn result(&mut self, signal: Signal, envelope: &Envelope) -> Option<Signal> {
        match &signal {
            Signal::ToolResult { call, .. }
                if is_told(envelope.recording) && !self.kept.contains(call) && self.told.contains(call) =>
            {
                let said = Said { envelope: envelope.clone(), class: Class::Evidence, signals: Vec::new() };
                self.early.entry(call.clone()).or_default().push(Said { signals: vec![signal], ..said });
                None
            }
            _ => Some(signal),
        }
    }
}

/// Whether an event comes of it.
fn makes_event(signal: &Signal) -> bool {
    match signal {
        Signal::User { words, images, .. } => !words.says.is_empty() || images.iter().any(Result::is_ok),
        signal => !signal.is_empty(),
    }
}
