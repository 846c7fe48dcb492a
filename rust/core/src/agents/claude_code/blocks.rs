//! Content blocks: text, thinking, calls and results as they stand in a message.

use std::borrow::Cow;

use crate::agents::Context;
use crate::agents::text::{Texts, string};
use crate::entry::Entry;
use crate::event::{InlineImage, MetImage};
use crate::json::{self, Broken, Member, Value};

use super::pictures::inline_images;

/// A content block with the members that matter.
#[derive(Default)]
pub(super) struct Block<'a> {
    /// The whole block.
    pub(super) whole: Option<Value<'a>>,
    pub(super) kind: Option<Value<'a>>,
    pub(super) text: Option<Value<'a>>,
    pub(super) thinking: Option<Value<'a>>,
    pub(super) id: Option<Value<'a>>,
    pub(super) name: Option<Value<'a>>,
    pub(super) input: Option<Value<'a>>,
    pub(super) content: Option<Value<'a>>,
    pub(super) tool_use_id: Option<Value<'a>>,
}

impl<'a> Block<'a> {
    /// The same of an entry, where they may have been noted on the way.
    pub(super) fn of_entry(entry: &Entry<'a>, content: Option<Value<'a>>) -> Result<Vec<Self>, Broken> {
        let Some(objects) = content.and_then(|content| entry.objects(content)) else { return Self::all(content) };
        let block = |(whole, members): (Value<'a>, &[Member])| {
            let mut block = Self { whole: Some(whole), ..Self::default() };
            for member in members {
                block.take_noted(entry.record(), member);
            }
            block
        };
        Ok(objects.map(block).collect())
    }

    fn take_noted(&mut self, record: &'a [u8], member: &Member) {
        const TYPE: u64 = json::tag(b"type");
        const TEXT: u64 = json::tag(b"text");
        const THINKING: u64 = json::tag(b"thinking");
        const ID: u64 = json::tag(b"id");
        const NAME: u64 = json::tag(b"name");
        const INPUT: u64 = json::tag(b"input");
        const CONTENT: u64 = json::tag(b"content");
        const TOOL_USE_ID: u64 = json::tag(b"tool_use_id");
        let slot = match member.tag() {
            TYPE => &mut self.kind,
            TEXT => &mut self.text,
            THINKING if member.key(record) == b"thinking" => &mut self.thinking,
            ID => &mut self.id,
            NAME => &mut self.name,
            INPUT => &mut self.input,
            CONTENT => &mut self.content,
            TOOL_USE_ID if member.key(record) == b"tool_use_id" => &mut self.tool_use_id,
            _ => return,
        };
        slot.get_or_insert_with(|| member.value(record));
    }

    /// The blocks of `content`, found in one pass. A bare string is a block of text.
    pub(super) fn all(content: Option<Value<'a>>) -> Result<Vec<Self>, Broken> {
        let mut blocks = Vec::new();
        let Some(content) = content else { return Ok(blocks) };
        if content.is_string() {
            blocks.push(Self { whole: Some(content), ..Self::default() });
        }
        content.each_object(Self::default, Self::take, |whole, block| {
            blocks.push(Self { whole: Some(whole), ..block.unwrap_or_default() });
        })?;
        Ok(blocks)
    }

    fn take(&mut self, key: &'a [u8], value: Value<'a>) {
        let slot = match json::key(key).as_ref() {
            b"type" => &mut self.kind,
            b"text" => &mut self.text,
            b"thinking" => &mut self.thinking,
            b"id" => &mut self.id,
            b"name" => &mut self.name,
            b"input" => &mut self.input,
            b"content" => &mut self.content,
            b"tool_use_id" => &mut self.tool_use_id,
            _ => return,
        };
        slot.get_or_insert(value);
    }

    pub(super) fn kind(&self) -> Cow<'a, str> {
        string(self.kind)
    }

    pub(super) fn is_tool_result(&self) -> bool {
        self.kind() == "tool_result"
    }

    /// The text that the block is made of, if it is one of text.
    pub(super) fn said(&self) -> Option<Value<'a>> {
        match self.whole {
            Some(whole) if whole.is_string() => Some(whole),
            _ => self.text.filter(|_| self.kind() == "text"),
        }
    }
}

/// Text blocks, joined and one by one.
#[derive(Default)]
pub(super) struct Joined {
    /// With a newline between each two.
    pub(super) text: String,
    /// Each on its own.
    pub(super) parts: Vec<String>,
    /// Whether invalid UTF-8 was replaced.
    pub(super) lossy: bool,
}

/// The text and the images of blocks that a human may have made.
pub(super) fn words_and_images<'a>(blocks: &[Block<'a>]) -> (Joined, Vec<InlineImage<'a>>) {
    let (mut texts, mut parts, mut images) = (Texts::default(), Vec::new(), Vec::new());
    for block in blocks {
        let said = block.said();
        if said.is_some() {
            let before = texts.text.len();
            texts.push_line(said);
            if texts.text.len() > before {
                parts.push(texts.text[before..].trim_start().to_owned());
            }
        } else if let Some(whole) = block.whole.filter(|_| !block.is_tool_result()) {
            inline_images(whole, &mut images);
        }
    }
    (Joined { text: texts.text, parts, lossy: texts.lossy }, images)
}

/// Keeps the images that are wanted.
pub(super) fn keep_all(images: &[InlineImage<'_>], context: &mut dyn Context) -> Vec<MetImage> {
    images.iter().filter_map(|&image| context.keep(image)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_joined_without_the_white_space_around_them() {
        let content =
            br#"[" \u0085one\n","  ",{"type":"text","text":"\n\ntwo  three\u3000"},{"type":"text","text":""}]"#;
        let (joined, _) = words_and_images(&Block::all(Some(Value::new(content))).unwrap_or_default());
        assert_eq!(joined.text, "one\ntwo  three");
        assert_eq!(joined.parts, ["one", "two  three"]);
    }
}
