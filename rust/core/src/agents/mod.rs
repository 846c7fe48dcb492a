//! What each agent's records mean: one file per agent, one row in [`AGENTS`].

mod claude_code;

use crate::entry::{Classify, Entry};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Envelope, Signal};

pub use claude_code::ClaudeCode;

/// What the reader of an entry may ask of the conversation so far.
pub trait Context {
    /// Whether the tool call of this id started a subagent: only then is its result read.
    fn is_subagent_call(&self, call: &str) -> bool;
}

/// An agent whose transcripts can be read.
pub trait Agent: Classify + Sync {
    /// As the user types it.
    fn name(&self) -> &'static str;

    /// The fields that entries share.
    fn envelope<'a>(&self, entry: &Entry<'a>) -> Envelope<'a>;

    /// Gives what the entry says to `say`, in order.
    fn read<'a>(&self, entry: &Entry<'a>, context: &dyn Context, say: &mut dyn FnMut(Signal<'a>));
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
