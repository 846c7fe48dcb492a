//! Subagents that are sessions of their own: files that name the session which started them, wherever they lie among
//! the agent's sessions.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::agents::Agent;
use crate::error::ErrorKind;
use crate::event::Thread;
use crate::input::{Input, Source};
use crate::json::Value;
use crate::lines::LineReader;
use crate::parallel;
use crate::sessions::{Home, session_files, session_files_in};
use crate::subagents::{Found, Subagent, UnreadableFile, is_gone};
use crate::transcript::{Reading, Transcript};

/// Lines that are looked at for what a file says about its session.
const MOST_LINES: u64 = 3;

/// Reads the files of the sessions that `session`, whose file is at `path`, started, and of those that these started.
#[must_use]
pub fn of(path: &Path, session: &str, agent: &'static dyn Agent, reading: Reading<'_>) -> Found {
    let mut found = Found::default();
    let candidates = candidates(path, agent);
    let heads = parallel::map(reading.threads, &candidates, |(path, _)| thread_of(path, agent));
    let mut strangers: Vec<_> =
        candidates.into_iter().zip(heads).filter_map(|(file, head)| Some((file, head?))).collect();
    let mut known = HashSet::from([session.to_owned()]);
    let mut family = Vec::new();
    loop {
        let is_child = |thread: &Thread| thread.parent.as_ref().is_some_and(|parent| known.contains(parent));
        let (children, rest): (Vec<_>, Vec<_>) = strangers.into_iter().partition(|(_, thread)| is_child(thread));
        strangers = rest;
        if children.is_empty() {
            break;
        }
        let mut new = HashSet::new();
        // A session is not its own subagent, nor one of two files.
        family.extend(
            children.into_iter().filter(|(_, thread)| !known.contains(&thread.id) && new.insert(thread.id.clone())),
        );
        known.extend(new);
    }
    // Side by side already, one thread each.
    let each = Reading { agent: Some(agent), subagent_file: true, threads: 1, ..reading };
    for result in parallel::map(reading.threads, &family, |((path, file), thread)| read(path, file, thread, each)) {
        match result {
            Ok(subagent) => found.subagents.extend(subagent),
            Err(unreadable) => found.unreadable.push(unreadable),
        }
    }
    found
}

/// The files that may be of sessions which the one at `path` started, and their paths below the folder of sessions:
/// the agent's other sessions, or, where the file lies in none of its homes, those beside it.
fn candidates(path: &Path, agent: &'static dyn Agent) -> Vec<(PathBuf, String)> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_sessions = |folder: &&Path| agent.home().sessions.iter().any(|(name, _)| folder.ends_with(name));
    let home = path.ancestors().skip(1).find(is_sessions).and_then(Path::parent);
    let files = match (home, path.parent()) {
        (Some(home), _) => session_files(&[Home { agent, path: home.to_owned() }]),
        (None, Some(folder)) => session_files_in(folder, agent),
        (None, None) => Vec::new(),
    };
    let others = files.into_iter().map(|file| file.path).filter(|other| *other != path);
    let mut candidates: Vec<_> = others
        .map(|other| {
            let root = other.ancestors().skip(1).find(is_sessions).or(other.parent()).unwrap_or(&other);
            let name = other.strip_prefix(root).unwrap_or(&other).to_string_lossy().replace('\\', "/");
            (other, name)
        })
        .collect();
    candidates.sort();
    candidates
}

/// What the file at `path` says about its session where it begins.
pub(crate) fn thread_of(path: &Path, agent: &'static dyn Agent) -> Option<Thread> {
    let mut lines = LineReader::new(Input::open(Source::Path(path.to_owned())).ok()?);
    while let Ok(Some(line)) = lines.next_line(&mut |_| Ok(())) {
        let bytes = line.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line.bytes);
        if let Some(thread) = agent.thread(Value::new(bytes.trim_ascii())) {
            return Some(thread);
        }
        if line.number >= MOST_LINES {
            return None;
        }
    }
    None
}

fn read(path: &Path, file: &str, thread: &Thread, reading: Reading<'_>) -> Result<Option<Subagent>, UnreadableFile> {
    let read = Transcript::read(Source::Path(path.to_owned()), reading, &mut |_, _| true);
    let mut transcript = match read {
        Ok(transcript) => transcript,
        // It may be gone since it was listed.
        Err(error) if is_gone(&error) || error.kind() == ErrorKind::NotATranscript => return Ok(None),
        Err(error) => return Err(UnreadableFile { file: file.to_owned(), error: error.to_string() }),
    };
    Ok(Some(Subagent {
        id: thread.id.clone(),
        file: Some(file.to_owned()),
        agent_type: thread.role.clone(),
        other_name: thread.agent_path.clone(),
        nickname: thread.nickname.clone(),
        story: std::mem::take(&mut transcript.story),
        transcript,
        ..Subagent::default()
    }))
}
