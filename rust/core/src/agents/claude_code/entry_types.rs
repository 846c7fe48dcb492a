//! The table of Claude Code's entry types. A new version's types are added here and nowhere else.

use std::borrow::Cow;

use crate::entry::{Class, Fields};
use crate::json::{Members, Text, Value, key_is};

/// What a type is, before any member but `type` is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeClass {
    /// Words, calls or results.
    Read,
    /// A fact about the session.
    Fact,
    /// Read when the member is one of these, else dropped.
    ReadIf { member: &'static str, values: &'static [&'static str] },
    /// Read when the type of the member is the first, or when it is the second and its content is no text.
    ReadIfImage { member: &'static str, value: &'static str, image: &'static str },
    /// Names which subagent works for which call; dropped when no call is open.
    Evidence,
    /// Dropped.
    Noise,
}

use TypeClass::{Evidence, Fact, Noise, Read, ReadIf, ReadIfImage};

/// Type, what it is, and the version it was seen in (first or last, as known). The common ones stand first.
const TYPES: &[(&str, TypeClass, &str)] = &[
    ("progress", Evidence, "from 2.1.9"),
    ("user", Read, "all"),
    ("assistant", Read, "all"),
    ("attachment", ReadIfImage { member: "attachment", value: "queued_command", image: "file" }, "from 2.1.80"),
    ("file-history-snapshot", Noise, "from 2.0"),
    ("queue-operation", Read, "from 2.0.42"),
    ("system", ReadIf { member: "subtype", values: &["turn_duration", "compact_boundary"] }, "from 1.0.55"),
    ("summary", Fact, "1.0 to 2.1.2x"),
    ("ai-title", Fact, "to 2.1.92 and later"),
    ("custom-title", Fact, "from 2.0.76"),
    ("pr-link", Fact, "from 2026-02"),
    ("last-prompt", Fact, "from 2.1.83"),
    ("continued-in", Fact, "to 2.1.278"),
    ("file-history-delta", Noise, "to 2.1.263"),
    ("agent-name", Noise, "from 2.1.8x"),
    ("agent-color", Noise, "from 2.1.8x"),
    ("agent-setting", Noise, "from 2.1.8x"),
    ("tag", Noise, "from 2.1.8x"),
    ("mode", Noise, "from 2.1.152"),
    ("permission-mode", Noise, "from 2.1.9x"),
    ("bridge-session", Noise, "from 2.1.156"),
    ("relocated", Noise, "2.1.2xx"),
    ("worktree-state", Noise, "2.1.2xx"),
    ("fork-context-ref", Noise, "from 2.1.118"),
    ("content-replacement", Noise, "2.1"),
    ("atis-latch", Noise, "2.1.198 to 2.1.29x"),
    ("cost-state", Noise, "2.1.198 to 2.1.29x"),
    ("frame-link", Noise, "2.1.198 to 2.1.29x"),
    ("history-suppression", Noise, "2.1.198 to 2.1.29x"),
    ("ended-by-model", Noise, "2.1.198 to 2.1.29x"),
    ("isolation-latch", Noise, "2.1.198 to 2.1.29x"),
    ("dev-mods", Noise, "2.1.198 to 2.1.29x"),
    ("memory-mode", Noise, "2.1.198 to 2.1.29x"),
    ("observer-ref", Noise, "2.1.198 to 2.1.29x"),
    ("attribution-snapshot", Noise, "2.1.198 to 2.1.29x"),
    ("artifact-comment-monitor", Noise, "2.1.198 to 2.1.29x"),
    ("artifact-autoreact-ledger", Noise, "2.1.198 to 2.1.29x"),
    // These carry a message with a role and are still no turns: dispatch is on the type alone.
    ("api-request-blob", Noise, "from 2.1.283"),
    ("api-request-shape", Noise, "from 2.1.283"),
    ("api-request", Noise, "from 2.1.283"),
    ("saved_hook_context", Noise, "2.1"),
    ("speculation-accept", Noise, "2.1"),
    ("task-summary", Noise, "2.1"),
    ("launched", Noise, "workflow journals, from 2.1.270"),
    ("started", Noise, "workflow journals, from 2.1.154"),
    ("result", Noise, "workflow journals, from 2.1.154"),
    ("failed", Noise, "workflow journals, from 2.1.154"),
    ("agent_metadata", Noise, "session stores of the SDK"),
];

/// Families of types that share a beginning.
const PREFIXES: &[(&str, TypeClass, &str)] = &[("marble-origami-", Noise, "2.1")];

/// Where the names with the same [`slot`] stand in [`TYPES`], from 1.
static PLACES: [[u8; 4]; 64] = {
    let mut places = [[0; 4]; 64];
    let mut at = 0;
    while at < TYPES.len() {
        let places = &mut places[slot(TYPES[at].0.as_bytes())];
        let mut next = 0;
        while places[next] != 0 {
            next += 1;
        }
        places[next] = at as u8 + 1;
        at += 1;
    }
    places
};

/// A number below 64 that few names share.
const fn slot(name: &[u8]) -> usize {
    let Some((&first, _)) = name.split_first() else { return 0 };
    (first as usize * 7 + name[name.len() - 1] as usize * 3 + name.len() * 5 + name[name.len() / 2] as usize) % 64
}

/// The row of `kind`.
pub(super) fn find(kind: &str) -> Option<TypeClass> {
    let exact = PLACES.get(slot(kind.as_bytes())).map_or(&[0; 4], |places| places);
    let exact = exact.iter().take_while(|&&place| place != 0).map(|&place| &TYPES[usize::from(place) - 1]);
    let exact = exact.into_iter().find(|(name, _, _)| *name == kind);
    exact.or_else(|| PREFIXES.iter().find(|(prefix, _, _)| kind.starts_with(prefix))).map(|&(_, class, _)| class)
}

/// Whether `kind` stands in the table.
pub(super) fn is_known(kind: &str) -> bool {
    find(kind).is_some()
}

/// Whether the type alone tells what an entry is, or drops it.
pub(super) fn is_told_early(kind: &str) -> bool {
    !matches!(find(kind), Some(ReadIf { .. } | ReadIfImage { .. }))
}

/// What an entry of type `kind` is, given the fields seen so far.
pub(super) fn classify(kind: &str, entry: &Fields<'_>, complete: bool) -> Class {
    match find(kind) {
        None => Class::Unknown,
        Some(Read) => Class::Signal,
        Some(Fact) => Class::Fact,
        Some(Evidence) => Class::Evidence,
        Some(Noise) => Class::Noise,
        Some(ReadIf { member, values }) => read_if(member, entry, complete, |value| {
            value.text().is_some_and(|found| values.contains(&found.text.as_ref()))
        }),
        Some(ReadIfImage { member, value: wanted, image }) => read_if(member, entry, complete, |value| {
            let is = |name: &str| kind_of(value).is_some_and(|kind| kind.text == name);
            is(wanted) || (is(image) && may_hold_image(value))
        }),
    }
}

fn read_if(member: &'static str, entry: &Fields<'_>, complete: bool, wants: impl FnOnce(Value<'_>) -> bool) -> Class {
    match entry.get(member) {
        None if complete => Class::Noise,
        None => Class::Await(member),
        Some(value) if wants(value) => Class::Signal,
        Some(_) => Class::Noise,
    }
}

fn kind_of(value: Value<'_>) -> Option<Text<'_>> {
    value.get("type").and_then(Value::text)
}

/// Whether the content of `value` can hold an image: it does not say first that it is text, which is passed over then.
fn may_hold_image(value: Value<'_>) -> bool {
    let Some(mut members) = Members::open(value.raw(), 0) else { return false };
    while let Ok(Some(key)) = members.key() {
        if key_is(key, "content") {
            let content = Value::new(&value.raw()[members.at()..]);
            let is_text = || kind_of(content).is_some_and(|kind| kind.text == "text");
            return content.is_array() || (content.is_object() && !is_text());
        }
        if members.value().is_err() {
            break;
        }
    }
    false
}

/// The type with what is nested in it, where the table looks for that: `attachment/file`, `system/api_error`.
pub(super) fn detailed<'k>(kind: &'k str, entry: &Fields<'_>) -> Cow<'k, str> {
    let inner = match find(kind) {
        Some(ReadIf { member, .. }) => entry.get(member).and_then(Value::text),
        Some(ReadIfImage { member, .. }) => entry.get(member).and_then(kind_of),
        _ => None,
    };
    inner.map_or(Cow::Borrowed(kind), |inner| Cow::Owned(format!("{kind}/{}", inner.text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_stands_in_the_table_twice() {
        for (at, (name, _, _)) in TYPES.iter().enumerate() {
            assert!(TYPES[at + 1..].iter().all(|(other, _, _)| other != name), "{name}");
        }
    }

    #[test]
    fn a_family_is_known_by_its_beginning() {
        assert_eq!(find("marble-origami-commit"), Some(Noise));
        assert_eq!(find("marble"), None);
    }
}
