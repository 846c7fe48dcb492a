//! Where conversations go.

mod escape;
mod event_text;
mod json;

pub use json::{write, write_event, write_events, write_manifest};
