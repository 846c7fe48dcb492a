//! A line to its entries: which type each is, where its fields are, and what is damaged.
//!
//! ```text
//! at p = 0:
//!   read the members of the object at p, until the agent knows the type
//!     dropped type  -> stop there; only look for a record glued behind it
//!     signal        -> read on to the closing brace, note where each field stands
//!     broken        -> look for a record glued to the broken one
//!   something behind the record -> report it, go on there
//! ```
//! A process that dies while writing leaves half a record; the next one appends its own to the same line
//! (30 bad lines in 10,949 real files). The half is lost, the whole one is not: it starts as the agent's records do
//! ([`RecordShape::starts`]). Everything here is linear in the line: candidates are searched once per line, and
//! after [`MOST_BROKEN`] failures only the last record is still tried.

mod skim;

use std::borrow::Cow;
use std::ops::Range;

use compact_str::CompactString;
use memchr::memmem::Finder;

use crate::glue::{Glue, RecordShape, Starts, trimmed};
use crate::json::{self, Broken, Member, MemberIndex, MemberPlace, Members, Stops, Value};
use crate::lines::{Line, without_bom};

pub use skim::Skimming;

use skim::Window;

/// How many broken records one line may hold before only its end is still looked at.
const MOST_BROKEN: usize = 64;

/// How much damage of one line is held back at a time until it is known whether anything was recovered.
const MOST_HELD_BACK: usize = 1_000;

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Place {
    /// Line number, from 1.
    pub line: u64,
    /// Byte offset in the (decompressed) input.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// What an agent makes of an entry type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Read: it says something.
    Signal,
    /// Read: it tells a fact about the session as a whole.
    Fact,
    /// Dropped without being read.
    Noise,
    /// Noise, unless the reader has a use for it just now ([`Records::wants_evidence`]).
    Evidence,
    /// Not in the agent's table.
    Unknown,
    /// Signal that says all by standing there: nothing is read of it but what comes before the member that tells the
    /// class, and how it ends.
    Mark,
    /// Depends on the member of this name. When that is an object, the question comes again as soon as it opens, so
    /// that what it holds need not be skipped to drop the record.
    Await(&'static str),
}

/// The name of records that have no type.
pub const UNTYPED: &str = "(none)";

/// Which types of records an agent has: what reading lines has to know about it. Most agents leave most of it as
/// [`RecordTypes::of`] has it.
#[derive(Clone, Copy)]
pub struct RecordTypes {
    /// What tells records from the objects in them.
    pub shape: RecordShape,
    /// What a type is, given the fields seen so far. When the third argument says so, no more will come.
    ///
    /// The member that is awaited may not have been read to its end: what stands first in it is there.
    pub classify: fn(&str, &Fields<'_>, bool) -> Class,
    /// Whether the class that the beginning of a record of a type tells is the same whatever follows.
    pub is_told_early: fn(&str) -> bool,
    /// The member of a record of a type whose own members are noted as well, on the way: what is read anyway need not be
    /// skipped before.
    pub opens: fn(&str) -> Option<&'static str>,
    /// The member that is opened even before the type is known.
    pub opens_early: Option<&'static str>,
    /// The member of the member that is opened which holds a list of objects whose members are noted as well.
    pub lists: Option<&'static str>,
    /// What a whole record without a type is, and the name it is counted under.
    pub classify_untyped: fn(&Fields<'_>) -> (Cow<'static, str>, Class),
    /// The name under which a record of a type is counted, where the type alone is not all that tells its kind.
    pub counted_as: CountedAs,
    /// The same, with all that tells its kind, for who wants to know which kinds there are.
    pub detailed: CountedAs,
}

/// The name under which a record of a type is counted, given its fields.
pub type CountedAs = for<'k> fn(&'k str, &Fields<'_>) -> Cow<'k, str>;

impl RecordTypes {
    /// Types of records that look like `shape`, each of which is what `classify` says and counted under its own name.
    #[must_use]
    pub const fn of(shape: RecordShape, classify: fn(&str, &Fields<'_>, bool) -> Class) -> Self {
        Self {
            shape,
            classify,
            is_told_early: |_| true,
            opens: |_| None,
            opens_early: None,
            lists: None,
            classify_untyped: |_| (Cow::Borrowed(UNTYPED), Class::Unknown),
            counted_as: own_name,
            detailed: own_name,
        }
    }

    /// The same types for who only counts them, by all that tells their kind.
    #[must_use]
    pub const fn for_counting(self) -> Self {
        Self { counted_as: self.detailed, opens: |_| None, opens_early: None, lists: None, ..self }
    }
}

fn own_name<'k>(kind: &'k str, _entry: &Fields<'_>) -> Cow<'k, str> {
    Cow::Borrowed(kind)
}

/// What is wrong with a piece of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// A run of NUL bytes before or behind a record.
    NulBytes,
    /// Two records on one line; both were read.
    JoinedRecords,
    /// A record that was cut off, with another behind it on the line; that one was read.
    TruncatedRecord,
    /// A record with something behind it that is no record.
    TrailingBytes,
    /// No JSON.
    InvalidJson,
    /// JSON, but no object.
    NotAnObject,
    /// Bytes that are not UTF-8 in text that was kept; U+FFFD stands for them.
    InvalidUtf8,
    /// Longer than [`crate::lines::LINE_LIMIT`].
    LineTooLong,
}

/// A damaged piece of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Damage {
    /// Line number, from 1.
    pub line: u64,
    /// Byte offset of the damaged piece.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// What is wrong with it.
    pub reason: Reason,
    /// Whether a record was read from the same line, or dropped as whole, in spite of it.
    pub recovered: bool,
}

/// Takes what [`LineEntries::read`] finds, in order.
pub trait Records {
    /// A record of class signal or fact, or evidence that was wanted.
    fn entry(&mut self, entry: &Entry<'_>, class: Class);
    /// A record of any class, by type: for counting. Comes before [`Records::entry`].
    fn count(&mut self, kind: &str, class: Class, place: Place);
    /// A whole record of class noise or evidence, of which nothing has been read behind what tells the class. Comes
    /// after [`Records::count`].
    fn dropped(&mut self, _kind: &str, _record: &[u8]) {}
    /// Whether of a record that is dropped only its beginning and its end need be kept: these.
    fn passes(&mut self, _kind: &str, _begun: &[u8], _ended: &[u8]) -> bool {
        true
    }
    /// The record of which [`Records::passes`] said so last is dropped.
    fn passed(&mut self) {}
    /// A damaged piece.
    fn damage(&mut self, damage: Damage);
    /// The last line, unterminated and not yet whole.
    fn incomplete_tail(&mut self, place: Place);
    /// Whether a record of class [`Class::Evidence`] is worth reading, of which `upcoming` is not yet read.
    fn wants_evidence(&self, upcoming: &Members<'_>) -> bool;
    /// What a record of class [`Class::Evidence`] holds when it is worth reading; `None` when that cannot be told in
    /// this way.
    fn evidence_markers(&self) -> Option<&'static [Finder<'static>]> {
        None
    }
    /// Whether records of no known type are given as well.
    fn wants_unknown(&self) -> bool {
        false
    }
}

/// The members of a record that have been found so far.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    record: &'a [u8],
    index: &'a MemberIndex,
    /// Whether a key is written with escapes, which no known writer does.
    escaped_keys: bool,
    /// The member whose own members are there as well.
    opened: Option<&'static str>,
}

impl<'a> Fields<'a> {
    /// The value of the first member called `name`.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the tag of a name that is written out is then made while compiling")]
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.find(name, false)
    }

    /// The value of the first member called `name` of the member that was opened.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `get`")]
    fn find(&self, name: &str, inner: bool) -> Option<Value<'a>> {
        if self.escaped_keys {
            return self.index.find_spelled(self.record, name, inner);
        }
        self.index.find(self.record, json::tag(name.as_bytes()), name, inner)
    }
}

/// A whole record with all its members found.
pub struct Entry<'a> {
    /// Its type.
    pub kind: &'a str,
    /// Where the record stands.
    pub place: Place,
    fields: Fields<'a>,
}

impl<'a> Entry<'a> {
    /// The value of the first member called `name`.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Fields::get`")]
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields.get(name)
    }

    /// The member called `name` of the object that the member called `outer` is.
    ///
    /// # Errors
    /// [`Broken`] when that object could not be read up to there.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Fields::get`")]
    pub fn inner(&self, outer: &str, name: &str) -> Result<Option<Value<'a>>, Broken> {
        if self.fields.opened == Some(outer) {
            return Ok(self.fields.find(name, true));
        }
        self.get(outer).map_or(Ok(None), |object| object.find(name))
    }

    /// The objects in a list of the member that was opened, and the members of each, if they were noted.
    #[must_use]
    pub fn objects(&self, list: Value<'a>) -> Option<impl Iterator<Item = (Value<'a>, &'a [Member])>> {
        self.fields.index.objects(self.fields.record, list)
    }

    /// The record that members are members of.
    #[must_use]
    pub fn record(&self) -> &'a [u8] {
        self.fields.record
    }

    /// The decoded string member called `name`, "" when there is none.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Fields::get`")]
    pub fn text(&self, name: &str) -> Cow<'a, str> {
        self.get(name).and_then(Value::text).map_or(Cow::Borrowed(""), |text| text.text)
    }

    /// Whether the member called `name` is `true`.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Fields::get`")]
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(Value::is_true)
    }
}

/// How reading one record ended.
enum Reading {
    /// At the closing brace, behind which this place is.
    Whole(usize),
    /// Where the class was known, because the rest of the record is of no interest.
    Dropped,
    Broken,
}

/// The type and class of the record being read.
struct Kind {
    name: CompactString,
    /// The name it is counted under, when that is another.
    counted: Option<String>,
    class: Class,
    /// Up to where the line was read when the class was known: a glued record can begin there.
    read: usize,
}

impl Kind {
    /// Of a record that has no type.
    fn none() -> Self {
        Self { name: CompactString::const_new(UNTYPED), counted: None, class: Class::Unknown, read: 0 }
    }

    /// The same, as the agent sees it now that more of the record is known.
    fn settled(self, types: &RecordTypes, fields: &Fields<'_>, complete: bool) -> Self {
        let class = (types.classify)(&self.name, fields, complete);
        let counted = match class {
            Class::Await(_) => None,
            _ => Some((types.counted_as)(&self.name, fields)).filter(|name| *name != self.name).map(Cow::into_owned),
        };
        Self { counted, class, ..self }
    }
}

/// Reads lines into entries; keeps its buffers between lines.
pub struct LineEntries {
    types: RecordTypes,
    /// The key that tells a record's type.
    type_key: Key,
    fields: MemberIndex,
    starts: Starts,
    /// Of the line that is being passed over.
    window: Window,
}

impl LineEntries {
    /// A reader of lines that hold records of `types`.
    #[must_use]
    pub fn new(types: RecordTypes) -> Self {
        Self {
            types,
            type_key: Key::of(Some(types.shape.type_key)),
            fields: MemberIndex::default(),
            starts: Starts::of(types.shape),
            window: Window::default(),
        }
    }

    /// Gives everything in `line` to `records`.
    pub fn read(&mut self, line: &Line<'_>, records: &mut dyn Records) {
        if line.bytes.is_empty() && line.overlong.is_none() {
            return;
        }
        if let Some(length) = line.overlong {
            records.damage(Damage {
                line: line.number,
                offset: line.offset,
                length,
                reason: Reason::LineTooLong,
                recovered: false,
            });
            return;
        }
        let padding = self.window.padding;
        let reading = self.reading(line, records);
        if line.passed > 0 { reading.run_passed(padding) } else { reading.run() }
    }

    /// The type of the record that `begun`, the beginning of a line, begins with, when that tells that nothing more is
    /// read of it; and up to where it was read then.
    fn decision(&mut self, begun: &[u8], records: &mut dyn Records) -> Option<(Kind, usize)> {
        let line = Line { number: 0, offset: 0, bytes: begun, terminated: true, overlong: None, passed: 0 };
        let is_told_early = self.types.is_told_early;
        let mut kind = None;
        let reading = self.reading(&line, records).read_fields(0, false, &mut kind);
        let kind = kind.filter(|kind| matches!(reading, Reading::Dropped) && is_told_early(&kind.name))?;
        // What stands at the end of what was read so far may look otherwise when more of it is there.
        let read = kind.read;
        (read < begun.len()).then_some((kind, read))
    }

    fn reading<'r>(&'r mut self, line: &'r Line<'r>, records: &'r mut dyn Records) -> LineReading<'r> {
        LineReading {
            line,
            bytes: line.bytes,
            types: &self.types,
            type_key: self.type_key,
            records,
            fields: &mut self.fields,
            starts: &self.starts,
            escaped_keys: false,
            opened: None,
            end: 0,
            only_last: false,
            any: false,
            damage: Vec::new(),
        }
    }
}

struct LineReading<'r> {
    line: &'r Line<'r>,
    /// The line without what was trimmed from its end.
    bytes: &'r [u8],
    types: &'r RecordTypes,
    type_key: Key,
    records: &'r mut dyn Records,
    fields: &'r mut MemberIndex,
    starts: &'r Starts,
    /// Whether a key of the record being read is written with escapes.
    escaped_keys: bool,
    /// The member of it that was opened.
    opened: Option<&'static str>,
    /// Behind the record read last.
    end: usize,
    /// Whether so much of the line was broken that only its end is still looked at.
    only_last: bool,
    /// Whether any record has been found on the line.
    any: bool,
    /// What is wrong with the line: held back until it is known whether anything was recovered.
    damage: Vec<Damage>,
}

/// A key that is looked for, and its tag.
#[derive(Clone, Copy)]
struct Key {
    name: Option<&'static str>,
    tag: u64,
}

impl Key {
    const NONE: Self = Self { name: None, tag: 0 };

    fn of(name: Option<&'static str>) -> Self {
        Self { name, tag: name.map_or(0, |name| json::tag(name.as_bytes())) }
    }
}

/// What is looked for on the way through a record.
struct Wanted {
    /// The member that tells type or class.
    awaited: Key,
    /// The member whose own members are noted as well.
    opened: Key,
}

/// What a step over members came to.
enum Step<'m> {
    /// The member that was awaited, and up to where the line is read with it.
    Told(Value<'m>, usize),
    /// A member that was not.
    Passed,
    /// No more members are to be read.
    Ended(Reading),
}

impl LineReading<'_> {
    fn run(mut self) {
        if let Some(start) = self.trim() {
            self.records_from(start);
        }
        self.report();
    }

    /// Reads the one record of a line that was passed over behind its beginning, up to so many blanks.
    fn run_passed(mut self, padding: usize) {
        let mut kind = None;
        let reading = self.read_fields(0, false, &mut kind);
        debug_assert!(matches!(reading, Reading::Dropped));
        if let Some(kind) = kind {
            let end = self.bytes.len() + self.line.passed as usize - padding;
            self.count(0, end, &kind);
            self.records.passed();
            if kind.class == Class::Mark {
                self.emit(0, end, &kind);
            }
        }
    }

    /// Reports what was held back.
    fn report(&mut self) {
        for mut damage in std::mem::take(&mut self.damage) {
            damage.recovered = self.any;
            self.records.damage(damage);
        }
    }

    fn records_from(&mut self, mut at: usize) {
        let mut glue = Glue::new(self.bytes, self.starts);
        let mut broken = 0;
        while at < self.bytes.len() {
            let joined = self.damage.len().checked_sub(1).filter(|&last| {
                let damage = self.damage[last];
                damage.reason == Reason::JoinedRecords && damage.offset == self.place(at, at).offset
            });
            self.only_last = broken > MOST_BROKEN;
            let next = self.record(at, &mut glue);
            if let Some(damage) = joined.and_then(|joined| self.damage.get_mut(joined)) {
                damage.length = (self.end - at) as u64;
            }
            match next {
                Next::End => return,
                Next::At(place) => at = place,
                Next::Recovered(place) => {
                    broken += 1;
                    at = place;
                }
            }
        }
    }

    /// Trims blanks, NUL runs (reported) and a byte-order mark; gives the first place to read, if any is left.
    fn trim(&mut self) -> Option<usize> {
        let text = if self.line.offset == 0 { without_bom(self.bytes) } else { self.bytes };
        let skipped = self.bytes.len() - text.len();
        let padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
        let start = skipped + self.bytes[skipped..].iter().take_while(|byte| padding(byte)).count();
        let end = self.bytes.len() - self.bytes[start..].iter().rev().take_while(|byte| padding(byte)).count();
        let (head, tail) = (skipped..start, end..self.bytes.len());
        for run in [head, tail] {
            if memchr::memchr(0, &self.bytes[run.clone()]).is_some() {
                self.damage(run.start, run.end, Reason::NulBytes);
            }
        }
        self.bytes = &self.bytes[..end];
        (start < end).then_some(start)
    }

    /// Reads the record at `at`; says where to go on.
    fn record(&mut self, at: usize, glue: &mut Glue<'_>) -> Next {
        if self.bytes[at] != b'{' {
            return self.recover(at, at, glue);
        }
        let must_be_whole = !self.line.terminated;
        let mut kind = None;
        let mut reading = self.read_fields(at, must_be_whole, &mut kind);
        if let (Reading::Dropped, Some(Kind { class: Class::Mark, read, .. })) = (&reading, &kind) {
            let start = glue.next(*read, self.only_last);
            if trimmed(&self.bytes[at..start.unwrap_or(self.bytes.len())]).last() != Some(&b'}') {
                // It does not end as it should: it has to be read.
                kind = None;
                reading = self.read_fields(at, true, &mut kind);
            }
        }
        if let (None, Reading::Whole(end)) = (&kind, &reading) {
            let (name, class) = (self.types.classify_untyped)(&self.fields_of(&self.bytes[at..]));
            // Known at the end only: nothing before it is glued to the record.
            kind = Some(Kind { name: CompactString::new(&name), class, read: *end, ..Kind::none() });
        }
        let is_evidence = kind.as_ref().is_some_and(|kind: &Kind| kind.class == Class::Evidence);
        let is_noise = is_evidence || kind.as_ref().is_some_and(|kind| kind.class == Class::Noise);
        let kind = kind.unwrap_or_else(Kind::none);
        match reading {
            Reading::Dropped => self.dropped(at, &kind, glue),
            // Evidence is noise that was looked into: what may be glued to it is looked for in the same way, and
            // when that begins in the middle of it, or it does not hold together, it tells nothing.
            Reading::Whole(end) if is_evidence && !must_be_whole => {
                let start = glue.next(kind.read, self.only_last);
                let counted = at + trimmed(&self.bytes[at..start.unwrap_or(self.bytes.len())]).len();
                if counted >= end {
                    self.emit(at, counted, &kind);
                }
                self.dropped(at, &kind, glue)
            }
            Reading::Broken if is_evidence && !must_be_whole => self.dropped(at, &kind, glue),
            // The unterminated last line: noise with a record glued to it, or not whole yet.
            Reading::Broken if is_noise && glue.next(kind.read, self.only_last).is_some() => {
                self.dropped(at, &kind, glue)
            }
            Reading::Broken if is_noise => self.recover(at, self.bytes.len(), glue),
            Reading::Broken => self.recover(at, at + 1, glue),
            Reading::Whole(end) => {
                self.count(at, end, &kind);
                if is_noise {
                    self.records.dropped(&kind.name, &self.bytes[at..end]);
                }
                self.emit(at, end, &kind);
                self.behind_whole(end, glue)
            }
        }
    }

    fn dropped(&mut self, at: usize, kind: &Kind, glue: &mut Glue<'_>) -> Next {
        let start = glue.next(kind.read, self.only_last);
        let end = at + trimmed(&self.bytes[at..start.unwrap_or(self.bytes.len())]).len();
        self.count(at, end, kind);
        if kind.class == Class::Mark {
            self.emit(at, end, kind);
        } else if self.bytes[end - 1] == b'}' {
            self.records.dropped(&kind.name, &self.bytes[at..end]);
        }
        let Some(start) = start else { return Next::End };
        if self.bytes[end - 1] == b'}' {
            self.damage(start, self.bytes.len(), Reason::JoinedRecords);
        } else {
            self.damage(at, start, Reason::TruncatedRecord);
        }
        Next::Recovered(start)
    }

    fn behind_whole(&mut self, end: usize, glue: &mut Glue<'_>) -> Next {
        let rest = end + self.bytes[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0)).count();
        match self.bytes.get(rest) {
            None => Next::End,
            Some(b'{') => {
                self.damage(rest, self.bytes.len(), Reason::JoinedRecords);
                Next::At(rest)
            }
            Some(_) => {
                if let Some(start) = glue.find(rest, self.only_last) {
                    self.damage(rest, start, Reason::TruncatedRecord);
                    return Next::Recovered(start);
                }
                self.damage(rest, self.bytes.len(), Reason::TrailingBytes);
                Next::End
            }
        }
    }

    /// The record at `at` cannot be read: goes on at the next one on the line, from `from` on.
    fn recover(&mut self, at: usize, from: usize, glue: &mut Glue<'_>) -> Next {
        self.end = self.bytes.len();
        if let Some(start) = glue.find(from, self.only_last) {
            self.end = start;
            self.damage(at, start, Reason::TruncatedRecord);
            return Next::Recovered(start);
        }
        let rest = &self.bytes[at..];
        if !self.line.terminated && rest.first() == Some(&b'{') {
            self.records.incomplete_tail(self.place(at, self.bytes.len()));
        } else if is_whole_value(rest) {
            self.damage(at, self.bytes.len(), Reason::NotAnObject);
        } else {
            self.damage(at, self.bytes.len(), Reason::InvalidJson);
        }
        Next::End
    }

    /// Reads the members of the record at `at` until its class is known and drops it, or to its closing brace.
    fn read_fields(&mut self, at: usize, must_be_whole: bool, kind: &mut Option<Kind>) -> Reading {
        self.fields.clear();
        self.escaped_keys = false;
        self.opened = None;
        let record = &self.bytes[at..];
        let Some(mut members) = Members::open(record, 0) else { return Reading::Broken };
        let mut wanted = Wanted { awaited: self.type_key, opened: Key::of(self.types.opens_early) };
        loop {
            let (value, read) = match self.step(&mut members, &mut wanted, at, must_be_whole, kind) {
                Step::Passed => continue,
                Step::Told(value, read) => (value, read),
                Step::Ended(Reading::Whole(_)) => break,
                Step::Ended(reading) => return reading,
            };
            let settled = self.settle(record, value, read, kind.take());
            let class = settled.class;
            let settled = kind.insert(settled);
            wanted.awaited = Key::NONE;
            match class {
                Class::Await(name) => wanted.awaited = Key::of(Some(name)),
                class if drops(class, must_be_whole, self.only_last, self.records, &members) => {
                    return Reading::Dropped;
                }
                _ if wanted.opened.name.is_none() => wanted.opened = Key::of((self.types.opens)(&settled.name)),
                _ => {}
            }
        }
        if let Some(Class::Await(_)) = kind.as_ref().map(|kind| kind.class) {
            *kind = kind.take().map(|kind| kind.settled(self.types, &self.fields_of(record), true));
        }
        Reading::Whole(at + members.at())
    }

    /// Goes on over members up to and with the next one that is asked for, or over one that is not.
    fn step<'m>(
        &mut self,
        members: &mut Members<'m>,
        wanted: &mut Wanted,
        at: usize,
        must_be_whole: bool,
        kind: &mut Option<Kind>,
    ) -> Step<'m> {
        let record = members.bytes();
        let opened = if self.opened.is_some() { Key::NONE } else { wanted.opened };
        // The type is read in the run. What decides after it may be an object, which is looked into, not skipped.
        let (before, behind) = if kind.is_none() { (Key::NONE, wanted.awaited) } else { (wanted.awaited, Key::NONE) };
        let count = self.fields.count();
        members.run(Stops { before: [before.tag, opened.tag], behind: behind.tag }, None, self.fields);
        if behind.tag != 0
            && self.fields.count() > count
            && let Some(member) = self.fields.last_tagged(behind.tag)
        {
            return Step::Told(member.value(record), at + read_up_to(&member.value_place(), record));
        }
        if let Some(name) = wanted.awaited.name.filter(|_| kind.is_some()) {
            match self.peek(members, record, name, at, kind) {
                Some(class) if drops(class, must_be_whole, self.only_last, self.records, members) => {
                    return Step::Ended(Reading::Dropped);
                }
                Some(_) => wanted.awaited = Key::NONE,
                None => {}
            }
        }
        let place = self.open(members, wanted.opened.name).map_or_else(|| members.place(), |place| Ok(Some(place)));
        let place = match place {
            Err(_) => return Step::Ended(Reading::Broken),
            Ok(None) => return Step::Ended(Reading::Whole(at + members.at())),
            Ok(Some(place)) => place,
        };
        let key = &record[place.key.clone()];
        self.escaped_keys |= json::has_escapes(key);
        self.fields.push(Member::new(record, &place, false));
        match wanted.awaited.name {
            Some(name) if json::key_is(key, name) => {
                Step::Told(Value::new(&record[place.value.clone()]), at + read_up_to(&place.value, record))
            }
            _ => Step::Passed,
        }
    }

    /// The type and class of the record now that the member which was asked for says `value`.
    fn settle(&self, record: &[u8], value: Value<'_>, read: usize, known: Option<Kind>) -> Kind {
        let fields = self.fields_of(record);
        match (known, value.text()) {
            (Some(known), _) => Kind { read, ..known.settled(self.types, &fields, false) },
            (None, None) => Kind::none(),
            (None, Some(name)) => {
                let named = Kind { name: CompactString::new(&name.text), read, ..Kind::none() };
                named.settled(self.types, &fields, false)
            }
        }
    }

    /// The members found so far of `record`.
    fn fields_of<'f>(&'f self, record: &'f [u8]) -> Fields<'f> {
        Fields { record, index: self.fields, escaped_keys: self.escaped_keys, opened: self.opened }
    }

    /// Notes the members of the member called `name` if that comes next and is an object that can be read; gives its
    /// place.
    fn open(&mut self, members: &mut Members<'_>, name: Option<&'static str>) -> Option<MemberPlace> {
        let name = name.filter(|_| self.opened.is_none())?;
        let mut place = members.upcoming_object()?;
        let record = members.bytes();
        let fields = Fields { record, index: self.fields, escaped_keys: self.escaped_keys, opened: None };
        if &record[place.key.clone()] != name.as_bytes() || fields.get(name).is_some() {
            return None;
        }
        let list = Some(self.types.lists.map_or(0, |name| json::tag(name.as_bytes())));
        let (from, mut escaped) = (self.fields.count(), false);
        let mut inner = Members::open(record, place.value.start)?;
        loop {
            inner.run(Stops::default(), list, self.fields);
            match inner.place() {
                Ok(Some(place)) => {
                    let key = &record[place.key.clone()];
                    escaped |= json::has_escapes(key);
                    self.fields.push(Member::new(record, &place, true));
                }
                Ok(None) => break,
                Err(_) => {
                    // Whoever reads it later finds out where it is broken.
                    self.fields.truncate(from);
                    return None;
                }
            }
        }
        self.escaped_keys |= escaped;
        self.opened = Some(name);
        place.value.end = inner.at();
        members.step_over(&place);
        Some(place)
    }

    /// The class of the record, if the member called `name` comes next and is an object, and what stands first in it
    /// tells.
    fn peek(
        &mut self,
        members: &Members<'_>,
        record: &[u8],
        name: &str,
        at: usize,
        kind: &mut Option<Kind>,
    ) -> Option<Class> {
        let place = members.upcoming_object()?;
        let key = &record[place.key.clone()];
        if !json::key_is(key, name) {
            return None;
        }
        let read = at + place.value.start;
        self.fields.push(Member::new(record, &place, false));
        let fields = Fields {
            record,
            index: self.fields,
            escaped_keys: self.escaped_keys || json::has_escapes(key),
            opened: None,
        };
        let settled = kind.take().map(|kind| kind.settled(self.types, &fields, false));
        self.fields.pop();
        let class = settled.as_ref().map(|kind| kind.class);
        *kind = settled;
        class.filter(|class| !matches!(class, Class::Await(_))).inspect(|_| {
            if let Some(kind) = kind {
                kind.read = read;
            }
        })
    }

    fn emit(&mut self, at: usize, end: usize, kind: &Kind) {
        let place = self.place(at, end);
        let is_wanted = kind.class == Class::Unknown && self.records.wants_unknown();
        if is_wanted || matches!(kind.class, Class::Signal | Class::Mark | Class::Fact | Class::Evidence) {
            let fields = Fields {
                record: &self.bytes[at..end.min(self.bytes.len())],
                index: self.fields,
                escaped_keys: self.escaped_keys,
                opened: self.opened,
            };
            let class = if kind.class == Class::Mark { Class::Signal } else { kind.class };
            self.records.entry(&Entry { kind: &kind.name, place, fields }, class);
        }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place { line: self.line.number, offset: self.line.offset + start as u64, length: (end - start) as u64 }
    }

    fn count(&mut self, start: usize, end: usize, kind: &Kind) {
        self.any = true;
        self.end = end;
        self.records.count(kind.counted.as_deref().unwrap_or(&kind.name), kind.class, self.place(start, end));
    }

    fn damage(&mut self, start: usize, end: usize, reason: Reason) {
        if self.damage.len() == MOST_HELD_BACK {
            self.report();
        }
        let Place { line, offset, length } = self.place(start, end);
        self.damage.push(Damage { line, offset, length, reason, recovered: false });
    }
}

enum Next {
    End,
    At(usize),
    /// Behind something broken.
    Recovered(usize),
}

/// Where a glued record may begin when nothing more of `record` is read than the value at `value`: at the value, if the
/// record was cut right before or in it; a value in the middle of the line that is whole holds none.
fn read_up_to(value: &Range<usize>, record: &[u8]) -> usize {
    let cut_short = record[value.start] == b'"' || value.end == record.len();
    if cut_short { value.start } else { value.end }
}

/// Whether nothing more of a record of class `class` is to be read, of which `upcoming` is not read yet.
fn drops(class: Class, must_be_whole: bool, only_last: bool, records: &dyn Records, upcoming: &Members<'_>) -> bool {
    match class {
        Class::Noise | Class::Mark => !must_be_whole,
        // Looking for a use takes time in proportion to the rest of the line.
        Class::Evidence => !must_be_whole && (only_last || !records.wants_evidence(upcoming)),
        _ => false,
    }
}

fn is_whole_value(bytes: &[u8]) -> bool {
    match bytes.first() {
        Some(b'[') => json::value_end(bytes, 0) == Ok(bytes.len()),
        _ => serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok(),
    }
}
