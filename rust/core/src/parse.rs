//! The main verb: a source to a conversation.

use std::collections::HashSet;
use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;

use crate::agents::{AGENTS, Agent, SubagentFiles, agent_named};
use crate::conversation::{Conversation, Parts};
use crate::entry::Place;
use crate::error::{Error, ErrorKind, Result, shown_name};
use crate::images::ImageStore;
use crate::io::{LEAST_STRETCH, Source, plain_path};
use crate::parallel;
use crate::progress::Progress;
use crate::reader::Threads;
use crate::refusal::Refusal;
use crate::sessions::newest_session_below;
use crate::story::Story;
use crate::subagents::{self, Found};
use crate::threads;
use crate::transcript::{ReadOptions, Transcript};

/// How to parse.
#[derive(Debug, Clone, Default)]
pub struct ParseOptions {
    /// The agent's name; recognised from the records when `None`.
    pub agent: Option<String>,
    /// Put the events of subagents under the calls that started them.
    pub include_subagents: bool,
    /// Entry types in no table are an error.
    pub strict: bool,
    /// Entry types in no table need no look.
    pub allow_unknown: bool,
    /// Threads that read; as the environment says when `None`, or as many as there are cores. The result is the same.
    pub threads: Option<NonZero<usize>>,
    /// The least, in bytes, that a thread is given of a file; [`LEAST_STRETCH`] when `None`. The result is the same.
    pub least_stretch: Option<u64>,
}

/// Reads `source` and everything that belongs to it.
///
/// # Errors
/// [`ErrorKind::Io`], [`ErrorKind::NotATranscript`], [`ErrorKind::NoConversation`], with `strict`
/// [`ErrorKind::UnknownEntryType`], [`ErrorKind::UnknownAgent`], [`ErrorKind::WrongArgument`],
/// [`ErrorKind::WrongSetting`], [`ErrorKind::Stopped`].
pub fn parse(source: Source, options: &ParseOptions, progress: &mut Progress<'_>) -> Result<Conversation> {
    if options.strict && options.allow_unknown {
        return Err(Refusal::StrictAndAllowUnknown.into_error());
    }
    let agent = options.agent.as_deref().map(agent_named).transpose()?;
    let path = match &source {
        Source::Path(path) => Some(path.clone()),
        _ => None,
    };
    if let Some(folder) = path.as_deref().filter(|path| path.is_dir()) {
        return Err(is_folder(folder));
    }
    // What a file's name tells it tells however the file is compressed.
    let named = path.as_deref().map(plain_path);
    let subagent_file = named.as_deref().and_then(Path::file_name).is_some_and(subagents::is_subagent_file);
    let threads = parallel::threads(options.threads)?;
    let images = Mutex::new(ImageStore::default());
    let least_stretch = options.least_stretch.unwrap_or(LEAST_STRETCH);
    let reading =
        ReadOptions { agent, subagent_file, images: Some(&images), threads: Threads { count: threads, least_stretch } };
    let mut transcript =
        Transcript::read(source, reading, progress).map_err(|error| at_path(error, path.as_deref()))?;
    let mut found = match path.as_deref().zip(named.as_deref()) {
        Some((path, named)) => {
            let images = reading.images.filter(|_| options.include_subagents);
            let reading = ReadOptions { agent: Some(transcript.agent), images, ..reading };
            match (transcript.agent.home().subagents, &transcript.facts.thread) {
                (SubagentFiles::Beside(files), _) if !subagent_file => {
                    subagents::beside(named, files, &transcript.session_ids.list, reading)
                }
                (SubagentFiles::Threads, Some(thread)) if may_have_threads(&transcript) => {
                    threads::of(path, &thread.id, transcript.agent, reading)
                }
                _ => Found::default(),
            }
        }
        None => Found::default(),
    };
    if options.strict {
        refuse_unknown(&transcript, &found)?;
    }
    if transcript.story.events.is_empty() {
        promote_sidechains(&mut transcript);
    }
    if transcript.story.events.is_empty() {
        return Err(at_path(no_conversation(&transcript, agent), path.as_deref()));
    }
    let sidechains = std::mem::take(&mut transcript.sidechains);
    let in_files: HashSet<String> = found.subagents.iter().map(|agent| agent.id.clone()).collect();
    found.subagents.extend(subagents::inline(sidechains).map(|mut agent| {
        // A file of the same id is another subagent, or the same one told twice: both are kept apart.
        while in_files.contains(&agent.id) {
            agent.id.push_str("-inline");
        }
        agent
    }));
    subagents::link(&mut transcript.story, &mut found.subagents, transcript.agent);
    Ok(Conversation::assemble(Parts {
        agent: transcript.agent.name(),
        subagent_file,
        path: path.as_deref(),
        transcript,
        subagents: found.subagents,
        bridges: found.bridges,
        unreadable: found.unreadable,
        include_subagents: options.include_subagents,
        allow_unknown: options.allow_unknown,
        images,
        threads,
    }))
}

/// Whether sessions may name this one as the one that started them: to look for them, every file of a home is opened.
/// What is damaged may have held the call.
fn may_have_threads(transcript: &Transcript) -> bool {
    !transcript.story.started.is_empty() || transcript.damage_total > 0 || transcript.incomplete_tail.is_some()
}

/// What is said of a folder where one session is wanted.
fn is_folder(folder: &Path) -> Error {
    let error = Error::os(io::ErrorKind::IsADirectory.into(), folder);
    error.with_hint(match newest_session_below(folder) {
        Some(newest) => format!("parse the newest session in it: retell-fast parse {}", shell_word(&newest)),
        None => "name a session file, or list the sessions there are: retell-fast preview".to_owned(),
    })
}

/// The path as it is typed at a shell.
fn shell_word(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./\\:~@+,".contains(letter);
    if path.chars().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn at_path(error: Error, path: Option<&Path>) -> Error {
    match path {
        Some(path) => error.at(path),
        None => error,
    }
}

fn refuse_unknown(transcript: &Transcript, found: &Found) -> Result<()> {
    let transcripts = std::iter::once(transcript).chain(found.subagents.iter().map(|agent| &agent.transcript));
    let mut unknown: Vec<_> = transcripts.flat_map(|transcript| &transcript.unknown).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let mut named = HashSet::new();
    unknown.retain(|(name, _)| named.insert(*name));
    let names: Vec<_> = unknown
        .iter()
        .map(|(name, kind)| format!("{} (first on line {})", shown_name(name), kind.first_line))
        .collect();
    Err(Error::new(ErrorKind::UnknownEntryType, format!("unknown entry types: {}", names.join(", ")))
        .with_hint("without --strict they are reported and passed over; a newer retell-fast may know them"))
}

/// A file of sidechain lines alone is a subagent's transcript under another name: its lines are the story.
fn promote_sidechains(transcript: &mut Transcript) {
    let sidechains = std::mem::take(&mut transcript.sidechains);
    transcript.story = Story::merged(sidechains.into_iter().map(|sidechain| sidechain.story).collect());
}

fn no_conversation(transcript: &Transcript, asked_for: Option<&dyn Agent>) -> Error {
    let held = transcript.entries.iter().map(|(name, counted)| format!("{} {}", counted.count, shown_name(name)));
    let held: Vec<_> = held.collect();
    let message = match (held.is_empty(), transcript.incomplete_tail) {
        (true, Some(Place { line, .. })) => format!("no conversation in it: line {line} is not whole yet"),
        _ => format!("no conversation in it: it holds {}", held.join(", ")),
    };
    let strange = !transcript.entries.is_empty() && transcript.unknown.len() == transcript.entries.len();
    let hint = if let Some(agent) = asked_for.filter(|_| strange) {
        format!("none of these types is known of {}: leave the agent out to have it recognised", agent.name())
    } else if strange {
        let known: Vec<_> = AGENTS.iter().map(|agent| agent.name()).collect();
        format!("none of these types is known: it may be the transcript of another agent than {}", known.join(", "))
    } else {
        "the words of this session may stand in another file: `retell-fast preview` lists sessions".to_owned()
    };
    Error::new(ErrorKind::NoConversation, message).with_hint(hint)
}
