//! Elements in text, as the program writes them around what it and the human say: `<name>…</name>`.

/// Whether `text` begins with the opening tag of an element called `name`, with or without attributes.
pub(super) fn opens(text: &str, name: &str) -> bool {
    let behind = text.strip_prefix('<').and_then(|text| text.strip_prefix(name));
    behind.is_some_and(|behind| behind.starts_with(|next: char| next == '>' || next.is_whitespace()))
}

/// What stands in the element that `text` begins with, up to its first closing tag, and what stands behind it; `None`
/// where there is none that is closed.
pub(super) fn element(text: &str) -> Option<(&str, &str)> {
    let tag = &text.strip_prefix('<')?[..text.find('>')?.checked_sub(1)?];
    let name = tag.split(char::is_whitespace).next().filter(|name| !name.is_empty() && !tag.contains('<'))?;
    let inner = &text[tag.len() + 2..];
    let (content, behind) = inner.split_once(&format!("</{name}>"))?;
    Some((content, behind))
}

/// What stands between `<name>` and the last `</name>`: the human may have typed one too.
pub(super) fn inside<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let opening = format!("<{name}>");
    let start = text.find(&opening)? + opening.len();
    let length = text[start..].rfind(&format!("</{name}>"))?;
    Some(&text[start..start + length])
}

/// What stands in the one element called `name` that `text` is.
pub(super) fn alone<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (content, behind) = element(text).filter(|_| opens(text, name))?;
    behind.trim().is_empty().then_some(content)
}

/// What a prompt asks for: teams wrap it in a message.
pub(super) fn without_message(prompt: &str) -> &str {
    let inside = prompt.strip_prefix("<teammate-message").and_then(|rest| rest.split_once('>'));
    let inside = inside.and_then(|(_, rest)| rest.trim_end().strip_suffix("</teammate-message>"));
    inside.map_or(prompt, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_wraps_the_prompt() {
        assert_eq!(without_message("<teammate-message teammate_id=\"team-lead\">\nlook\n</teammate-message>"), "look");
        assert_eq!(without_message("look"), "look");
    }

    #[test]
    fn an_element_ends_at_its_first_closing_tag() {
        assert_eq!(element("<a b=\"c\">one</a>two</a>"), Some(("one", "two</a>")));
        assert_eq!(element("<a\n>one</a>"), Some(("one", "")));
        for text in ["<a>one", "<>one</>", "a<b></b>", "< a>x</ a>", "<a", ""] {
            assert_eq!(element(text), None, "{text}");
        }
    }

    #[test]
    fn an_element_alone_has_nothing_around_it() {
        assert_eq!(alone("<a>one</a> \n", "a"), Some("one"));
        for text in ["<a>one</a> two", "<ab>one</ab>", "<a>one", "two <a>one</a>"] {
            assert_eq!(alone(text, "a"), None, "{text}");
        }
    }
}
