//! Image blocks in content, however deep they stand.

use crate::event::InlineImage;
use crate::json::{Value, key_is};

/// How deep content is looked into. Real image blocks stand three levels deep at the most; without a bound,
/// every level of a hostile line would be skipped over once for each level above it.
const MOST_LEVELS: usize = 16;

/// Finds every `{"type":"image","source":{"type":"base64","data":…}}` in `content`, in order; and every
/// `{"type":"image","file":{"base64":…}}`, which is how a program that reads a file holds what it read.
pub(super) fn inline_images<'a>(content: Value<'a>, images: &mut Vec<InlineImage<'a>>) {
    let mut open = vec![(content, 0)];
    while let Some((value, level)) = open.pop() {
        if level > MOST_LEVELS {
            continue;
        }
        let from = open.len();
        if value.is_array() {
            open.extend(value.elements().filter(|element| is_container(*element)).map(|element| (element, level + 1)));
        } else if value.is_object() {
            if let Some(image) = image_block(value) {
                images.push(image);
                continue;
            }
            let containers = value.members().map(|(_, value)| value).filter(|value| is_container(*value));
            open.extend(containers.map(|value| (value, level + 1)));
        }
        // Taken from the end: turned round, they come out in the order of the text.
        open[from..].reverse();
    }
}

fn is_container(value: Value<'_>) -> bool {
    value.is_array() || value.is_object()
}

fn image_block(block: Value<'_>) -> Option<InlineImage<'_>> {
    let (mut is_image, mut source, mut file) = (false, None, None);
    for (key, value) in block.members() {
        if key_is(key, "type") {
            is_image = value.text()?.text == "image";
        } else if key_is(key, "source") {
            source = source.or(Some(value));
        } else if key_is(key, "file") {
            file = file.or(Some(value));
        }
    }
    if !is_image {
        return None;
    }
    let in_source =
        source.filter(|source| source.get("type").and_then(Value::text).is_some_and(|kind| kind.text == "base64"));
    let data = in_source.and_then(|source| source.get("data")).or_else(|| file?.get("base64"));
    data?.raw_string().map(|base64| InlineImage { base64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(content: &str) -> Vec<String> {
        let mut images = Vec::new();
        inline_images(Value::new(content.as_bytes()), &mut images);
        images.iter().map(|image| String::from_utf8_lossy(image.base64).into_owned()).collect()
    }

    #[test]
    fn blocks_are_found_in_order_at_any_depth() {
        let image = |data: &str| {
            format!(r#"{{"type":"image","source":{{"data":"{data}","media_type":"image/png","type":"base64"}}}}"#)
        };
        let content = format!(
            r#"[{},{{"type":"tool_result","content":[{{"type":"text","text":"x"}},{}]}},{}]"#,
            image("a"),
            image("b"),
            image("c")
        );
        assert_eq!(found(&content), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_no_inline_image_is_left_alone() {
        assert!(found(r#"[{"type":"image","source":{"type":"url","url":"x"}},{"type":"document","source":{"type":"base64","data":"x"}}]"#).is_empty());
        assert!(found(&format!("{}{}", "[".repeat(5000), "]".repeat(5000))).is_empty());
    }
}
