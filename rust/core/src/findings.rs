//! What is said of a parsed conversation, in words: what a program is warned of, what a person should look at, and what
//! is good to know. Every reason is worded here, and nowhere else.

use std::borrow::Cow;

use crate::conversation::Conversation;
use crate::entry::Reason;
use crate::error::shown_name;
use crate::event::NotExtracted;
use crate::manifest::{DamagedLine, Manifest, UnknownEntries};
use crate::measures::counted;
use crate::story::LostImage;
use crate::warning::{Warning, WarningKind};

/// Things that a warning names one by one.
const MAX_NAMED: usize = 5;

impl Conversation {
    /// What the program that asked for it is warned of.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let manifest = &self.manifest;
        let mut warnings = Vec::new();
        let mut warn = |kind, what: &str, things: Vec<String>| {
            if !things.is_empty() {
                warnings.push(Warning { kind, message: format!("{what}: {}", listed(&things)) });
            }
        };
        if !self.allow_unknown {
            let unknown = manifest.unknown_entries.iter().map(unknown_in_short).collect();
            warn(WarningKind::UnknownEntryType, "unknown entry types were passed over", unknown);
        }
        let damaged = manifest.damaged_lines.iter().map(damage_in_short).collect();
        warn(WarningKind::DamagedInput, &format!("{} damaged places", manifest.damaged_lines_total), damaged);
        let lost = manifest.images_not_extracted.iter().map(loss_in_short).collect();
        warn(WarningKind::DamagedInput, "images could not be extracted", lost);
        let unreadable = manifest.unreadable_files.iter().map(|file| file.error.clone()).collect();
        warn(WarningKind::DamagedInput, "subagent files could not be read", unreadable);
        warnings
    }

    /// What a person should have a look at, one line each, the most important first.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let manifest = &self.manifest;
        let mut found = if self.allow_unknown { Vec::new() } else { unknown(manifest) };
        found.extend(secrets(manifest));
        let unreadable = manifest.unreadable_files.iter();
        found.extend(unreadable.map(|each| format!("{} could not be read: {}", each.file, each.error)));
        found.extend(manifest.images_not_extracted.iter().map(loss));
        found.extend(manifest.damaged_lines.iter().map(damage));
        // The manifest lists only the first thousand, and counts them all.
        let unlisted = manifest.damaged_lines_total.saturating_sub(manifest.damaged_lines.len() as u64);
        if unlisted > 0 {
            found.push(format!("and {} more", counted(unlisted, "damaged line", "damaged lines")));
        }
        found
    }

    /// What is good to know and needs no action.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let manifest = &self.manifest;
        let mut notes = Vec::new();
        if let Some(tail) = manifest.incomplete_tail {
            let line = tail.line;
            notes.push(format!("the last line is not complete yet (line {line}): the session is still being written"));
        }
        if let Some(turn) = manifest.incomplete_turn {
            notes.push(format!("the last turn, which begins on line {}, has no end", turn.line));
        }
        if let Some(origin) = manifest.origin {
            notes.push(format!("this is no conversation with a human: it is {}", origin_in_words(origin)));
        }
        if manifest.inherited_records > 0 {
            let copied = counted(manifest.inherited_records, "record", "records");
            notes.push(format!("{copied} copied from another session passed over"));
        }
        if manifest.queued_undelivered > 0 {
            let prompts = counted(manifest.queued_undelivered as u64, "queued prompt", "queued prompts");
            notes.push(format!("{prompts} never reached the assistant"));
        }
        notes
    }
}

fn unknown_in_short((name, entries): (&String, &UnknownEntries)) -> String {
    let (name, file) = (shown_name(name), of_file(entries.file.as_deref()));
    format!("{name} ({}, first on line {}{file})", entries.unknown.count, entries.unknown.first_line)
}

fn damage_in_short(DamagedLine { damage, file }: &DamagedLine) -> String {
    let (reason, file) = (in_short(damage.reason.into()), of_file(file.as_deref()));
    format!("line {}{file} at byte {}: {reason}", damage.line, damage.offset)
}

fn loss_in_short(lost: &LostImage) -> String {
    format!("line {} at byte {}: {}", lost.line, lost.offset, in_short(lost.reason.into()))
}

/// The name of a reason as it stands in the manifest, as words.
fn in_short(name: &str) -> String {
    name.replace('_', " ")
}

/// The first few, and how many more there are.
fn listed(things: &[String]) -> String {
    let text = things[..things.len().min(MAX_NAMED)].join("; ");
    match things.len().saturating_sub(MAX_NAMED) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

/// The types that are most often there first.
fn unknown(manifest: &Manifest) -> Vec<String> {
    let mut by_count: Vec<_> = manifest.unknown_entries.iter().collect();
    by_count.sort_by_key(|(_, entries)| std::cmp::Reverse(entries.unknown.count));
    let line = |(name, entries): (&String, &UnknownEntries)| {
        let count = counted(entries.unknown.count, "entry", "entries");
        let (file, name, first) = (in_file(entries.file.as_deref()), shown_name(name), entries.unknown.first_line);
        format!("{file}unknown entry type {name} ({count}, first on line {first}) was passed over")
    };
    by_count.into_iter().map(line).collect()
}

fn secrets(manifest: &Manifest) -> Option<String> {
    let first = manifest.pii_warnings.first()?;
    let count = counted(manifest.pii_warnings.len() as u64, "possible secret", "possible secrets");
    let of_event = first.event.map(|event| format!(" of event {event}")).unwrap_or_default();
    let place = format!("{}{of_event}: {}", first.field, first.preview);
    Some(format!("{count} in the text, see pii_warnings; the first in {place}"))
}

fn loss(lost: &LostImage) -> String {
    let why = match lost.reason {
        NotExtracted::NotCanonical => "its base64 is damaged",
        NotExtracted::NotAnImage => "its bytes are no image of a known kind",
        NotExtracted::TooLarge => "it has more than 64 MiB",
        NotExtracted::NoEvent => "no event is there to attach it to",
    };
    format!("an image on line {} (offset {}) was not extracted: {why}", lost.line, lost.offset)
}

fn damage(DamagedLine { damage, file }: &DamagedLine) -> String {
    let reason = match damage.reason {
        Reason::NulBytes => "NUL bytes",
        Reason::TruncatedRecord => "a record that was cut off",
        Reason::JoinedRecords => "two records without a line end between them",
        Reason::TrailingBytes => "bytes behind the record",
        Reason::InvalidJson => "no valid JSON",
        Reason::NotAnObject => "JSON, but no object",
        Reason::InvalidUtf8 => "text that is not UTF-8",
        Reason::LineTooLong => "longer than the limit",
    };
    let place = format!("offset {}, {}", damage.offset, counted(damage.length, "byte", "bytes"));
    let rest = if damage.recovered { "; the rest of the line was read" } else { "" };
    format!("{}damaged line {} ({place}): {reason}{rest}", in_file(file.as_deref()), damage.line)
}

/// What a session is when it is no conversation with a human, by the manifest's word for it.
fn origin_in_words(origin: &str) -> &str {
    match origin {
        "subagent" => "a subagent's",
        "script" => "a script's",
        "guardian" => "a check of what a command may do",
        "review" => "a review",
        "compaction" => "a summary for a compaction",
        "memory" => "the agent's upkeep of its memory",
        other => other,
    }
}

/// Names the subagent file that something stands in; nothing for the session file itself.
fn in_file(file: Option<&str>) -> Cow<'static, str> {
    file.map_or(Cow::Borrowed(""), |file| format!("{file}: ").into())
}

fn of_file(file: Option<&str>) -> Cow<'static, str> {
    file.map_or(Cow::Borrowed(""), |file| format!(" of {file}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_things_the_first_five_are_named() {
        let things: Vec<_> = (1..=7).map(|number| number.to_string()).collect();
        assert_eq!(listed(&things[..5]), "1; 2; 3; 4; 5");
        assert_eq!(listed(&things), "1; 2; 3; 4; 5; and 2 more");
    }
}
