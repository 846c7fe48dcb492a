//! The human's words and the assistant's, apart from what the program puts before and between them.

use crate::agents::Context;
use crate::agents::text::{Texts, string};
use crate::event::{Fact, HumanWords, InlineImage, MetImage, Passed, Signal};
use crate::json::{Broken, Value};

use super::body::{Body, message};
use super::requests::words_of;

/// How text begins that the program wrote in the human's name, in small letters. Only looked at where no record says
/// more surely whose words they are, for a human can begin like this too.
const INJECTED: [&str; 24] = [
    "<environment_context>",
    "<user_instructions>",
    "<skill>",
    "<user_shell_command>",
    "<user_action>",
    TURN_ABORTED,
    "<subagent_notification>",
    "<plugins>",
    "<subagents>",
    "<recommended_plugins>",
    "<app-context>",
    "<apps_instructions>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<personality_spec>",
    "<hook_prompt",
    "<codex_internal_context",
    "you are `/root`, the primary agent",
    "warning: apply_patch was requested via",
    "warning: the maximum number of unified exec processes",
    "warning: your account was flagged",
];
const TURN_ABORTED: &str = "<turn_aborted>";

/// How the project's instructions begin, with or without the folder that they are for.
const INSTRUCTIONS: &str = "# agents.md instructions";

/// Kinds of content that are the human's, beside those that begin with `user.` (the program's own rule).
const HUMAN_KINDS: [&str; 3] = ["images.preparation_error", "images.unsupported", "audio.unsupported"];

/// Kinds that tell nothing: what hooks and the program itself put in has them as well.
const NO_KINDS: [&str; 2] = ["", "unknown"];

/// Whether two names are the same but for capitals and underscores.
pub(super) fn spelled_alike(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    letters(one) == letters(other)
}

/// The human's words, without what an editor or a browser put around them.
fn human(texts: &Texts, images: Vec<MetImage>, interrupted: bool, bare_images: bool) -> Signal {
    let words = HumanWords { bare_images, interrupted, ..words_of(&texts.text) };
    Signal::User { words, text: texts.text.trim().to_owned(), images, human: true, lossy: texts.lossy }
}

pub(super) fn read_user_event(body: &Body<'_, '_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal)) {
    // In 2025 the same record carried what the program wrote, and said so.
    let inherited = is_inherited(body);
    if inherited || !matches!(body.text("kind").as_ref(), "" | "plain") {
        say(Signal::Passed(if inherited { Passed::Inherited } else { Passed::Plain }));
        return;
    }
    let mut images = Vec::new();
    for image in body.get("images").into_iter().flat_map(Value::elements) {
        images.extend(keep(image, context));
    }
    let mut message = Texts::default();
    message.push(body.get("message"));
    say(human(&message, images, false, false));
}

pub(super) fn read_user_item(
    item: &Body<'_, '_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    let content = item.get("content");
    let mut images = Vec::new();
    for part in content.into_iter().flat_map(Value::elements) {
        images.extend(part.get("image_url").and_then(|url| keep(url, context)));
    }
    say(human(&message(content)?, images, false, false));
    Ok(())
}

/// A message to or from the model.
pub(super) fn read_message(
    body: &Body<'_, '_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    match body.text("role").as_ref() {
        "assistant" => say(message(body.get("content"))?.said()),
        "user" => read_user_message(body, context, say)?,
        _ => say(Signal::Passed(Passed::Plain)),
    }
    Ok(())
}

/// One part of a message's content.
#[derive(Default)]
struct Part<'a> {
    text: Option<Value<'a>>,
    image: Option<Value<'a>>,
}

fn read_user_message(
    body: &Body<'_, '_>,
    context: &mut dyn Context,
    say: &mut dyn FnMut(Signal),
) -> Result<(), Broken> {
    if is_inherited(body) {
        say(Signal::Passed(Passed::Inherited));
        return Ok(());
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    if let Some(content) = body.get("content") {
        if content.is_string() {
            parts.push(Part { text: Some(content), image: None });
        }
        content.each_object(
            Part::default,
            |part, key, value| match crate::json::key(key).as_ref() {
                b"text" => drop(part.text.get_or_insert(value)),
                b"image_url" => drop(part.image.get_or_insert(value)),
                _ => {}
            },
            |whole, part| {
                let text = whole.is_string().then_some(Part { text: Some(whole), image: None });
                parts.push(text.or(part).unwrap_or_default());
            },
        )?;
    }
    let kinds = content_kinds(body).filter(|kinds| !kinds.is_empty() && kinds.len() == parts.len());
    let (mut joined, mut images, mut interrupted) = (Texts::default(), Vec::new(), false);
    for (at, part) in parts.iter().enumerate() {
        images.extend(part.image.and_then(|image| keep(image, context)));
        let text = string(part.text);
        let begins = |marker: &str| {
            let start = text.trim_start();
            start.get(..marker.len()).is_some_and(|start| start.eq_ignore_ascii_case(marker))
        };
        if let Some(folder) = working_folder(&text) {
            say(Signal::Fact(Fact::Folder(folder)));
        }
        let kind = kinds.as_ref().map(|kinds| kinds[at].as_str()).filter(|kind| !NO_KINDS.contains(kind));
        let is_human = match kind {
            Some(kind) => kind.starts_with("user.") || HUMAN_KINDS.contains(&kind),
            None => !is_instructions(&text) && !INJECTED.iter().any(|marker| begins(marker)),
        };
        interrupted |= !is_human && begins(TURN_ABORTED);
        if is_human && !is_image_markup(text.trim()) {
            joined.push(part.text);
        }
    }
    let bare_images = !images.is_empty() && parts.iter().all(|part| part.text.is_none_or(|text| !text.is_string()));
    say(human(&joined, images, interrupted, bare_images));
    Ok(())
}

/// Whether a text begins as the project's instructions do; who writes about them goes on in the line.
fn is_instructions(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |start: &str| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let Some(behind) = begins(INSTRUCTIONS).then(|| &text[INSTRUCTIONS.len()..]) else { return false };
    let line = behind.trim_start_matches([' ', '\t', '\r']);
    let tag = "<instructions>";
    let is_tag = || line.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    behind.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(" for "))
        || line.is_empty()
        || line.starts_with('\n')
        || is_tag()
}

/// Whether the record was written into a subagent's file and belongs to the session that started it.
pub(super) fn is_inherited(body: &Body<'_, '_>) -> bool {
    let says_so = |object: Option<Value<'_>>| {
        object.and_then(|object| object.get("inherited_user_message")).is_some_and(Value::is_true)
    };
    body.get("inherited_user_message").is_some_and(Value::is_true)
        || says_so(body.get("metadata"))
        || says_so(body.get(PASSTHROUGH))
}

/// Where the program notes what each part of a message is.
const PASSTHROUGH: &str = "internal_chat_message_metadata_passthrough";

fn content_kinds(body: &Body<'_, '_>) -> Option<Vec<String>> {
    let kinds = body.get(PASSTHROUGH)?.get("content_item_kinds").filter(|kinds| kinds.is_array())?;
    Some(kinds.elements().map(|kind| string(Some(kind)).into_owned()).collect())
}

/// `<image name=[Image #1]>`, `</image>`, `<local_image …>` and `</local_image>` stand around an image.
fn is_image_markup(text: &str) -> bool {
    let Some(tag) = text.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')) else { return false };
    let name = tag.strip_prefix('/').unwrap_or(tag);
    (name.starts_with("image") || name.starts_with("local_image")) && !tag.contains(['<', '>'])
}

/// The folder that an environment context names: the only place that older files have it in.
fn working_folder(text: &str) -> Option<String> {
    let context = text.trim_start();
    let start = context.get(.."<environment_context>".len())?;
    let rest = start.eq_ignore_ascii_case("<environment_context>").then_some(context)?;
    let folder = rest.split_once("<cwd>")?.1.split_once("</cwd>")?.0.trim();
    (!folder.is_empty()).then(|| folder.to_owned())
}

/// Keeps the image that the string is a data URI of; other addresses are no inline images.
pub(super) fn keep(url: Value<'_>, context: &mut dyn Context) -> Option<MetImage> {
    const MARK: &[u8] = b";base64,";
    let raw = url.raw_string()?;
    if !raw.get(..5)?.eq_ignore_ascii_case(b"data:") {
        return None;
    }
    let mark = raw.windows(MARK.len()).position(|bytes| bytes.eq_ignore_ascii_case(MARK))?;
    context.keep(InlineImage { base64: &raw[mark + MARK.len()..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_a_line_of_their_own() {
        for (text, are) in [
            ("# AGENTS.md instructions for /w\n\nx", true),
            ("\n# AGENTS.md instructions\n\n<INSTRUCTIONS>", true),
            ("# agents.md instructions <INSTRUCTIONS>x", true),
            ("# AGENTS.md instructions \r\nx", true),
            ("# AGENTS.md instructions", true),
            ("# AGENTS.md instructions are too long", false),
            ("# AGENTS.md instruction", false),
        ] {
            assert_eq!(is_instructions(text), are, "{text}");
        }
    }

    #[test]
    fn image_markup_is_one_tag() {
        for (text, markup) in [
            ("<image name=[Image #1]>", true),
            ("</image>", true),
            ("<local_image path=\"x\">", true),
            ("<image> what is this?</image>", false),
            ("<div>", false),
            ("", false),
        ] {
            assert_eq!(is_image_markup(text), markup, "{text}");
        }
    }
}
