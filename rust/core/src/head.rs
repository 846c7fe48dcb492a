//! The beginning of an input: whose transcript it is, and how it has to be read.

mod stranger;

use memchr::memchr;

use crate::agents::{AGENTS, Agent};
use crate::error::Result;
use crate::json::Value;
use crate::lines::without_bom;

pub use stranger::Stranger;

/// How much of an input is looked at, in bytes.
const SMALL_HEAD: usize = 64 << 10;
/// The same, when that does not tell.
const LARGE_HEAD: usize = 1 << 20;

/// What the beginning tells.
#[derive(Clone, Copy)]
pub struct Head {
    /// Whose transcript it is; the first agent's when nothing tells.
    pub agent: &'static dyn Agent,
    /// Whether that is known.
    pub recognized: bool,
    /// Whether it may begin with records that were copied from another session's.
    pub copies: bool,
    /// Whether it is one JSON document instead of a record on each line.
    pub document: bool,
}

impl Head {
    /// What an input tells whose first bytes `first` gives, as many as it is asked for where there are so many; and
    /// these bytes.
    ///
    /// # Errors
    /// What `first` fails with.
    pub fn read(
        agent: Option<&'static dyn Agent>,
        mut first: impl FnMut(usize) -> Result<Vec<u8>>,
    ) -> Result<(Self, Vec<u8>)> {
        let beginning = first(SMALL_HEAD)?;
        let (head, more) = Self::of(&beginning, agent);
        if !more || beginning.len() < SMALL_HEAD {
            return Ok((head, beginning));
        }
        let beginning = first(LARGE_HEAD)?;
        Ok((Self::of(&beginning, agent).0, beginning))
    }

    /// What `beginning` tells; `agent` is whose transcript it is when that is known. The second result is whether
    /// more bytes could tell more.
    #[must_use]
    pub fn of(beginning: &[u8], agent: Option<&'static dyn Agent>) -> (Self, bool) {
        let beginning = without_bom(beginning);
        let known = agent.or_else(|| recognized(beginning));
        let agent = known.unwrap_or(AGENTS[0]);
        let document = agent.is_document(beginning);
        let copies = !document && agent.copies(beginning);
        let first_line_is_whole = memchr(b'\n', beginning).is_some();
        (
            Self { agent, recognized: known.is_some(), copies, document },
            known.is_none() || !(document || first_line_is_whole) || memchr(b'{', beginning).is_none(),
        )
    }
}

/// The agent that the first record belongs to which tells.
fn recognized(beginning: &[u8]) -> Option<&'static dyn Agent> {
    let agents = || AGENTS.iter().copied();
    if let Some(agent) = agents().find(|agent| agent.is_document(beginning)) {
        return Some(agent);
    }
    // NULs stand before a record where a crash left them.
    let padding = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0);
    beginning.split(|&byte| byte == b'\n').find_map(|line| {
        let start = line.iter().take_while(|byte| padding(byte)).count();
        let record = Value::new(&line[start..]);
        agents().find(|agent| agent.claims(record))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_record_that_tells_tells() {
        for (beginning, agent) in [
            ("", "claude-code"),
            ("{\"type\":\"new\"}\n", "claude-code"),
            ("{\"type\":\"new\"}\n\0\0{\"timestamp\":\"\",\"type\":\"session_meta\",\"payload\":{\"id", "codex"),
            ("no json\n{\"type\":\"user\",\"message\":{\"a\":[", "claude-code"),
            ("{\"type\":\"message\",\"role\":\"user\"}", "codex"),
            ("{\"id\":\"x\",\"timestamp\":\"y\",\"instructions\":null}\n", "codex"),
            ("{\n  \"session\": {\n", "codex"),
            ("{\"record_type\":\"state\"}\n{\"type\":\"user\"}\n", "codex"),
        ] {
            assert_eq!(Head::of(beginning.as_bytes(), None).0.agent.name(), agent, "{beginning}");
        }
    }

    #[test]
    fn a_named_agent_is_not_doubted() {
        let (head, more) = Head::of(b"{\"type\":\"user\"}\n", Some(AGENTS[1]));
        assert_eq!((head.agent.name(), head.document, more), ("codex", false, false));
    }
}
