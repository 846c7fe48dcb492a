//! Whose words stand in a user entry: what the entry itself says of it.

use crate::agents::text::string;
use crate::entry::Entry;
use crate::json::Value;

use super::human::{Author, behind_plan_mark, without_outer_context};
use super::replies::plan_of;

/// The ways in which a prompt comes in that only a human takes (`promptSource`, from 2.1.21x on).
const TYPED: [&str; 3] = ["typed", "queued", "suggestion_accepted"];

/// The kind of origin that prompts have which the program writes to go on by itself.
const GOES_ON: &str = "auto-continuation";

/// What stands before the human's words at the end of such a prompt, where they said something to the plan.
const FEEDBACK: &str = "User feedback on this plan:";

/// Who wrote the text of a user entry; `None` where it was surely not the human, and no summary of theirs either.
pub(super) fn author_of(entry: &Entry<'_>) -> Option<Author> {
    let summary = entry.is_true("isCompactSummary");
    if is_marked(entry, summary) || is_foreign(entry.get("origin")) {
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

/// Whether the entry says, beside its origin, that the program wrote it.
fn is_marked(entry: &Entry<'_>, summary: bool) -> bool {
    entry.is_true("isMeta")
        || (entry.is_true("isVisibleInTranscriptOnly") && !summary)
        || !entry.text("sourceToolUseID").is_empty()
}

/// Whether saved output of the program says that nobody typed an entry, summaries included: the one mark it has.
pub(super) fn is_synthetic(entry: &Entry<'_>) -> bool {
    entry.is_true("isSynthetic")
}

/// What the human said to a plan, in the prompt `text` with which the program goes on in a cleared session. The plan
/// stands in the prompt and beside it, and may itself speak of feedback.
pub(super) fn feedback_on_plan(entry: &Entry<'_>, text: &str) -> Option<String> {
    if string(kind(entry.get("origin"))) != GOES_ON || is_marked(entry, false) || is_synthetic(entry) {
        return None;
    }
    let plan = plan_of(entry.get("planContent"))?;
    let behind = behind_plan_mark(text)?.trim_start().strip_prefix(plan.as_str())?;
    let (_, feedback) = behind.split_once(FEEDBACK)?;
    Some(without_outer_context(feedback).to_owned()).filter(|feedback| !feedback.is_empty())
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
    plan_of(entry.get("planContent")).is_some() || (author == Some(Author::Unsaid) && behind_plan_mark(says).is_some())
}
