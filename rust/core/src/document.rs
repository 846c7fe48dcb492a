//! A transcript that is one JSON document instead of a record on each line: its records, as if they were lines.

use memchr::memchr_iter;

use crate::agents::{Agent, DocumentPart};
use crate::entry::{Damage, LineEntries, Place, Reason, Records};
use crate::json::{Value, skip_blank, value_end};
use crate::lines::{Line, without_bom};

/// The value that the document is.
#[must_use]
pub fn root(document: &[u8]) -> Value<'_> {
    let text = without_bom(document);
    Value::new(&text[skip_blank(text, 0)..])
}

/// Gives every record of `document` to `records`; gives the number of its lines.
///
/// Of a document that is cut off, or broken somewhere, the records before that place are read.
pub fn read(document: &[u8], agent: &dyn Agent, records: &mut dyn Records) -> u64 {
    let value = root(document);
    let start = document.len() - value.raw().len();
    let entries = LineEntries::new(*agent.record_types());
    let mut reading = DocumentReader { document, entries, records, at: 0, line: 1 };
    let mut whole_until = start;
    for part in agent.document_records(value) {
        match part {
            // The last one of a document that is cut off.
            DocumentPart::Record(record) if value_end(record.raw(), 0) != Ok(record.raw().len()) => break,
            DocumentPart::Record(record) => {
                whole_until = reading.record(record);
            }
            DocumentPart::Records(list) => {
                for record in list.elements() {
                    whole_until = reading.record(record);
                }
            }
        }
    }
    // A brace too many may end it before its last record, and a bracket too many a list before its last element.
    let is_whole = |end: &usize| {
        let json = document.get(start..*end).map(serde_json::from_slice::<serde::de::IgnoredAny>);
        *end >= whole_until && json.is_some_and(|json| json.is_ok())
    };
    let end = value_end(document, start).ok().filter(is_whole);
    if let Some(end) = end {
        let rest = skip_blank(document, end);
        if rest < document.len() {
            reading.damage(rest, Reason::TrailingBytes);
        }
    } else {
        let behind = skip_blank(document, whole_until);
        let behind = if document.get(behind) == Some(&b',') { skip_blank(document, behind + 1) } else { behind };
        let place = reading.place(behind, document.len());
        reading.records.incomplete_tail(place);
    }
    let lines = memchr_iter(b'\n', document).count() as u64;
    lines + u64::from(document.last().is_some_and(|&last| last != b'\n'))
}

struct DocumentReader<'r> {
    document: &'r [u8],
    entries: LineEntries,
    records: &'r mut dyn Records,
    /// Up to where lines were counted, and the line that stands there.
    at: usize,
    line: u64,
}

impl DocumentReader<'_> {
    /// Reads one record; gives the place behind it.
    fn record(&mut self, record: Value<'_>) -> usize {
        // The value was cut out of the document: its distance from the document's beginning is its offset.
        let start = record.raw().as_ptr() as usize - self.document.as_ptr() as usize;
        let place = self.place(start, start + record.raw().len());
        let line = Line {
            number: place.line,
            offset: place.offset,
            bytes: record.raw(),
            terminated: true,
            overlong: None,
            passed: 0,
        };
        self.entries.read(&line, self.records);
        start + record.raw().len()
    }

    /// Places are asked for in order.
    fn place(&mut self, start: usize, end: usize) -> Place {
        self.line += memchr_iter(b'\n', &self.document[self.at..start]).count() as u64;
        self.at = start;
        Place { line: self.line, offset: start as u64, length: (end - start) as u64 }
    }

    fn damage(&mut self, start: usize, reason: Reason) {
        let Place { line, offset, length } = self.place(start, self.document.len());
        self.records.damage(Damage { line, offset, length, reason, recovered: true });
    }
}
