//! One file, counted by type; a large one in stretches, on several threads.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use crate::agents::Agent;
use crate::entry::{Class, Damage, Entry, Place, Records};
use crate::error::{ErrorKind, Result};
use crate::head::{Head, Stranger};
use crate::io::Source;
use crate::json::{Members, Value};
use crate::progress::Progress;
use crate::reader::{Extent, Fold, Opened, RecordSink, Threads};
use crate::sessions::SessionFile;

/// Types of one agent that are counted apart: as many as in a manifest.
pub(super) const MOST_TYPES: usize = 1_000;

/// Distinct versions that are listed.
pub(super) const MOST_VERSIONS: usize = 1_000;

/// What types are counted as that are too many, or look like words rather than like a name.
pub(super) const OTHER: &str = "(other)";

/// Characters of a type's name that are kept: as many as in a manifest.
const NAME_CHARACTERS: usize = 100;

/// How long a version may be, in characters.
const VERSION_CHARACTERS: usize = 40;

/// What was found in one file.
#[derive(Default)]
pub(super) struct Tally {
    /// Whose it is, when that is known.
    pub agent: Option<&'static dyn Agent>,
    pub bytes: u64,
    pub lines: u64,
    pub versions: BTreeSet<String>,
    pub types: FxHashMap<String, Found>,
    pub damage: BTreeMap<&'static str, u64>,
    pub incomplete_tail: bool,
    /// What it is instead, where it is none.
    pub stranger: Option<&'static str>,
}

/// Records of one type.
#[derive(Default)]
pub(super) struct Found {
    pub unknown: bool,
    pub count: u64,
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, later: Self) {
        self.bytes += later.bytes;
        self.lines += later.lines;
        self.versions.extend(later.versions);
        for (name, found) in later.types {
            let name =
                if self.types.len() < MOST_TYPES || self.types.contains_key(&name) { name } else { OTHER.into() };
            let counted = self.types.entry(name).or_default();
            counted.unknown |= found.unknown;
            counted.count += found.count;
            counted.bytes += found.bytes;
        }
        for (reason, count) in later.damage {
            *self.damage.entry(reason).or_default() += count;
        }
        self.incomplete_tail |= later.incomplete_tail;
    }

    /// The same, unless it is of something that is no transcript and begins like this.
    fn unless_strange(read: Result<Self>, beginning: &[u8]) -> Result<Self> {
        let says_nothing = match &read {
            Ok(tally) => tally.types.values().all(|found| found.unknown),
            Err(error) => error.kind() == ErrorKind::NotATranscript,
        };
        let is_sure = |stranger: &&Stranger| says_nothing || (stranger.is_alike() && read.is_ok());
        match Stranger::surely(beginning).or_else(|| Stranger::of(beginning).filter(is_sure)) {
            Some(stranger) => Ok(Self { stranger: Some(stranger.name), ..Self::default() }),
            None => read,
        }
    }
}

/// Counts the records that it is given.
struct Counting {
    agent: &'static dyn Agent,
    tally: Tally,
    /// The version met last: most records have the same.
    version: String,
}

impl Counting {
    fn of(head: Head) -> Self {
        let agent = Some(head.agent).filter(|_| head.recognized);
        Self { agent: head.agent, tally: Tally { agent, ..Tally::default() }, version: String::new() }
    }

    fn note_version(&mut self, version: &str) {
        if version != self.version {
            version.clone_into(&mut self.version);
            if is_version(version) && self.tally.versions.len() < MOST_VERSIONS {
                self.tally.versions.insert(version.to_owned());
            }
        }
    }
}

impl Records for Counting {
    fn entry(&mut self, entry: &Entry<'_>, _class: Class) {
        self.note_version(&self.agent.version(entry));
    }

    fn count(&mut self, kind: &str, class: Class, place: Place) {
        let types = &mut self.tally.types;
        let counted = if let Some(counted) = types.get_mut(kind) {
            counted
        } else {
            let name = if types.len() < MOST_TYPES { name_of(kind) } else { OTHER.to_owned() };
            types.entry(name).or_default()
        };
        counted.unknown |= class == Class::Unknown;
        counted.count += 1;
        counted.bytes += place.length;
    }

    fn damage(&mut self, damage: Damage) {
        *self.tally.damage.entry(damage.reason.into()).or_default() += 1;
    }

    fn incomplete_tail(&mut self, _place: Place) {
        self.tally.incomplete_tail = true;
    }

    fn wants_evidence(&self, _upcoming: &Members<'_>) -> bool {
        false
    }

    fn evidence_markers(&self) -> Option<&'static [Finder<'static>]> {
        Some(&[])
    }
}

/// The name that a type is told by: what has other characters than names have may be somebody's words.
fn name_of(kind: &str) -> String {
    let is_of_a_name = |letter: char| letter.is_ascii_alphanumeric() || "-_./:()".contains(letter);
    if !kind.chars().all(is_of_a_name) {
        return OTHER.to_owned();
    }
    kind.chars().take(NAME_CHARACTERS).collect()
}

/// Whether that is how versions look.
fn is_version(text: &str) -> bool {
    let is_of_a_version = |letter: u8| letter.is_ascii_alphanumeric() || b"-.+_".contains(&letter);
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.len() <= VERSION_CHARACTERS
        && text.bytes().all(is_of_a_version)
}

/// Counts the records of a file.
pub(super) fn tally(file: &SessionFile, threads: Threads, progress: &mut Progress<'_>) -> Result<Tally> {
    let mut opened = Opened::open(Source::Path(file.path.clone()), file.agent, threads, progress)?;
    let (head, beginning) = (opened.head, opened.take_beginning());
    let mut whole = Whole(Counting::of(head).tally);
    let read = opened.read(head.agent.record_types().for_counting(), &|_| Counting::of(head), &mut whole, progress);
    Tally::unless_strange(read.map(|()| whole.0), &beginning)
}

/// What was counted of a file so far.
struct Whole(Tally);

impl Fold<Counting> for Whole {
    fn append(&mut self, counting: Counting, extent: Extent) {
        self.0.add(Tally { bytes: extent.bytes, lines: extent.lines, ..counting.tally });
    }
}

impl RecordSink for Counting {
    fn begin_document(&mut self, document: Value<'_>) {
        let version = self.agent.document_setting(document).version.and_then(Value::text);
        self.note_version(&version.map(|version| version.text).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_words_is_no_name() {
        for (kind, name) in [
            ("event_msg/item_completed/UserMessage", "event_msg/item_completed/UserMessage"),
            ("(none)", "(none)"),
            ("dear diary", OTHER),
            ("s\u{e9}ance", OTHER),
            ("", ""),
        ] {
            assert_eq!(name_of(kind), name, "{kind}");
        }
        assert_eq!(name_of(&"x".repeat(300)).len(), NAME_CHARACTERS);
    }

    #[test]
    fn what_may_be_words_is_no_version() {
        for version in ["2.1.39", "0.153.0-alpha.2", "1.0+build_3"] {
            assert!(is_version(version), "{version}");
        }
        for other in ["", "latest", "2 boats", "1/2", &"1".repeat(41)] {
            assert!(!is_version(other), "{other}");
        }
    }
}
