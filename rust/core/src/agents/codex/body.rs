//! What a record holds: its payload, or the record itself where there is no envelope.

use std::borrow::Cow;

use crate::entry::Entry;
use crate::event::Signal;
use crate::json::{Broken, Value};

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

pub(super) fn string(value: Option<Value<'_>>) -> Cow<'_, str> {
    value.and_then(Value::text).map_or(Cow::Borrowed(""), |text| text.text)
}

/// Texts that belong together.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) text: String,
    pub(super) lossy: bool,
}

impl Texts {
    pub(super) fn push(&mut self, value: Option<Value<'_>>) {
        let Some(text) = value.and_then(Value::text) else { return };
        if text.text.trim().is_empty() {
            return;
        }
        self.lossy |= text.lossy;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&text.text);
    }

    /// As the assistant's words.
    pub(super) fn said(self) -> Signal {
        let Self { text: says, lossy } = self;
        Signal::Assistant { says, thinks: String::new(), tools: Vec::new(), message_id: String::new(), lossy }
    }

    /// As its thoughts.
    pub(super) fn thought(self) -> Signal {
        let Self { text: thinks, lossy } = self;
        Signal::Assistant { says: String::new(), thinks, tools: Vec::new(), message_id: String::new(), lossy }
    }
}

/// One string, if it holds more than blanks.
pub(super) fn of_string(value: Option<Value<'_>>) -> Texts {
    let mut texts = Texts::default();
    texts.push(value);
    texts
}

/// The texts of a list: its strings, and the `text` of its objects. A bare string is a list of one.
pub(super) fn texts(list: Option<Value<'_>>) -> Result<Texts, Broken> {
    let mut texts = Texts::default();
    let Some(list) = list else { return Ok(texts) };
    if list.is_string() {
        texts.push(Some(list));
    }
    list.each_object(
        || None,
        |text, key, value| {
            if crate::json::key_is(key, "text") {
                text.get_or_insert(value);
            }
        },
        |whole, text| texts.push(if whole.is_string() { Some(whole) } else { text.flatten() }),
    )?;
    Ok(texts)
}
