//! Images in transcripts: finding them, telling what they are, keeping them out of memory.

mod find;
mod format;
mod store;

pub use find::inline_images;
pub use format::ImageFormat;
pub use store::ImageStore;
