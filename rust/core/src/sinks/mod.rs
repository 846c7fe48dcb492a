//! Where conversations go.

mod escape;
mod event_text;
mod folder;
mod json;

pub use folder::write;
pub use json::{write_event, write_events, write_manifest};
