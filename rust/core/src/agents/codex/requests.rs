//! What the program puts around the human's words: an editor's header, and the form in which answers come.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::agents::text::{Texts, string};
use crate::event::{GivenAnswers, HumanWords, Question, WordsSource};
use crate::json::{Value, key, key_is};

/// How the lines begin that an editor's header consists of sections under. Only behind such a header does the request
/// begin with a line of its own: the human may write that line as well.
const HEADINGS: [&str; 14] = [
    DIFF_COMMENTS,
    BROWSER_COMMENTS,
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
    "# Files pasted by the user:",
    "# Review findings:",
    "# Failing PR checks:",
    "# Selected text:",
    "# Response annotations:",
    "# In app browser",
    "## Prior conversation with Codex:",
    "## Code review guidelines:",
    "## Pull request fix:",
    "## Auto resolve merge:",
];

/// Sections that hold what the human wrote.
const DIFF_COMMENTS: &str = "# Diff comments:";
const BROWSER_COMMENTS: &str = "# Browser comments:";

/// How one comment begins in such a section; a digit follows.
const COMMENTS: [&str; 2] = ["## Comment ", "## User Comment "];
const COMMENT: &str = "Comment:";

/// What stands between a header and the words.
const REQUESTS: [&str; 2] = ["## My request for Codex:", "## My request:"];

const BROWSER: &str = "<in-app-browser-context";
const BROWSER_END: &str = "</in-app-browser-context>";

const REPLY: &str = "<send_user_message_question_reply>";
const REPLY_END: &str = "</send_user_message_question_reply>";

/// What the program puts before an answer that was typed and not chosen.
const NOTE: &str = "user_note: ";

/// What the human wrote, without what an editor or a browser put around it; or what they answered.
pub(super) fn words_of(text: &str) -> HumanWords {
    let says = request(text);
    let Some(answers) = reply(&says) else { return HumanWords { says, ..HumanWords::default() } };
    answers.words()
}

fn request(text: &str) -> String {
    let (text, is_browsers) = without_browser(text);
    let text = text.trim();
    let label = |line: &str| REQUESTS.iter().find(|label| line.starts_with(**label)).map(|label| label.len());
    let is_headed = is_heading(text) || (is_browsers && label(text).is_some());
    let mut at = 0;
    for line in text.split_inclusive('\n').filter(|_| is_headed) {
        if let Some(length) = label(line) {
            let mut words = Lines::default();
            for comment in comments(&text[..at]) {
                words.push(&comment);
            }
            words.push(&text[at + length..]);
            return words.0;
        }
        at += line.len();
    }
    text.to_owned()
}

fn is_heading(line: &str) -> bool {
    HEADINGS.iter().any(|heading| line.starts_with(heading))
}

/// The text without what a browser tells, and whether it told anything.
fn without_browser(text: &str) -> (String, bool) {
    let (mut left, mut any, mut from, mut at) = (String::new(), false, 0, 0);
    while let Some(open) = text[at..].find(BROWSER).map(|found| at + found) {
        at = open + BROWSER.len();
        // Attributes may follow.
        let Some(end) = text[at..].find(['<', '>']).map(|found| at + found) else { break };
        if text.as_bytes()[end] == b'<' {
            continue;
        }
        let Some(behind) = text[end..].find(BROWSER_END).map(|found| end + found + BROWSER_END.len()) else { break };
        left.push_str(&text[from..open]);
        (from, at, any) = (behind, behind, true);
    }
    left.push_str(&text[from..]);
    (left, any)
}

/// What the human wrote beside the lines of a diff or on a page.
fn comments(header: &str) -> Vec<String> {
    /// Where in a header a line stands.
    enum In {
        Section,
        Comments,
        Comment,
        Words,
    }
    let is_comment = |line: &str| {
        let number = COMMENTS.iter().find_map(|comment| line.strip_prefix(comment));
        number.is_some_and(|number| number.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    let (mut comments, mut place) = (Vec::<String>::new(), In::Section);
    for line in header.split('\n') {
        place = match place {
            _ if line.starts_with(DIFF_COMMENTS) || line.starts_with(BROWSER_COMMENTS) => In::Comments,
            _ if is_heading(line) => In::Section,
            In::Comments | In::Comment | In::Words if is_comment(line) => In::Comment,
            In::Comment if line.starts_with(COMMENT) => {
                comments.push(line[COMMENT.len()..].to_owned());
                In::Words
            }
            In::Words => {
                if let Some(comment) = comments.last_mut() {
                    comment.push('\n');
                    comment.push_str(line);
                }
                In::Words
            }
            other => other,
        };
    }
    comments
}

/// Texts that are not blank, one to a line.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn push(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(text);
    }
}

/// Answers, and what had been asked, in the same order.
#[derive(Default)]
struct Answers {
    lines: Lines,
    questions: Vec<String>,
}

impl Answers {
    /// Adds the answers to a question that are not blank; a question without any is left out.
    fn add(&mut self, question: &str, answers: &[String]) {
        let before = self.lines.0.len();
        for answer in answers {
            let answer = answer.trim();
            self.lines.push(answer.strip_prefix(NOTE).unwrap_or(answer));
        }
        let question = question.trim();
        if self.lines.0.len() > before && !question.is_empty() {
            self.questions.push(question.to_owned());
        }
    }

    fn words(self) -> HumanWords {
        let source = Some(WordsSource::Answer);
        HumanWords { says: self.lines.0, source, questions: self.questions, ..HumanWords::default() }
    }
}

/// A string, or the strings of a list; `answers` may hold them.
fn strings(value: Option<Value<'_>>) -> Vec<String> {
    let value = value.and_then(|value| if value.is_object() { value.get("answers") } else { Some(value) });
    let one = value.into_iter().filter(|value| value.is_string());
    let several = value.into_iter().filter(|value| value.is_array()).flat_map(Value::elements);
    one.chain(several).filter_map(Value::text).map(|text| text.text.into_owned()).collect()
}

/// The JSON value that a text begins with, and what stands behind it.
fn leading_json(text: &str) -> Option<(Value<'_>, &str)> {
    let text = text.trim();
    // Line breaks within strings, which strict JSON has none of, are read like everywhere else.
    let strict: Cow<'_, str> = if text.contains(|letter: char| letter < ' ') {
        text.replace(['\n', '\r', '\t'], " ").replace(|letter: char| letter < ' ', "?").into()
    } else {
        text.into()
    };
    let mut values = serde_json::Deserializer::from_str(&strict).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    let (value, rest) = text.split_at(values.byte_offset());
    Some((Value::new(value.trim().as_bytes()), rest.trim()))
}

/// The answers of a text that is nothing but a reply to questions.
fn reply(text: &str) -> Option<Answers> {
    let (told, rest) = leading_json(text.strip_prefix(REPLY)?)?;
    if !told.is_array() || !matches!(rest, "" | REPLY_END) {
        return None;
    }
    let mut answers = Answers::default();
    for one in told.elements() {
        if !one.is_object() {
            return None;
        }
        answers.add(&string(one.get("question")), &strings(one.get("answer")));
    }
    Some(answers)
}

/// The answers in what a tool gave back, if it may be any.
pub(super) fn given(output: Value<'_>) -> Option<GivenAnswers> {
    let null = Value::new(b"null");
    let output = if output.is_object() && output.get("answers").is_none() {
        output.get("content").unwrap_or(null)
    } else {
        output
    };
    if output.is_object() {
        return given_in(output, false);
    }
    let mut texts = Texts::default();
    for part in output.elements().filter(|_| output.is_array()) {
        texts.push(if part.is_object() { part.get("text") } else { Some(part) });
    }
    if output.is_string() {
        texts.push(Some(output));
    }
    let (told, rest) = leading_json(&texts.text)?;
    if rest.is_empty() && told.is_object() { given_in(told, texts.lossy) } else { None }
}

fn given_in(told: Value<'_>, lossy: bool) -> Option<GivenAnswers> {
    let answers = told.get("answers").filter(|answers| answers.is_object())?;
    let name = |raw| String::from_utf8_lossy(&key(raw)).into_owned();
    let mut sure = told.members().all(|(key, _)| key_is(key, "answers"));
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    for (id, value) in answers.members() {
        let id = name(id);
        if !known.insert(id.clone()) {
            continue;
        }
        let list = value.get("answers").filter(|list| value.is_object() && list.is_array());
        sure &= list.is_some_and(|list| list.elements().all(Value::is_string))
            && value.members().all(|(key, _)| key_is(key, "answers"));
        found.push((id, strings(Some(value))));
    }
    Some(GivenAnswers { answers: found, sure, lossy, ..GivenAnswers::default() })
}

/// The answers to `questions` in their order, and then all others; `None` when nothing was answered.
pub(super) fn answered(given: &GivenAnswers, questions: &[Question]) -> Option<HumanWords> {
    let by_id: HashMap<&str, &[String]> =
        given.answers.iter().map(|(id, answers)| (id.as_str(), answers.as_slice())).collect();
    let mut asked = HashSet::new();
    let mut answers = Answers::default();
    for question in questions.iter().filter(|question| asked.insert(question.id.as_str())) {
        if let Some(texts) = by_id.get(question.id.as_str()) {
            answers.add(&question.text, texts);
        }
    }
    for (_, texts) in given.answers.iter().filter(|(id, _)| !asked.contains(id.as_str())) {
        answers.add("", texts);
    }
    let words = HumanWords { within_turn: true, ..answers.words() };
    (!words.says.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_puts_around_the_words_is_taken_off() {
        for (text, says) in [
            (" plain ", "plain"),
            (
                "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nmend it\nnow\n",
                "mend it\nnow",
            ),
            ("# Files mentioned by the user:\n\n## My request: one line", "one line"),
            // Without a header the line is the human's own.
            ("## My request: one line", "## My request: one line"),
            ("Notes\n\n## My request:\nx", "Notes\n\n## My request:\nx"),
            ("tell me what `## My request:` does", "tell me what `## My request:` does"),
            ("# Review findings:\nnone", "# Review findings:\nnone"),
            ("a<in-app-browser-context>x</in-app-browser-context>b", "ab"),
            ("<in-app-browser-context a=\"1\">x</in-app-browser-context>\n## My request:\nb", "b"),
            ("a<in-app-browser-context>x", "a<in-app-browser-context>x"),
            (
                "<in-app-browser-context <in-app-browser-context>x</in-app-browser-context>b",
                "<in-app-browser-context b",
            ),
        ] {
            assert_eq!(words_of(text).says, says, "{text}");
        }
    }

    #[test]
    fn comments_on_a_diff_are_the_human_s() {
        let header = "# Diff comments:\n\n## Comment 1\nFile: hull.rs\nComment:\nwhy\nthis?\n\n## Comment 2\nFile: a\nComment: and that\n\
                      # Selected text:\nComment: none of theirs\n## My request for Codex:\nmend it";
        assert_eq!(words_of(header).says, "why\nthis?\nand that\nmend it");
    }

    #[test]
    fn a_reply_is_its_answers() {
        let text = |list: &str| format!("<send_user_message_question_reply>\n{list}\n");
        let words =
            words_of(&text(r#"[{"answer":"user_note: red","question":"which?"},{"answer":" ","question":"and?"}]"#));
        assert_eq!((words.says.as_str(), words.source), ("red", Some(WordsSource::Answer)));
        assert_eq!(words.questions, ["which?"]);
        assert_eq!(words_of(&text("[{\"answer\":\"two\ncoats\"}]")).says, "two\ncoats");
        for kept in ["[1]", "{}", "[{\"answer\":\"red\"}] and more", "no"] {
            let words = words_of(&text(kept));
            assert_eq!((words.says, words.source), (text(kept).trim().to_owned(), None));
        }
    }

    #[test]
    fn answers_stand_in_the_order_of_the_questions() {
        let output =
            r#""{\"answers\":{\"b\":{\"answers\":[\"two\",\"user_note: more\"]},\"a\":{\"answers\":[\"one\"]}}}""#;
        let given = given(Value::new(output.as_bytes())).unwrap();
        assert!(given.sure);
        let question = |id: &str, text: &str| Question { id: id.to_owned(), text: text.to_owned() };
        let words = answered(&given, &[question("a", "first?"), question("b", "second?"), question("c", "none?")]);
        let words = words.unwrap();
        assert_eq!((words.says.as_str(), words.questions.len()), ("one\ntwo\nmore", 2));
        assert_eq!(answered(&given, &[]).unwrap().says, "two\nmore\none");
    }

    #[test]
    fn what_is_no_answer_is_not_taken_for_one() {
        for output in [r#""{\"answers\":3}""#, "\"text\"", "[1]", r#""{\"answers\":{}} and""#, "null", "{}"] {
            assert!(given(Value::new(output.as_bytes())).is_none(), "{output}");
        }
        let found = given(Value::new(br#""{\"answers\":{\"a\":\"x\"}}""#)).unwrap();
        assert!(!found.sure);
    }
}
