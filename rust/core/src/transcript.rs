//! One transcript file, read from end to end: its stories, and what is known about the file as a whole.
//!
//! [`crate::reader`] reads it, on several threads when it is large; here what its stretches say is folded in order.

mod facts;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use compact_str::CompactString;
use rustc_hash::FxHashMap;

use crate::agents::{AGENTS, Agent, Sieve};
use crate::branches::{Branches, Link, mark};
use crate::entry::{Class, Damage, Place, Reason};
use crate::error::{ErrorKind, Result};
use crate::event::{EntryId, Envelope, Fact, Said, Setting, Signal};
use crate::head::Stranger;
use crate::io::Source;
use crate::progress::Progress;
use crate::reader::{Extent, Fold, Opened, not_a_transcript};
use crate::story::Story;
use crate::stretch::StretchReader;

pub use facts::{Distinct, Facts};

pub use crate::stretch::{MOST_DAMAGE_LISTED, ReadOptions, TypeCount, UnknownType};

/// Dropped entries that may wait for one that says something.
const MAX_DROPPED: usize = 1_000;

/// A subagent whose lines stand in the session's own file.
pub struct Sidechain {
    /// `agentId`, or the id of its first entry.
    pub id: String,
    /// The call that its lines name, "" where they name none.
    pub call: String,
    /// What it did.
    pub story: Story,
}

/// All that one file says.
pub struct Transcript {
    /// Whose it is.
    pub agent: &'static dyn Agent,
    /// The main line.
    pub story: Story,
    /// Subagents whose lines stand between those of the main line.
    pub sidechains: Vec<Sidechain>,
    /// Bytes read.
    pub bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// Records by type.
    pub entries: BTreeMap<String, TypeCount>,
    /// Types in no table.
    pub unknown: BTreeMap<String, UnknownType>,
    /// The first [`MOST_DAMAGE_LISTED`] damaged pieces.
    pub damage: Vec<Damage>,
    /// All damaged pieces.
    pub damage_total: u64,
    /// A last line that is not whole yet.
    pub incomplete_tail: Option<Place>,
    /// Entries dropped because their id had been seen.
    pub duplicates: u64,
    /// Session ids.
    pub session_ids: Distinct,
    /// Versions of the agent program.
    pub versions: Distinct,
    /// The first working directory.
    pub project_path: Option<String>,
    /// The first timestamp.
    pub first_timestamp: String,
    /// The last timestamp, in file order.
    pub last_timestamp: CompactString,
    /// Facts.
    pub facts: Facts,
    /// Records that were copied from another session's.
    pub inherited: u64,
}

impl Default for Transcript {
    fn default() -> Self {
        Self::of(AGENTS[0])
    }
}

impl Transcript {
    /// Nothing yet, of `agent`.
    #[must_use]
    pub fn of(agent: &'static dyn Agent) -> Self {
        Self {
            agent,
            story: Story::default(),
            sidechains: Vec::new(),
            bytes: 0,
            lines: 0,
            entries: BTreeMap::new(),
            unknown: BTreeMap::new(),
            damage: Vec::new(),
            damage_total: 0,
            incomplete_tail: None,
            duplicates: 0,
            session_ids: Distinct::default(),
            versions: Distinct::default(),
            project_path: None,
            first_timestamp: String::new(),
            last_timestamp: CompactString::default(),
            facts: Facts::default(),
            inherited: 0,
        }
    }

    /// Reads `source` to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::NotATranscript`] when it holds no records,
    /// [`ErrorKind::Stopped`].
    pub fn read(source: Source, options: ReadOptions<'_>, progress: &mut Progress<'_>) -> Result<Self> {
        let mut opened = Opened::open(source, options.agent, options.threads, progress)?;
        if let Some(stranger) = opened.surely_strange() {
            return Err(stranger.error());
        }
        let beginning = opened.take_beginning();
        let read = Self::read_all(opened, options, progress);
        let says_nothing = match &read {
            Ok(transcript) => transcript.story.events.is_empty() && transcript.sidechains.is_empty(),
            Err(error) => error.kind() == ErrorKind::NotATranscript,
        };
        match says_nothing.then(|| Stranger::of(&beginning)).flatten() {
            Some(stranger) => Err(stranger.error()),
            None => read,
        }
    }

    /// The same, whatever it is that holds no conversation.
    fn read_all(opened: Opened, options: ReadOptions<'_>, progress: &mut Progress<'_>) -> Result<Self> {
        let head = opened.head;
        let mut entries = Entries::new(head.agent, options.subagent_file);
        let new = |first| StretchReader::new(head, options.images, first);
        opened.read(*head.agent.record_types(), &new, &mut entries, progress)?;
        let transcript = entries.finish();
        if transcript.bytes == 0 {
            return Err(not_a_transcript("the input is empty"));
        }
        if transcript.entries.is_empty() && transcript.incomplete_tail.is_none() {
            return Err(not_a_transcript("no line holds a JSON object"));
        }
        Ok(transcript)
    }

    fn add_damage(&mut self, damage: Damage) {
        if self.damage.len() < MOST_DAMAGE_LISTED {
            self.damage.push(damage);
        }
    }
}

/// Takes in the entries of a file, in its order.
struct Entries {
    transcript: Transcript,
    counts: crate::stretch::Counts,
    sieve: Option<Box<dyn Sieve>>,
    subagent_file: bool,
    seen: HashSet<EntryId, rustc_hash::FxBuildHasher>,
    sidechain_of: FxHashMap<EntryId, usize>,
    last_sidechain: Option<usize>,
    /// Of the last entry that was noted.
    last_setting: Option<Arc<Setting>>,
    branches: Branches,
}

impl Fold<StretchReader<'_>> for Entries {
    fn line_read(&mut self, reader: &mut StretchReader<'_>) {
        let stretch = &mut reader.stretch;
        if !stretch.said.is_empty() || stretch.dropped.len() > MAX_DROPPED {
            self.take_all(stretch.said.drain(..), stretch.dropped.drain(..));
        }
    }

    fn append(&mut self, reader: StretchReader<'_>, extent: Extent) {
        let stretch = reader.stretch;
        let before = self.transcript.lines;
        let said = stretch.said.into_iter().map(|mut said| {
            said.envelope.place.line += before;
            said
        });
        self.take_all(said, stretch.dropped.into_iter());
        self.counts.append(stretch.counts, before);
        for damage in stretch.damage {
            self.transcript.add_damage(Damage { line: damage.line + before, ..damage });
        }
        let transcript = &mut self.transcript;
        transcript.damage_total += stretch.damage_total;
        let tail = stretch.incomplete_tail.map(|tail| Place { line: tail.line + before, ..tail });
        transcript.incomplete_tail = transcript.incomplete_tail.or(tail);
        transcript.lines += extent.lines;
        transcript.bytes += extent.bytes;
    }
}

impl Entries {
    fn new(agent: &'static dyn Agent, subagent_file: bool) -> Self {
        Self {
            transcript: Transcript::of(agent),
            counts: <_>::default(),
            sieve: agent.sieve(),
            subagent_file,
            seen: HashSet::default(),
            sidechain_of: FxHashMap::default(),
            last_sidechain: None,
            last_setting: None,
            branches: Branches::default(),
        }
    }

    /// Takes in entries, and between them those that were dropped, each with how many of the others stand before it.
    fn take_all(&mut self, said: impl Iterator<Item = Said>, dropped: impl Iterator<Item = (usize, Link)>) {
        let mut dropped = dropped.peekable();
        for (at, said) in said.enumerate() {
            while let Some((_, link)) = dropped.next_if(|(before, _)| *before <= at) {
                self.branches.add(link);
            }
            self.take(said);
        }
        for (_, link) in dropped {
            self.branches.add(link);
        }
    }

    fn take(&mut self, said: Said) {
        match &mut self.sieve {
            Some(sieve) => sieve.take(said),
            None => self.keep(said),
        }
    }

    fn keep(&mut self, said: Said) {
        let Said { envelope, class, signals } = said;
        let is_evidence = class == Class::Evidence;
        if !is_evidence && !envelope.uuid.is_empty() {
            if self.seen.contains(&envelope.uuid) {
                self.transcript.duplicates += 1;
                return;
            }
            // A first copy that came out empty must not cost the words of the second.
            if !signals.iter().all(Signal::is_empty) {
                self.seen.insert(envelope.uuid.clone());
            }
        }
        if class == Class::Signal {
            self.note_envelope(&envelope);
        }
        if let Some(link) = envelope.link.filter(|_| !is_evidence) {
            self.link(link, &signals);
        }
        let inline = envelope.sidechain && !self.subagent_file && !is_evidence;
        let sidechain = inline.then(|| self.sidechain(&envelope));
        let transcript = &mut self.transcript;
        let story = match sidechain {
            Some(at) => &mut transcript.sidechains[at].story,
            None => &mut transcript.story,
        };
        for signal in signals {
            match signal {
                Signal::Fact(Fact::Folder(folder)) => drop(transcript.project_path.get_or_insert(folder)),
                Signal::Fact(fact) => transcript.facts.take(fact),
                // Once every call is answered, evidence is not looked for, and taking what was met by chance would make
                // the result depend on how the file was cut into stretches.
                Signal::Progress { .. } if is_evidence && !story.awaits_result() => {}
                signal => story.take(&envelope, signal),
            }
        }
    }

    /// Adds an entry to the tree.
    fn link(&mut self, link: Link, signals: &[Signal]) {
        let branches = &mut self.branches;
        if !branches.add(link) {
            return;
        }
        for signal in signals {
            match signal {
                Signal::Assistant { message_id, tools, .. } => {
                    branches.last_tells();
                    if !message_id.is_empty() {
                        branches.last_is_of(mark(message_id));
                    }
                    for call in tools.iter().filter(|call| !call.id.is_empty()) {
                        branches.last_calls(mark(&call.id));
                    }
                }
                Signal::ClientMessage { answer, calls } => {
                    if let Some(answer) = *answer {
                        branches.last_is_of(answer);
                    }
                    for &call in calls {
                        branches.last_calls(call);
                    }
                }
                Signal::User { human: true, .. } | Signal::Reply { .. } | Signal::Queue(_) => branches.last_tells(),
                Signal::ToolResult { call, .. } => branches.last_answers((!call.is_empty()).then(|| mark(call))),
                Signal::PlainResult(call) => branches.last_answers(*call),
                _ => {}
            }
        }
    }

    fn note_envelope(&mut self, envelope: &Envelope) {
        let transcript = &mut self.transcript;
        if let Some(setting) = &envelope.setting
            && self.last_setting.as_ref().is_none_or(|last| !Arc::ptr_eq(last, setting))
        {
            transcript.session_ids.add(&setting.session_id);
            transcript.versions.add(&setting.version);
            if transcript.project_path.is_none() && !setting.cwd.is_empty() {
                transcript.project_path = Some(setting.cwd.to_string());
            }
            self.last_setting = Some(setting.clone());
        }
        if !envelope.timestamp.is_empty() {
            if transcript.first_timestamp.is_empty() {
                transcript.first_timestamp = envelope.timestamp.to_string();
            }
            transcript.last_timestamp.clone_from(&envelope.timestamp);
        }
    }

    /// The sidechain that the entry belongs to: by its agent's id or its call, else by the entry it answers. One that answers
    /// nothing begins a new sidechain; what it answers may also be an entry that was dropped, and then it goes on
    /// where the last one was.
    fn sidechain(&mut self, envelope: &Envelope) -> usize {
        let setting = envelope.setting();
        let by_agent = !setting.agent_id.is_empty();
        let group = if by_agent { &setting.agent_id } else { &setting.parent_call };
        let agent = (!group.is_empty()).then(|| EntryId::of(group));
        let key = agent.as_ref().unwrap_or(&envelope.parent_uuid);
        let known = self.sidechain_of.get(key).copied().filter(|_| !key.is_empty());
        let last = self.last_sidechain.filter(|_| agent.is_none() && !key.is_empty());
        let at = known.or(last).unwrap_or_else(|| {
            let sidechains = &mut self.transcript.sidechains;
            let id = if by_agent { setting.agent_id.to_string() } else { envelope.uuid.to_string() };
            let id = if id.is_empty() { format!("inline-{}", sidechains.len() + 1) } else { id };
            sidechains.push(Sidechain { id, call: String::new(), story: Story::default() });
            sidechains.len() - 1
        });
        let call = &mut self.transcript.sidechains[at].call;
        if call.is_empty() {
            call.push_str(&setting.parent_call);
        }
        for name in agent.iter().chain([&envelope.uuid]).filter(|name| !name.is_empty()) {
            self.sidechain_of.entry(name.clone()).or_insert(at);
        }
        self.last_sidechain = Some(at);
        at
    }

    fn finish(mut self) -> Transcript {
        if let Some(sieve) = self.sieve.take() {
            self.transcript.inherited = sieve.finish(&mut |said| {
                if self.transcript.story.first_timestamp.is_empty() {
                    self.transcript.story.first_timestamp = said.envelope.timestamp.to_string();
                }
                self.keep(said);
            });
        }
        let Self { mut transcript, counts, branches, .. } = self;
        transcript.story.leave(&branches.dead());
        transcript.facts.find_own_summary(&branches);
        for (kind, counted, unknown) in counts.into_types() {
            transcript.unknown.extend(unknown.map(|unknown| (kind.clone(), unknown)));
            transcript.entries.insert(kind, counted);
        }
        let stories =
            std::iter::once(&transcript.story).chain(transcript.sidechains.iter().map(|sidechain| &sidechain.story));
        let lossy = stories.flat_map(|story| story.lossy.iter().map(|&event| story.events[event].place));
        let lossy: Vec<Place> = lossy.collect();
        transcript.damage_total += lossy.len() as u64;
        for Place { line, offset, length } in lossy {
            transcript.add_damage(Damage { line, offset, length, reason: Reason::InvalidUtf8, recovered: true });
        }
        transcript.damage.sort_by_key(|damage| damage.offset);
        transcript
    }
}
