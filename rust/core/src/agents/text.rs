//! Texts and objects as every agent writes them.

use std::borrow::Cow;

use crate::json::{Text, Value, key_is};

/// The decoded string, "" for every other value and for none.
pub(super) fn string(value: Option<Value<'_>>) -> Cow<'_, str> {
    value.and_then(Value::text).map_or(Cow::Borrowed(""), |text| text.text)
}

/// Texts that belong together.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) text: String,
    /// Whether invalid UTF-8 was replaced.
    pub(super) lossy: bool,
}

impl Texts {
    /// Adds the next part of one text.
    pub(super) fn push(&mut self, value: Option<Value<'_>>) {
        let Some(Text { text, lossy }) = value.and_then(Value::text) else { return };
        self.lossy |= lossy;
        self.text.push_str(&text);
    }

    /// Adds a text that stands for itself on a line of its own, without the white space around it. One that is blank is
    /// left out.
    pub(super) fn push_line(&mut self, value: Option<Value<'_>>) {
        let Some(Text { text, lossy }) = value.and_then(Value::text) else { return };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        self.lossy |= lossy;
        if self.text.is_empty() {
            // Most are the only one: what was decoded is what is kept.
            self.text = if trimmed.len() == text.len() { text.into_owned() } else { trimmed.to_owned() };
            return;
        }
        self.text.push('\n');
        self.text.push_str(trimmed);
    }
}

/// What `read` makes of an object that some versions write as a string of JSON; `null` where there is none.
pub(super) fn spelled_out<T>(object: Option<Value<'_>>, read: impl FnOnce(Value<'_>) -> T) -> T {
    let object = object.unwrap_or(Value::new(b"null"));
    match object.text() {
        Some(json) => read(Value::new(json.text.trim().as_bytes())),
        None => read(object),
    }
}

/// Members of a tool's input that say what the call is about, the most telling first.
const TARGETS: [&str; 4] = ["file_path", "path", "url", "filename"];

/// What a call with this input is about, "" when that does not say.
pub(super) fn target(input: Value<'_>) -> String {
    let mut best: Option<(usize, Value<'_>)> = None;
    for (key, value) in input.members() {
        let Some(rank) = TARGETS.iter().position(|name| key_is(key, name)) else { continue };
        if best.is_none_or(|(found, _)| rank < found) && value.raw_string().is_some_and(|raw| !raw.is_empty()) {
            best = Some((rank, value));
        }
        if best.is_some_and(|(found, _)| found == 0) {
            break;
        }
    }
    string(best.map(|(_, value)| value)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_without_the_white_space_around_them() {
        let mut texts = Texts::default();
        for text in [r#"" \u0085one\n""#, r#""  ""#, "7", r#""\n\ntwo  three\u3000""#, r#""""#] {
            texts.push_line(Some(Value::new(text.as_bytes())));
        }
        assert_eq!(texts.text, "one\ntwo  three");
        texts.push(Some(Value::new(br#"" four""#)));
        assert_eq!((texts.text.as_str(), texts.lossy), ("one\ntwo  three four", false));
    }

    #[test]
    fn the_most_telling_member_is_what_a_call_is_about() {
        for (input, about) in [
            (r#"{"url":"u","path":"p","file_path":"f"}"#, "f"),
            (r#"{"path":"","filename":"n","url":7}"#, "n"),
            (r#""{\"path\":\"p\"}""#, ""),
            ("null", ""),
        ] {
            assert_eq!(target(Value::new(input.as_bytes())), about, "{input}");
        }
        let json = Value::new(br#"" {\"path\":\"p\"}""#);
        assert_eq!(spelled_out(Some(json), target), "p");
        assert_eq!(spelled_out(None, |value| value.raw().to_vec()), b"null");
    }
}
