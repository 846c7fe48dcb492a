//! Which words of a user entry the human typed: markers that say otherwise, commands, injected context.
//!
//! Where the entry says that the human wrote, markup is read as markup only where a text is nothing but that, whole and
//! closed; where it says nothing, a text that begins as the program's own does is the program's.

use crate::event::{HumanWords, WordsSource};

use super::markers::{is_program_markup, is_program_text};
use super::tags::{alone, element, inside, opens};

/// The elements of a slash command; which comes first varies by version and by kind of command.
const COMMAND_TAGS: [&str; 4] = ["command-name", "command-message", "command-args", "command-contents"];

/// Lines that the human typed with a sign before them: the element, the sign, and how the words came in.
const SIGNED: [(&str, &str, WordsSource); 2] =
    [("bash-input", "! ", WordsSource::Bash), ("user-memory-input", "# ", WordsSource::Memory)];

/// Context that clients put around the human's words.
const CONTEXT_TAGS: [(&str, &str); 3] = [
    ("<system-reminder>", "</system-reminder>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<ide_selection>", "</ide_selection>"),
];

const INTERRUPTION: &str = "[Request interrupted by user";

/// What tells of a summary of the conversation before; and how such a summary begins.
const CONTINUED: &str = "continued from a previous conversation";
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// How a prompt begins that the program wrote for the human from a plan they agreed to.
const FROM_PLAN: &str = "Implement the following plan:";

/// How often taking off one layer may lay bare another before what is left is kept as it is. Real text has
/// one or two layers; the bound keeps hostile nesting linear.
const MOST_LAYERS: usize = 16;

/// Whose words a user entry says that its texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// It says that the human wrote them.
    Human,
    /// It does not say.
    Unsaid,
    /// The program wrote them: the summary that a compaction left.
    Summary,
}

/// What the human typed of an entry's blocks of text. Each block is looked at on its own: an injected one beside
/// the human's costs nothing of what the human said. The tags of one command may be spread over blocks.
pub(super) fn human_words(blocks: &[String], author: Author) -> HumanWords {
    let mut pieces: Vec<String> = Vec::new();
    for block in blocks.iter().map(|block| block.trim()).filter(|block| !block.is_empty()) {
        match pieces.last_mut() {
            Some(last) if is_command(last) && is_command(block) => {
                last.push('\n');
                last.push_str(block);
            }
            _ => pieces.push(block.to_owned()),
        }
    }
    let any = !pieces.is_empty();
    let mut all = HumanWords { markup: any, program: any, ..HumanWords::default() };
    let mut mentions = false;
    for piece in &pieces {
        let words = match author {
            Author::Human => words_of_human(piece),
            Author::Unsaid => words_of_unsaid(piece),
            Author::Summary => summary(without_context(piece)),
        };
        mentions |= words.source.is_none() && mentions_continuation(&words.says);
        join(&mut all.says, &words.says);
        join(&mut all.summary, &words.summary);
        all.source = all.source.or(words.source);
        all.interrupted |= words.interrupted;
        all.compaction |= words.compaction;
        all.clear |= words.clear;
        all.markup &= words.markup;
        all.program &= words.program;
    }
    all.continuation = !all.summary.is_empty();
    if mentions && !all.continuation {
        all.summary.clone_from(&all.says);
    }
    all
}

fn join(all: &mut String, more: &str) {
    if !all.is_empty() && !more.is_empty() {
        all.push('\n');
    }
    all.push_str(more);
}

/// The words of a text that the human is said to have written.
fn words_of_human(text: &str) -> HumanWords {
    if !text.starts_with(['<', '[']) && !text.ends_with('>') {
        return plain(text.to_owned());
    }
    let rest = without_outer_context(text);
    if behind_interruption(rest).is_some_and(str::is_empty) {
        return HumanWords { interrupted: true, ..HumanWords::default() };
    }
    if is_command_alone(rest) {
        return command(rest, |arguments| without_outer_context(arguments).to_owned());
    }
    for (tag, sign, source) in SIGNED {
        if let Some(typed) = alone(rest, tag) {
            return signed(typed, sign, source);
        }
    }
    if is_program_markup(rest) {
        return of_program();
    }
    plain(rest.to_owned())
}

/// The words of a text of which nothing says who wrote it.
fn words_of_unsaid(text: &str) -> HumanWords {
    let mut interrupted = false;
    let mut rest = text.to_owned();
    for _ in 0..MOST_LAYERS {
        if is_program_text(&rest) {
            return HumanWords { interrupted, ..of_program() };
        }
        if is_command(&rest) {
            return HumanWords { interrupted, ..command(&rest, without_context) };
        }
        if let Some((tag, sign, source)) = SIGNED.into_iter().find(|(tag, _, _)| begins_with_tag(&rest, tag)) {
            return HumanWords { interrupted, ..signed(inside(&rest, tag).unwrap_or_default(), sign, source) };
        }
        if let Some(behind) = behind_interruption(&rest) {
            interrupted = true;
            rest = behind.to_string();
        } else if memchr::memchr(b'<', rest.as_bytes()).is_none() {
            break;
        } else {
            let stripped = without_context(&rest);
            if stripped == rest {
                break;
            }
            rest = stripped;
        }
    }
    let words = if rest.starts_with(SUMMARY) { summary(rest) } else { plain(rest) };
    HumanWords { interrupted, ..words }
}

fn plain(says: String) -> HumanWords {
    HumanWords { says, ..HumanWords::default() }
}

fn summary(summary: String) -> HumanWords {
    HumanWords { summary, ..HumanWords::default() }
}

fn of_program() -> HumanWords {
    HumanWords { markup: true, program: true, ..HumanWords::default() }
}

/// What stands behind the beginning of a prompt that the program wrote from a plan, if `says` is one.
pub(super) fn behind_plan_mark(says: &str) -> Option<&str> {
    says.strip_prefix(FROM_PLAN)
}

/// Whether `text` is a slash command and nothing else: `/init`, but not `/mcp list` and no path.
pub(super) fn is_bare_command(text: &str) -> bool {
    let Some(name) = text.strip_prefix('/') else { return false };
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:.-".contains(letter))
}

fn begins_with_tag(text: &str, tag: &str) -> bool {
    text.strip_prefix('<').and_then(|text| text.strip_prefix(tag)).is_some_and(|behind| behind.starts_with('>'))
}

fn is_command(text: &str) -> bool {
    text.starts_with('<') && COMMAND_TAGS.iter().any(|tag| begins_with_tag(text, tag))
}

/// Whether `text` is the elements of a slash command and nothing else. What was typed behind the command stands last in
/// most and may hold a closing tag itself.
fn is_command_alone(text: &str) -> bool {
    let mut rest = text;
    while is_command(rest) {
        let Some((_, behind)) = element(rest) else { return false };
        if opens(rest, "command-args") && !behind.trim_start().starts_with("<command-") && !behind.trim().is_empty() {
            return text.matches("<command-args>").count() == 1 && rest.ends_with("</command-args>");
        }
        rest = behind.trim_start();
    }
    rest.is_empty() && !text.is_empty()
}

/// What a slash command says, whose arguments are what `typed` leaves of them.
fn command(text: &str, typed: impl FnOnce(&str) -> String) -> HumanWords {
    let tagged = |tag| inside(text, tag).map_or("", str::trim);
    let mut name = tagged("command-name");
    if name.is_empty() {
        name = tagged("command-message");
    }
    let name = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
    let (compaction, clear) = (name == "/compact", name == "/clear");
    let arguments = typed(tagged("command-args"));
    if arguments.is_empty() {
        return HumanWords { compaction, clear, markup: true, ..HumanWords::default() };
    }
    let says = format!("{name} {arguments}");
    HumanWords { compaction, clear, source: Some(WordsSource::Command), ..plain(says) }
}

fn signed(typed: &str, sign: &str, source: WordsSource) -> HumanWords {
    let typed = typed.trim();
    if typed.is_empty() {
        return HumanWords { markup: true, ..HumanWords::default() };
    }
    HumanWords { source: Some(source), ..plain(format!("{sign}{typed}")) }
}

fn behind_interruption(text: &str) -> Option<&str> {
    let marker = text.strip_prefix(INTERRUPTION)?;
    Some(marker[marker.find(']')? + 1..].trim())
}

/// The text without any context that a client put into it.
pub(super) fn without_context(text: &str) -> String {
    let mut kept = text.trim().to_owned();
    for (opening, closing) in CONTEXT_TAGS {
        if !kept.contains(opening) {
            continue;
        }
        let mut rest = kept.as_str();
        let mut outside = String::with_capacity(kept.len());
        while let Some(start) = rest.find(opening) {
            let Some(length) = rest[start + opening.len()..].find(closing) else { break };
            outside.push_str(&rest[..start]);
            rest = &rest[start + opening.len() + length + closing.len()..];
        }
        outside.push_str(rest);
        kept = outside;
    }
    kept.trim().to_owned()
}

/// The text without the context that stands before and behind it: what stands between words was typed.
pub(super) fn without_outer_context(text: &str) -> &str {
    let mut rest = text.trim();
    for _ in 0..MOST_LAYERS {
        let before = rest.len();
        for (opening, closing) in CONTEXT_TAGS {
            if let Some((_, behind)) = rest.strip_prefix(opening).and_then(|inner| inner.split_once(closing)) {
                rest = behind.trim_start();
            }
            if let Some(start) = rest.strip_suffix(closing).and_then(|inner| last_whole(inner, opening, closing)) {
                rest = rest[..start].trim_end();
            }
        }
        if rest.len() == before {
            break;
        }
    }
    rest
}

/// Where the element starts whose closing tag stands behind `inner`.
fn last_whole(inner: &str, opening: &str, closing: &str) -> Option<usize> {
    inner.rfind(opening).filter(|&start| !inner[start..].contains(closing))
}

/// Whether `text` says, in any letter case, that it continues a conversation.
fn mentions_continuation(text: &str) -> bool {
    // The letter that few others stand for: a search for it passes over most of a text.
    const RARE: (u8, u8, usize) = (b'v', b'V', 20);
    let bytes = text.as_bytes();
    memchr::memchr2_iter(RARE.0, RARE.1, bytes).any(|place| {
        let start = place.checked_sub(RARE.2);
        let there = start.and_then(|start| bytes.get(start..start + CONTINUED.len()));
        there.is_some_and(|there| there.eq_ignore_ascii_case(CONTINUED.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::human_words as words_of_blocks;

    fn human_words(text: &str) -> HumanWords {
        words_of_blocks(&[text.to_owned()], Author::Unsaid)
    }

    fn says(text: &str) -> String {
        human_words(text).says
    }

    fn typed(text: &str) -> HumanWords {
        words_of_blocks(&[text.to_owned()], Author::Human)
    }

    #[test]
    fn each_block_is_looked_at_on_its_own() {
        let blocks = |texts: &[&str]| {
            words_of_blocks(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(), Author::Unsaid)
        };
        assert_eq!(blocks(&["<task-notification>done</task-notification>", "and my words"]).says, "and my words");
        let interrupted = blocks(&["real words", "[Request interrupted by user]"]);
        assert_eq!(
            (interrupted.says.as_str(), interrupted.interrupted, interrupted.markup),
            ("real words", true, false)
        );
        assert!(blocks(&["<bash-stdout>x</bash-stdout>", "<bash-stderr></bash-stderr>"]).markup);
        assert!(!blocks(&[]).markup);
    }

    #[test]
    fn plain_words_are_kept_even_when_they_talk_about_markers() {
        for text in ["hello", "why does <command-name> show up?", "[Request interrupted", "a <system-reminder> b"] {
            assert_eq!(says(text), text);
        }
    }

    #[test]
    fn context_is_taken_off_wherever_it_stands() {
        let text = "<ide_opened_file>a.rs</ide_opened_file>\n<system-reminder>x</system-reminder> fix it <system-reminder>y</system-reminder>";
        assert_eq!(says(text), "fix it");
        assert_eq!(says("<system-reminder>only</system-reminder>"), "");
    }

    #[test]
    fn what_context_hid_is_looked_at_again() {
        let words = human_words("<system-reminder>x</system-reminder><task-notification>done</task-notification>");
        assert!(words.markup);
        assert_eq!(says("[Request interrupted by user for tool use] no, the other file"), "no, the other file");
    }

    #[test]
    fn commands_say_their_arguments() {
        let text = "<command-message>review is running</command-message>\n<command-name>/review</command-name>\n<command-args> the parser </command-args>";
        let words = human_words(text);
        assert_eq!((words.says.as_str(), words.source), ("/review the parser", Some(WordsSource::Command)));
        let compact = human_words("<command-name>/compact</command-name>\n  <command-args></command-args>");
        assert!(compact.markup && compact.compaction);
        assert_eq!(says("<command-name>init</command-name><command-args>now</command-args>"), "/init now");
    }

    #[test]
    fn shell_and_memory_lines_say_what_was_typed() {
        assert_eq!(says("<bash-input> ls -l </bash-input>"), "! ls -l");
        assert_eq!(says("<user-memory-input>use tabs</user-memory-input>"), "# use tabs");
        assert!(human_words("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>").markup);
    }

    #[test]
    fn a_summary_is_no_words_and_what_mentions_one_is() {
        let summary = words_of_blocks(&["anything <ide_selection>x</ide_selection>".to_owned()], Author::Summary);
        assert_eq!((summary.says.as_str(), summary.summary.as_str(), summary.continuation), ("", "anything", true));
        let text = "This session is being continued from a previous conversation that ran out of context.";
        let summary = human_words(text);
        assert_eq!((summary.says.as_str(), summary.summary.as_str(), summary.continuation), ("", text, true));
        let text = "Was this CONTINUED from a Previous conversation?";
        for words in [human_words(text), typed(text), typed(&format!("{text} <goal>"))] {
            assert!(words.says.starts_with(text) && words.summary == words.says && !words.continuation);
        }
    }

    #[test]
    fn typed_text_is_markup_only_when_it_is_nothing_else() {
        for text in [
            "<goal> is no tag, right?",
            "<goal>",
            "<bash-input>ls</bash-input> does what?",
            "<command-name>/x</command-name> is in my log",
            "[Request interrupted by user] stands in the log, why?",
            "<task-notification> what is that",
            "Stop hook feedback: what is that?",
            "what does <system-reminder>x</system-reminder> do?",
            "[SYSTEM NOTIFICATION - NOT USER INPUT] is a lie",
            "<local-command-stdout>x</local-command-stdout> why?",
        ] {
            let words = typed(text);
            assert_eq!((words.says.as_str(), words.source, words.interrupted), (text, None, false), "{text}");
        }
        assert!(typed("[Request interrupted by user for tool use]").interrupted);
        assert!(typed("<task-notification>done</task-notification>").markup);
        assert_eq!(typed("<bash-input>ls</bash-input>").says, "! ls");
        let command = typed(
            "<command-message>r</command-message>\n<command-name>/r</command-name>\n<command-args>why </command-args> there</command-args>",
        );
        assert_eq!(
            (command.says.as_str(), command.source),
            ("/r why </command-args> there", Some(WordsSource::Command))
        );
        assert!(typed("<command-name>/clear</command-name> <command-args></command-args>").markup);
    }

    #[test]
    fn context_around_typed_text_is_taken_off() {
        let context = "<system-reminder>a</system-reminder><ide_selection>b</ide_selection>";
        let text = format!("{context} mind the <system-reminder>c</system-reminder> tag {context}{context}");
        assert_eq!(typed(&text).says, "mind the <system-reminder>c</system-reminder> tag");
        assert_eq!(typed(context).says, "");
        assert_eq!(typed("why </system-reminder>").says, "why </system-reminder>");
        assert_eq!(typed("why <system-reminder>? <system-reminder>x</system-reminder>").says, "why <system-reminder>?");
    }

    #[test]
    fn a_bare_command_is_no_words_and_no_path() {
        for (text, expected) in
            [("/init", true), ("/mcp:x", true), ("/mcp list", false), ("/home/x", false), ("/", false)]
        {
            assert_eq!(is_bare_command(text), expected, "{text}");
        }
    }
}
