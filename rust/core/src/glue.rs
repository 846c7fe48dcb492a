//! Records glued to others on one line: where one begins behind something else.
//!
//! A process that dies while writing leaves half a record, and the next one appends its own to the same line. What
//! looks like the beginning of a record may also be an object nested in a whole one; how to tell is said at
//! [`Glue::next`].

use crate::json::{self, Members, Value};

/// What tells an agent's records from the objects that are nested in them.
#[derive(Clone, Copy)]
pub struct RecordShape {
    /// The key of the member that names a record's type.
    pub type_key: &'static str,
    /// How records begin, in every version seen: with a brace, a quote and the first key, or as much of it as tells.
    /// What begins otherwise is only read at the start of a line or right behind a whole record.
    pub starts: &'static [&'static [u8]],
    /// Whether a type stands in the agent's table.
    pub is_known: fn(&str) -> bool,
    /// Whether an object of a type that is known is a record of its own: it has what records of that type have.
    pub is_record: fn(&str, Value<'_>) -> bool,
}

/// How an agent's records begin, and how to find that. Built once for all lines.
pub struct Starts {
    shape: RecordShape,
    /// The first letters of their first keys, each once.
    letters: Vec<u8>,
    /// How an object begins whose first member is a type.
    typed: Vec<u8>,
}

impl Starts {
    /// Those of records that look like `shape`.
    #[must_use]
    pub fn of(shape: RecordShape) -> Self {
        let first_letter = |start: &&[u8]| start.strip_prefix(b"{\"")?.first().copied();
        let mut letters: Vec<_> = shape.starts.iter().filter_map(first_letter).collect();
        debug_assert_eq!(letters.len(), shape.starts.len(), "what begins without a key is never found");
        letters.sort_unstable();
        letters.dedup();
        Self { shape, letters, typed: format!("{{\"{}\":\"", shape.type_key).into_bytes() }
    }

    /// The first place at or behind `from` where something begins as a record does.
    #[must_use]
    pub fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let place = json::object_start(bytes, at, &self.letters)?;
            if self.any_at(bytes, place) {
                return Some(place);
            }
            at = place + 1;
        }
    }

    /// Whether something begins at `place` as a record does.
    #[must_use]
    pub fn any_at(&self, bytes: &[u8], place: usize) -> bool {
        self.shape.starts.iter().any(|start| bytes[place..].starts_with(start))
    }

    /// Whether the object at `at`, judged by its first member alone, can be a record. `unread` is the answer where that
    /// member cannot be read.
    pub fn may_be_record(&self, bytes: &[u8], at: usize, unread: bool) -> bool {
        // Nearly all are written in this way, and their types are short.
        if let Some(kind) = bytes[at..].strip_prefix(self.typed.as_slice()) {
            let near = &kind[..kind.len().min(40)];
            let end = near.iter().position(|byte| matches!(byte, b'"' | b'\\'));
            if let Some(end) = end.filter(|&end| near[end] == b'"')
                && let Ok(kind) = std::str::from_utf8(&near[..end])
            {
                return (self.shape.is_known)(kind);
            }
        }
        let Some(mut members) = Members::open(bytes, at) else { return unread };
        match members.key() {
            Ok(Some(key)) if key == self.shape.type_key.as_bytes() => match members.value().map(Value::text) {
                Ok(kind) => kind.is_some_and(|kind| (self.shape.is_known)(&kind.text)),
                Err(json::Broken) => unread,
            },
            Ok(Some(_)) => true,
            _ => unread,
        }
    }

    /// Whether `object` is a record.
    fn is_record(&self, object: Value<'_>) -> bool {
        let RecordShape { type_key, is_known, is_record, .. } = self.shape;
        self.any_at(object.raw(), 0)
            && object
                .get(type_key)
                .and_then(Value::text)
                .is_some_and(|kind| is_known(&kind.text) && is_record(&kind.text, object))
    }
}

/// `bytes` without the blanks and NULs at their end.
pub fn trimmed(bytes: &[u8]) -> &[u8] {
    let padding = bytes.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0)).count();
    &bytes[..bytes.len() - padding]
}

/// Finds records glued to others, on one line, from left to right.
pub struct Glue<'a> {
    bytes: &'a [u8],
    starts: &'a Starts,
    /// The next place where a record may begin, searched once; `None` before the first search.
    upcoming: Option<usize>,
    /// Where the object that ends the line begins.
    last_object: std::cell::OnceCell<Option<usize>>,
}

impl<'a> Glue<'a> {
    /// Over the bytes of one line.
    pub fn new(bytes: &'a [u8], starts: &'a Starts) -> Self {
        Self { bytes, starts, upcoming: None, last_object: std::cell::OnceCell::new() }
    }

    /// The first glued record at or behind `from`; with `only_last` only the one that ends the line.
    pub fn find(&mut self, from: usize, only_last: bool) -> Option<usize> {
        if only_last {
            let last = self.last_object()?;
            return (last >= from && self.is_record(last, self.bytes.len())).then_some(last);
        }
        self.next(from, false)
    }

    /// The first glued record at or behind `from`. With `first_only`, one that hides before the first sure one is not
    /// looked for: looking takes time in proportion to the line, and only a hostile line has many.
    ///
    /// Inside a whole record an object can only follow a colon, a bracket or a comma (its quotes would be
    /// escaped inside a string). Behind one of these, the object is a glued record only if the line, or what lies
    /// before the next glued record, ends with it, and it looks like a record.
    pub fn next(&mut self, from: usize, first_only: bool) -> Option<usize> {
        let mut at = from;
        loop {
            let found = self.candidate(at)?;
            let before = trimmed(&self.bytes[..found]);
            if !matches!(before.last(), Some(b':' | b'[' | b',')) {
                let nested = (!first_only).then(|| json::enclosing_object_start(before)).flatten();
                let nested = nested.filter(|&start| start >= from && start > 0);
                let hidden = nested.filter(|&start| {
                    let behind = trimmed(&self.bytes[..start]).last();
                    matches!(behind, Some(b':' | b'[' | b',')) && self.is_record(start, before.len())
                });
                return Some(hidden.unwrap_or(found));
            }
            if self.starts.may_be_record(self.bytes, found, false)
                && self.last_object() == Some(found)
                && self.is_record(found, self.bytes.len())
            {
                return Some(found);
            }
            at = found + 1;
        }
    }

    fn candidate(&mut self, from: usize) -> Option<usize> {
        if let Some(upcoming) = self.upcoming.filter(|&upcoming| upcoming >= from) {
            return (upcoming != usize::MAX).then_some(upcoming);
        }
        let found = self.starts.find(self.bytes, from);
        self.upcoming = Some(found.unwrap_or(usize::MAX));
        found
    }

    /// Whether the object between `start` and `end` is a record.
    fn is_record(&self, start: usize, end: usize) -> bool {
        self.starts.is_record(Value::new(&self.bytes[start..end]))
    }

    fn last_object(&mut self) -> Option<usize> {
        *self.last_object.get_or_init(|| {
            // A whole record, as nearly all are: read forwards, which is faster, the result is the same.
            let whole = self.bytes.first() == Some(&b'{') && json::value_end(self.bytes, 0) == Ok(self.bytes.len());
            if whole { Some(0) } else { json::enclosing_object_start(self.bytes) }
        })
    }
}
