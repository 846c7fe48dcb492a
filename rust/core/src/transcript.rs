//! One transcript file, read from end to end: its stories, and what is known about the file as a whole.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

use crate::agents::{Agent, Context};
use crate::entry::{Class, Damage, Entry, LineEntries, Place, Reason, Records};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Envelope, Fact, ImageId, InlineImage, PullRequest, Signal};
use crate::images::{ImageStore, NotExtracted};
use crate::input::{Input, Source};
use crate::lines::LineReader;
use crate::story::{KeepImages, Story};

/// Damaged pieces that are listed one by one; the rest are only counted.
pub const MOST_DAMAGE_LISTED: usize = 1_000;

/// Distinct entry types that are counted apart, and the characters of a type's name that are kept. Real files
/// hold some 40; a hostile one could hold a new one on every line.
const MOST_TYPES: usize = 1_000;
const TYPE_CHARACTERS: usize = 100;

/// How many bytes are looked through for the first brace before the input is taken for something else.
const PROOF_WINDOW: u64 = 1 << 20;

/// How often the watcher is told, in bytes.
const WATCH_EVERY: u64 = 4 << 20;

/// Told how far reading has come: bytes done, and bytes in all when known. Says whether to go on.
pub type Watch<'w> = &'w mut (dyn FnMut(u64, Option<u64>) -> bool + Send);

/// Entries of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct TypeCount {
    /// Records.
    pub count: u64,
    /// Their bytes, without line ends.
    pub bytes: u64,
}

/// Entries of a type that is in no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct UnknownType {
    /// Records.
    pub count: u64,
    /// The line that the first one stands on.
    pub first_line: u64,
}

/// Distinct strings in the order of their first coming.
#[derive(Debug, Default)]
pub struct Distinct {
    seen: HashSet<String>,
    /// The strings.
    pub list: Vec<String>,
}

impl Distinct {
    fn add(&mut self, text: &str) {
        if !text.is_empty() && self.list.last().is_none_or(|last| last != text) && self.seen.insert(text.to_owned()) {
            self.list.push(text.to_owned());
        }
    }
}

/// What is known about the session as a whole.
#[derive(Debug, Default)]
pub struct Facts {
    /// Given by the human; the last one.
    pub custom_title: Option<String>,
    /// Made by the assistant; the last one.
    pub assistant_title: Option<String>,
    /// One-line summaries.
    pub summaries: Distinct,
    /// Pull requests, each once.
    pub pull_requests: Vec<PullRequest>,
    /// Sessions that this one goes on in.
    pub continued_in: Distinct,
    /// The last prompt that was recorded apart.
    pub last_prompt: Option<String>,
    /// The last entry of the active branch.
    pub leaf_uuid: Option<String>,
}

impl Facts {
    fn take(&mut self, fact: Fact) {
        match fact {
            Fact::AssistantTitle(title) => self.assistant_title = Some(title),
            Fact::CustomTitle(title) => self.custom_title = Some(title),
            Fact::Summary(summary) => self.summaries.add(&summary),
            Fact::ContinuedIn(session) => self.continued_in.add(&session),
            Fact::PullRequest(pull_request) => {
                if !self.pull_requests.contains(&pull_request) {
                    self.pull_requests.push(pull_request);
                }
            }
            Fact::LastPrompt { prompt, leaf_uuid } => {
                if !prompt.is_empty() {
                    self.last_prompt = Some(prompt);
                }
                if !leaf_uuid.is_empty() {
                    self.leaf_uuid = Some(leaf_uuid);
                }
            }
        }
    }

    /// The best title there is. A summary stands in, though it may be another session's.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        let own = self.custom_title.as_deref().or(self.assistant_title.as_deref());
        own.or(self.summaries.list.last().map(String::as_str))
    }
}

/// A subagent whose lines stand in the session's own file.
pub struct Sidechain {
    /// `agentId`, or the id of its first entry.
    pub id: String,
    /// What it did.
    pub story: Story,
}

/// All that one file says.
#[derive(Default)]
pub struct Transcript {
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
    pub last_timestamp: String,
    /// Facts.
    pub facts: Facts,
}

/// How to read one file.
#[derive(Clone, Copy)]
pub struct Reading<'s> {
    /// Whose transcript it is.
    pub agent: &'static dyn Agent,
    /// Whether the file is a subagent's own, all of whose lines are marked as sidechain.
    pub subagent_file: bool,
    /// Where images go; `None` to leave them.
    pub images: Option<&'s Mutex<ImageStore>>,
}

impl Transcript {
    /// Reads `source` to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when it cannot be read, [`ErrorKind::NotATranscript`] when it holds no records,
    /// [`ErrorKind::Stopped`] when the watcher says so.
    pub fn read(source: Source, reading: Reading<'_>, watch: Watch<'_>) -> Result<Self> {
        let mut lines = LineReader::new(Input::open(source)?);
        let mut reader = Reader::new(reading);
        let mut line_entries = LineEntries::default();
        let size = lines.size();
        let (mut proven, mut next_watch) = (false, 0);
        let mut done = 0;
        while let Some(line) = lines.next_line(&mut || watch(done, size))? {
            done = line.offset;
            let (offset, end) = (line.offset, line.offset + line.bytes.len() as u64);
            proven = proven || line.bytes.contains(&b'{');
            if !proven && end > PROOF_WINDOW {
                return Err(not_a_transcript("the first megabyte holds no JSON object"));
            }
            line_entries.read(&line, reading.agent, &mut reader);
            if let Some(error) = reader.image_error.take() {
                return Err(Error::os(error, &std::env::temp_dir()));
            }
            if offset >= next_watch {
                if !watch(end, size) {
                    return Err(Error::new(ErrorKind::Stopped, "stopped"));
                }
                next_watch = offset + WATCH_EVERY;
            }
        }
        let mut transcript = reader.transcript;
        (transcript.bytes, transcript.lines) = (lines.offset(), lines.lines());
        if transcript.bytes == 0 {
            return Err(not_a_transcript("the input is empty"));
        }
        if transcript.entries.is_empty() && transcript.incomplete_tail.is_none() {
            return Err(not_a_transcript("no line holds a JSON object"));
        }
        transcript.finish();
        Ok(transcript)
    }

    fn finish(&mut self) {
        let stories = std::iter::once(&self.story).chain(self.sidechains.iter().map(|sidechain| &sidechain.story));
        let lossy: Vec<Place> = stories.flat_map(|story| story.lossy.iter().copied()).collect();
        for Place { line, offset, length } in lossy {
            self.add_damage(Damage { line, offset, length, reason: Reason::InvalidUtf8, recovered: true });
        }
        self.damage.sort_by_key(|damage| damage.offset);
    }

    fn add_damage(&mut self, damage: Damage) {
        self.damage_total += 1;
        if self.damage.len() < MOST_DAMAGE_LISTED {
            self.damage.push(damage);
        }
    }
}

fn not_a_transcript(what: &str) -> Error {
    Error::new(ErrorKind::NotATranscript, format!("not a transcript: {what}"))
        .with_hint("give the .jsonl file of a session, or a session id as `retell-fast preview` lists them")
}

/// An entry's id, without a string for the usual form.
#[derive(PartialEq, Eq, Hash)]
enum EntryId {
    Uuid(u128),
    Other(Box<str>),
}

impl EntryId {
    fn of(text: &str) -> Self {
        let other = || Self::Other(text.into());
        let bytes = text.as_bytes();
        if bytes.len() != 36 {
            return other();
        }
        let mut value = 0_u128;
        for (at, &byte) in bytes.iter().enumerate() {
            match (byte, at) {
                (b'-', 8 | 13 | 18 | 23) => {}
                (b'0'..=b'9', _) if !matches!(at, 8 | 13 | 18 | 23) => value = value << 4 | u128::from(byte - b'0'),
                // Capitals are another id: only the spelling that Claude Code writes is packed.
                (b'a'..=b'f', _) if !matches!(at, 8 | 13 | 18 | 23) => value = value << 4 | u128::from(byte - b'a' + 10),
                _ => return other(),
            }
        }
        Self::Uuid(value)
    }
}

/// Puts images into the store, if there is one.
struct Keeper<'s> {
    store: Option<&'s Mutex<ImageStore>>,
    error: Option<std::io::Error>,
}

impl KeepImages for Keeper<'_> {
    fn keep(&mut self, image: InlineImage<'_>) -> Option<Result<ImageId, NotExtracted>> {
        let mut store = self.store?.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match store.add(image) {
            Ok(kept) => Some(kept),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

struct Reader<'s> {
    reading: Reading<'s>,
    transcript: Transcript,
    seen: HashSet<EntryId, rustc_hash::FxBuildHasher>,
    sidechain_of: HashMap<String, usize>,
    image_error: Option<std::io::Error>,
}

/// Lends one story to an agent, which asks it about calls.
struct StoryContext<'t>(&'t Story);

impl Context for StoryContext<'_> {
    fn is_subagent_call(&self, call: &str) -> bool {
        self.0.is_subagent_call(call)
    }
}

impl<'s> Reader<'s> {
    fn new(reading: Reading<'s>) -> Self {
        Self {
            reading,
            transcript: Transcript::default(),
            seen: HashSet::default(),
            sidechain_of: HashMap::new(),
            image_error: None,
        }
    }

    fn note_envelope(&mut self, envelope: &Envelope<'_>) {
        let transcript = &mut self.transcript;
        transcript.session_ids.add(&envelope.session_id);
        transcript.versions.add(&envelope.version);
        if transcript.project_path.is_none() && !envelope.cwd.is_empty() {
            transcript.project_path = Some(envelope.cwd.to_string());
        }
        if !envelope.timestamp.is_empty() {
            if transcript.first_timestamp.is_empty() {
                envelope.timestamp.as_ref().clone_into(&mut transcript.first_timestamp);
            }
            envelope.timestamp.as_ref().clone_into(&mut transcript.last_timestamp);
        }
    }

    /// The sidechain that the entry belongs to: by its agent's id, else by the entry it answers. One that answers
    /// nothing known begins a new sidechain.
    fn sidechain(&mut self, envelope: &Envelope<'_>) -> usize {
        let by_agent = !envelope.agent_id.is_empty();
        let key = if by_agent { &envelope.agent_id } else { &envelope.parent_uuid };
        let known = self.sidechain_of.get(key.as_ref()).copied().filter(|_| !key.is_empty());
        let at = known.unwrap_or_else(|| {
            let sidechains = &mut self.transcript.sidechains;
            let id = if by_agent { envelope.agent_id.to_string() } else { envelope.uuid.to_string() };
            let id = if id.is_empty() { format!("inline-{}", sidechains.len() + 1) } else { id };
            sidechains.push(Sidechain { id, story: Story::default() });
            sidechains.len() - 1
        });
        let name = if by_agent { &envelope.agent_id } else { &envelope.uuid };
        if !name.is_empty() {
            self.sidechain_of.insert(name.to_string(), at);
        }
        at
    }
}

impl Records for Reader<'_> {
    fn entry(&mut self, entry: &Entry<'_>, class: Class) {
        let agent = self.reading.agent;
        let envelope = agent.envelope(entry);
        let is_evidence = class == Class::Evidence;
        if !is_evidence && !envelope.uuid.is_empty() && !self.seen.insert(EntryId::of(&envelope.uuid)) {
            self.transcript.duplicates += 1;
            return;
        }
        if class == Class::Signal {
            self.note_envelope(&envelope);
        }
        let inline = envelope.sidechain && !self.reading.subagent_file && !is_evidence;
        let sidechain = inline.then(|| self.sidechain(&envelope));
        let mut signals = Vec::new();
        let transcript = &mut self.transcript;
        let story = match sidechain {
            Some(at) => &mut transcript.sidechains[at].story,
            None => &mut transcript.story,
        };
        agent.read(entry, &StoryContext(story), &mut |signal| signals.push(signal));
        let mut keeper = Keeper { store: self.reading.images, error: None };
        for signal in signals {
            match signal {
                Signal::Fact(fact) => transcript.facts.take(fact),
                signal => story.take(&envelope, signal, &mut keeper),
            }
        }
        self.image_error = keeper.error;
    }

    fn count(&mut self, kind: &str, class: Class, place: Place) {
        let transcript = &mut self.transcript;
        if let Some(counted) = transcript.entries.get_mut(kind) {
            counted.count += 1;
            counted.bytes += place.length;
        } else {
            let name: String = kind.chars().take(TYPE_CHARACTERS).collect();
            let name = if transcript.entries.len() < MOST_TYPES { name } else { "(other)".to_owned() };
            let counted = transcript.entries.entry(name).or_default();
            counted.count += 1;
            counted.bytes += place.length;
        }
        if class == Class::Unknown {
            let name: String = kind.chars().take(TYPE_CHARACTERS).collect();
            let name = if transcript.unknown.len() < MOST_TYPES { name } else { "(other)".to_owned() };
            transcript.unknown.entry(name).or_insert(UnknownType { count: 0, first_line: place.line }).count += 1;
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.transcript.add_damage(damage);
    }

    fn incomplete_tail(&mut self, place: Place) {
        self.transcript.incomplete_tail = Some(place);
    }

    fn wants_evidence(&self) -> bool {
        self.transcript.story.awaits_subagent()
    }
}
