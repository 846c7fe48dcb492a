//! Subagents that are sessions of their own: files that name the session which started them, wherever they lie among
//! the agent's sessions.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::agents::Agent;
use crate::error::ErrorKind;
use crate::event::Thread;
use crate::io::{Input, Source};
use crate::json::Value;
use crate::lines::without_bom;
use crate::parallel;
use crate::progress::Progress;
use crate::reader::Threads;
use crate::sessions::{Home, homes, session_files, session_files_in};
use crate::subagents::{Found, Subagent, UnreadableFile, is_gone};
use crate::transcript::{ReadOptions, Transcript};

/// Lines that are looked at for what a file says about its session; the bytes of them, and when these do not tell.
const MAX_LINES: usize = 3;
const SMALL_HEAD: usize = 64 << 10;
const MAX_HEAD: usize = 16 << 20;

/// Reads the files of the sessions that `session`, whose file is at `path`, started, and of those that these started.
#[must_use]
pub fn of(path: &Path, session: &str, agent: &'static dyn Agent, reading: ReadOptions<'_>) -> Found {
    let mut found = Found::default();
    let candidates = candidates(path, agent);
    let heads = parallel::map(reading.threads.count, &candidates, |(path, _)| thread_of(path, agent));
    let strangers = candidates.into_iter().zip(heads).filter_map(|(file, head)| Some((file, head?)));
    let family = family(session, strangers);
    // Side by side already, one thread each.
    let each = ReadOptions { agent: Some(agent), subagent_file: true, threads: Threads::one(), ..reading };
    for result in parallel::map(reading.threads.count, &family, |((path, file), thread)| read(path, file, thread, each))
    {
        match result {
            Ok(subagent) => found.subagents.extend(subagent),
            Err(unreadable) => found.unreadable.push(unreadable),
        }
    }
    found
}

/// Those of `strangers` that descend from `session`, one generation after the other.
fn family<F>(session: &str, strangers: impl Iterator<Item = (F, Thread)>) -> Vec<(F, Thread)> {
    let mut of_parent: HashMap<String, Vec<_>> = HashMap::new();
    for (at, child) in strangers.enumerate() {
        if let Some(parent) = child.1.parent.clone() {
            of_parent.entry(parent).or_default().push((at, child));
        }
    }
    let mut known = HashSet::from([session.to_owned()]);
    let mut family: Vec<(F, Thread)> = Vec::new();
    let mut generation = vec![session.to_owned()];
    while !generation.is_empty() {
        let mut children: Vec<_> = generation.iter().filter_map(|parent| of_parent.remove(parent)).flatten().collect();
        children.sort_by_key(|(at, _)| *at);
        // A session is not its own subagent, nor one of two files.
        let new = children.into_iter().filter(|(_, (_, thread))| known.insert(thread.id.clone()));
        let from = family.len();
        family.extend(new.map(|(_, child)| child));
        generation = family[from..].iter().map(|(_, thread)| thread.id.clone()).collect();
    }
    family
}

/// The files that may be of sessions which the one at `path` started, and their paths below the folder of sessions:
/// the agent's other sessions, or, where the file lies in none of its homes, those beside it.
fn candidates(path: &Path, agent: &'static dyn Agent) -> Vec<(PathBuf, String)> {
    let given = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_sessions = |folder: &&Path| agent.home().sessions.iter().any(|(name, _)| folder.ends_with(name));
    let named = |path: &Path| Some(path.ancestors().skip(1).find(is_sessions)?.parent()?.to_owned());
    // Behind a linked day the file really lies in no home.
    let home = configured_home(&path, agent).or_else(|| named(&path)).or_else(|| named(&given));
    let files = match (home, path.parent()) {
        (Some(home), _) => session_files(&[Home { agent, path: home }]),
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

/// The home of `agent` that the file at `path` lies in, whatever its folders are called where links lead.
fn configured_home(path: &Path, agent: &'static dyn Agent) -> Option<PathBuf> {
    let holds = |folder: PathBuf| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
    let is_home = |home: &Home| {
        let mut folders = agent.home().sessions.iter().map(|(folder, _)| home.path.join(folder));
        home.agent.name() == agent.name() && folders.any(holds)
    };
    homes().into_iter().find(is_home).map(|home| home.path)
}

/// What the file at `path` says about its session where it begins.
pub(crate) fn thread_of(path: &Path, agent: &'static dyn Agent) -> Option<Thread> {
    let mut input = Input::open_to_look(path).ok()?;
    // Every session there is may be looked at: that must not take the memory of its longest line.
    for size in [SMALL_HEAD, MAX_HEAD] {
        let head = input.head(size, &mut Progress::silent()).ok()?;
        let is_all = head.len() < size;
        let lines = without_bom(&head).split_inclusive(|&byte| byte == b'\n').take(MAX_LINES);
        let whole: Vec<_> = lines.filter(|line| is_all || line.ends_with(b"\n")).collect();
        let thread = whole.iter().find_map(|line| agent.thread(Value::new(line.trim_ascii())));
        if thread.is_some() || is_all || whole.len() == MAX_LINES {
            return thread;
        }
    }
    None
}

fn read(
    path: &Path,
    file: &str,
    thread: &Thread,
    reading: ReadOptions<'_>,
) -> Result<Option<Subagent>, UnreadableFile> {
    let read = Transcript::read(Source::Path(path.to_owned()), reading, &mut Progress::silent());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_found_one_generation_after_the_other() {
        let thread = |id: &str, parent: &str| Thread {
            id: id.to_owned(),
            parent: Some(parent.to_owned()).filter(|parent| !parent.is_empty()),
            ..Thread::default()
        };
        let strangers = [
            ("1", thread("grandchild", "child")),
            ("2", thread("child", "root")),
            ("3", thread("copy of the root", "root")),
            ("4", thread("root", "grandchild")),
            ("5", thread("child", "root")),
            ("6", thread("own parent", "own parent")),
            ("7", thread("other", "nobody")),
            ("8", thread("one more", "root")),
            ("9", thread("alone", "")),
        ];
        let found: Vec<_> = family("root", strangers.into_iter()).into_iter().map(|(file, _)| file).collect();
        assert_eq!(found, ["2", "3", "8", "1"]);
    }
}
