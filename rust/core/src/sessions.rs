//! The files of sessions: the agents' folders, and a session by the beginning of its id.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::agents::{AGENTS, Agent, SubagentFiles};
use crate::error::{Error, Result};

/// How deep below a folder of sessions, other than an agent's home, is looked.
const MOST_FOLDERS: usize = 4;
/// Folders of one session's own, which hold none.
const NO_SESSIONS: [&str; 2] = ["subagents", TOOL_RESULTS];
/// What tools gave back, kept beside a session: whatever it looks like, it is no transcript.
const TOOL_RESULTS: &str = "tool-results";

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
    for agent in AGENTS {
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
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for Home { agent, path } in homes {
        let from = files.len();
        for (folder, levels) in agent.home().sessions {
            // Several homes may be links to one folder.
            let Ok(folder) = fs::canonicalize(path.join(folder)) else { continue };
            if seen.insert(folder.clone()) {
                collect(&folder, Some(*agent), levels, &mut files);
            }
        }
        without_second_forms(&mut files, from, agent.home().unique_names);
    }
    newest_first(files)
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
    let mut files = Vec::new();
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    collect(&root, None, &(0..=MOST_FOLDERS), &mut files);
    without_second_forms(&mut files, 0, false);
    newest_first(files)
}

/// The session files of `agent` that lie in `folder` itself.
#[must_use]
pub fn session_files_in(folder: &Path, agent: &'static dyn Agent) -> Vec<SessionFile> {
    let mut files = Vec::new();
    collect(folder, Some(agent), &(0..=0), &mut files);
    without_second_forms(&mut files, 0, false);
    files
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
    let mut found = Transcripts::default();
    let mut seen = HashSet::new();
    for Home { agent, path } in homes {
        let from = found.files.len();
        for (folder, _) in agent.home().sessions {
            match fs::canonicalize(path.join(folder)) {
                Ok(folder) if seen.insert(folder.clone()) => found.add_below(&folder, Some(*agent)),
                Err(error) if error.kind() != io::ErrorKind::NotFound => found.unreadable.push(error.kind()),
                _ => {}
            }
        }
        without_second_forms(&mut found.files, from, agent.home().unique_names);
    }
    found
}

/// The transcript at `path`, or every one of the folder that is there: of an agent's home those that it keeps its
/// sessions in, of any other folder whatever has such a name, however deep.
///
/// # Errors
/// [`crate::ErrorKind::Io`] when there is nothing at `path`.
pub fn transcripts_below(path: &Path) -> Result<Transcripts> {
    let metadata = fs::metadata(path).map_err(|error| Error::os(error, path))?;
    if metadata.is_dir() {
        let homes = homes_at(path);
        if !homes.is_empty() {
            return Ok(transcripts(&homes));
        }
        let mut found = Transcripts::default();
        found.add_below(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), None);
        without_second_forms(&mut found.files, 0, false);
        return Ok(found);
    }
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let file = SessionFile { path: path.to_owned(), id: String::new(), agent: None, modified, size: metadata.len() };
    Ok(Transcripts { files: vec![file], unreadable: Vec::new() })
}

impl Transcripts {
    /// Adds what is below `folder`. Links to folders are not followed: they could lead round in a circle.
    fn add_below(&mut self, folder: &Path, agent: Option<&'static dyn Agent>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable.push(error.kind()),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !path.ends_with(TOOL_RESULTS) {
                    self.add_below(&path, agent);
                }
            } else if let Some(id) = transcript_id(agent, &entry.file_name())
                && let Ok(metadata) = fs::metadata(&path)
                && metadata.is_file()
            {
                let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
                self.files.push(SessionFile { path, id, agent, modified, size: metadata.len() });
            }
        }
    }
}

/// The id in the name of a transcript, a session's or a subagent's; `None` for every other file's.
fn transcript_id(agent: Option<&'static dyn Agent>, name: &OsStr) -> Option<String> {
    let session = session_id(agent, name);
    if session.is_some() || agent.is_some_and(|agent| agent.home().subagents == SubagentFiles::Threads) {
        return session;
    }
    let name = name.to_string_lossy();
    let stem = name.strip_suffix(".zst").unwrap_or(&name).strip_suffix(".jsonl")?;
    (!name.starts_with('.')).then(|| stem.to_owned())
}

fn newest_first(mut files: Vec<SessionFile>) -> Vec<SessionFile> {
    files.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.path.cmp(&other.path)));
    files
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// Adds the session files that lie so many levels below `folder`.
fn collect(
    folder: &Path,
    agent: Option<&'static dyn Agent>,
    levels: &RangeInclusive<usize>,
    files: &mut Vec<SessionFile>,
) {
    let (least, most) = (*levels.start(), *levels.end());
    if most > 0 {
        let is_of_a_session = |folder: &PathBuf| NO_SESSIONS.iter().any(|name| folder.ends_with(name));
        for below in folders_in(folder).iter().filter(|below| !is_of_a_session(below)) {
            collect(below, agent, &(least.saturating_sub(1)..=most - 1), files);
        }
    }
    if least > 0 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(id) = session_id(agent, &entry.file_name()) else { continue };
        let path = entry.path();
        // It may be gone by now.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_file() && metadata.len() > 0 {
            let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
            files.push(SessionFile { path, id, agent, modified, size: metadata.len() });
        }
    }
}

/// The id in the name of a session's file; `None` for every other file's. A name need not be UTF-8. Whose file it is
/// may not be known: the agent that makes least of the name knows most about it.
fn session_id(agent: Option<&'static dyn Agent>, name: &OsStr) -> Option<String> {
    let name = name.to_string_lossy();
    let agents = AGENTS.iter().copied().filter(|one| agent.is_none_or(|agent| agent.name() == one.name()));
    let ids = agents.filter_map(|agent| (agent.home().session_id)(&name));
    ids.min_by_key(|id| id.len()).map(str::to_owned)
}

/// Of a file and its compressed form the file counts. Where a name stands for one session, what was found first
/// counts of those that have it.
fn without_second_forms(files: &mut Vec<SessionFile>, from: usize, unique_names: bool) {
    let key = |file: &SessionFile| {
        let plain = if is_compressed(&file.path) { file.path.with_extension("") } else { file.path.clone() };
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

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

#[cfg(test)]
mod tests {
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
        assert_eq!(ids(&session_files(&[claude(home.path())])), ["one", "two"]);
        assert_eq!(ids(&session_files_below(home.path())), ["one", "two"]);
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
            format!("sessions/2026/01/02/{}.zst", name('b')),
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
