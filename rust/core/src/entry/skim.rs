//! Long records of which nothing more is read, passed over without being kept.
//!
//! ```text
//! the first block of a line holds a whole decision to drop its record
//!   and nothing behind it could be the beginning of a glued record
//!   and nothing behind it makes it of use after all       -> its length is all that is needed
//! anything else                                           -> the line is read whole, as every other
//! ```
//! Most of a Codex store is such lines, of up to 50 MB each. What is given is the same as when the line is kept: what
//! cannot be told from a window of [`MARGIN`] bytes around it makes the line be read whole.

use memchr::memmem::Finder;

use super::{Class, LineEntries, Records};
use crate::glue::{Starts, trimmed};
use crate::lines::Skim;

/// How much of what surrounds a place is looked at, in bytes.
const MARGIN: usize = 256;

/// The end of the part of a line that was looked through.
#[derive(Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Up to where places were looked at.
    done: usize,
    /// What would make the record of use after all.
    markers: &'static [Finder<'static>],
    /// Whether the record must end with its closing brace.
    must_close: bool,
    /// Blanks at the end of the line.
    pub(super) padding: usize,
    /// The type of the record, and its first bytes.
    kind: String,
    begun: Vec<u8>,
}

/// Asks a line's reader whether what follows is of use.
pub struct Skimming<'s> {
    entries: &'s mut LineEntries,
    records: &'s mut dyn Records,
}

impl<'s> Skimming<'s> {
    /// Over the lines that `entries` reads for `records`.
    pub fn new(entries: &'s mut LineEntries, records: &'s mut dyn Records) -> Self {
        Self { entries, records }
    }
}

impl Skim for Skimming<'_> {
    fn begin(&mut self, begun: &[u8]) -> bool {
        let Some((kind, read)) = self.entries.decision(begun, self.records) else { return false };
        let markers = match kind.class {
            Class::Evidence => self.records.evidence_markers(),
            _ => Some(&[][..]),
        };
        let Some(markers) = markers else { return false };
        let window = &mut self.entries.window;
        *window = Window { bytes: std::mem::take(&mut window.bytes), markers, ..Window::default() };
        window.must_close = kind.class == Class::Mark;
        window.kind = kind.name.to_string();
        window.begun = begun[..begun.len().min(MARGIN)].to_vec();
        window.bytes.clear();
        window.bytes.extend_from_slice(begun);
        window.done = read;
        self.looked_through(false)
    }

    fn pass(&mut self, piece: &[u8], last: bool) -> bool {
        let window = &mut self.entries.window;
        let old = window.done.saturating_sub(MARGIN);
        window.bytes.drain(..old);
        window.done -= old;
        window.bytes.extend_from_slice(piece);
        self.looked_through(last)
    }
}

impl Skimming<'_> {
    /// Looks through what is new in the window; `false` when the line has to be kept.
    fn looked_through(&mut self, last: bool) -> bool {
        let starts = &self.entries.starts;
        let window = &mut self.entries.window;
        let bytes = &window.bytes[..];
        let to = if last { bytes.len() } else { bytes.len().saturating_sub(MARGIN) };
        let mut at = window.done;
        while let Some(place) = starts.find(bytes, at).filter(|&place| place < to) {
            if may_be_glued(bytes, place, starts) {
                return false;
            }
            at = place + 1;
        }
        // A marker may reach into what comes next: that is looked through again.
        let from = window.done.saturating_sub(MARGIN);
        if window.markers.iter().any(|marker| marker.find(&bytes[from..]).is_some()) {
            return false;
        }
        window.done = to.max(window.done);
        if last {
            let end = trimmed(bytes);
            let padding = &bytes[end.len()..];
            window.padding = padding.len();
            return padding.len() < MARGIN
                && !padding.contains(&0)
                && (!window.must_close || end.last() == Some(&b'}'))
                && self.records.passes(&window.kind, &window.begun, end);
        }
        true
    }
}

/// Whether what begins at `place` may be a record glued to the one before it, as far as what surrounds it tells: the
/// conditions of [`crate::glue::Glue::next`], without those that depend on where the line ends.
fn may_be_glued(bytes: &[u8], place: usize, starts: &Starts) -> bool {
    debug_assert!(starts.any_at(bytes, place));
    !matches!(trimmed(&bytes[..place]).last(), Some(b':' | b'[' | b',')) || starts.may_be_record(bytes, place, true)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use crate::agents::{AGENTS, Agent};
    use crate::entry::{Damage, Entry, Place};
    use crate::error::Result;
    use crate::io::Input;
    use crate::json::Members;
    use crate::lines::LineReader;
    use crate::progress::Progress;

    /// Notes all that it is given.
    struct Notes {
        agent: &'static dyn Agent,
        evidence: crate::agents::Evidence,
        found: Vec<String>,
    }

    impl Records for Notes {
        fn entry(&mut self, entry: &Entry<'_>, class: Class) {
            let time: Cow<'_, str> = entry.text("timestamp");
            self.found.push(format!("{class:?} {} {time} {:?}", entry.kind, entry.place));
        }

        fn count(&mut self, kind: &str, class: Class, place: Place) {
            self.found.push(format!("{kind} {class:?} {place:?}"));
        }

        fn damage(&mut self, damage: Damage) {
            self.found.push(format!("{damage:?}"));
        }

        fn incomplete_tail(&mut self, place: Place) {
            self.found.push(format!("tail {place:?}"));
        }

        fn wants_evidence(&self, upcoming: &Members<'_>) -> bool {
            self.agent.wants_evidence(self.evidence, upcoming)
        }

        fn evidence_markers(&self) -> Option<&'static [Finder<'static>]> {
            self.agent.evidence_markers(self.evidence)
        }
    }

    /// What is found in the lines; and how many bytes were passed over.
    fn read(bytes: &[u8], agent: &'static dyn Agent, piece: usize, long: usize) -> Result<(Vec<String>, u64)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut lines = LineReader::new(Input::in_pieces(file.path(), piece)?).asking_from(long);
        let evidence =
            crate::agents::Evidence { subagents: bytes.len().is_multiple_of(2), copies: bytes.len().is_multiple_of(5) };
        let mut notes = Notes { agent, evidence, found: Vec::new() };
        let mut entries = LineEntries::new(*agent.record_types());
        let mut passed = 0;
        while let Some(line) =
            lines.next_line_or_skim(&mut Progress::silent(), &mut Skimming::new(&mut entries, &mut notes))?
        {
            passed += line.passed;
            notes.found.push(format!("line {} {} to {}", line.number, line.offset, line.end()));
            entries.read(&line, &mut notes);
        }
        Ok((notes.found, passed))
    }

    const PIECES: [&str; 37] = [
        "{\"timestamp\":\"t1\",\"type\":\"compacted\",\"payload\":{\"message\":\"\",\"replacement_history\":[",
        "{\"timestamp\":\"t2\",\"type\":\"compacted\",\"ordinal\":4,\"payload\":{",
        "{\"timestamp\":\"t3\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"output\":\"",
        "{\"timestamp\":\"t4\",\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"",
        "{\"timestamp\":\"t5\",\"type\":\"turn_context\",\"payload\":{\"cwd\":\"/\"}}",
        "{\"timestamp\":\"t6\",\"payload\":{\"type\":\"token_count\"},\"type\":\"event_msg\"",
        "{\"type\":\"progress\",\"data\":{\"type\":\"agent_progress\",\"message\":",
        "{\"parentUuid\":null,\"type\":\"progress\",\"toolUseID\":\"x\",\"data\":{\"message\":",
        "{\"type\":\"file-history-snapshot\",\"snapshot\":{\"a\":[",
        "{\"type\":\"user\",\"message\":{\"content\":\"",
        "{\"type\":\"attachment\",\"attachment\":{\"content\":{\"a\":\"",
        "{\"seq\":1,\"kind\":\"soundings\",\"depths\":[",
        "{\"at\":\"t\",\"kind\":\"said\",\"by\":\"captain\",\"words\":\"",
        "{\"kind\":\"said\",\"by\":\"mate\"}",
        "\",\"type\":\"queued_command\"}",
        "{\"type\":\"text\",\"text\":\"a\"}",
        "{\"type\":\"user\"}",
        "{\"type\":\"tag\",\"sessionId\":\"s\"}",
        "{\"timestamp\":",
        ";base64,",
        "\"image\"",
        "agent_id",
        "agent_progress",
        "\"",
        "\\\"",
        "{",
        "}",
        "}}",
        "]}}",
        "[",
        "]",
        ":",
        ",",
        " \t\r",
        "\0",
        "\n",
        "\n\n",
    ];

    fn any_file() -> impl Strategy<Value = Vec<u8>> {
        let filler = (0_usize..700).prop_map(|count| "x".repeat(count));
        let blanks = (0_usize..400).prop_map(|count| " ".repeat(count));
        let piece = prop_oneof![
            10 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
            6 => filler,
            1 => blanks,
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn the_same_is_found_whether_or_not_lines_are_kept(
            bytes in any_file(),
            agent in 0..AGENTS.len(),
            piece in 1_usize..600,
            long in 1_usize..400,
        ) {
            let agent = AGENTS[agent];
            let kept = read(&bytes, agent, piece, usize::MAX).unwrap();
            prop_assert_eq!(kept.1, 0);
            prop_assert_eq!(read(&bytes, agent, piece, long).unwrap().0, kept.0);
        }
    }

    #[test]
    fn long_noise_is_passed_over_and_what_may_be_of_use_is_not() {
        let history = "{\"type\":\"message\",\"role\":\"user\"},".repeat(300);
        for (codex, begin, end, is_passed) in [
            (true, PIECES[0], "{}]}}", true),
            (true, PIECES[0], "{}]}} \r", true),
            // Cut off: it must be looked at.
            (true, PIECES[0], "{}]", false),
            (true, PIECES[0], "{}]}}{\"timestamp\":\"t\",\"type\":\"compacted\"}", false),
            (true, PIECES[2], "\"}}", true),
            (true, PIECES[2], ";base64,\"}}", false),
            (true, PIECES[3], "\"}}", false),
            (false, PIECES[8], "{}]}}", true),
            (false, PIECES[8], "{}]}}\0", false),
            // It may be queued words.
            (false, PIECES[10], "\"}}}", false),
        ] {
            let bytes = format!("{begin}{history}{end}\n{{}}\n ");
            let bytes = if bytes.len().is_multiple_of(2) || bytes.len().is_multiple_of(5) {
                format!("\n{bytes}")
            } else {
                bytes
            };
            let bytes = if bytes.len().is_multiple_of(5) { format!("\n\n{bytes}") } else { bytes };
            let agent = AGENTS[usize::from(codex)];
            let (found, passed) = read(bytes.as_bytes(), agent, 64, 256).unwrap();
            assert_eq!(passed > 9_000, is_passed, "{begin} … {end}");
            assert_eq!(found, read(bytes.as_bytes(), agent, 64, usize::MAX).unwrap().0);
        }
    }
}
