//! Images in transcripts: finding them, telling what they are, keeping them out of memory.

/// Agents that are known to write images into their transcripts.
pub const AGENTS_WITH_IMAGES: [&str; 7] =
    ["claude-code", "codex", "pi", "openclaw", "factory-droid", "gemini-cli", "qwen-code"];

mod extract;
mod files;
mod find;
mod format;
#[cfg(test)]
mod law;
mod placeholder;
mod recent;
mod restore;
mod runs;
mod store;
mod window;

pub use extract::{Asset, Extracted, Lifted, extract, lift};
pub use files::{FileOptions, ImageReport, ImageReports, extract_files, list_files, restore_files};
pub use find::images_in_text;
pub use format::ImageFormat;
pub use placeholder::{PlaceholderForm, asset_name, has_placeholders, matches_name};
pub use restore::{Refilled, Restored, refill, restore};
pub use runs::{DEFAULT_CAP, LeftInline};
pub use store::ImageStore;
