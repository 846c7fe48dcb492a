//! One transcript file, read from end to end: its stories, and what is known about the file as a whole.
//!
//! A large file is cut into stretches of whole lines that are read on all cores; here they are folded in order.

mod facts;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use compact_str::CompactString;
use rustc_hash::FxHashMap;

use crate::agents::{AGENTS, Agent, Sieve};
use crate::branches::{Branches, Link, mark};
use crate::document;
use crate::entry::{Class, Damage, LineEntries, Place, Reason, Skimming};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{EntryId, Envelope, Fact, Said, Signal};
use crate::head::{Head, Stranger};
use crate::input::{FileStretch, Input, Source, stretches};
use crate::lines::{LINE_LIMIT, LineReader, Memory};
use crate::parallel;
use crate::story::Story;
use crate::stretch::{Stretch, StretchReader};

pub use facts::{Distinct, Facts};

pub use crate::stretch::{MOST_DAMAGE_LISTED, Reading, TypeCount, UnknownType};

/// How many bytes are looked through for the first brace before the input is taken for something else.
const PROOF_WINDOW: u64 = 1 << 20;

/// How often the watcher is told, in bytes.
const WATCH_EVERY: u64 = 4 << 20;

/// Dropped entries that may wait for one that says something.
const MOST_DROPPED: usize = 1_000;

/// Stretches for each thread that may be read before their turn.
const STRETCHES_AHEAD: usize = 2;

/// Told how far reading has come: bytes done, and bytes in all when known. Says whether to go on.
pub type Watch<'w> = &'w mut (dyn FnMut(u64, Option<u64>) -> bool + Send);

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
    /// [`ErrorKind::Stopped`] when the watcher says so.
    pub fn read(source: Source, reading: Reading<'_>, watch: Watch<'_>) -> Result<Self> {
        let mut beginning = Vec::new();
        let read = Self::read_all(source, reading, watch, &mut beginning);
        let says_nothing = match &read {
            Ok(transcript) => transcript.story.events.is_empty() && transcript.sidechains.is_empty(),
            Err(error) => error.kind() == ErrorKind::NotATranscript,
        };
        match says_nothing.then(|| Stranger::of(&beginning)).flatten() {
            Some(stranger) => Err(stranger.error()),
            None => read,
        }
    }

    /// The same, whatever it is that holds no conversation; puts the first bytes into `beginning` unless they are a
    /// known document's.
    fn read_all(source: Source, reading: Reading<'_>, watch: Watch<'_>, beginning: &mut Vec<u8>) -> Result<Self> {
        let parts = stretches(&source, reading.threads, reading.least_stretch)?;
        let head = parts.as_ref().map(|parts| Head::read(reading.agent, |size| parts[0].head(size))).transpose()?;
        let fold = match parts.zip(head).filter(|(_, (head, _))| !head.document) {
            Some((parts, (head, first))) => {
                *beginning = unless_surely_strange(first)?;
                read_side_by_side(&parts, head, reading, watch)?
            }
            None => read_in_order(source, reading, watch, beginning)?,
        };
        let transcript = fold.finish();
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

fn not_a_transcript(what: &str) -> Error {
    Error::new(ErrorKind::NotATranscript, format!("not a transcript: {what}"))
        .with_hint("give the .jsonl file of a session, or a session id as `retell-fast preview` lists them")
}

/// The beginning of an input, unless it is one that nothing needs to be read behind.
fn unless_surely_strange(beginning: Vec<u8>) -> Result<Vec<u8>> {
    Stranger::surely(&beginning).map_or(Ok(beginning), |stranger| Err(stranger.error()))
}

fn stopped() -> Error {
    Error::new(ErrorKind::Stopped, "stopped")
}

/// Reads the lines of `input`; after each one `each` is told where it ends and may say that it is enough.
fn read_lines(
    lines: &mut LineReader,
    head: Head,
    reader: &mut StretchReader<'_>,
    wait: &mut dyn FnMut(u64) -> bool,
    each: &mut dyn FnMut(&mut StretchReader<'_>, u64) -> Result<()>,
) -> Result<()> {
    let mut line_entries = LineEntries::new(head.agent);
    // Only the beginning of a file tells what it is.
    let (mut proven, mut done) = (lines.offset() > 0, 0);
    let no_object = || not_a_transcript("the first megabyte holds no JSON object");
    while let Some(line) = lines.next_line_or_skim(
        &mut |begun| {
            let hopeless = !proven && begun.len() as u64 > PROOF_WINDOW && !begun.contains(&b'{');
            if hopeless {
                return Err(no_object());
            }
            if wait(done) { Ok(()) } else { Err(stopped()) }
        },
        &mut Skimming::new(&mut line_entries, reader),
    )? {
        done = line.end();
        if !proven {
            proven = line.bytes.contains(&b'{');
            if !proven && done > PROOF_WINDOW {
                return Err(no_object());
            }
        }
        line_entries.read(&line, reader);
        reader.failure()?;
        each(reader, done)?;
    }
    Ok(())
}

fn read_in_order(source: Source, reading: Reading<'_>, watch: Watch<'_>, beginning: &mut Vec<u8>) -> Result<Fold> {
    let mut input = Input::open(source)?;
    let size = input.size();
    let watch = std::cell::RefCell::new(watch);
    let told = |done| (watch.borrow_mut())(done, size);
    let mut wait = || if told(0) { Ok(()) } else { Err(stopped()) };
    let (head, first) = Head::read(reading.agent, |size| input.head(size, &mut wait))?;
    let mut fold = Fold::new(head.agent, reading.subagent_file);
    let mut reader = StretchReader::new(head, reading.images, true);
    if head.document {
        let document = input.all(LINE_LIMIT, &mut wait)?;
        let lines = document::read(&document, head.agent, &mut reader);
        reader.failure()?;
        fold.append(reader.stretch, lines, document.len() as u64);
        return Ok(fold);
    }
    *beginning = unless_surely_strange(first)?;
    let mut lines = LineReader::new(input);
    let mut next_watch = 0;
    read_lines(&mut lines, head, &mut reader, &mut |done| told(done), &mut |reader, done| {
        if !reader.stretch.said.is_empty() || reader.stretch.dropped.len() > MOST_DROPPED {
            fold.take_all(reader.stretch.said.drain(..), reader.stretch.dropped.drain(..));
        }
        if done >= next_watch {
            next_watch = done + WATCH_EVERY;
            if !told(done) {
                return Err(stopped());
            }
        }
        Ok(())
    })?;
    fold.append(reader.stretch, lines.lines(), lines.offset());
    Ok(fold)
}

fn read_side_by_side(parts: &[FileStretch], head: Head, reading: Reading<'_>, watch: Watch<'_>) -> Result<Fold> {
    let mut fold = Fold::new(head.agent, reading.subagent_file);
    let size = parts.iter().map(FileStretch::length).sum();
    let done = AtomicU64::new(0);
    let read_part = |at: usize, memory: &mut Memory, stop: &AtomicBool| {
        let input = Input::of_stretch(&parts[at]);
        let mut lines = LineReader::starting_at(input, parts[at].start(), std::mem::take(memory));
        let mut reader = StretchReader::new(head, reading.images, at == 0);
        let mut told = 0;
        read_lines(&mut lines, head, &mut reader, &mut |_| true, &mut |_, end| {
            let read = end - parts[at].start();
            if read - told >= WATCH_EVERY {
                done.fetch_add(read - told, Ordering::Relaxed);
                told = read;
                if stop.load(Ordering::Relaxed) {
                    return Err(stopped());
                }
            }
            Ok(())
        })?;
        let read = (reader.stretch, lines.lines(), lines.offset() - parts[at].start());
        *memory = lines.into_memory();
        Ok(read)
    };
    parallel::in_order(
        reading.threads,
        parts.len(),
        reading.threads * STRETCHES_AHEAD,
        read_part,
        &mut |(stretch, lines, bytes)| fold.append(stretch, lines, bytes),
        &mut || if watch(done.load(Ordering::Relaxed), Some(size)) { Ok(()) } else { Err(stopped()) },
    )?;
    Ok(fold)
}

/// Takes in stretches in order.
struct Fold {
    transcript: Transcript,
    counts: crate::stretch::Counts,
    sieve: Option<Box<dyn Sieve>>,
    subagent_file: bool,
    seen: HashSet<EntryId, rustc_hash::FxBuildHasher>,
    sidechain_of: FxHashMap<EntryId, usize>,
    last_sidechain: Option<usize>,
    branches: Branches,
}

impl Fold {
    fn new(agent: &'static dyn Agent, subagent_file: bool) -> Self {
        Self {
            transcript: Transcript::of(agent),
            counts: <_>::default(),
            sieve: agent.sieve(),
            subagent_file,
            seen: HashSet::default(),
            sidechain_of: FxHashMap::default(),
            last_sidechain: None,
            branches: Branches::default(),
        }
    }

    /// Takes in a stretch of so many lines and bytes that follows on what was taken in before.
    fn append(&mut self, stretch: Stretch, lines: u64, bytes: u64) {
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
        transcript.lines += lines;
        transcript.bytes += bytes;
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
                    for &answer in answer {
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
        transcript.session_ids.add(&envelope.session_id);
        transcript.versions.add(&envelope.version);
        if transcript.project_path.is_none() && !envelope.cwd.is_empty() {
            transcript.project_path = Some(envelope.cwd.to_string());
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
        let by_agent = !envelope.agent_id.is_empty();
        let group = if by_agent { &envelope.agent_id } else { &envelope.parent_call };
        let agent = (!group.is_empty()).then(|| EntryId::of(group));
        let key = agent.as_ref().unwrap_or(&envelope.parent_uuid);
        let known = self.sidechain_of.get(key).copied().filter(|_| !key.is_empty());
        let last = self.last_sidechain.filter(|_| agent.is_none() && !key.is_empty());
        let at = known.or(last).unwrap_or_else(|| {
            let sidechains = &mut self.transcript.sidechains;
            let id = if by_agent { envelope.agent_id.to_string() } else { envelope.uuid.to_string() };
            let id = if id.is_empty() { format!("inline-{}", sidechains.len() + 1) } else { id };
            sidechains.push(Sidechain { id, call: String::new(), story: Story::default() });
            sidechains.len() - 1
        });
        let call = &mut self.transcript.sidechains[at].call;
        if call.is_empty() {
            call.push_str(&envelope.parent_call);
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
