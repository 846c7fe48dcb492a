//! Where conversations go.

mod json;

pub use json::{write, write_event, write_events, write_manifest};
