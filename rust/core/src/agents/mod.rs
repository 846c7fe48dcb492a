//! What each agent's records mean: one file per agent, one row in [`AGENTS`].

mod claude_code;
mod codex;
mod text;

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::branches::{Node, Part};
use crate::entry::{Entry, RecordTypes};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Envelope, InlineImage, MetImage, Said, Setting, Signal, Thread};
use crate::json::{Members, Value};

pub use claude_code::{ClaudeCode, Ends};
pub use codex::Codex;

/// What the reader of an entry may ask of what surrounds it.
pub trait Context {
    /// Whether the tool call of this id may have started a subagent: only then is its result read.
    fn is_subagent_call(&self, call: &str) -> bool;
    /// What the entry has in common with others, shared with those before that have the same; `None` for nothing.
    fn setting(&mut self, written: WrittenSetting<'_>) -> Option<Arc<Setting>>;
    /// Keeps an image; `None` when images are not wanted.
    fn keep(&mut self, image: InlineImage<'_>) -> Option<MetImage>;
}

/// The members of an entry that a [`Setting`] is made of, as far as they are there. What is no string counts as "".
#[derive(Clone, Copy, Default)]
pub struct WrittenSetting<'e> {
    /// The session.
    pub session_id: Option<Value<'e>>,
    /// The working directory.
    pub cwd: Option<Value<'e>>,
    /// The program's version.
    pub version: Option<Value<'e>>,
    /// The subagent.
    pub agent_id: Option<Value<'e>>,
    /// Its name.
    pub agent_name: Option<Value<'e>>,
    /// The call that started it.
    pub parent_call: Option<Value<'e>>,
}

/// An agent whose transcripts can be read.
pub trait Agent: Sync {
    /// As the user types it.
    fn name(&self) -> &'static str;

    /// Which records there are.
    fn record_types(&self) -> &'static RecordTypes;

    /// Where its sessions are.
    fn home(&self) -> &'static Home;

    /// Tools that every session uses: their names say nothing of what it was about.
    fn plain_tools(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a record, which may be cut off, is surely this agent's.
    fn claims(&self, record: Value<'_>) -> bool;

    /// The fields that entries share.
    fn envelope(&self, entry: &Entry<'_>, context: &mut dyn Context) -> Envelope;

    /// Gives what the entry says to `say`, in order.
    fn read(&self, entry: &Entry<'_>, context: &mut dyn Context, say: &mut dyn FnMut(Signal));

    /// The version of the agent's program that an entry names, "" where it names none.
    fn version<'e>(&self, _entry: &Entry<'e>) -> Cow<'e, str> {
        Cow::Borrowed("")
    }

    /// Whether an entry of class evidence, of which `upcoming` is not yet read, tells anything that is of use.
    fn wants_evidence(&self, _of_use: Evidence, _upcoming: &Members<'_>) -> bool {
        false
    }

    /// What an entry of class evidence holds when [`Agent::wants_evidence`]; `None` when that cannot be told in this
    /// way.
    fn evidence_markers(&self, _of_use: Evidence) -> Option<&'static [Finder<'static>]> {
        Some(&[])
    }

    /// What part entries of type `kind` have in the tree that a transcript is; `None` where they are none of it.
    fn part(&self, _kind: &str) -> Option<Part> {
        None
    }

    /// The ids of an entry that is dropped and of its parent, as far as its beginning and its end show them.
    fn ids_at_ends(&self, _begun: &[u8], _ended: &[u8], _ends: &mut Ends) -> Option<(Node, Node)> {
        None
    }

    /// The same of a whole one that is walked through.
    fn ids_within(&self, _record: Value<'_>) -> Option<(Node, Node)> {
        None
    }

    /// What an entry says that is dropped but for beginning a tree.
    fn root_says(&self, _record: Value<'_>) -> Option<Signal> {
        None
    }

    /// What a call asked for, in the prompt that the transcript of the subagent which it started begins with.
    fn asked<'p>(&self, prompt: &'p str) -> &'p str {
        prompt
    }

    /// Whether an input that begins like this is one JSON document instead of a record on each line.
    fn is_document(&self, _beginning: &[u8]) -> bool {
        false
    }

    /// The records of a document, where it has any.
    fn document_records<'v>(&self, _document: Value<'v>) -> Vec<DocumentPart<'v>> {
        Vec::new()
    }

    /// What a document says of all its records, where they do not say it themselves.
    fn document_setting<'v>(&self, _document: Value<'v>) -> WrittenSetting<'v> {
        WrittenSetting::default()
    }

    /// Whether the lines with which an input begins say that others follow which were copied from another session.
    fn copies(&self, _beginning: &[u8]) -> bool {
        false
    }

    /// What a record says about the session that it begins, if it does.
    fn thread(&self, _record: Value<'_>) -> Option<Thread> {
        None
    }

    /// What has to be done to the entries of a whole file before they are a story, where their order alone does not
    /// tell it.
    fn sieve(&self) -> Option<Box<dyn Sieve>> {
        None
    }
}

/// What evidence is of use just now.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Which subagent works for which call.
    pub subagents: bool,
    /// Which records are copies of another session's.
    pub copies: bool,
}

/// Takes the entries of a file in order and gives on those that tell the story.
pub trait Sieve: Send {
    /// Takes the next one.
    fn take(&mut self, said: Said);
    /// There are no more: gives what is left to `keep`, in order. How many records were copies of another session's.
    fn finish(self: Box<Self>, keep: &mut dyn FnMut(Said)) -> u64;
}

/// A piece of a document.
pub enum DocumentPart<'v> {
    /// A record.
    Record(Value<'v>),
    /// A list of records.
    Records(Value<'v>),
}

/// Where an agent keeps its sessions, and how their files are named.
pub struct Home {
    /// The environment variable that says where (several with commas between).
    pub variable: &'static str,
    /// The folder in the user's own that it is otherwise.
    pub folder: &'static str,
    /// Folders in it that hold sessions, and how many levels of folders these have; what is in an earlier one counts
    /// before what has the same name in a later one.
    pub sessions: &'static [(&'static str, RangeInclusive<usize>)],
    /// The session id in the name of a session's file; `None` for every other file's.
    pub session_id: fn(&str) -> Option<&str>,
    /// Whether no two sessions' files have the same name.
    pub unique_names: bool,
    /// The folder whose folders are called after the projects that the sessions in them are about, where there is one.
    pub projects: Option<&'static str>,
    /// Folders of one session's own that hold transcripts, but none of a session.
    pub not_sessions: &'static [&'static str],
    /// The same that hold no transcripts at all, whatever they look like.
    pub not_transcripts: &'static [&'static str],
    /// How subagents' files are found.
    pub subagents: SubagentFiles,
}

/// How the files of a session's subagents are found.
#[derive(Clone, Copy)]
pub enum SubagentFiles {
    /// There are none.
    None,
    /// They lie in a folder of the session's own, or beside it.
    Beside(&'static FilesBeside),
    /// They are sessions like every other, and name the session that started them.
    Threads,
}

/// How the files of subagents are called that lie beside a session's, and what lies with them.
pub struct FilesBeside {
    /// The folder of a session's own that they lie in.
    pub folder: &'static str,
    /// The subagent's id in the name of a file; `None` for every other file's.
    pub id: fn(&str) -> Option<&str>,
    /// What the subagent of this id does.
    pub role: fn(&str) -> SubagentRole,
    /// The session that a record of such a file names.
    pub session: for<'v> fn(Value<'v>) -> Option<Value<'v>>,
    /// The name of the file that tells more of the subagent of this id.
    pub about: fn(&str) -> String,
    /// What stands in it.
    pub read_about: fn(&[u8]) -> AboutSubagent,
}

/// What a subagent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubagentRole {
    /// What it was asked for.
    Works,
    /// Something of the program's own, which begins with a copy of the session: it is no part of the story.
    Internal,
    /// It writes the summary at a compaction.
    Compacts,
}

/// What is told of a subagent apart from its file; "" for what is not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AboutSubagent {
    /// In a few words, what it was asked for.
    pub description: String,
    /// The kind of agent it is.
    pub agent_type: String,
    /// The call that started it.
    pub call: String,
    /// What it is called.
    pub name: String,
}

/// Every agent, in the order in which they are tried. The tests have one more, made up: what holds for it holds for the
/// next one.
pub static AGENTS: &[&dyn Agent] = &[
    &ClaudeCode,
    &Codex,
    #[cfg(test)]
    &crate::third_agent::Harbour,
];

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
