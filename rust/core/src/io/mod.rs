//! The file system: the only place that opens, lists, replaces or removes files.

mod blocks;
mod chunks;
mod compression;
mod input;
pub(crate) mod permissions;
mod source;
pub(crate) mod walk;

pub use blocks::BLOCK;
pub use chunks::{FileStretch, LEAST_STRETCH, stretches};
pub use compression::{is_compressed, plain_name, plain_path};
pub use input::Input;
pub use source::{Source, compressed_with};
