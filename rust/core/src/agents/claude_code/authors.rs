//! Whose words stand in a user entry: what the entry itself says of it.

use crate::entry::Entry;
use crate::json::Value;

use super::blocks::string;
use super::human::{Author, begins_from_plan};
use super::replies::plan_of;

/// The ways in which a prompt comes in that only a human takes (`promptSource`, from 2.1.21x on).
const TYPED: [&str; 3] = ["typed", "queued", "suggestion_accepted"];

/// Who wrote the text of a user entry; `None` where it was surely not the human, and no summary of theirs either.
pub(super) fn author_of(entry: &Entry<'_>) -> Option<Author> {
    let summary = entry.is_true("isCompactSummary");
    let others = entry.is_true("isMeta")
        || (entry.is_true("isVisibleInTranscriptOnly") && !summary)
        || is_foreign(entry.get("origin"))
        || !entry.text("sourceToolUseID").is_empty();
    if others {
        return None;
    }
    let says = || is_human(entry.get("origin")) || is_typed(entry.get("promptSource"));
    Some(if summary {
        Author::Summary
    } else if says() {
        Author::Human
    } else {
        Author::Unsaid
    })
}

/// Whether an object, part of an entry, says that the human wrote.
pub(super) fn is_said_to_be_human(object: Value<'_>) -> bool {
    is_human(object.get("origin")) || is_typed(object.get("promptSource"))
}

/// Whether an `origin` says that somebody other than the human wrote. Absent means unattributed; a kind that
/// is not recognised is not human (the vendor's own rule).
pub(super) fn is_foreign(origin: Option<Value<'_>>) -> bool {
    kind(origin).is_some_and(|kind| !kind.text().is_some_and(|kind| kind.text == "human"))
}

fn is_human(origin: Option<Value<'_>>) -> bool {
    kind(origin).is_some_and(|kind| string(Some(kind)) == "human")
}

fn kind(origin: Option<Value<'_>>) -> Option<Value<'_>> {
    origin?.get("kind").filter(|kind| kind.is_string())
}

fn is_typed(source: Option<Value<'_>>) -> bool {
    source.is_some_and(|source| TYPED.contains(&string(Some(source)).as_ref()))
}

/// Whether the program wrote a prompt, which says `says`, for the human from a plan that they agreed to.
pub(super) fn is_from_plan(entry: &Entry<'_>, author: Option<Author>, says: &str) -> bool {
    plan_of(entry.get("planContent")).is_some() || (author == Some(Author::Unsaid) && begins_from_plan(says))
}
