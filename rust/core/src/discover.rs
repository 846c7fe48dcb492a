//! Finding sessions: by the beginning of their ids, and previews of recent ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use crate::agents::{AGENTS, Agent, SubagentFiles, agent_named};
use crate::conversation::count_by_role;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Boundary, Event, Role};
use crate::io::walk::names_in;
use crate::io::{Source, plain_name};
use crate::measures::size;
use crate::parallel;
use crate::progress::Progress;
use crate::reader::Threads;
use crate::sessions::{Home, SessionFile, homes, session_files, session_files_below};
use crate::threads;
use crate::transcript::{ReadOptions, Transcript};

/// Characters of first and last words that a preview shows.
const WORDS: usize = 200;
/// Sessions that an error about an ambiguous id lists.
const MOST_LISTED: usize = 10;
/// Sessions that an error about an id that no session has lists, and characters of the id that are compared.
const MOST_NEAR: usize = 3;
const COMPARED: usize = 64;

/// The file that `text` names: itself, or the one session whose id begins with it, in letters of either case. A folder
/// that happens to be called like the beginning of an id is not in the way.
///
/// # Errors
/// [`ErrorKind::SessionNotFound`] and [`ErrorKind::AmbiguousSession`], with what is near or what matched.
pub fn find_session(text: &str) -> Result<PathBuf> {
    let path = Path::new(text);
    let is_folder = path.is_dir();
    if (path.exists() && !is_folder)
        || text.contains(std::path::is_separator)
        || text.is_empty()
        || plain_name(text) != text
        || text.ends_with(".jsonl")
        || text.ends_with(".json")
    {
        return Ok(path.to_owned());
    }
    let roots = homes();
    let files = session_files(&roots);
    let begins_so = |head: &str| head.eq_ignore_ascii_case(text);
    let in_any_case = |file: &&SessionFile| file.id.get(..text.len()).is_some_and(begins_so);
    let mut matching: Vec<_> = files.iter().filter(|file| file.id.starts_with(text)).collect();
    if matching.is_empty() {
        matching.extend(files.iter().filter(in_any_case));
    }
    match matching.as_slice() {
        [one] => Ok(one.path.clone()),
        // Reading it will say that it is a folder.
        [] if is_folder => Ok(path.to_owned()),
        [] => Err(not_found(text, &roots, &files)),
        // The same session may be copied under several projects; the one written last has the most in it.
        [newest, rest @ ..] if rest.iter().all(|file| file.id == newest.id) => Ok(newest.path.clone()),
        several => Err(ambiguous(text, several)),
    }
}

fn not_found(text: &str, roots: &[Home], files: &[SessionFile]) -> Error {
    let near = nearest(text, files);
    let roots: Vec<_> = roots.iter().map(|root| root.path.display().to_string()).collect();
    let error = Error::new(
        ErrorKind::SessionNotFound,
        format!("no file and no session called {text:?} (looked in {})", roots.join(", ")),
    );
    if near.is_empty() {
        let variables: Vec<_> = AGENTS.iter().map(|agent| agent.home().variable).collect();
        let variables = variables.join(" or ");
        return error
            .with_hint(format!("give the path of a .jsonl file, or set {variables} to where the sessions are"));
    }
    error.with_hint(format!("the nearest sessions are:\n{}\n`retell-fast preview` lists more", list(&near)))
}

/// The sessions whose ids differ least from `text` as far as it goes; of equally near ones those written last.
fn nearest<'f>(text: &str, files: &'f [SessionFile]) -> Vec<&'f SessionFile> {
    let text: String = text.to_lowercase().chars().take(COMPARED).collect();
    let length = text.chars().count();
    let distance = |file: &&SessionFile| {
        let id = file.id.to_lowercase();
        let head: String = id.chars().take(length).collect();
        if id.contains(&text) { 0 } else { strsim::osa_distance(&head, &text) }
    };
    let mut near: Vec<_> = files.iter().collect();
    near.sort_by_cached_key(distance);
    near.truncate(MOST_NEAR);
    near
}

fn ambiguous(text: &str, files: &[&SessionFile]) -> Error {
    let longest = files.iter().map(|file| file.id.len()).max().unwrap_or_default();
    let unique = (text.len() + 1..=longest).find(|&length| {
        let mut heads: Vec<_> = files.iter().map(|file| file.id.get(..length).unwrap_or(&file.id)).collect();
        heads.sort_unstable();
        heads.windows(2).all(|pair| pair[0] != pair[1])
    });
    let example: String = files[0].id.chars().take(unique.unwrap_or(longest)).collect();
    Error::new(ErrorKind::AmbiguousSession, format!("{} sessions begin with {text:?}", files.len()))
        .with_hint(format!("type more of the id, such as {example}:\n{}", list(&files[..files.len().min(MOST_LISTED)])))
}

fn list(files: &[&SessionFile]) -> String {
    let files: Vec<SessionFile> = files.iter().copied().cloned().collect();
    // What is wrong with the setting is said where there is something to read.
    let lines = parallel::map(parallel::threads(None).unwrap_or(1), &files, |file| {
        let preview = preview(file);
        let date = jiff::Timestamp::try_from(file.modified).unwrap_or_default().strftime("%Y-%m-%d").to_string();
        let (project, words) =
            preview.map_or((None, String::new()), |preview| (preview.project_path, preview.first_words));
        let words: String = words.chars().take(60).collect();
        format!("  {}  {date}  {}  {}  {words}", file.id, size(file.size), project.unwrap_or_default())
    });
    lines.join("\n")
}

/// What a session holds, in short.
#[derive(Debug, Clone, Serialize)]
pub struct Preview {
    /// Where its file is.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// Its id.
    pub session_id: String,
    /// Whose it is.
    pub agent: &'static str,
    /// When it was written last, in seconds since 1970.
    pub modified: f64,
    /// In bytes.
    pub size: u64,
    /// The best title there is.
    pub title: Option<String>,
    /// The working directory that its entries name.
    pub project_path: Option<String>,
    /// The human's messages.
    pub human_messages: usize,
    /// The assistant's entries that say, think or do something.
    pub assistant_messages: usize,
    /// Distinct session ids.
    pub sessions: usize,
    /// Subagents that were started.
    pub subagents: usize,
    /// How often each tool was called, the most used first.
    #[serde(serialize_with = "as_map")]
    pub tools: Vec<(String, u64)>,
    /// The human's first words, shortened.
    pub first_words: String,
    /// The human's last words, shortened.
    pub last_words: String,
    /// Whether it goes on from a conversation before.
    pub continuation: bool,
    /// How good a story it may make.
    pub score: i64,
    /// Why, one reason for each part of the score.
    pub reasons: Vec<String>,
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn as_map<S: Serializer>(tools: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tools.iter().map(|(name, count)| (name, count)))
}

/// Which sessions to preview.
#[derive(Debug, Clone, Default)]
pub struct DiscoverOptions {
    /// Where to look; the agents' homes when `None`.
    pub root: Option<PathBuf>,
    /// How many at the most.
    pub limit: Option<usize>,
    /// Part of the project's path, in any case.
    pub project: Option<String>,
    /// Only sessions written since then.
    pub since: Option<SystemTime>,
    /// Only this agent's.
    pub agent: Option<String>,
}

/// Previews of the sessions there are, the one written last first. Files that hold no conversation, or that cannot
/// be read, are passed over, and so are those that are no conversation with the human: subagents, reviews and the like.
///
/// # Errors
/// [`ErrorKind::Io`] when a root was given and is no folder; [`ErrorKind::UnknownAgent`], [`ErrorKind::WrongSetting`].
pub fn discover(options: &DiscoverOptions) -> Result<Vec<Preview>> {
    let agent = options.agent.as_deref().map(agent_named).transpose()?.map(Agent::name);
    let is_of_agent = |name: &str| agent.is_none_or(|agent| agent == name);
    let threads = parallel::threads(None)?;
    let mut files = match &options.root {
        Some(root) => {
            names_in(root).map(drop).map_err(|error| Error::os(error, root))?;
            session_files_below(root)
        }
        None => session_files(&homes()),
    };
    files.retain(|file| file.agent.is_none_or(|agent| is_of_agent(agent.name())));
    files.retain(|file| options.since.is_none_or(|since| file.modified >= since));
    let wanted = options.limit.unwrap_or(usize::MAX);
    let mut previews = Vec::new();
    let mut from = 0;
    // Some hold no conversation: as many more are read as are still wanted.
    while from < files.len() && previews.len() < wanted {
        let to = files.len().min(from.saturating_add((wanted - previews.len()).max(8)));
        let read = parallel::map(threads, &files[from..to], preview).into_iter().flatten();
        let is_wanted =
            |preview: &Preview| is_of_agent(preview.agent) && is_of_project(preview, options.project.as_deref());
        previews.extend(read.filter(is_wanted));
        from = to;
    }
    previews.truncate(wanted);
    Ok(previews)
}

fn is_of_project(preview: &Preview, project: Option<&str>) -> bool {
    let Some(project) = project.map(str::to_lowercase) else { return true };
    // Where an agent keeps all sessions in one place, their folder says nothing of the project.
    let is_project = |agent: &&&dyn Agent| agent.name() == preview.agent && agent.home().projects.is_some();
    let folder = AGENTS.iter().find(is_project).and(preview.path.parent());
    let folder = folder.map(|folder| folder.to_string_lossy().to_lowercase()).unwrap_or_default();
    preview.project_path.as_deref().is_some_and(|path| path.to_lowercase().contains(&project))
        || folder.contains(&project)
}

/// Whether a session that says this of itself is listed: a script's is, what an agent started is not.
fn is_listed(origin: Option<&str>) -> bool {
    matches!(origin, None | Some("script"))
}

fn preview(file: &SessionFile) -> Option<Preview> {
    // Of agents that keep all sessions in one place, the beginning tells which ones need not be read.
    let agent = file.agent.filter(|agent| matches!(agent.home().subagents, SubagentFiles::Threads));
    let thread = agent.and_then(|agent| threads::thread_of(&file.path, agent));
    if !is_listed(thread.and_then(|thread| thread.origin)) {
        return None;
    }
    let reading = ReadOptions { agent: file.agent, subagent_file: false, images: None, threads: Threads::one() };
    let transcript = Transcript::read(Source::Path(file.path.clone()), reading, &mut Progress::silent()).ok()?;
    let events = &transcript.story.events;
    let origin = transcript.facts.thread.as_ref().and_then(|thread| thread.origin);
    if events.is_empty() || !is_listed(origin) {
        return None;
    }
    let human = || events.iter().filter(|event| event.role == Role::User && !event.says.is_empty());
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    for tool in events.iter().flat_map(|event| &event.tools) {
        *tools.entry(tool).or_default() += 1;
    }
    let mut tools: Vec<(String, u64)> = tools.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (_, assistant_messages) = count_by_role(events);
    let mut preview = Preview {
        path: file.path.clone(),
        session_id: file.id.clone(),
        agent: transcript.agent.name(),
        modified: file.modified.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        size: file.size,
        title: transcript.facts.title().map(str::to_owned),
        project_path: transcript.project_path.clone(),
        human_messages: human().count(),
        assistant_messages,
        sessions: transcript.session_ids.list.len(),
        subagents: transcript.story.started.len(),
        tools,
        first_words: human().next().map(shortened).unwrap_or_default(),
        last_words: human().next_back().map(shortened).unwrap_or_default(),
        continuation: events.iter().any(|event| event.boundary.contains(&Boundary::Continuation)),
        score: 0,
        reasons: Vec::new(),
    };
    score(&mut preview);
    Some(preview)
}

/// On one line, and not longer than a preview shows.
fn shortened(event: &Event) -> String {
    let words = event.says.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = words.chars().take(WORDS).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn score(preview: &mut Preview) {
    let megabytes = preview.size as f64 / 1e6;
    let mut add = |points: i64, reason: String| {
        preview.score += points;
        preview.reasons.push(format!("{points:+} {reason}"));
    };
    match preview.human_messages {
        count @ 15.. => add(3, counted(count, "human message")),
        0 => add(-2, "no human messages".to_owned()),
        count @ ..5 => add(-2, format!("only {}", counted(count, "human message"))),
        count => add(1, counted(count, "human message")),
    }
    if preview.subagents > 0 {
        add(2, counted(preview.subagents, "subagent"));
    }
    if preview.sessions > 1 {
        add(1, counted(preview.sessions, "session"));
    }
    if preview.continuation {
        add(1, "goes on from a conversation before".to_owned());
    }
    if megabytes > 5.0 {
        add(1, format!("{megabytes:.1} MB"));
    } else if megabytes < 0.1 {
        add(-3, format!("only {:.0} kB", preview.size as f64 / 1e3));
    }
    let is_plain = |name: &&String| AGENTS.iter().any(|agent| agent.plain_tools().contains(&name.as_str()));
    let special: Vec<_> = preview.tools.iter().map(|(name, _)| name).filter(|name| !is_plain(name)).cloned().collect();
    if !special.is_empty() {
        let shown = special.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
        add(1, format!("tools beyond plain editing: {shown}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(id: &str) -> SessionFile {
        SessionFile { path: PathBuf::new(), id: id.to_owned(), agent: None, modified: UNIX_EPOCH, size: 0 }
    }

    #[test]
    fn the_nearest_is_what_a_slip_was_meant_to_be() {
        let files = ["11112222-aaaa", "8c439a20-bbbb", "8c439a2f-cccc", "ffff0000-dddd"].map(file);
        for (typed, meant) in [
            ("8c493a20", "8c439a20-bbbb"),
            ("c439a20", "8c439a20-bbbb"),
            ("8C439A2E-CC", "8c439a2f-cccc"),
            ("1112222", "11112222-aaaa"),
            ("dddd", "ffff0000-dddd"),
        ] {
            assert_eq!(nearest(typed, &files)[0].id, meant, "{typed}");
        }
    }
}
