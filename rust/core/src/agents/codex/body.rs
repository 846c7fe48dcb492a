//! What a record holds: its payload, or the record itself where there is no envelope.

use std::borrow::Cow;

use crate::agents::text::{Texts, string};
use crate::entry::Entry;
use crate::event::{Signal, ToolCall};
use crate::json::{Broken, Value};

use super::spoken;

/// What a record holds.
pub(super) enum Body<'e, 'a> {
    /// The object in the envelope, or any other.
    Payload(Value<'a>),
    /// The record itself.
    Record(&'e Entry<'a>),
}

impl<'e, 'a> Body<'e, 'a> {
    pub(super) fn of(entry: &'e Entry<'a>) -> Self {
        match entry.get("payload").filter(|payload| payload.is_object()) {
            Some(payload) => Self::Payload(payload),
            None => Self::Record(entry),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Payload(payload) => payload.get(name),
            Self::Record(entry) => entry.get(name),
        }
    }

    pub(super) fn text(&self, name: &str) -> Cow<'a, str> {
        string(self.get(name))
    }
}

impl Texts {
    /// As the assistant's words, and the plan that stands between them.
    pub(super) fn said(self) -> Signal {
        let (says, plan) = spoken::spoken(self.text);
        assistant(Part { says, plan, ..Part::default() }, self.lossy)
    }

    /// As its thoughts.
    pub(super) fn thought(self) -> Signal {
        assistant(Part { thinks: self.text, ..Part::default() }, self.lossy)
    }
}

/// The plan that an item shows.
pub(super) fn planned(value: Option<Value<'_>>) -> Signal {
    let mut plan = Texts::default();
    plan.push_line(value);
    assistant(Part { plan: plan.text, ..Part::default() }, plan.lossy)
}

/// A tool that the assistant calls.
pub(super) fn called(tool: ToolCall) -> Signal {
    assistant(Part { tools: vec![tool], ..Part::default() }, false)
}

/// What a record tells of the assistant.
#[derive(Default)]
struct Part {
    says: String,
    thinks: String,
    plan: String,
    tools: Vec<ToolCall>,
}

fn assistant(part: Part, lossy: bool) -> Signal {
    let Part { says, thinks, plan, tools } = part;
    Signal::Assistant { says, thinks, tools, plan, message_id: String::new(), lossy }
}

/// One string as a thought.
pub(super) fn thought(value: Option<Value<'_>>) -> Signal {
    let mut texts = Texts::default();
    texts.push_line(value);
    texts.thought()
}

/// The texts of a message's content: a string, or the strings of a list and the `text` of its objects.
pub(super) fn message(content: Option<Value<'_>>) -> Result<Texts, Broken> {
    let mut texts = Texts::default();
    each_text(content, |text| texts.push(text))?;
    Ok(texts)
}

/// The same, each a text of its own.
pub(super) fn lines(list: Option<Value<'_>>) -> Result<Texts, Broken> {
    let mut texts = Texts::default();
    each_text(list, |text| texts.push_line(text))?;
    Ok(texts)
}

fn each_text<'a>(list: Option<Value<'a>>, mut give: impl FnMut(Option<Value<'a>>)) -> Result<(), Broken> {
    let Some(list) = list else { return Ok(()) };
    if list.is_string() {
        give(Some(list));
    }
    list.each_object(
        || None,
        |text, key, value| {
            if crate::json::key_is(key, "text") {
                text.get_or_insert(value);
            }
        },
        |whole, text| give(if whole.is_string() { Some(whole) } else { text.flatten() }),
    )
}
