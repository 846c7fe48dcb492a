//! Subagents: their files, which call started which, and their events under the call.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::error::{Error, ErrorKind};
use crate::event::{Event, LinkedBy};
use crate::input::{Input, Source};
use crate::json::Value;
use crate::lines::LineReader;
use crate::parallel;
use crate::story::{StartedAgent, Story};
use crate::transcript::{Reading, Sidechain, Transcript};

/// Agents of the program itself, which replay the parent's history: no subagents of the story.
const INTERNAL: [&str; 2] = ["aprompt_suggestion-", "aside_question-"];
/// The agent that writes the summary at a compaction.
const COMPACTION: &str = "acompact-";

/// Folders below `subagents/` that are looked into. Seen: two.
const MOST_FOLDERS: usize = 8;
/// Lines of a flat agent file that are looked at for the session it belongs to.
const MOST_LINES: u64 = 50;
/// How deep subagents' events are put into each other. Seen: 79. What is deeper is listed as unlinked, so that no
/// reader of the result needs a deep stack.
const MOST_DEEP: usize = 150;

/// A subagent of a session.
#[derive(Default)]
pub struct Subagent {
    /// What stands between `agent-` and `.jsonl`, or what the lines say.
    pub id: String,
    /// The file, below the session's folder; `None` for inline ones.
    pub file: Option<String>,
    /// From `agent-<id>.meta.json` or the call.
    pub description: String,
    /// From `agent-<id>.meta.json` or the call.
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
    pub(crate) meta_tool_use_id: String,
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

/// The agent id in a file name: what stands between `agent-` and `.jsonl` (or `.jsonl.zst`).
#[must_use]
pub fn agent_id(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?.strip_prefix("agent-")?;
    name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.zst"))
}

/// The session id in a file name.
#[must_use]
pub fn session_stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    Some(name.strip_suffix(".zst").unwrap_or(name)).map(|name| name.strip_suffix(".jsonl").unwrap_or(name))
}

/// Reads the agent files that belong to the session at `path`: those in its folder, and those that lie flat
/// beside it and say that they are this session's.
#[must_use]
pub fn beside(path: &Path, session_ids: &[String], reading: Reading<'_>) -> Found {
    let mut found = Found::default();
    let Some(folder) = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    else {
        return found;
    };
    let mut files = Vec::new();
    if let Some(stem) = session_stem(path) {
        agent_files_below(&folder.join(stem).join("subagents"), 0, &mut files);
        let is_named = |id: &str| id == stem || session_ids.iter().any(|known| known == id);
        files.extend(flat_agent_files(folder, reading.threads, is_named));
    }
    // Side by side already, one thread each.
    let each = Reading { subagent_file: true, threads: 1, ..reading };
    let read = parallel::map(reading.threads, &files, |file| read_agent_file(file, folder, each));
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
fn flat_agent_files(folder: &Path, threads: usize, is_named: impl Fn(&str) -> bool + Sync) -> Vec<PathBuf> {
    let last = || LAST_LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified()).ok();
    let settled = modified.filter(|modified| modified.elapsed().is_ok_and(|age| age > SETTLED));
    let known = last().take_if(|last| last.folder == folder && Some(last.modified) == settled);
    let mut files = known.map_or_else(|| listed(folder), |known| known.files);
    let looked_into = parallel::map(threads, &files, |file| match &file.session {
        None if is_file(&file.path) => session_of(&file.path),
        known => known.clone(),
    });
    for (file, session) in files.iter_mut().zip(looked_into) {
        file.session = session;
    }
    let mine = files.iter().filter(|file| file.session.as_deref().is_some_and(&is_named));
    // It may be gone, which the time of the folder tells only once that has settled.
    let mine = mine.map(|file| file.path.clone()).filter(|path| is_file(path)).collect();
    if let Some(modified) = settled {
        *last() = Some(Listing { folder: folder.to_owned(), modified, files });
    }
    mine
}

fn listed(folder: &Path) -> Vec<FlatAgentFile> {
    agent_files_in(folder).into_iter().map(|path| FlatAgentFile { path, session: None }).collect()
}

/// What is called like an agent file directly in `folder`, by name. A folder that is not there has none.
fn agent_files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    // By name alone: to ask the system about every session in the folder takes longer than to read one.
    let named = entries.flatten().filter(|entry| agent_id(&entry.file_name()).is_some());
    let mut files: Vec<_> = named.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Whether it can be read to an end: a pipe would be waited for.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn agent_files_below(folder: &Path, level: usize, files: &mut Vec<PathBuf>) {
    files.extend(agent_files_in(folder).into_iter().filter(|path| is_file(path)));
    let Ok(entries) = fs::read_dir(folder) else { return };
    if level < MOST_FOLDERS {
        // A link to a folder is not followed: it could lead round in a circle.
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut folders: Vec<_> = folders.map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            agent_files_below(&folder, level + 1, files);
        }
    }
}

/// The session that the first lines of an agent file name.
fn session_of(path: &Path) -> Option<String> {
    let mut lines = LineReader::new(Input::open_to_look(path).ok()?);
    while let Ok(Some(line)) = lines.next_line(&mut |_| Ok(())) {
        let id = Value::new(line.bytes.trim_ascii()).get("sessionId").and_then(Value::text);
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

fn read_agent_file(path: &Path, folder: &Path, reading: Reading<'_>) -> Result<Option<AgentFile>, UnreadableFile> {
    let Some(id) = path.file_name().and_then(agent_id) else { return Ok(None) };
    if INTERNAL.iter().any(|internal| id.starts_with(internal)) {
        return Ok(None);
    }
    let file = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let is_bridge = id.starts_with(COMPACTION);
    let images = reading.images.filter(|_| !is_bridge);
    let read = Transcript::read(Source::Path(path.to_owned()), Reading { images, ..reading }, &mut |_, _| true);
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
    let meta = fs::read(path.with_file_name(format!("agent-{id}.meta.json"))).unwrap_or_default();
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap_or_default();
    let text = |name: &str| meta.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    Ok(Some(AgentFile::Subagent(Box::new(Subagent {
        id: id.to_owned(),
        file: Some(file),
        description: text("description"),
        agent_type: text("agentType"),
        meta_tool_use_id: text("toolUseId"),
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
    sidechains.into_iter().map(|Sidechain { id, story }| Subagent { id, story, ..Subagent::default() })
}

/// One call that started a subagent: its story (0 is the session's own) and its position there.
type Call = (usize, usize);

/// Finds out which call started which subagent, by the strongest evidence there is, and writes it into the refs
/// of the calls and into the subagents. `agents` are put in the order in which they began.
pub fn link(main: &mut Story, agents: &mut [Subagent]) {
    agents.sort_by(|one, other| (&one.story.first_timestamp, &one.id).cmp(&(&other.story.first_timestamp, &other.id)));
    let mut links = Links::new(main, agents);
    links.by_meta(agents);
    links.by_name(agents, |call| call.result.clone().filter(|(by, _)| *by == LinkedBy::Result));
    let mut id_of: HashMap<String, String> = HashMap::new();
    for agent in agents.iter().filter(|agent| !agent.other_name.is_empty()) {
        id_of.entry(agent.other_name.clone()).or_insert_with(|| agent.id.clone());
    }
    let named = |call: &StartedAgent| id_of.get(call.other_name.as_ref()?).cloned();
    links.by_name(agents, |call| named(call).map(|id| (LinkedBy::Result, id)));
    links.by_name(agents, |call| call.result.clone().filter(|(by, _)| *by == LinkedBy::Text));
    links.by_name(agents, |call| call.progress.clone().map(|id| (LinkedBy::Progress, id)));
    links.by_prompt(agents);
    let Links { calls, named, by_id } = links;
    for (at, started) in &calls {
        let link = named.get(at);
        let tokens = link.and_then(|(_, id)| by_id.get(id)).map(|&agent| agents[agent].signal_tokens());
        let story = if at.0 == 0 { &mut *main } else { &mut agents[at.0 - 1].story };
        let reference = &mut story.events[started.event].subagent_refs[started.position];
        reference.total_tokens = started.usage.total_tokens;
        reference.tool_uses = started.usage.tool_uses;
        reference.duration_ms = started.usage.duration_ms;
        reference.signal_tokens_estimate = tokens;
        reference.id = link.map(|(_, id)| id.clone());
        reference.linked_by = link.map(|(by, _)| *by);
    }
    let started: HashMap<Call, StartedAgent> = calls.into_iter().collect();
    for agent in agents {
        if let Some(call) = agent.parent.and_then(|at| started.get(&at)) {
            agent.tool_use_id = Some(call.tool_use_id.clone());
            if agent.description.is_empty() {
                agent.description.clone_from(&call.asked.description);
            }
            if agent.agent_type.is_empty() {
                agent.agent_type.clone_from(&call.asked.agent_type);
            }
        }
        if agent.description.is_empty() {
            agent.description.clone_from(&agent.nickname);
        }
    }
}

struct Links {
    /// All calls, those of the session's own story first.
    calls: Vec<(Call, StartedAgent)>,
    /// What each call started, and how that is known.
    named: HashMap<Call, (LinkedBy, String)>,
    by_id: HashMap<String, usize>,
}

impl Links {
    fn new(main: &Story, agents: &[Subagent]) -> Self {
        let stories = std::iter::once(main).chain(agents.iter().map(|agent| &agent.story));
        let calls = stories.enumerate().flat_map(|(story, of)| {
            of.started.iter().enumerate().map(move |(position, started)| ((story, position), started.clone()))
        });
        let mut by_id = HashMap::new();
        for (at, agent) in agents.iter().enumerate() {
            by_id.entry(agent.id.clone()).or_insert(at);
        }
        Self { calls: calls.collect(), named: HashMap::new(), by_id }
    }

    fn claim(&mut self, agents: &mut [Subagent], call: Call, by: LinkedBy, id: String) {
        if self.named.contains_key(&call) {
            return;
        }
        // A subagent that was resumed has several calls; its events stand under the first.
        if let Some(&at) = self.by_id.get(&id)
            && agents[at].parent.is_none()
            && call.0 != at + 1
        {
            agents[at].parent = Some(call);
            agents[at].linked_by = Some(by);
        }
        self.named.insert(call, (by, id));
    }

    fn by_meta(&mut self, agents: &mut [Subagent]) {
        let mut of_id: HashMap<&str, Call> = HashMap::new();
        for (at, started) in self.calls.iter().filter(|(_, started)| !started.tool_use_id.is_empty()) {
            of_id.entry(&started.tool_use_id).or_insert(*at);
        }
        let claims: Vec<_> = agents
            .iter()
            .filter_map(|agent| Some((*of_id.get(agent.meta_tool_use_id.as_str())?, agent.id.clone())))
            .collect();
        for (call, id) in claims {
            self.claim(agents, call, LinkedBy::Meta, id);
        }
    }

    fn by_name(&mut self, agents: &mut [Subagent], name: impl Fn(&StartedAgent) -> Option<(LinkedBy, String)>) {
        let claims: Vec<_> = self.calls.iter().filter_map(|(at, started)| Some((*at, name(started)?))).collect();
        for (call, (by, id)) in claims {
            self.claim(agents, call, by, id);
        }
    }

    fn by_prompt(&mut self, agents: &mut [Subagent]) {
        let mut waiting: HashMap<String, std::collections::VecDeque<Call>> = HashMap::new();
        for (at, started) in &self.calls {
            let prompt = started.asked.prompt.trim();
            if !self.named.contains_key(at) && !prompt.is_empty() {
                waiting.entry(prompt.to_owned()).or_default().push_back(*at);
            }
        }
        for at in 0..agents.len() {
            let Some(prompt) = agents[at].story.prompt.as_deref().filter(|_| agents[at].parent.is_none()) else {
                continue;
            };
            let calls = waiting.get_mut(without_wrapper(prompt));
            let Some(calls) = calls else { continue };
            let Some(place) = calls.iter().position(|call| call.0 != at + 1) else { continue };
            if let Some(call) = calls.remove(place) {
                let id = agents[at].id.clone();
                self.claim(agents, call, LinkedBy::Prompt, id);
            }
        }
    }
}

/// Teams wrap the prompt in a message tag.
fn without_wrapper(prompt: &str) -> &str {
    let inside = prompt.strip_prefix("<teammate-message").and_then(|rest| rest.split_once('>'));
    let inside = inside.and_then(|(_, rest)| rest.trim_end().strip_suffix("</teammate-message>"));
    inside.map_or(prompt, str::trim)
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
    fn ids_are_what_stands_between_prefix_and_suffix() {
        for (name, id) in [
            ("agent-a93ccab.jsonl", Some("a93ccab")),
            ("agent-name@team.x_1.jsonl", Some("name@team.x_1")),
            ("agent-a1.jsonl.zst", Some("a1")),
            ("agent-a1.meta.json", None),
            ("journal.jsonl", None),
        ] {
            assert_eq!(agent_id(OsStr::new(name)), id, "{name}");
        }
    }

    #[test]
    fn a_team_wraps_the_prompt() {
        assert_eq!(without_wrapper("<teammate-message teammate_id=\"team-lead\">\nlook\n</teammate-message>"), "look");
        assert_eq!(without_wrapper("look"), "look");
    }
}
