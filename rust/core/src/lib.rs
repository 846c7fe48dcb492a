//! Reads coding-agent transcripts: megabytes of JSON lines, of which two percent are the conversation.
//!
//! ```text
//!  bytes ────► lines ────► entries ────► signals ───► events ─────► conversation ────► sinks
//!  io          lines       json, entry   agents/*     story         subagents,         events.json · manifest.json
//!  path·stdin  number,     read only     in words     boundaries,   conversation       assets/
//!  ·.zst·.gz   offset      what is       that all     durations,    links, names,
//!                          asked for     agents share queue         manifest
//! ```
//!
//! [`parse()`] does all of it; [`discover`] finds sessions. The crate knows no Python and prints nothing.

pub mod agents;
mod branches;
pub mod census;
pub mod conversation;
pub mod discover;
mod document;
pub mod entry;
mod error;
pub mod event;
mod findings;
mod glue;
mod head;
pub mod images;
pub mod io;
pub mod json;
pub mod lines;
pub mod manifest;
mod measures;
mod parallel;
mod parse;
pub mod progress;
mod queue;
mod reader;
mod refusal;
pub mod secrets;
pub mod sessions;
pub mod sinks;
mod story;
mod stretch;
pub mod subagents;
#[cfg(test)]
#[path = "../tests/third_agent/mod.rs"]
mod third_agent;
mod threads;
pub mod transcript;
mod warning;

pub use census::{Census, CensusOptions, census};
pub use conversation::Conversation;
pub use discover::{DiscoverOptions, Preview, discover, find_session};
pub use error::{Error, ErrorKind, Result, shown_name};
pub use io::Source;
pub use parallel::threads_asked;
pub use parse::{ParseOptions, parse};
pub use progress::Progress;
pub use refusal::Refusal;
pub use warning::{Warning, WarningKind};
