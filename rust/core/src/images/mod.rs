//! Images in transcripts: finding them, telling what they are, keeping them out of memory.

/// Agents that are known to write images into their transcripts.
pub const AGENTS_WITH_IMAGES: [&str; 7] =
    ["claude-code", "codex", "pi", "openclaw", "factory-droid", "gemini-cli", "qwen-code"];

mod files;
mod find;
mod format;
mod recent;
mod runs;
mod store;
mod swap;

pub use files::{FileOptions, ImageReport, Progress, extract_files, list_files, restore_files};
pub use find::{images_in_text, inline_images};
pub use format::ImageFormat;
pub use runs::{DEFAULT_CAP, LeftInline};
pub use store::ImageStore;
pub use swap::{
    Asset, Extracted, PlaceholderForm, Restored, asset_name, extract, has_placeholders, matches_name, restore,
};
