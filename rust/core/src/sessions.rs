//! The files of sessions: the agents' folders, and a session by the beginning of its id.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::agents::{AGENTS, Agent, SubagentFiles};
use crate::error::{Error, Result};
use crate::io::walk::{Entry, Kind, Trouble, Walk};
use crate::io::{is_compressed, plain_name, plain_path};

/// How deep below a folder of sessions, other than an agent's home, is looked.
const MOST_FOLDERS: usize = 4;
/// Entries of a folder that are looked at for a session to name: it may be the root of the file system.
const MOST_ENTRIES: usize = 20_000;

/// A session's file.
#[derive(Clone)]
pub struct SessionFile {
    /// Where it is.
    pub path: PathBuf,
    /// The id in its name.
    pub id: String,
    /// Whose it is; `None` where only its records tell.
    pub agent: Option<&'static dyn Agent>,
    /// When it was written last.
    pub modified: SystemTime,
    /// In bytes.
    pub size: u64,
}

/// A folder that an agent keeps its sessions in.
#[derive(Clone)]
pub struct Home {
    /// Whose it is.
    pub agent: &'static dyn Agent,
    /// Where it is.
    pub path: PathBuf,
}

/// Every agent's homes: what its environment variable says (several with commas between), or its folder in the
/// user's own.
#[must_use]
pub fn homes() -> Vec<Home> {
    let mut homes = Vec::new();
    for &agent in AGENTS {
        let configured = std::env::var(agent.home().variable).unwrap_or_default();
        let mut paths: Vec<_> =
            configured.split(',').map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        if paths.is_empty() {
            paths.extend(std::env::home_dir().map(|home| home.join(agent.home().folder)));
        }
        homes.extend(paths.into_iter().map(|path| Home { agent, path }));
    }
    homes
}

/// Every session file of `homes`, the one written last first. Empty files are only placeholders.
#[must_use]
pub fn session_files(homes: &[Home]) -> Vec<SessionFile> {
    // Several homes may be links to one folder.
    let mut search = Search::default();
    for Home { agent, path } in homes {
        let from = search.files.len();
        for (folder, levels) in agent.home().sessions {
            if let Ok(folder) = path.join(folder).canonicalize() {
                search.sessions_in(&folder, Some(*agent), levels);
            }
        }
        search.end(from, agent.home().unique_names);
    }
    newest_first(search.files)
}

/// The homes that the folder `root` is, of each agent that could keep its sessions there.
fn homes_at(root: &Path) -> Vec<Home> {
    let is_home_of = |agent: &&&dyn Agent| agent.home().sessions.iter().any(|(folder, _)| root.join(folder).is_dir());
    AGENTS.iter().filter(is_home_of).map(|&agent| Home { agent, path: root.to_owned() }).collect()
}

/// Every session file of `root`: of an agent's home, or, when it is none, of whatever folder of sessions it is.
#[must_use]
pub fn session_files_below(root: &Path) -> Vec<SessionFile> {
    let homes = homes_at(root);
    if !homes.is_empty() {
        return session_files(&homes);
    }
    let mut search = Search::default();
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    search.sessions_in(&root, None, &(0..=MOST_FOLDERS));
    search.end(0, false);
    newest_first(search.files)
}

/// The session below `folder` that was written last, as far as that can be told soon.
#[must_use]
pub fn newest_session_below(folder: &Path) -> Option<PathBuf> {
    let mut search = Search { most_entries: Some(MOST_ENTRIES), ..Search::default() };
    search.sessions_in(folder, None, &(0..=MOST_FOLDERS));
    search.end(0, false);
    newest_first(search.files).into_iter().next().map(|file| file.path)
}

/// The session files of `agent` that lie in `folder` itself.
#[must_use]
pub fn session_files_in(folder: &Path, agent: &'static dyn Agent) -> Vec<SessionFile> {
    let mut search = Search::default();
    search.sessions_in(folder, Some(agent), &(0..=0));
    search.end(0, false);
    search.files
}

/// The transcripts of a place.
#[derive(Default)]
pub struct Transcripts {
    /// Their files.
    pub files: Vec<SessionFile>,
    /// Folders that could not be looked into, by what was the matter.
    pub unreadable: Vec<io::ErrorKind>,
}

/// Every transcript in `homes`, those of subagents too.
#[must_use]
pub fn transcripts(homes: &[Home]) -> Transcripts {
    let mut search = Search::default();
    for Home { agent, path } in homes {
        let from = search.files.len();
        for (folder, _) in agent.home().sessions {
            match path.join(folder).canonicalize() {
                Ok(folder) => search.transcripts_below(&folder, Some(*agent)),
                Err(error) if error.kind() != io::ErrorKind::NotFound => search.unreadable.push(error.kind()),
                Err(_) => {}
            }
        }
        search.end(from, agent.home().unique_names);
    }
    Transcripts { files: search.files, unreadable: search.unreadable }
}

/// The transcript at `path`, or every one of the folder that is there: of an agent's home those that it keeps its
/// sessions in, of any other folder whatever has such a name, however deep.
///
/// # Errors
/// [`crate::ErrorKind::Io`] when there is nothing at `path`.
pub fn transcripts_below(path: &Path) -> Result<Transcripts> {
    let metadata = path.metadata().map_err(|error| Error::os(error, path))?;
    if metadata.is_dir() {
        let homes = homes_at(path);
        if !homes.is_empty() {
            return Ok(transcripts(&homes));
        }
        let mut search = Search::default();
        search.transcripts_below(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), None);
        search.end(0, false);
        return Ok(Transcripts { files: search.files, unreadable: search.unreadable });
    }
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let file = SessionFile { path: path.to_owned(), id: String::new(), agent: None, modified, size: metadata.len() };
    Ok(Transcripts { files: vec![file], unreadable: Vec::new() })
}

/// What is found in the folders of sessions, and where was looked already.
#[derive(Default)]
struct Search {
    walk: Walk,
    files: Vec<SessionFile>,
    /// Links to files: they count unless what they lead to does.
    linked: Vec<SessionFile>,
    unreadable: Vec<io::ErrorKind>,
    /// Entries of a folder that are looked at, where that is limited.
    most_entries: Option<usize>,
}

impl Search {
    /// Adds the session files that lie so many levels below `folder`. Empty ones are only placeholders.
    fn sessions_in(&mut self, folder: &Path, agent: Option<&'static dyn Agent>, levels: &RangeInclusive<usize>) {
        let leave_out = |entry: &Entry| {
            let mut homes = AGENTS.iter().map(|agent| agent.home());
            homes.any(|home| ends_with_any(entry, home.not_sessions) || ends_with_any(entry, home.not_transcripts))
        };
        let Ok(below) = self.walk.below(folder, *levels.end(), &leave_out) else { return };
        let below = below.take(self.most_entries.unwrap_or(usize::MAX));
        for entry in below.flatten().filter(|entry| levels.contains(&entry.level)) {
            let id = entry.path.file_name().and_then(|name| session_id(agent, name));
            if let Some((file, is_link)) = id.and_then(|id| session_file(entry, id, agent))
                && file.size > 0
            {
                if is_link { self.linked.push(file) } else { self.files.push(file) }
            }
        }
    }

    /// Adds every transcript below `folder`, however deep, and what could not be looked into.
    fn transcripts_below(&mut self, folder: &Path, agent: Option<&'static dyn Agent>) {
        let leave_out = |entry: &Entry| AGENTS.iter().any(|agent| ends_with_any(entry, agent.home().not_transcripts));
        let below = match self.walk.below(folder, usize::MAX, &leave_out) {
            Ok(below) => below,
            Err(error) => return self.unreadable.push(error.kind()),
        };
        for entry in below {
            match entry {
                Ok(entry) => {
                    let id = entry.path.file_name().and_then(|name| transcript_id(agent, name));
                    if let Some((file, is_link)) = id.and_then(|id| session_file(entry, id, agent)) {
                        if is_link { self.linked.push(file) } else { self.files.push(file) }
                    }
                }
                Err(Trouble { error, .. }) => self.unreadable.push(error.kind()),
            }
        }
    }

    /// Sees to it that no session counts twice of those that were found from `from` on: by a link to its file, or by
    /// its compressed form.
    fn end(&mut self, from: usize, unique_names: bool) {
        if !self.linked.is_empty() {
            let mut seen: HashSet<_> = self.files.iter().filter_map(|file| file.path.canonicalize().ok()).collect();
            let is_new = |file: &SessionFile| file.path.canonicalize().is_ok_and(|real| seen.insert(real));
            self.files.extend(std::mem::take(&mut self.linked).into_iter().filter(is_new));
        }
        without_second_forms(&mut self.files, from, unique_names);
    }
}

fn ends_with_any(entry: &Entry, names: &[&str]) -> bool {
    names.iter().any(|name| entry.path.ends_with(name))
}

/// The file of `entry`, and whether that is a link; `None` when it is none, or gone by now.
fn session_file(entry: Entry, id: String, agent: Option<&'static dyn Agent>) -> Option<(SessionFile, bool)> {
    if !matches!(entry.kind, Kind::File | Kind::LinkedFile) {
        return None;
    }
    let metadata = entry.path.metadata().ok()?;
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let file = SessionFile { path: entry.path, id, agent, modified, size: metadata.len() };
    Some((file, entry.kind == Kind::LinkedFile))
}

/// The id in the name of a transcript, a session's or a subagent's; `None` for every other file's.
fn transcript_id(agent: Option<&'static dyn Agent>, name: &OsStr) -> Option<String> {
    let session = session_id(agent, name);
    if session.is_some() || agent.is_some_and(|agent| !matches!(agent.home().subagents, SubagentFiles::Beside(_))) {
        return session;
    }
    let name = name.to_string_lossy();
    let stem = plain_name(&name).strip_suffix(".jsonl")?;
    (!name.starts_with('.')).then(|| stem.to_owned())
}

fn newest_first(mut files: Vec<SessionFile>) -> Vec<SessionFile> {
    files.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
    files
}

/// The id in the name of a session's file; `None` for every other file's. A name need not be UTF-8. Whose file it is
/// may not be known: the agent that makes least of the name knows most about it.
fn session_id(agent: Option<&'static dyn Agent>, name: &OsStr) -> Option<String> {
    let name = name.to_string_lossy();
    let agents = AGENTS.iter().copied().filter(|one| agent.is_none_or(|agent| agent.name() == one.name()));
    let ids = agents.filter_map(|agent| (agent.home().session_id)(plain_name(&name)));
    ids.min_by_key(|id| id.len()).map(str::to_owned)
}

/// Of a file and its compressed forms the file counts, and of these the first. Where a name stands for one session, what was found first
/// counts of those that have it.
fn without_second_forms(files: &mut Vec<SessionFile>, from: usize, unique_names: bool) {
    let key = |file: &SessionFile| {
        let plain = plain_path(&file.path);
        if unique_names { plain.file_name().map(PathBuf::from).unwrap_or_default() } else { plain }
    };
    let plain: HashSet<PathBuf> = files[from..].iter().filter(|file| !is_compressed(&file.path)).map(key).collect();
    let mut seen = HashSet::new();
    let mut at = 0..;
    files.retain(|file| {
        let is_older = at.next().is_some_and(|at| at < from);
        is_older || (!(is_compressed(&file.path) && plain.contains(&key(file))) && seen.insert(key(file)))
    });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn put(root: &Path, file: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}\n").unwrap();
    }

    fn claude(path: &Path) -> Home {
        Home { agent: AGENTS[0], path: path.to_owned() }
    }

    fn ids(files: &[SessionFile]) -> Vec<&str> {
        let mut ids: Vec<_> = files.iter().map(|file| file.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_home_is_looked_into_one_level_deep() {
        let home = tempfile::tempdir().unwrap();
        for file in [
            "projects/-boats/one.jsonl",
            "projects/-boats/two.jsonl.zst",
            "projects/-boats/three.jsonl.gz",
            "projects/-boats/agent-a3.jsonl.gz",
            "projects/-boats/agent-a1.jsonl",
            "projects/-boats/journal.jsonl",
            "projects/-boats/.hidden.jsonl",
            "projects/-boats/notes.zst",
            "projects/-boats/one/workflow.jsonl",
            "projects/-boats/one/subagents/agent-a2.jsonl",
            "projects/stray.jsonl",
            "todos/three.jsonl",
        ] {
            put(home.path(), file);
        }
        assert_eq!(ids(&session_files(&[claude(home.path())])), ["one", "three", "two"]);
        assert_eq!(ids(&session_files_below(home.path())), ["one", "three", "two"]);
    }

    #[test]
    fn a_home_without_projects_holds_nothing_but_a_given_folder_may() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "one.jsonl",
            "1/2/3/4/two.jsonl",
            "1/2/3/4/5/too-deep.jsonl",
            "1/subagents/words.jsonl",
            "1/tool-results/result.jsonl",
        ] {
            put(folder.path(), file);
        }
        assert_eq!(ids(&session_files(&[claude(folder.path())])), Vec::<&str>::new());
        assert_eq!(ids(&session_files_below(folder.path())), ["one", "two"]);
    }

    #[test]
    fn of_two_forms_of_a_rollout_one_counts() {
        let home = tempfile::tempdir().unwrap();
        let name = |id: char| format!("rollout-2026-01-02T03-04-05-{}.jsonl", format!("{id}1234567-").repeat(4));
        for file in [
            format!("sessions/2026/01/02/{}", name('a')),
            format!("sessions/2026/01/02/{}.zst", name('a')),
            format!("sessions/2026/01/02/{}.gz", name('a')),
            format!("sessions/2026/01/02/{}.zst", name('b')),
            format!("sessions/2026/01/02/{}.gz", name('b')),
            format!("archived_sessions/{}", name('a')),
            format!("archived_sessions/{}", name('c')),
            format!("archived_sessions/below/{}", name('d')),
            "sessions/rollout-2025-06-01-short.json".to_owned(),
            "sessions/history.jsonl".to_owned(),
            "sessions/2026/01/02/03/rollout-too-deep.jsonl".to_owned(),
        ] {
            put(home.path(), &file);
        }
        let files = session_files_below(home.path());
        let id = |id: char| format!("{id}1234567-").repeat(4);
        let expected = [id('a'), id('b'), id('c'), "2025-06-01-short".to_owned()];
        let mut expected: Vec<_> = expected.iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(ids(&files), expected);
        let one = files.iter().find(|file| file.id.starts_with('a')).unwrap();
        assert!(one.path.ends_with(format!("sessions/2026/01/02/{}", name('a'))));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_name_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects").join(OsStr::from_bytes(b"-bo\xff"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(OsStr::from_bytes(b"s\xe9ance.jsonl")), "{}\n").unwrap();
        fs::write(folder.join(OsStr::from_bytes(b"agent-\xe9.jsonl")), "{}\n").unwrap();
        let files = session_files(&[claude(home.path())]);
        assert_eq!(ids(&files), ["s\u{fffd}ance"]);
        assert!(files[0].path.exists());
    }
}
