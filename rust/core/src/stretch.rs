//! One stretch of whole lines, read on its own: what its entries say, and what is counted.
//!
//! A stretch knows nothing of the stretches before it, so that several can be read side by side; the fold in
//! `transcript.rs` takes them in order, and the result does not depend on where the file was cut. What an entry's
//! reading depends on is only which tool calls started subagents: of calls made before the stretch that is not
//! known, so the results of unknown calls are read as if they had, and the fold passes over what it has no use for.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use memchr::memmem::Finder;
use rustc_hash::FxBuildHasher;

use crate::agents::{Agent, Context, Ends, Evidence, WrittenSetting};
use crate::branches::{Link, Node};
use crate::entry::{Class, Damage, Entry, Place, Reason, Records};
use crate::error::{Error, Result};
use crate::event::{Envelope, InlineImage, MetImage, Passed, Said, Setting, Signal};
use crate::head::Head;
use crate::images::ImageStore;
use crate::json::{self, Members, Value};
use crate::reader::{RecordSink, Threads};

/// Damaged pieces that are listed one by one; the rest are only counted.
pub const MOST_DAMAGE_LISTED: usize = 1_000;

/// Distinct entry types that are counted apart, and the characters of a type's name that are kept. Real files
/// hold some 40; a hostile one could hold a new one on every line.
const MOST_TYPES: usize = 1_000;
const TYPE_CHARACTERS: usize = 100;

/// Settings that are kept to be shared: sessions, folders and versions change rarely, subagents at work are few.
const MAX_SETTINGS: usize = 8;

/// How to read.
#[derive(Clone, Copy)]
pub struct ReadOptions<'s> {
    /// Whose transcript it is; recognised from its records when `None`.
    pub agent: Option<&'static dyn Agent>,
    /// Whether the file is a subagent's own, all of whose lines are marked as sidechain.
    pub subagent_file: bool,
    /// Where images go; `None` to leave them.
    pub images: Option<&'s Mutex<ImageStore>>,
    /// Threads that may read it.
    pub threads: Threads,
}

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

/// What was counted, by type.
#[derive(Default)]
pub struct Counts {
    types: HashMap<String, (TypeCount, Option<UnknownType>), FxBuildHasher>,
}

impl Counts {
    fn add(&mut self, kind: &str, class: Class, place: Place) {
        let unknown = (class == Class::Unknown).then_some(UnknownType { count: 1, first_line: place.line });
        self.merge(kind, TypeCount { count: 1, bytes: place.length }, unknown);
    }

    fn merge(&mut self, kind: &str, more: TypeCount, unknown: Option<UnknownType>) {
        let counted = if let Some(counted) = self.types.get_mut(kind) {
            counted
        } else {
            let name: String = kind.chars().take(TYPE_CHARACTERS).collect();
            let name = if self.types.len() < MOST_TYPES { name } else { "(other)".to_owned() };
            self.types.entry(name).or_default()
        };
        counted.0.count += more.count;
        counted.0.bytes += more.bytes;
        match (&mut counted.1, unknown) {
            (Some(known), Some(unknown)) => known.count += unknown.count,
            (none, unknown) => *none = none.or(unknown),
        }
    }

    /// Takes in what a later stretch counted, whose lines begin behind line `before`.
    pub fn append(&mut self, later: Self, before: u64) {
        let mut later: Vec<_> = later.types.into_iter().collect();
        later.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for (kind, (counted, unknown)) in later {
            let moved = |unknown: UnknownType| UnknownType { first_line: unknown.first_line + before, ..unknown };
            self.merge(&kind, counted, unknown.map(moved));
        }
    }

    /// Type, count, and whether it is unknown.
    pub fn into_types(self) -> impl Iterator<Item = (String, TypeCount, Option<UnknownType>)> {
        self.types.into_iter().map(|(kind, (counted, unknown))| (kind, counted, unknown))
    }
}

/// Everything found in a stretch. Line numbers are counted from the stretch's own first line.
#[derive(Default)]
pub struct Stretch {
    /// Entries that say something, in order.
    pub said: Vec<Said>,
    /// Entries that were dropped and are part of the tree, and how many of `said` stand before each.
    pub dropped: Vec<(usize, Link)>,
    /// Records by type.
    pub counts: Counts,
    /// Damaged pieces, the first [`MOST_DAMAGE_LISTED`].
    pub damage: Vec<Damage>,
    /// All damaged pieces.
    pub damage_total: u64,
    /// A last line that is not whole yet.
    pub incomplete_tail: Option<Place>,
}

/// Reads the records of a stretch.
pub struct StretchReader<'s> {
    head: Head,
    images: Option<&'s Mutex<ImageStore>>,
    /// What has been found since it was last taken.
    pub stretch: Stretch,
    /// A failure to keep an image.
    image_error: Option<io::Error>,
    calls: Calls,
    settings: Settings,
    /// How entries that were dropped ended.
    ends: Ends,
    /// The ids of the entry that is passed over just now, and of its parent.
    passing: Option<(Node, Node)>,
}

/// What entries have in common, each in memory once: looking it up again is a comparison of what is written.
#[derive(Default)]
struct Settings {
    /// The one in the first place was met last.
    recent: Vec<MetSetting>,
    /// Where the next new one goes when all places are taken.
    next: usize,
    /// What all entries have in common where they do not say it themselves.
    around: Option<Arc<Setting>>,
}

struct MetSetting {
    /// As its texts are written between the quotes.
    written: [Box<[u8]>; 6],
    decoded: Arc<Setting>,
}

impl Settings {
    fn get(&mut self, written: WrittenSetting<'_>) -> Option<Arc<Setting>> {
        let WrittenSetting { session_id, cwd, version, agent_id, agent_name, parent_call } = written;
        let raw = [session_id, cwd, version, agent_id, agent_name, parent_call]
            .map(|value| value.and_then(Value::raw_string).unwrap_or_default());
        if raw.iter().all(|text| text.is_empty()) {
            return self.around.clone();
        }
        let known = self.recent.iter().position(|known| known.written.iter().map(AsRef::as_ref).eq(raw));
        if let Some(at) = known {
            self.recent.swap(0, at);
            return Some(self.recent[0].decoded.clone());
        }
        let [session_id, cwd, version, agent_id, agent_name, parent_call] =
            raw.map(|raw| json::decode(raw).text.into());
        let new = Setting { session_id, cwd, version, agent_id, agent_name, parent_call };
        let new = Arc::new(match &self.around {
            Some(around) => new.or(around),
            None => new,
        });
        let entry = MetSetting { written: raw.map(Into::into), decoded: new.clone() };
        if self.recent.len() < MAX_SETTINGS {
            self.recent.push(entry);
        } else {
            self.recent[1 + self.next % (MAX_SETTINGS - 1)] = entry;
            self.next += 1;
        }
        Some(new)
    }
}

/// The tool calls met so far.
struct Calls {
    /// Whether the stretch is the file's first, so that no call was made before it.
    first: bool,
    /// Whether each started a subagent. In the first stretch those that did not are left out.
    known: HashMap<String, bool, FxBuildHasher>,
    /// Whether a subagent may be at work.
    any: bool,
}

impl Calls {
    fn take(&mut self, signal: &Signal) {
        let Signal::Assistant { tools, .. } = signal else { return };
        for tool in tools.iter().filter(|tool| !tool.id.is_empty()) {
            let is_subagent = tool.starts_agents();
            self.any |= is_subagent;
            // What one entry says may be dropped later, as the copy of another: a call that may have started one stays so.
            if is_subagent {
                self.known.insert(tool.id.clone(), true);
            } else if !self.first {
                self.known.entry(tool.id.clone()).or_insert(false);
            }
        }
    }

    fn may_be_subagent(&self, call: &str) -> bool {
        self.known.get(call).copied().unwrap_or(!self.first)
    }
}

impl<'s> StretchReader<'s> {
    /// A reader for one stretch; `first` when it is the file's first.
    #[must_use]
    pub fn new(head: Head, images: Option<&'s Mutex<ImageStore>>, first: bool) -> Self {
        let calls = Calls { first, known: HashMap::default(), any: !first };
        let (stretch, settings, ends) = (Stretch::default(), Settings::default(), Ends::default());
        Self { head, images, stretch, image_error: None, calls, settings, ends, passing: None }
    }

    fn add_dropped(&mut self, (id, parent): (Node, Node)) -> Link {
        let link = Link::dropped(id, parent);
        self.stretch.dropped.push((self.stretch.said.len(), link));
        link
    }
}

impl RecordSink for StretchReader<'_> {
    fn begin_document(&mut self, document: Value<'_>) {
        self.settings.around = self.settings.get(self.head.agent.document_setting(document));
    }

    /// Whether an image could not be kept.
    fn failure(&mut self) -> Result<()> {
        self.image_error.take().map_or(Ok(()), |error| Err(Error::os(error, &std::env::temp_dir())))
    }
}

struct StretchContext<'t> {
    calls: &'t Calls,
    images: Option<&'t Mutex<ImageStore>>,
    image_error: &'t mut Option<io::Error>,
    settings: &'t mut Settings,
}

impl Context for StretchContext<'_> {
    fn is_subagent_call(&self, call: &str) -> bool {
        self.calls.may_be_subagent(call)
    }

    fn setting(&mut self, written: WrittenSetting<'_>) -> Option<Arc<Setting>> {
        self.settings.get(written)
    }

    fn keep(&mut self, image: InlineImage<'_>) -> Option<MetImage> {
        match ImageStore::add(self.images?, image) {
            Ok(met) => Some(met),
            Err(error) => {
                *self.image_error = Some(error);
                None
            }
        }
    }
}

impl Records for StretchReader<'_> {
    fn entry(&mut self, entry: &Entry<'_>, class: Class) {
        let agent = self.head.agent;
        let mut signals = Vec::new();
        let mut context = StretchContext {
            calls: &self.calls,
            images: self.images,
            image_error: &mut self.image_error,
            settings: &mut self.settings,
        };
        if class == Class::Unknown {
            signals.push(Signal::Passed(Passed::Plain));
        } else {
            agent.read(entry, &mut context, &mut |signal| signals.push(signal));
        }
        if class != Class::Evidence && signals.iter().any(|signal| matches!(signal, Signal::Broken)) {
            let Place { line, offset, length } = entry.place;
            self.damage(Damage { line, offset, length, reason: Reason::InvalidJson, recovered: false });
            return;
        }
        if class != Class::Evidence || !signals.is_empty() {
            let envelope = agent.envelope(entry, &mut context);
            // Records that were copied are counted, whatever they tell.
            let counts = |signal: &Signal| !signal.is_empty() || matches!(signal, Signal::Passed(Passed::Inherited));
            if envelope.is_empty() && !self.head.copies && !signals.iter().any(counts) {
                return;
            }
            for signal in &signals {
                self.calls.take(signal);
            }
            self.stretch.said.push(Said { envelope, class, signals });
        }
    }

    fn count(&mut self, kind: &str, class: Class, place: Place) {
        self.stretch.counts.add(kind, class, place);
    }

    fn dropped(&mut self, kind: &str, record: &[u8]) {
        let agent = self.head.agent;
        if agent.part(kind).is_none() {
            return;
        }
        let at_ends = agent.ids_at_ends(record, record, &mut self.ends);
        let Some(ids) = at_ends.or_else(|| agent.ids_within(Value::new(record))) else { return };
        if self.add_dropped(ids).is_root()
            && let Some(signal) = agent.root_says(Value::new(record))
        {
            let envelope = Envelope::default();
            self.stretch.said.push(Said { envelope, class: Class::Evidence, signals: vec![signal] });
        }
    }

    fn passes(&mut self, kind: &str, begun: &[u8], ended: &[u8]) -> bool {
        if self.head.agent.part(kind).is_none() {
            self.passing = None;
            return true;
        }
        self.passing = self.head.agent.ids_at_ends(begun, ended, &mut self.ends);
        // A root may say something.
        self.passing.as_ref().is_some_and(|(_, parent)| *parent != Node::default())
    }

    fn passed(&mut self) {
        if let Some(ids) = self.passing.take() {
            self.add_dropped(ids);
        }
    }

    fn damage(&mut self, damage: Damage) {
        self.stretch.damage_total += 1;
        if self.stretch.damage.len() < MOST_DAMAGE_LISTED {
            self.stretch.damage.push(damage);
        }
    }

    fn incomplete_tail(&mut self, place: Place) {
        self.stretch.incomplete_tail = Some(place);
    }

    fn wants_unknown(&self) -> bool {
        self.head.copies
    }

    fn wants_evidence(&self, upcoming: &Members<'_>) -> bool {
        let asked = Evidence { subagents: self.calls.any, copies: self.head.copies };
        self.head.agent.wants_evidence(asked, upcoming)
    }

    fn evidence_markers(&self) -> Option<&'static [Finder<'static>]> {
        let asked = Evidence { subagents: self.calls.any, copies: self.head.copies };
        self.head.agent.evidence_markers(asked)
    }
}
