//! The fold over signals: events with their boundaries, durations, interruptions, screenshots and calls.
//!
//! One [`Story`] is the main line of a session, or one subagent's.

mod agents;
mod queued;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::branches::Node;
use crate::entry::Place;
use crate::event::{
    Boundary, Envelope, Event, HumanWords, ImageId, MetImage, NotExtracted, Purpose, Role, Screenshot, Signal,
    ToolCall, Usage, VIEWED, WordsSource,
};
use crate::queue::WordQueue;

pub use agents::StartedAgent;
pub(crate) use agents::ref_of;

/// Where an image comes from that the human gave.
const PASTED_IMAGE: &str = "Image pasted by the user";
const QUEUED_IMAGE: &str = "Image queued by the user";
const MENTIONED_IMAGE: &str = "Image mentioned by the user";

/// An image that is in the transcript and not in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LostImage {
    /// Line number.
    pub line: u64,
    /// Byte offset of the record.
    pub offset: u64,
    /// Why.
    pub reason: NotExtracted,
}

#[derive(Clone)]
struct OpenCall {
    event: usize,
    tool: String,
    target: String,
}

/// Events, and what is known beside them.
#[derive(Default)]
pub struct Story {
    /// In file order.
    pub events: Vec<Event>,
    /// Calls that started subagents, in order.
    pub started: Vec<StartedAgent>,
    /// Images that were lost.
    pub lost_images: Vec<LostImage>,
    /// Events whose text held invalid UTF-8.
    pub lossy: Vec<usize>,
    /// Entries that the client wrote in the assistant's name.
    pub client_messages: u64,
    /// Timestamp of the first entry that has one.
    pub first_timestamp: String,
    /// Trimmed text of the first user entry: a subagent's prompt.
    pub prompt: Option<String>,
    /// Compactions.
    pub compactions: u64,
    /// What subagents in the background used, by the call that started them.
    pub used: FxHashMap<String, Usage>,
    /// The first id of an agent that an entry names, "" when none does.
    pub agent_id: Arc<str>,
    /// The first name of one.
    pub agent_name: Arc<str>,
    calls: FxHashMap<String, OpenCall>,
    started_by_id: FxHashMap<String, usize>,
    unanswered: usize,
    pending: BTreeSet<Boundary>,
    queue: WordQueue,
    /// Which event shows which image.
    shown: FxHashSet<(usize, ImageId)>,
    last_user: Option<usize>,
    last_assistant: Option<usize>,
    /// Of the last event that has one.
    session_id: Option<Arc<str>>,
    /// Whether a turn has begun since the assistant last spoke.
    turn_begun: bool,
    /// The record that began a turn which nothing has ended yet.
    pub open_turn: Option<Place>,
    open_turn_has_words: bool,
    /// The events that began the turns which were not taken back.
    turns: Vec<usize>,
    /// The events that were taken back: from which one, up to which one.
    rolled_back: Vec<Range<usize>>,
}

impl Story {
    /// UTF-8 bytes of all that is said and thought.
    #[must_use]
    pub fn signal_bytes(&self) -> u64 {
        self.events.iter().map(Event::signal_bytes).sum()
    }

    /// Marks the events of the entries `dead`, which stand on branches that were left. What has no id is as alive as
    /// the event before it.
    pub fn leave(&mut self, dead: &FxHashSet<Node>) {
        let mut live = true;
        for event in self.events.iter_mut().filter(|_| !dead.is_empty()) {
            if !event.uuid.is_empty() {
                live = !dead.contains(&Node::from(&event.uuid));
            }
            event.live = live;
        }
    }

    /// Whether a call that started a subagent has no result yet.
    #[must_use]
    pub fn awaits_result(&self) -> bool {
        self.unanswered > 0
    }

    /// Human words that never left the queue.
    #[must_use]
    pub fn undelivered(&self) -> usize {
        self.queue.undelivered()
    }

    /// Several stories as one, their events in file order.
    #[must_use]
    pub fn merged(stories: Vec<Story>) -> Self {
        let mut merged = Self::default();
        let mut events: Vec<((usize, usize), Event)> = Vec::new();
        let (mut started, mut lossy) = (Vec::new(), Vec::new());
        for (story, of) in stories.into_iter().enumerate() {
            if merged.first_timestamp.is_empty() {
                merged.first_timestamp = of.first_timestamp;
            }
            merged.prompt = merged.prompt.or(of.prompt);
            merged.client_messages += of.client_messages;
            merged.compactions += of.compactions;
            merged.lost_images.extend(of.lost_images);
            lossy.extend(of.lossy.into_iter().map(|event| (story, event)));
            merged.used.extend(of.used);
            started.extend(of.started.into_iter().map(|call| ((story, call.event), call)));
            events.extend(of.events.into_iter().map(|event| ((story, event.index), event)));
        }
        events.sort_by_key(|(_, event)| event.place.offset);
        let mut moved = FxHashMap::default();
        for (index, (from, mut event)) in events.into_iter().enumerate() {
            moved.insert(from, index);
            event.index = index;
            merged.events.push(event);
        }
        merged.lossy = lossy.into_iter().filter_map(|from| moved.get(&from).copied()).collect();
        merged.started = started
            .into_iter()
            .map(|(from, call)| StartedAgent { event: moved.get(&from).copied().unwrap_or_default(), ..call })
            .collect();
        merged
    }

    /// Takes in what an entry says.
    pub fn take(&mut self, envelope: &Envelope, signal: Signal) {
        if self.first_timestamp.is_empty() {
            self.first_timestamp = envelope.timestamp.to_string();
        }
        let setting = envelope.setting();
        for (known, named) in [(&mut self.agent_id, &setting.agent_id), (&mut self.agent_name, &setting.agent_name)] {
            if known.is_empty() && !named.is_empty() {
                known.clone_from(named);
            }
        }
        match signal {
            Signal::User { words, text, human: false, .. } => {
                self.prompt = self.prompt.take().or_else(|| Some(text.clone()).filter(|text| !text.is_empty()));
                self.queue.foreign_entry(&text, words.note, &envelope.setting().session_id);
            }
            Signal::User { words, text, images, lossy, .. } => {
                if self.prompt.is_none() && !text.is_empty() {
                    // Context that the program put before the prompt is not part of it.
                    let said = [&words.says, &words.summary].into_iter().find(|said| !said.is_empty());
                    self.prompt = Some(said.unwrap_or(&text).clone());
                }
                self.user(envelope, words, &text, &images, lossy);
            }
            Signal::ToolResult { call, images, agent, other_name, usage } => {
                self.tool_result(envelope, &call, &images);
                self.subagent_result(&call, agent, other_name, usage);
            }
            Signal::Reply { call, tool, words, images, lossy } => {
                if tool.is_none_or(|tool| self.may_be_call_of(&call, tool)) {
                    self.reply(envelope, words, &images, lossy);
                } else if !images.is_empty() {
                    // The images beside it are the human's all the same: an entry of theirs like any other.
                    self.user(envelope, HumanWords::default(), "", &images, false);
                }
            }
            Signal::Rejected(call) => {
                if let Some(open) = self.calls.get(&call) {
                    self.events[open.event].rejected = true;
                }
            }
            Signal::Plan { call, tool, plan } => self.plan(&call, tool, plan),
            Signal::Mentioned(images) => self.mentioned(envelope, &images),
            Signal::Assistant { .. } if signal.is_empty() => {}
            Signal::Assistant { says, thinks, tools, plan, message_id, lossy } => {
                let said = Event { says, thinks, plan, message_id, ..event_of(envelope, Role::Assistant) };
                self.assistant(said, tools, lossy);
            }
            Signal::ClientMessage { .. } => self.client_messages += 1,
            Signal::TurnDuration(milliseconds) => self.turn_duration(milliseconds),
            Signal::Compaction => {
                self.compactions += 1;
                self.pending.insert(Boundary::Compaction);
            }
            Signal::Workflow { call, folder } => {
                if let Some(&at) = self.started_by_id.get(&call).filter(|&&at| self.started[at].workflow) {
                    self.started[at].folders.push(folder);
                }
            }
            // The last note counts.
            Signal::Used { call, usage } => {
                let known = self.used.entry(call).or_default();
                *known = usage.or(*known);
            }
            Signal::Cleared => drop(self.pending.insert(Boundary::Clear)),
            Signal::Queue(operation) => self.queue_operation(envelope, operation),
            Signal::Progress { call, agent } => {
                if let Some(&at) = self.started_by_id.get(&call) {
                    self.started[at].progress.get_or_insert(agent);
                }
            }
            Signal::TurnStarted => {
                self.open_turn = Some(envelope.place);
                self.open_turn_has_words = false;
            }
            Signal::TurnEnded => self.open_turn = None,
            Signal::Interrupted => self.interrupt(),
            Signal::RolledBack(turns) => self.roll_back(turns),
            Signal::Broken | Signal::PlainResult(_) | Signal::Fact(_) | Signal::Passed(_) => {}
            Signal::Answers(_) | Signal::AlsoThought(_) => debug_assert!(false, "a sieve tells what comes of them"),
        }
    }

    fn user(&mut self, envelope: &Envelope, words: HumanWords, text: &str, images: &[MetImage], lossy: bool) {
        if words.interrupted {
            self.interrupt();
        }
        // The request for a compaction is said before the break that it asks for.
        let compaction = words.compaction && !self.joins_summary();
        let clear = words.clear;
        // A summary is written by the program: it never was in the queue.
        let said = if words.markup { "" } else { &words.says };
        let session = &envelope.setting().session_id;
        let repeats = if words.program {
            self.queue.foreign_entry(text, words.note, session);
            None
        } else if words.continuation {
            None
        } else {
            self.queue.user_entry(text, said, session)
        };
        match repeats {
            Some(event) => self.add_images(envelope, event, images, PASTED_IMAGE),
            // Markup says nothing, and then only images make an event of it: one beside a
            // command is still the human's.
            None => self.human_event(envelope, words, images, lossy),
        }
        if compaction {
            self.pending.insert(Boundary::Compaction);
        }
        if clear {
            self.pending.insert(Boundary::Clear);
        }
    }

    /// Whether the call of this id may have called `tool`: a result can be there without its call.
    fn may_be_call_of(&self, call: &str, tool: &str) -> bool {
        self.calls.get(call).is_none_or(|open| open.tool == tool)
    }

    /// Words that the human said to a tool call. They are part of the turn.
    fn reply(&mut self, envelope: &Envelope, words: HumanWords, images: &[MetImage], lossy: bool) {
        let kept = self.kept(envelope, images);
        let mut event = event_of(envelope, Role::User);
        (event.says, event.source, event.questions) = (words.says, words.source, words.questions);
        event.screenshots = screenshots(&kept, PASTED_IMAGE);
        self.shown.extend(kept.into_iter().map(|image| (self.events.len(), image)));
        self.push(event, lossy);
    }

    fn plan(&mut self, call: &str, tool: &str, plan: String) {
        if let Some(open) = self.calls.get(call).filter(|open| open.tool == tool)
            && self.events[open.event].plan.is_empty()
        {
            self.events[open.event].plan = plan;
        }
    }

    fn mentioned(&mut self, envelope: &Envelope, images: &[MetImage]) {
        match self.last_user {
            Some(event) => self.add_images(envelope, event, images, MENTIONED_IMAGE),
            None => {
                for _ in self.kept(envelope, images) {
                    self.lose(envelope, NotExtracted::NoEvent);
                }
            }
        }
    }

    fn interrupt(&mut self) {
        if let Some(last) = self.last_assistant {
            self.events[last].interrupted = true;
        }
    }

    /// Takes back the last turns, each from its human words on.
    fn roll_back(&mut self, turns: u64) {
        let left = self.turns.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
        let Some(&from) = self.turns.get(left) else { return };
        self.turns.truncate(left);
        // What was taken back before is passed over, so that each event is marked once.
        let mut until = self.events.len();
        while let Some(before) = self.rolled_back.pop_if(|before| before.start >= from) {
            self.events[before.end..until].iter_mut().for_each(take_back);
            until = before.start;
        }
        self.events[from..until].iter_mut().for_each(take_back);
        self.rolled_back.push(from..self.events.len());
    }

    fn human_event(&mut self, envelope: &Envelope, words: HumanWords, images: &[MetImage], lossy: bool) {
        let kept = self.kept(envelope, images);
        if words.says.is_empty() && words.summary.is_empty() && kept.is_empty() {
            return;
        }
        let mut event = event_of(envelope, Role::User);
        (event.says, event.source, event.questions) = (words.says, words.source, words.questions);
        event.continuation_summary = words.summary;
        if words.continuation {
            event.boundary.insert(Boundary::Continuation);
        } else {
            // An answer does not come between a turn and what is told of it.
            self.turn_begun |= !matches!(words.source, Some(WordsSource::Answer | WordsSource::Rejection));
            if !words.within_turn {
                self.begin_turn();
            }
        }
        event.screenshots = screenshots(&kept, PASTED_IMAGE);
        self.shown.extend(kept.into_iter().map(|image| (self.events.len(), image)));
        self.push(event, lossy);
    }

    /// The next event is what a turn begins with, unless one goes on: words that are typed meanwhile are part of it.
    fn begin_turn(&mut self) {
        let goes_on = self.open_turn.is_some() && std::mem::replace(&mut self.open_turn_has_words, true);
        if !goes_on {
            self.turns.push(self.events.len());
        }
    }

    /// Whether the last event is the summary that a compaction left: `/compact` itself is logged behind it, and is
    /// the reason for the break there.
    fn joins_summary(&mut self) -> bool {
        let last = self.events.last_mut().filter(|event| event.boundary.contains(&Boundary::Continuation));
        last.map(|event| event.boundary.insert(Boundary::Compaction)).is_some()
    }

    /// Adds the images that the event does not have yet.
    fn add_images(&mut self, envelope: &Envelope, event: usize, images: &[MetImage], description: &str) {
        let kept = self.kept(envelope, images);
        self.show(event, &kept, description);
    }

    fn show(&mut self, event: usize, images: &[ImageId], description: &str) {
        let new = images.iter().copied().filter(|&image| self.shown.insert((event, image)));
        let new: Vec<_> = new.collect();
        self.events[event].screenshots.append(&mut screenshots(&new, description));
    }

    fn assistant(&mut self, mut event: Event, tools: Vec<ToolCall>, lossy: bool) {
        let index = self.events.len();
        for call in tools {
            if call.workflow && !call.id.is_empty() {
                self.start(StartedAgent {
                    tool_use_id: call.id.clone(),
                    event: index,
                    workflow: true,
                    answered: true,
                    ..<_>::default()
                });
            } else if let Some(asked) = call.subagent {
                let (tool_use_id, position) = (call.id.clone(), event.subagent_refs.len());
                let started = StartedAgent { tool_use_id, event: index, position, asked, ..<_>::default() };
                event.subagent_refs.push(ref_of(&started));
                self.start(started);
            } else if !self.started.is_empty() {
                let before = self.started_by_id.remove(&call.id);
                self.give_up(before);
            }
            event.tools.push(call.name.clone());
            let open = OpenCall { event: index, tool: call.name, target: call.target };
            if call.purpose == Purpose::View {
                self.calls.insert(VIEWED.to_owned(), open.clone());
            }
            if !call.id.is_empty() {
                self.calls.insert(call.id, open);
            }
        }
        self.push(event, lossy);
        self.last_assistant = Some(index);
        self.turn_begun = false;
        self.queue.assistant_spoke();
    }

    fn tool_result(&mut self, envelope: &Envelope, call: &str, images: &[MetImage]) {
        if images.is_empty() {
            return;
        }
        let kept = self.kept(envelope, images);
        let (event, description) = match (self.calls.get(call), self.last_assistant) {
            (Some(open), _) if open.target.is_empty() => (open.event, format!("Screenshot from {}", open.tool)),
            (Some(open), _) => (open.event, format!("Screenshot from {} ({})", open.tool, open.target)),
            (None, Some(last)) => (last, "Screenshot from a tool".to_owned()),
            (None, None) => {
                for _ in kept {
                    self.lose(envelope, NotExtracted::NoEvent);
                }
                return;
            }
        };
        self.show(event, &kept, &description);
    }

    /// The duration belongs to the last thing the assistant said in the turn; a turn in which it said nothing
    /// has no event to carry it.
    fn turn_duration(&mut self, milliseconds: u64) {
        if let Some(last) = self.last_assistant.filter(|_| !self.turn_begun) {
            self.events[last].duration_ms.get_or_insert(milliseconds);
        }
    }

    fn kept(&mut self, envelope: &Envelope, images: &[MetImage]) -> Vec<ImageId> {
        let mut kept = Vec::new();
        for &image in images {
            match image {
                Ok(id) => kept.push(id),
                Err(reason) => self.lose(envelope, reason),
            }
        }
        kept
    }

    fn lose(&mut self, envelope: &Envelope, reason: NotExtracted) {
        let Place { line, offset, .. } = envelope.place;
        self.lost_images.push(LostImage { line, offset, reason });
    }

    fn push(&mut self, mut event: Event, lossy: bool) {
        event.index = self.events.len();
        if event.role == Role::User {
            self.last_user = Some(event.index);
        }
        event.boundary.append(&mut self.pending);
        if !event.session_id.is_empty() {
            let before = self.session_id.replace(event.session_id.clone());
            if before.is_some_and(|before| before != event.session_id) {
                event.boundary.insert(Boundary::SessionChange);
            }
        }
        if lossy {
            self.lossy.push(event.index);
        }
        self.events.push(event);
    }
}

/// What was taken back is on no branch that goes on.
fn take_back(event: &mut Event) {
    (event.rolled_back, event.live) = (true, false);
}

fn event_of(envelope: &Envelope, role: Role) -> Event {
    Event {
        index: 0,
        timestamp: envelope.timestamp.clone(),
        role,
        says: String::new(),
        thinks: String::new(),
        tools: Vec::new(),
        boundary: BTreeSet::new(),
        continuation_summary: String::new(),
        duration_ms: None,
        screenshots: Vec::new(),
        subagent_refs: Vec::new(),
        interrupted: false,
        rejected: false,
        rolled_back: false,
        source: None,
        plan: String::new(),
        questions: Vec::new(),
        live: true,
        uuid: envelope.uuid.clone(),
        message_id: String::new(),
        session_id: envelope.setting().session_id.clone(),
        place: envelope.place,
    }
}

/// Names and media types are given when the conversation is finished and every event has its place.
fn screenshots(images: &[ImageId], description: &str) -> Vec<Screenshot> {
    let of =
        |&image| Screenshot { filename: String::new(), description: description.to_owned(), media_type: "", image };
    images.iter().map(of).collect()
}
