//! The file system: the only place that opens, lists, replaces or removes files.

pub(crate) mod atomic;
mod blocks;
mod chunks;
mod compression;
mod input;
pub(crate) mod permissions;
mod source;
pub(crate) mod spool;
pub(crate) mod staging;
pub(crate) mod walk;

pub(crate) use std::fs::{read as read_file, remove_dir, remove_file};

pub use blocks::BLOCK;
pub use chunks::{FileStretch, LEAST_STRETCH};
pub use compression::{is_compressed, plain_name, plain_path};
pub use input::Input;
pub use source::{Source, Stamp, compressed_with, open_file};
