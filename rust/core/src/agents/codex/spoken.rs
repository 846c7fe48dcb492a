//! What the program marks in the assistant's messages: plans, and what was looked up in its memory.

use std::borrow::Cow;

/// The tags around a part of a message.
struct Tags {
    open: &'static str,
    close: &'static str,
    /// How both end.
    end: &'static str,
}

const PLAN: Tags = Tags { open: "<proposed_plan>", close: "</proposed_plan>", end: "proposed_plan>" };
const CITATION: Tags = Tags { open: "<oai-mem-citation>", close: "</oai-mem-citation>", end: "oai-mem-citation>" };

/// What the assistant says for the human to read, and the plan that stands in it. What stands between tags is taken out,
/// and behind one that begins a line and is not closed all; any other tag of a plan is only taken out.
pub(super) fn spoken(text: String) -> (String, String) {
    if !text.contains(PLAN.end) && !text.contains(CITATION.open) {
        let says = text.trim();
        return if says.len() == text.len() { (text, String::new()) } else { (says.to_owned(), String::new()) };
    }
    let text = without(&text, &CITATION, |_| {});
    let mut plans = Vec::new();
    let says = without(&text, &PLAN, |plan| {
        let plan = without_tags(plan);
        if !plan.is_empty() {
            plans.push(plan);
        }
    });
    (without_tags(&says), plans.join("\n"))
}

/// The text without what stands between the tags, which is given to `take`.
fn without<'t>(text: &'t str, tags: &Tags, mut take: impl FnMut(&str)) -> Cow<'t, str> {
    if !text.contains(tags.open) {
        return Cow::Borrowed(text);
    }
    let (mut left, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once(tags.open) {
        let Some((between, behind)) = behind.split_once(tags.close) else { break };
        take(between);
        left.push_str(before);
        rest = behind;
    }
    left.push_str(rest);
    let begins_line =
        |at: &usize| left[..*at].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n');
    if let Some(open) = left.match_indices(tags.open).map(|(at, _)| at).find(begins_line) {
        take(&left[open + tags.open.len()..]);
        left.truncate(open);
    }
    Cow::Owned(left)
}

/// The text without the tags of plans, and without outer blanks.
fn without_tags(text: &str) -> String {
    let (mut left, mut from) = (String::new(), 0);
    for (at, _) in text.match_indices(PLAN.end) {
        let before = &text[from..at];
        let before = before.strip_suffix("</").or_else(|| before.strip_suffix('<'));
        left.push_str(before.unwrap_or(&text[from..at + PLAN.end.len()]));
        from = at + PLAN.end.len();
    }
    left.push_str(&text[from..]);
    left.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_and_citations_are_taken_out_of_the_words() {
        for (text, says, plan) in [
            (" no plan ", "no plan", ""),
            ("<proposed_plan>\n1. dig\n</proposed_plan>", "", "1. dig"),
            ("First:\n<proposed_plan>dig</proposed_plan>\nGo?", "First:\n\nGo?", "dig"),
            ("a<proposed_plan>x</proposed_plan>b<proposed_plan>y</proposed_plan>c", "abc", "x\ny"),
            ("so:\n \t<proposed_plan>dig", "so:", "dig"),
            ("the tag <proposed_plan> is", "the tag  is", ""),
            ("</proposed_plan> stray, proposed_plan> is none", "stray, proposed_plan> is none", ""),
            ("<proposed_plan> </proposed_plan>", "", ""),
            ("<proposed_<proposed_plan>plan>", "<proposed_plan>", ""),
            ("Dig.\n<oai-mem-citation>\na.md\n</oai-mem-citation>", "Dig.", ""),
            ("Dig.\n<oai-mem-citation>\na.md", "Dig.", ""),
            ("Dig <oai-mem-citation> deeper.", "Dig <oai-mem-citation> deeper.", ""),
        ] {
            assert_eq!(spoken(text.to_owned()), (says.to_owned(), plan.to_owned()), "{text}");
        }
    }

    #[test]
    fn many_tags_take_no_longer_than_their_length() {
        let text = PLAN.open.repeat(200_000);
        assert_eq!(spoken(format!("x{text}")).0, "x");
        let (says, plan) = spoken(text);
        assert_eq!((says.as_str(), plan.as_str()), ("", ""));
        assert_eq!(spoken(format!("{}x", " <oai-mem-citation>".repeat(200_000))).0, "");
    }
}
