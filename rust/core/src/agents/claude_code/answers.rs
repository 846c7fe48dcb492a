//! Answers to the assistant's questions, as data and as the text that is made of them.

use rustc_hash::FxHashMap;

use crate::agents::text::string;
use crate::event::{HumanWords, WordsSource};
use crate::json::{Value, decode, key_is};

/// What the program writes for an answer where only a note was typed.
const NOTES_ONLY: &str = "(notes only)";
const NO_OPTION: &str = "(no option selected)";

/// How the sentences begin that the program writes behind the last answer.
const TRAILERS: [&str; 2] = [". You can now continue with", ". Read the answers carefully"];

/// How a text begins that the program sends when the human wants to talk about the questions, or has no more answers.
const CLARIFIES: [&str; 2] =
    ["The user wants to clarify these questions.", "The user has indicated they have provided enough answers"];

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    question: Option<String>,
    /// What was chosen or typed.
    says: String,
    /// What was typed beside it.
    notes: String,
}

impl Answer {
    /// To no question in particular.
    pub(super) fn of(answer: &str) -> Self {
        Self { says: answer.trim().to_owned(), ..Self::default() }
    }

    fn to(question: &str, answer: &str, notes: &str) -> Self {
        let answer = Some(answer.trim()).filter(|answer| ![NOTES_ONLY, NO_OPTION].contains(answer)).unwrap_or_default();
        Self { question: Some(question.to_owned()), says: answer.to_owned(), notes: notes.trim().to_owned() }
    }
}

/// The words of answers: a line each, what was typed beside one in brackets behind it. An answer without words is none.
pub(super) fn words_of(answers: Vec<Answer>) -> HumanWords {
    let mut words = HumanWords { source: Some(WordsSource::Answer), ..HumanWords::default() };
    for Answer { question, says, notes } in answers {
        let line = match (says.is_empty(), notes.is_empty()) {
            (true, true) => continue,
            (false, true) => says,
            (true, false) => notes,
            (false, false) => format!("{says} ({notes})"),
        };
        if !words.says.is_empty() {
            words.says.push('\n');
        }
        words.says.push_str(&line);
        words.questions.extend(question);
    }
    words
}

/// The words of a structured result; `None` when it holds no answers.
pub(super) fn structured_answers(result: Value<'_>) -> Option<HumanWords> {
    let names = ["answers", "annotations", "response", "questions"];
    let mut found = [None; 4];
    for (key, value) in result.members() {
        if let Some(at) = names.iter().position(|name| key_is(key, name)) {
            found[at].get_or_insert(value);
        }
    }
    let [answers, annotations, response, questions] = found;
    let answers = answers.filter(|answers| answers.is_object())?;
    let mut all: Vec<Answer> = Vec::new();
    let mut places = FxHashMap::default();
    for (question, answer) in answers.members() {
        let question = decode(question).text;
        all.push(Answer::to(&question, &chosen(answer), ""));
        places.entry(question).or_insert(all.len() - 1);
    }
    for (question, annotation) in annotations.iter().flat_map(|annotations| annotations.members()) {
        let (question, notes) = (decode(question).text, string(annotation.get("notes")));
        match places.get(&question) {
            Some(&at) => notes.trim().clone_into(&mut all[at].notes),
            None => all.push(Answer::to(&question, "", &notes)),
        }
    }
    let words = words_of(all);
    let response = string(response);
    if !words.says.is_empty() || response.trim().is_empty() {
        return Some(words);
    }
    let asked = questions.iter().flat_map(|questions| questions.elements());
    let asked = asked.filter_map(|question| Some(question.get("question")?.text()?.text.into_owned()));
    Some(HumanWords { questions: asked.collect(), ..words_of(vec![Answer::of(&response)]) })
}

/// An answer, or several.
fn chosen(answer: Value<'_>) -> String {
    if answer.is_string() {
        return string(Some(answer)).into_owned();
    }
    let texts = answer.elements().filter_map(Value::text).map(|text| text.text.trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The answers in the text of a result: `"question"="answer"` and so on. Quotes in them are not escaped: a question
/// begins at the last `, "` before the mark behind it.
pub(super) fn answers_in(body: &str) -> Vec<Answer> {
    let body = TRAILERS.iter().filter_map(|trailer| body.rfind(trailer)).max().map_or(body, |end| &body[..end]).trim();
    let is_mark = |&at: &usize| {
        let behind = &body[at + 2..];
        behind.starts_with('"') || behind.starts_with(NO_OPTION)
    };
    let marks: Vec<usize> = body.match_indices("\"=").map(|(at, _)| at).filter(is_mark).collect();
    let Some(&first) = marks.first() else { return vec![Answer::of(body)] };
    let rfind = memchr::memmem::rfind;
    let mut question = body[..first].trim_start_matches('"');
    let mut start = first + 2;
    let mut answers = Vec::new();
    let mut searched = start;
    for &mark in &marks[1..] {
        let end = body.as_bytes().get(searched..mark).and_then(|value| rfind(value, b", \""));
        // The next question may begin with the last two bytes that were searched.
        let from = std::mem::replace(&mut searched, mark - 2);
        // One without a question before it stands in an answer.
        let Some(end) = end.map(|end| from + end) else { continue };
        answers.push(answer_in(question, &body[start..end]));
        question = &body[end + 3..mark];
        start = mark + 2;
        searched = start;
    }
    answers.push(answer_in(question, &body[start..]));
    answers
}

fn answer_in(question: &str, value: &str) -> Answer {
    let Some(quoted) = value.strip_prefix('"') else {
        return Answer::to(question, "", value.split_once("notes: ").map_or("", |(_, notes)| notes));
    };
    if let Some((answer, preview)) = quoted.split_once("\" selected preview:") {
        return Answer::to(question, answer, preview.rsplit_once(" notes: ").map_or("", |(_, notes)| notes));
    }
    for mark in ["\" user notes: ", "\" notes: "] {
        if let Some((answer, notes)) = quoted.split_once(mark) {
            return Answer::to(question, answer, notes);
        }
    }
    Answer::to(question, quoted.rfind('"').map_or(quoted, |end| &quoted[..end]), "")
}

/// The answers that a text holds which the program wrote instead of the human; `None` when it is none.
pub(super) fn clarifications(text: &str) -> Option<Vec<Answer>> {
    if !CLARIFIES.iter().any(|beginning| text.starts_with(beginning)) {
        return None;
    }
    let answers = text.split("\n- \"").skip(1).map(|part| {
        let (question, rest) = part.split_once("\"\n").unwrap_or((part, ""));
        let (answer, notes) = rest.split_once("\n  User notes: ").unwrap_or((rest, ""));
        let answer = answer.trim_start().strip_prefix("Answer: ").unwrap_or_default();
        let notes = rest.trim_start().strip_prefix("User notes: ").unwrap_or(notes);
        Answer::to(question, answer, notes)
    });
    Some(answers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &HumanWords) -> (String, Vec<&str>) {
        (words.says.clone(), words.questions.iter().map(String::as_str).collect())
    }

    #[test]
    fn answers_stand_in_the_text() {
        for (body, says, questions) in [
            (r#" "Which?"="a". You can now continue with these answers in mind."#, "a", vec!["Which?"]),
            (r#""A, "b"?"="x, "y"", "C?"="z". Read the answers carefully"#, "x, \"y\"\nz", vec!["A, \"b\"?", "C?"]),
            (r#""A?"="", "C?"="z". You can now continue"#, "z", vec!["C?"]),
            (
                "\"A?\"=\"x\" selected preview:\n\"p\"\n notes: soon, \"C?\"=(no option selected) notes: later",
                "x (soon)\nlater",
                vec!["A?", "C?"],
            ),
            (r#""A?"="x" user notes: soon. You can now continue with the user's answers"#, "x (soon)", vec!["A?"]),
            ("just so. You can now continue with these", "just so", vec![]),
            (r#""A?"="say "x"="y"""#, "say \"x\"=\"y\"", vec!["A?"]),
            ("", "", vec![]),
        ] {
            assert_eq!(told(&words_of(answers_in(body))), (says.to_owned(), questions), "{body}");
        }
    }

    #[test]
    fn answers_stand_in_the_data() {
        for (data, says, questions) in [
            (
                r#"{"questions":[],"answers":{"A?":" x ","B?":"","C?":["y"," ","z"],"D?":7}}"#,
                "x\ny, z",
                vec!["A?", "C?"],
            ),
            (
                r#"{"answers":{"A?":"x","B?":"(notes only)"},"annotations":{"B?":{"notes":"n"},"A?":{"preview":"p","notes":"m"},"Z?":{"notes":"o"}}}"#,
                "x (m)\nn\no",
                vec!["A?", "B?", "Z?"],
            ),
            (
                r#"{"questions":[{"question":"A?"},{"question":"B?"}],"answers":{},"response":"neither"}"#,
                "neither",
                vec!["A?", "B?"],
            ),
            (r#"{"answers":{},"afkTimeoutMs":60000}"#, "", vec![]),
        ] {
            let words = structured_answers(Value::new(data.as_bytes())).unwrap_or_default();
            assert_eq!(told(&words), (says.to_owned(), questions), "{data}");
        }
    }

    #[test]
    fn data_without_answers_leave_it_to_the_text() {
        for data in [r#"{"answers":"x"}"#, r#"{"questions":[]}"#, "{}"] {
            assert_eq!(structured_answers(Value::new(data.as_bytes())), None, "{data}");
        }
    }

    #[test]
    fn a_wish_to_clarify_holds_what_was_answered() {
        let text = "The user wants to clarify these questions.\n    Start.\n\n    Questions asked:\n- \"A?\"\n  Answer: x\nand y\n  User notes: n\n- \"B?\"\n  (No answer provided)\n- \"C?\"\n  User notes: o";
        let words = words_of(clarifications(text).unwrap_or_default());
        assert_eq!(told(&words), ("x\nand y (n)\no".to_owned(), vec!["A?", "C?"]));
        assert_eq!(clarifications("The user wants to clarify"), None);
    }
}
