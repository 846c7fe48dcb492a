//! What each agent's records mean: one file per agent, one row in [`AGENTS`].

mod claude_code;

use std::sync::Arc;

use crate::entry::{Classify, Entry};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Envelope, InlineImage, MetImage, Signal};

pub use claude_code::ClaudeCode;

/// What the reader of an entry may ask of what surrounds it.
pub trait Context {
    /// Whether the tool call of this id may have started a subagent: only then is its result read.
    fn is_subagent_call(&self, call: &str) -> bool;
    /// The text, shared with the entries before that have the same.
    fn shared(&mut self, text: &str) -> Arc<str>;
    /// Keeps an image; `None` when images are not wanted.
    fn keep(&mut self, image: InlineImage<'_>) -> Option<MetImage>;
}

/// An agent whose transcripts can be read.
pub trait Agent: Classify + Sync {
    /// As the user types it.
    fn name(&self) -> &'static str;

    /// The fields that entries share.
    fn envelope(&self, entry: &Entry<'_>, context: &mut dyn Context) -> Envelope;

    /// What every entry of class evidence that tells something contains; it lets one be told from the others
    /// without being read.
    fn evidence_marker(&self) -> &'static [u8];

    /// Gives what the entry says to `say`, in order.
    fn read(&self, entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal));
}

/// Every agent, in the order in which they are tried.
pub static AGENTS: [&dyn Agent; 1] = [&ClaudeCode];

/// The agent called `name`.
///
/// # Errors
/// [`ErrorKind::UnknownAgent`], with the names that are known.
pub fn agent_named(name: &str) -> Result<&'static dyn Agent> {
    AGENTS.iter().copied().find(|agent| agent.name() == name).ok_or_else(|| {
        let known: Vec<_> = AGENTS.iter().map(|agent| agent.name()).collect();
        Error::new(ErrorKind::UnknownAgent, format!("unknown agent {name:?}"))
            .with_hint(format!("known agents: {}", known.join(", ")))
    })
}
