//! What the human says through the result of a tool call: answers to the assistant's questions, words with which a call
//! is turned down, a plan that is agreed to.
//!
//! Almost every result is something else, and is left at its first bytes: they tell, in the text as in the structured
//! result. Only what they tell of is decoded.

use crate::agents::text::string;
use crate::entry::Entry;
use crate::event::{HumanWords, MetImage, Signal, WordsSource};
use crate::json::{Members, Value, decode, has_escapes, key_is};

use super::answers::{Answer, answers_in, clarifications, structured_answers, words_of};
use super::authors::{author_of, is_synthetic};
use super::blocks::{Block, words_and_images};
use super::given_back;
use super::human::without_outer_context;

/// The tools whose results are answers, and plans.
const ASKS: &str = "AskUserQuestion";
pub(super) const SHOWS_PLAN: &str = "ExitPlanMode";

/// What a result is, as its beginning tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Answers,
    /// An answer that is none to any of the questions.
    Response,
    Rejection,
    /// A rejection that quotes the plan which was turned down, and no words.
    PlanRejection,
    Plan,
}

/// How the text of such a result begins, and the versions it was seen in.
const TEXTS: [(&str, Form, &str); 9] = [
    ("User has answered your questions:", Form::Answers, "to 2.1.144"),
    ("Your questions have been answered:", Form::Answers, "from 2.1.146"),
    ("The user answered:", Form::Answers, "from 2.1.238, where an answer was typed"),
    ("The user responded:", Form::Response, "from 2.1.238"),
    ("The user doesn't want to proceed with this tool use", Form::Rejection, "all"),
    ("The user doesn't want to take this action right now", Form::Rejection, "2.1"),
    ("Permission for this tool use was denied. The tool use was rejected", Form::Rejection, "2.1, in subagents"),
    ("The agent proposed a plan that was rejected by the user", Form::PlanRejection, "2.1"),
    ("User has approved", Form::Plan, "all"),
];

/// The longest of them.
const LONGEST: usize = 66;

/// With what the structured result begins; `afkTimeoutMs` may stand before the answers.
const MEMBERS: [(&str, Form); 7] = [
    ("questions", Form::Answers),
    ("answers", Form::Answers),
    ("annotations", Form::Answers),
    ("afkTimeoutMs", Form::Answers),
    ("response", Form::Answers),
    ("plan", Form::Plan),
    ("planContent", Form::Plan),
];

/// Behind this stand the words of a rejection; before it the sentence may begin or go on.
const SAID: [&str; 2] = ["the user said:", "The user said:"];

/// What the program writes behind such words since 2.1.80.
const NOTE: &str = "\n\nNote: The user's next message may contain";

/// What a result tells beyond what the tool gave back.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    /// The human's words; the tool that was called, if only one gives such.
    Words { tool: Option<&'static str>, words: HumanWords, lossy: bool },
    /// The call was turned down without words.
    Rejected,
}

/// Says what the human tells through the results among `blocks`, of which there are `results`. `images` stand beside them
/// and go with the last words; they are given back when there are none.
pub(super) fn say_replies(
    entry: &Entry<'_>,
    blocks: &[Block<'_>],
    results: usize,
    mut images: Vec<MetImage>,
    say: &mut dyn FnMut(Signal),
) -> Vec<MetImage> {
    // The entry's own members can only belong to a single result.
    let own = (results == 1).then_some(entry);
    let human = author_of(entry).is_some() && !is_synthetic(entry);
    let mut told = Vec::new();
    for block in blocks.iter().filter(|block| block.is_tool_result()) {
        let data = own.and_then(given_back);
        let form = form_of_text(block.content).or_else(|| form_of_data(data?));
        if let Some(plan) = plan(entry, data, form) {
            say(Signal::Plan { call: string(block.tool_use_id).into_owned(), tool: SHOWS_PLAN, plan });
        }
        told.extend(reply(own, block, data, form).map(|reply| (block, reply)));
    }
    let last = told.iter().rposition(|(_, reply)| matches!(reply, Reply::Words { .. }) && human);
    for (at, (block, reply)) in told.into_iter().enumerate() {
        let call = string(block.tool_use_id).into_owned();
        say(match reply {
            Reply::Words { tool: None, .. } if !human => Signal::Rejected(call),
            Reply::Words { .. } if !human => continue,
            Reply::Words { tool, words, lossy } => {
                let images = if last == Some(at) { std::mem::take(&mut images) } else { Vec::new() };
                Signal::Reply { call, tool, words, images, lossy }
            }
            Reply::Rejected => Signal::Rejected(call),
        });
    }
    images
}

/// What the human says through the result in `block`. `entry` is there when it is the only one.
fn reply(entry: Option<&Entry<'_>>, block: &Block<'_>, data: Option<Value<'_>>, form: Option<Form>) -> Option<Reply> {
    // What a tool printed can begin like a rejection; only an error is one.
    let refused = || block.whole.and_then(|whole| whole.get("is_error")).is_none_or(|error| error.raw() != b"false");
    let told = match form {
        Some(Form::Rejection) if refused() => Some(rejection(block)),
        Some(Form::PlanRejection) if refused() => Some(Reply::Rejected),
        Some(Form::Answers | Form::Response) => answer(block, data),
        _ => None,
    };
    let is_words = matches!(told, Some(Reply::Words { .. }));
    match entry.filter(|entry| !is_words && is_denied(entry)) {
        Some(entry) => {
            let feedback = entry.get("userFeedback").and_then(Value::text);
            Some(feedback.map_or(Reply::Rejected, |said| said_in_rejection(&said.text, said.lossy)))
        }
        None => told,
    }
}

/// Whether the entry says that the human turned its call down, whatever the result says.
fn is_denied(entry: &Entry<'_>) -> bool {
    entry.get("toolDenialKind").is_some_and(|kind| string(Some(kind)) == "user-rejected")
}

/// What the first text of a result that is not blank tells; no more than its beginning is looked at.
fn form_of_text(content: Option<Value<'_>>) -> Option<Form> {
    let content = content?;
    if let Some(raw) = content.raw_string() {
        return form_of_raw(raw);
    }
    form_of_raw(content.elements().filter_map(raw_text).find(|raw| !is_blank(raw))?)
}

/// The text of a block of text, undecoded.
fn raw_text(block: Value<'_>) -> Option<&[u8]> {
    if block.is_string() {
        return block.raw_string();
    }
    block.get("text").filter(|_| string(block.get("type")) == "text")?.raw_string()
}

fn is_blank(raw: &[u8]) -> bool {
    // What begins with a letter is not; all else is rare.
    !raw.first().is_some_and(|first| first.is_ascii_graphic() && *first != b'\\') && decode(raw).text.trim().is_empty()
}

/// What the text tells whose raw bytes begin with `raw`.
fn form_of_raw(raw: &[u8]) -> Option<Form> {
    let may_begin = |first: &u8| matches!(first, b'U' | b'Y' | b'T' | b'P' | b'\\') || !first.is_ascii_graphic();
    if !raw.first().is_some_and(may_begin) {
        return None;
    }
    // Every character of a beginning can be written as an escape of six bytes.
    let beginning = &raw[..raw.len().min(LONGEST * 6)];
    let plain = &beginning[..beginning.len().min(LONGEST)];
    let decoded;
    let text = if has_escapes(plain) || plain.first().is_some_and(|first| !first.is_ascii_graphic()) {
        decoded = decode(beginning).text;
        decoded.trim_start().as_bytes()
    } else {
        plain
    };
    TEXTS.iter().find(|(words, _, _)| text.starts_with(words.as_bytes())).map(|&(_, form, _)| form)
}

/// What the first member of a structured result tells.
fn form_of_data(data: Value<'_>) -> Option<Form> {
    let key = Members::open(data.raw(), 0)?.key().ok()??;
    MEMBERS.iter().find(|(name, _)| key_is(key, name)).map(|&(_, form)| form)
}

fn text_of(block: &Block<'_>) -> (String, bool) {
    let joined = words_and_images(&Block::all(block.content).unwrap_or_default()).0;
    (joined.text, joined.lossy)
}

fn rejection(block: &Block<'_>) -> Reply {
    let (text, lossy) = text_of(block);
    let said = SAID.iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min();
    let Some(said) = said.map(|start| &text[start..]) else { return Reply::Rejected };
    said_in_rejection(said.rfind(NOTE).map_or(said, |end| &said[..end]), lossy)
}

/// What the words tell with which a call was turned down.
fn said_in_rejection(said: &str, lossy: bool) -> Reply {
    if let Some(answers) = clarifications(said.trim()) {
        let words = words_of(answers);
        return if words.says.is_empty() { Reply::Rejected } else { Reply::Words { tool: Some(ASKS), words, lossy } };
    }
    let said = without_outer_context(said);
    if said.is_empty() {
        return Reply::Rejected;
    }
    let words = HumanWords { says: said.to_owned(), source: Some(WordsSource::Rejection), ..HumanWords::default() };
    Reply::Words { tool: None, words, lossy }
}

fn answer(block: &Block<'_>, data: Option<Value<'_>>) -> Option<Reply> {
    let (words, lossy) = if let Some(words) = data.and_then(structured_answers) {
        (words, false)
    } else {
        let (text, lossy) = text_of(block);
        (answer_in_text(&text)?, lossy)
    };
    (!words.says.is_empty()).then_some(Reply::Words { tool: Some(ASKS), words, lossy })
}

fn answer_in_text(text: &str) -> Option<HumanWords> {
    TEXTS.iter().find_map(|(beginning, form, _)| match (text.strip_prefix(beginning)?, form) {
        (body, Form::Answers) => Some(words_of(answers_in(body))),
        (body, Form::Response) => Some(words_of(vec![Answer::of(body)])),
        _ => None,
    })
}

/// The plan that a result in `entry` shows.
fn plan(entry: &Entry<'_>, data: Option<Value<'_>>, form: Option<Form>) -> Option<String> {
    let member = |name| plan_of(data.filter(|_| form == Some(Form::Plan))?.get(name));
    member("planContent").or_else(|| member("plan")).or_else(|| plan_of(entry.get("planContent")))
}

/// A plan, if the value is one with words.
pub(super) fn plan_of(value: Option<Value<'_>>) -> Option<String> {
    Some(string(value).trim().to_owned()).filter(|plan| !plan.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(content: &str) -> Option<Form> {
        form_of_text(Some(Value::new(content.as_bytes())))
    }

    #[test]
    fn the_first_bytes_tell() {
        for (content, expected) in [
            (r#""User has answered your questions: \"a\"=\"b\".""#, Some(Form::Answers)),
            (r#"" \n\u0059our questions have been answered: x""#, Some(Form::Answers)),
            (
                r#"[{"type":"text","text":"The user doesn\u0027t want to proceed with this tool use."}]"#,
                Some(Form::Rejection),
            ),
            (r#"[ {"text":"The user responded: x","type":"text"} ]"#, Some(Form::Response)),
            (r#"[{"type":"image","text":"The user responded: x"}]"#, None),
            (r#"[" \n",{"type":"image"},"\u3000\t","The user responded: x"]"#, Some(Form::Response)),
            (r#"["x","The user responded: x"]"#, None),
            (r#""The user doesn't want to break it""#, None),
            (r#""The user""#, None),
            (r#""""#, None),
            ("null", None),
            ("[]", None),
        ] {
            assert_eq!(form(content), expected, "{content}");
        }
        let longest = TEXTS.iter().map(|(words, _, _)| words.len()).max();
        assert_eq!(longest, Some(LONGEST));
        let escaped: Vec<_> = TEXTS[6].0.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        assert_eq!(form(&format!("\"{}\"", escaped.concat())), Some(Form::Rejection));
    }

    fn rejected(text: &str) -> Reply {
        let content = serde_json::to_string(text).unwrap_or_default();
        rejection(&Block { content: Some(Value::new(content.as_bytes())), ..Block::default() })
    }

    #[test]
    fn a_rejection_says_what_stands_behind_its_mark() {
        let says = |text: &str| match rejected(text) {
            Reply::Words { words, .. } => words.says,
            Reply::Rejected => String::new(),
        };
        let no = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n";
        let note = "\n\nNote: The user's next message may contain a correction or preference.";
        assert_eq!(says(&format!("{no}use nets\nand \"the user said: x\"\n")), "use nets\nand \"the user said: x\"");
        assert_eq!(says(&format!("{no}use nets{note}{note}")), format!("use nets{note}"));
        assert_eq!(says(&format!("{no} use nets <system-reminder>x</system-reminder>{note}")), "use nets");
        assert_eq!(rejected(&format!("{no}  {note}")), Reply::Rejected);
        assert_eq!(rejected("The user doesn't want to proceed. STOP what you are doing."), Reply::Rejected);
        let clarify = "The user wants to clarify these questions.\n    Start by asking.\n\n    Questions asked:\n- \"Which?\"\n  (No answer provided)";
        assert_eq!(rejected(&format!("{no}{clarify}{note}")), Reply::Rejected);
    }
}
