//! Images in text.

use super::runs::{SHORTEST_RUN, follows_mark, looks_like_image, next_run};
use crate::event::InlineImage;

/// Finds every image that stands in `text` as a data URI.
pub fn images_in_text(text: &[u8]) -> impl Iterator<Item = InlineImage<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(run) = next_run(text, from, 0) {
            from = run.end;
            let base64 = &text[run.start..run.end];
            if base64.len() >= SHORTEST_RUN && follows_mark(&text[..run.start]) && looks_like_image(base64) {
                return Some(InlineImage { base64 });
            }
        }
        None
    })
}
