//! Subagents: their files, which call started which, and their events under the call.

mod links;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::agents::{AGENTS, AboutSubagent, FilesBeside, SubagentFiles, SubagentRole};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, LinkedBy};
use crate::io::walk::{Kind, Walk, names_in};
use crate::io::{Input, Source, plain_name, read_file};
use crate::json::Value;
use crate::lines::LineReader;
use crate::parallel;
use crate::progress::Progress;
use crate::reader::Threads;
use crate::story::Story;
use crate::transcript::{ReadOptions, Sidechain, Transcript};

pub use links::link;

/// Folders below that of the subagents that are looked into. Seen: two.
const MOST_FOLDERS: usize = 8;
/// Lines of a flat agent file that are looked at for the session it belongs to.
const MOST_LINES: u64 = 50;
/// How deep subagents' events are put into each other. Seen: 79. What is deeper is listed as unlinked, so that no
/// reader of the result needs a deep stack.
const MOST_DEEP: usize = 150;

/// A subagent of a session.
#[derive(Default)]
pub struct Subagent {
    /// What its file's name says, or its lines.
    pub id: String,
    /// The file, below the session's folder; `None` for inline ones.
    pub file: Option<String>,
    /// From the file that tells of it, or from the call.
    pub description: String,
    /// From the file that tells of it, or from the call.
    pub agent_type: String,
    /// The call that started it.
    pub tool_use_id: Option<String>,
    /// How that is known.
    pub linked_by: Option<LinkedBy>,
    /// What it did.
    pub story: Story,
    /// What is wrong with its file.
    pub transcript: Transcript,
    /// Another name that calls know it by, "" when there is none.
    pub other_name: String,
    /// What it is called, where no call describes it.
    pub nickname: String,
    /// The call that its meta file or its lines name, "" where they name none.
    pub(crate) named_call: String,
    pub(crate) meta_name: String,
    /// Story and position of the call that its events belong under; the session's own story is 0.
    pub(crate) parent: Option<(usize, usize)>,
}

impl Subagent {
    /// Words and thinking, at four bytes a token.
    #[must_use]
    pub fn signal_tokens(&self) -> u64 {
        self.story.signal_bytes() / 4
    }
}

/// The last words of the agent that wrote the summary at a compaction.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ChapterBridge {
    /// The agent.
    pub id: String,
    /// Its file, below the session's folder.
    pub file: String,
    /// When it began.
    pub timestamp: String,
    /// The summary.
    pub text: String,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct UnreadableFile {
    /// Below the session's folder.
    pub file: String,
    /// Why not.
    pub error: String,
}

/// Everything found beside a session's file.
#[derive(Default)]
pub struct Found {
    /// Subagents, by the time they began.
    pub subagents: Vec<Subagent>,
    /// Summaries at compactions, by time.
    pub bridges: Vec<ChapterBridge>,
    /// What could not be read.
    pub unreadable: Vec<UnreadableFile>,
}

/// Whether some agent calls the files of its subagents like this.
#[must_use]
pub fn is_subagent_file(name: &OsStr) -> bool {
    AGENTS.iter().any(|agent| match agent.home().subagents {
        SubagentFiles::Beside(files) => agent_id(files, name).is_some(),
        SubagentFiles::None | SubagentFiles::Threads => false,
    })
}

/// The subagent's id in a file name, of a compressed file too.
fn agent_id<'n>(files: &FilesBeside, name: &'n OsStr) -> Option<&'n str> {
    (files.id)(plain_name(name.to_str()?))
}

/// The session id in a file name.
#[must_use]
pub fn session_stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let name = plain_name(name);
    Some(name.strip_suffix(".jsonl").unwrap_or(name))
}

/// Reads the agent files that belong to the session at `path`: those in its folder, and those that lie flat
/// beside it and say that they are this session's.
#[must_use]
pub fn beside(path: &Path, called: &'static FilesBeside, session_ids: &[String], reading: ReadOptions<'_>) -> Found {
    let mut found = Found::default();
    let Some(folder) = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    else {
        return found;
    };
    let mut files = Vec::new();
    if let Some(stem) = session_stem(path) {
        files = agent_files_below(&folder.join(stem).join(called.folder), called);
        let is_named = |id: &str| id == stem || session_ids.iter().any(|known| known == id);
        files.extend(flat_agent_files(folder, called, reading.threads.count, is_named));
    }
    // Side by side already, one thread each.
    let each = ReadOptions { subagent_file: true, threads: Threads::one(), ..reading };
    let read = parallel::map(reading.threads.count, &files, |file| read_agent_file(file, called, folder, each));
    for result in read {
        match result {
            Ok(Some(AgentFile::Subagent(agent))) => {
                if found.subagents.iter().all(|known| known.id != agent.id) {
                    found.subagents.push(*agent);
                }
            }
            Ok(Some(AgentFile::Bridge(bridge))) => found.bridges.push(bridge),
            Ok(None) => {}
            Err(unreadable) => found.unreadable.push(unreadable),
        }
    }
    found.bridges.sort_by(|one, other| (&one.timestamp, &one.id).cmp(&(&other.timestamp, &other.id)));
    found
}

/// The agent files in the folder that was listed last, by name: the sessions of one folder are read one after the other,
/// and to list it, or to look into each agent's file in it, takes longer than to read one of them.
struct Listing {
    folder: PathBuf,
    called: &'static FilesBeside,
    modified: SystemTime,
    files: Vec<FlatAgentFile>,
}

/// An agent file that lies beside sessions.
#[derive(Clone)]
struct FlatAgentFile {
    path: PathBuf,
    /// The session that its first lines name, once they do.
    session: Option<String>,
}

static LAST_LISTING: Mutex<Option<Listing>> = Mutex::new(None);

/// A folder that changed more lately than this may change again without its time changing.
const SETTLED: Duration = Duration::from_secs(2);

/// The agent files that lie directly in `folder` and say that they belong to one of the sessions that `is_named` knows.
fn flat_agent_files(
    folder: &Path,
    called: &'static FilesBeside,
    threads: usize,
    is_named: impl Fn(&str) -> bool + Sync,
) -> Vec<PathBuf> {
    let last = || LAST_LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let modified = folder.metadata().and_then(|metadata| metadata.modified()).ok();
    let settled = modified.filter(|modified| modified.elapsed().is_ok_and(|age| age > SETTLED));
    let is_known =
        |last: &Listing| last.folder == folder && std::ptr::eq(last.called, called) && Some(last.modified) == settled;
    let known = last().take_if(|last| is_known(last));
    let mut files = known.map_or_else(|| listed(folder, called), |known| known.files);
    let looked_into = parallel::map(threads, &files, |file| match &file.session {
        None if is_file(&file.path) => session_of(&file.path, called),
        known => known.clone(),
    });
    for (file, session) in files.iter_mut().zip(looked_into) {
        file.session = session;
    }
    let mine = files.iter().filter(|file| file.session.as_deref().is_some_and(&is_named));
    // It may be gone, which the time of the folder tells only once that has settled.
    let mine = mine.map(|file| file.path.clone()).filter(|path| is_file(path)).collect();
    if let Some(modified) = settled {
        *last() = Some(Listing { folder: folder.to_owned(), called, modified, files });
    }
    mine
}

fn listed(folder: &Path, called: &FilesBeside) -> Vec<FlatAgentFile> {
    agent_files_in(folder, called).into_iter().map(|path| FlatAgentFile { path, session: None }).collect()
}

/// What is called like an agent file directly in `folder`, by name. A folder that is not there has none.
fn agent_files_in(folder: &Path, called: &FilesBeside) -> Vec<PathBuf> {
    let Ok(names) = names_in(folder) else { return Vec::new() };
    let named = names.filter(|name| agent_id(called, name).is_some());
    let mut files: Vec<_> = named.map(|name| folder.join(name)).collect();
    files.sort();
    files
}

/// Whether it can be read to an end: a pipe would be waited for.
fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// The agent files below `folder`, those of a folder before those of the folders in it.
fn agent_files_below(folder: &Path, called: &FilesBeside) -> Vec<PathBuf> {
    let mut walk = Walk::default();
    let Ok(below) = walk.below(folder, MOST_FOLDERS, &|_| false) else { return Vec::new() };
    let files = below.flatten().filter(|entry| matches!(entry.kind, Kind::File | Kind::LinkedFile));
    let named =
        files.map(|entry| entry.path).filter(|path| path.file_name().and_then(|name| agent_id(called, name)).is_some());
    let mut files: Vec<_> = named.collect();
    files.sort_by(|one, other| (one.parent(), one.file_name()).cmp(&(other.parent(), other.file_name())));
    files
}

/// The session that the first lines of an agent file name.
fn session_of(path: &Path, called: &FilesBeside) -> Option<String> {
    let mut lines = LineReader::new(Input::open_to_look(path).ok()?);
    while let Ok(Some(line)) = lines.next_line(&mut Progress::silent()) {
        let id = (called.session)(Value::new(line.bytes.trim_ascii())).and_then(Value::text);
        if let Some(id) = id {
            return Some(id.text.into_owned());
        }
        if line.number >= MOST_LINES {
            return None;
        }
    }
    None
}

enum AgentFile {
    Subagent(Box<Subagent>),
    Bridge(ChapterBridge),
}

fn read_agent_file(
    path: &Path,
    called: &FilesBeside,
    folder: &Path,
    reading: ReadOptions<'_>,
) -> Result<Option<AgentFile>, UnreadableFile> {
    let Some(id) = path.file_name().and_then(|name| agent_id(called, name)) else { return Ok(None) };
    let role = (called.role)(id);
    if role == SubagentRole::Internal {
        return Ok(None);
    }
    let file = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let is_bridge = role == SubagentRole::Compacts;
    let images = reading.images.filter(|_| !is_bridge);
    let read =
        Transcript::read(Source::Path(path.to_owned()), ReadOptions { images, ..reading }, &mut Progress::silent());
    let mut transcript = match read {
        Ok(transcript) => transcript,
        // It may be gone since it was listed, and empty ones are placeholders.
        Err(error) if is_gone(&error) || error.kind() == ErrorKind::NotATranscript => return Ok(None),
        Err(error) => return Err(UnreadableFile { file, error: error.to_string() }),
    };
    let story = std::mem::take(&mut transcript.story);
    if is_bridge {
        let said = |event: &Event| event.role == crate::event::Role::Assistant && !event.says.is_empty();
        let last = story.events.iter().rposition(said);
        let text = last.map(|last| story.events[last].says.trim().to_owned()).unwrap_or_default();
        let bridge = ChapterBridge { id: id.to_owned(), file, timestamp: story.first_timestamp, text };
        return Ok(Some(AgentFile::Bridge(bridge)));
    }
    let about = read_file(path.with_file_name((called.about)(id))).unwrap_or_default();
    let AboutSubagent { description, agent_type, call, name } = (called.read_about)(&about);
    Ok(Some(AgentFile::Subagent(Box::new(Subagent {
        id: id.to_owned(),
        file: Some(file),
        description,
        agent_type,
        named_call: call,
        meta_name: name,
        story,
        transcript,
        ..Subagent::default()
    }))))
}

/// Whether a file is there no more.
pub(crate) fn is_gone(error: &Error) -> bool {
    error.io().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Inline sidechains as subagents.
pub fn inline(sidechains: Vec<Sidechain>) -> impl Iterator<Item = Subagent> {
    let agent = |Sidechain { id, call, story }| Subagent { id, story, named_call: call, ..Subagent::default() };
    sidechains.into_iter().map(agent)
}

/// Puts the events of every linked subagent under its ref, to any depth, and returns the subagents that hang on
/// nothing: those that no call claims, and those whose calls lead round in a circle.
pub fn inline_events(main: &mut Story, agents: &mut [Subagent]) -> Vec<usize> {
    let depths: Vec<Option<usize>> = (0..agents.len()).map(|at| depth(agents, at)).collect();
    let mut order: Vec<usize> = (0..agents.len()).filter(|&at| depths[at].is_some()).collect();
    // The deepest first, so that a subagent's own subagents are in place when it is moved.
    order.sort_by_key(|&at| std::cmp::Reverse(depths[at]));
    for at in order {
        let Some((owner, position)) = agents[at].parent else { continue };
        let events = std::mem::take(&mut agents[at].story.events);
        let story = if owner == 0 { &mut *main } else { &mut agents[owner - 1].story };
        let call = &story.started[position];
        story.events[call.event].subagent_refs[call.position].events = Some(events);
    }
    (0..agents.len()).filter(|&at| depths[at].is_none()).collect()
}

/// How many calls lie between the session's own story and the subagent; `None` when it hangs on nothing.
fn depth(agents: &[Subagent], at: usize) -> Option<usize> {
    let mut at = at;
    for depth in 1..=MOST_DEEP {
        match agents[at].parent? {
            (0, _) => return Some(depth),
            (owner, _) => at = owner - 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagents_file_is_known_however_it_is_compressed() {
        for (name, is_one) in [
            ("agent-a1.jsonl", true),
            ("agent-a1.jsonl.zst", true),
            ("agent-a1.jsonl.gz", true),
            ("agent-a1.meta.json", false),
            ("log-v-1.jsonl", false),
        ] {
            assert_eq!(is_subagent_file(OsStr::new(name)), is_one, "{name}");
        }
    }
}
