//! One file, counted by type; a large one in stretches, on several threads.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;

use super::{MOST_TYPES, MOST_VERSIONS, OTHER, stopped};
use crate::agents::Agent;
use crate::document;
use crate::entry::{Class, Classify, Damage, Entry, Fields, LineEntries, Place, Records, Skimming};
use crate::error::{Error, ErrorKind, Result};
use crate::glue::Recognize;
use crate::head::{Head, Stranger};
use crate::input::{Input, LEAST_STRETCH, Source, stretches};
use crate::json::Members;
use crate::json::Value;
use crate::lines::{LINE_LIMIT, LineReader};
use crate::parallel;
use crate::sessions::SessionFile;

/// Characters of a type's name that are kept: as many as in a manifest.
const NAME_CHARACTERS: usize = 100;

/// How long a version may be, in characters.
const VERSION_CHARACTERS: usize = 40;

/// How many bytes are looked through for the first brace before a file is taken for something else.
const PROOF_WINDOW: u64 = 1 << 20;

/// How often it is noted how far reading has come, in bytes.
const NOTE_EVERY: u64 = 1 << 20;

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

/// An agent whose records are counted by all that tells their type.
struct Detailed(&'static dyn Agent);

impl Recognize for Detailed {
    fn is_record(&self, kind: &str, object: Value<'_>) -> bool {
        self.0.is_record(kind, object)
    }

    fn may_be_record(&self, kind: &str) -> bool {
        self.0.may_be_record(kind)
    }

    fn record_starts(&self) -> &'static [&'static [u8]] {
        self.0.record_starts()
    }
}

impl Classify for Detailed {
    fn is_told_early(&self, kind: &str) -> bool {
        self.0.is_told_early(kind)
    }

    fn classify(&self, kind: &str, entry: &Fields<'_>, complete: bool) -> Class {
        self.0.classify(kind, entry, complete)
    }

    fn classify_untyped(&self, entry: &Fields<'_>) -> (Cow<'static, str>, Class) {
        self.0.classify_untyped(entry)
    }

    fn counted_as<'k>(&self, kind: &'k str, entry: &Fields<'_>) -> Cow<'k, str> {
        self.0.detailed(kind, entry)
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
}

impl Records for Counting {
    fn entry(&mut self, entry: &Entry<'_>, _class: Class) {
        let version = self.agent.version(entry);
        if version != self.version {
            self.version = version.into_owned();
            if is_version(&self.version) && self.tally.versions.len() < MOST_VERSIONS {
                self.tally.versions.insert(self.version.clone());
            }
        }
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

/// Counts one file on the calling thread.
pub(super) fn tally(file: &SessionFile, done: &AtomicU64, stop: &AtomicBool) -> Result<Tally> {
    let mut input = Input::open(Source::Path(file.path.clone()))?;
    let mut wait = || if stop.load(Ordering::Relaxed) { Err(stopped()) } else { Ok(()) };
    let (head, beginning) = Head::read(file.agent, |size| input.head(size, &mut wait))?;
    let mut counting = Counting::of(head);
    if head.document {
        let document = input.all(LINE_LIMIT, &mut wait)?;
        counting.tally.lines = document::read(&document, head.agent, &mut counting);
        counting.tally.bytes = document.len() as u64;
        done.fetch_add(file.size, Ordering::Relaxed);
        return Ok(counting.tally);
    }
    let read = count_lines(LineReader::new(input), file.size, &mut counting, done, stop);
    Tally::unless_strange(read.map(|()| counting.tally), &beginning)
}

/// Counts one file on several threads; `go_on` is asked whether to.
pub(super) fn tally_side_by_side(
    file: &SessionFile,
    threads: usize,
    done: &AtomicU64,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Tally> {
    let parts = stretches(&Source::Path(file.path.clone()), threads, LEAST_STRETCH)?;
    let head = parts.as_ref().map(|parts| Head::read(file.agent, |size| parts[0].head(size))).transpose()?;
    let Some((parts, (head, beginning))) = parts.zip(head).filter(|(_, (head, _))| !head.document) else {
        let alone = std::slice::from_ref(file);
        let read = parallel::map_while(1, alone, |file, stop| tally(file, done, stop), go_on);
        return read.and_then(|read| read.into_iter().next()).ok_or_else(stopped)?;
    };
    let read = parallel::map_while(
        threads,
        &parts,
        |part, stop| {
            let mut counting = Counting::of(head);
            let lines = LineReader::starting_at(Input::of_stretch(part), part.start(), <_>::default());
            count_lines(lines, part.length(), &mut counting, done, stop)?;
            Ok(counting.tally)
        },
        go_on,
    );
    let mut whole = Ok(Counting::of(head).tally);
    for part in read.ok_or_else(stopped)? {
        whole = whole.and_then(|mut whole| {
            whole.add(part?);
            Ok(whole)
        });
    }
    Tally::unless_strange(whole, &beginning)
}

/// Counts the records of `lines`, which stand for so many bytes of the progress.
fn count_lines(
    mut lines: LineReader,
    size: u64,
    counting: &mut Counting,
    done: &AtomicU64,
    stop: &AtomicBool,
) -> Result<()> {
    let start = lines.offset();
    let agent = Detailed(counting.agent);
    let mut line_entries = LineEntries::new(&agent);
    let not_one = || Error::new(ErrorKind::NotATranscript, "the first megabyte holds no JSON object");
    // Only the beginning of a file tells what it is.
    let (mut proven, mut noted) = (start > 0, 0);
    let mut note = |end: u64| {
        // Compressed files hold more than their size.
        let now = (end - start).min(size);
        done.fetch_add(now - noted, Ordering::Relaxed);
        noted = now;
    };
    let mut next_note = start + NOTE_EVERY;
    while let Some(line) = lines.next_line_or_skim(
        &mut |begun| {
            if stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            let hopeless = !proven && begun.len() as u64 > PROOF_WINDOW && !begun.contains(&b'{');
            if hopeless { Err(not_one()) } else { Ok(()) }
        },
        &mut Skimming::new(&mut line_entries, counting),
    )? {
        let end = line.end();
        proven = proven || line.bytes.contains(&b'{');
        if !proven && end > PROOF_WINDOW {
            return Err(not_one());
        }
        line_entries.read(&line, counting);
        if end >= next_note {
            next_note = end + NOTE_EVERY;
            note(end);
            if stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
        }
    }
    note(lines.offset());
    counting.tally.lines = lines.lines();
    counting.tally.bytes = lines.offset() - start;
    Ok(())
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
