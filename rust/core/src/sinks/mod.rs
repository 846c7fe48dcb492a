//! Where conversations go.

mod escape;
mod event_text;
mod folder;
mod json;
mod sink;

pub use folder::{FolderWriter, write};
pub use json::{JsonWriter, write_event, write_events, write_manifest};
pub use sink::{Sink, StoredImage, send, send_events};
