//! Which types the records of files have: a side door on the entries, for when an agent's new version comes out.
//!
//! It reads lines into entries as everything does and looks at nothing but their types and versions, so that noise is
//! left as early as ever. Nothing of what a transcript says is kept: what it gives can be published.

mod tally;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::num::NonZero;
use std::path::PathBuf;

use serde::Serialize;

use crate::agents::{Agent, agent_named};
use crate::error::{DamagedData, Error, ErrorKind, Result};
use crate::io::LEAST_STRETCH;
use crate::parallel;
use crate::progress::{Progress, Shared};
use crate::reader::Threads;
use crate::sessions::{SessionFile, Transcripts, homes, transcripts, transcripts_below};

use tally::{MOST_TYPES, MOST_VERSIONS, OTHER, Tally, tally};

/// Whose files are whose that no record tells the agent of.
const NOBODY: &str = "(unrecognised)";

/// What to count.
#[derive(Debug, Clone, Default)]
pub struct CensusOptions {
    /// Files and folders; all agents' homes when there are none.
    pub paths: Vec<PathBuf>,
    /// Whose they are; seen from their records when `None`.
    pub agent: Option<String>,
    /// Threads that read; as the environment says when `None`, or as many as there are cores.
    pub threads: Option<NonZero<usize>>,
}

/// Which types the records of files have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    /// The version of this program.
    pub release: &'static str,
    /// Files read.
    pub files: u64,
    /// Their bytes, decompressed.
    pub bytes: u64,
    /// Their lines.
    pub lines: u64,
    /// What was found, by agent.
    pub agents: BTreeMap<&'static str, AgentCensus>,
    /// Damaged pieces, by reason.
    pub damage: BTreeMap<&'static str, u64>,
    /// Files whose last line is not whole yet.
    pub incomplete_tails: u64,
    /// Files and folders that could not be read, by what was the matter, or what they are instead.
    pub unreadable: BTreeMap<&'static str, u64>,
}

/// Which types the records of one agent's files have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentCensus {
    /// Files read.
    pub files: u64,
    /// Their bytes, decompressed.
    pub bytes: u64,
    /// Their lines.
    pub lines: u64,
    /// The versions of the agent's program that they name.
    pub versions: BTreeSet<String>,
    /// What was found, by type.
    pub types: BTreeMap<String, TypeCensus>,
}

/// Records of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TypeCensus {
    /// Whether the type is in no table.
    pub unknown: bool,
    /// Records.
    pub count: u64,
    /// Their bytes, without line ends.
    pub bytes: u64,
    /// Files that hold some.
    pub files: u64,
    /// The versions that these files name.
    pub versions: BTreeSet<String>,
}

/// Counts the types of the records in files, in folders, or in all sessions there are.
///
/// What cannot be read is counted too: only a path that is not there is an error.
///
/// # Errors
/// [`ErrorKind::Io`] when a path is not there, [`ErrorKind::UnknownAgent`], [`ErrorKind::WrongSetting`],
/// [`ErrorKind::Stopped`].
pub fn census(options: &CensusOptions, progress: &mut Progress<'_>) -> Result<Census> {
    let agent = options.agent.as_deref().map(agent_named).transpose()?;
    let threads = parallel::threads(options.threads)?;
    let Transcripts { mut files, unreadable } = if options.paths.is_empty() {
        let is_asked_for = |one: &'static dyn Agent| agent.is_none_or(|agent| agent.name() == one.name());
        transcripts(&homes().into_iter().filter(|home| is_asked_for(home.agent)).collect::<Vec<_>>())
    } else {
        let mut found = Transcripts::default();
        for path in &options.paths {
            let Transcripts { files, unreadable } = transcripts_below(path)?;
            found.files.extend(files);
            found.unreadable.extend(unreadable);
        }
        found
    };
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.path.canonicalize().unwrap_or_else(|_| file.path.clone())));
    for file in &mut files {
        file.agent = agent.or(file.agent);
    }
    let mut census = Census { release: env!("CARGO_PKG_VERSION"), ..Census::default() };
    for kind in unreadable {
        *census.unreadable.entry(named(kind)).or_default() += 1;
    }
    // The largest first, so that none is left for the end.
    files.sort_by(|one, other| other.size.cmp(&one.size).then_with(|| one.path.cmp(&other.path)));
    progress.set_total(Some(files.iter().map(|file| file.size).sum()));
    let (large, small) = files.split_at(files.partition_point(|file| file.size >= 2 * LEAST_STRETCH));
    let mut done = 0;
    for file in large {
        let side_by_side = Threads { count: threads, ..Threads::one() };
        census.add(tally(file, side_by_side, &mut progress.piece(file.size)))?;
        done += file.size;
        progress.reach(done)?;
    }
    let shared = Shared::default();
    let work = |file: &SessionFile| tally(file, Threads::one(), &mut shared.piece(file.size));
    let rest = small.iter().map(|file| file.size).sum();
    for result in parallel::map_while(threads, small, work, &shared, &mut progress.piece(rest))? {
        census.add(result)?;
    }
    Ok(census)
}

impl Census {
    /// Whether something in the files needs a look: unknown types, damage, or what could not be read.
    #[must_use]
    pub fn needs_a_look(&self) -> bool {
        let mut types = self.agents.values().flat_map(|agent| agent.types.values());
        types.any(|counted| counted.unknown) || !self.damage.is_empty() || !self.unreadable.is_empty()
    }

    /// Takes in what was found in a file, or why nothing was.
    fn add(&mut self, read: Result<Tally>) -> Result<()> {
        let tally = match read {
            Ok(tally) => tally,
            Err(error) if error.kind() == ErrorKind::Stopped => return Err(error),
            Err(error) => {
                *self.unreadable.entry(reason_of(&error)).or_default() += 1;
                return Ok(());
            }
        };
        if let Some(stranger) = tally.stranger {
            *self.unreadable.entry(stranger).or_default() += 1;
            return Ok(());
        }
        let agent = self.agents.entry(tally.agent.map_or(NOBODY, Agent::name)).or_default();
        for (files, bytes, lines) in [
            (&mut self.files, &mut self.bytes, &mut self.lines),
            (&mut agent.files, &mut agent.bytes, &mut agent.lines),
        ] {
            *files += 1;
            *bytes += tally.bytes;
            *lines += tally.lines;
        }
        add_versions(&mut agent.versions, &tally.versions);
        for (name, found) in tally.types {
            let is_new = !agent.types.contains_key(&name);
            let name = if is_new && agent.types.len() >= MOST_TYPES { OTHER.to_owned() } else { name };
            let counted = agent.types.entry(name).or_default();
            counted.unknown |= found.unknown;
            counted.count += found.count;
            counted.bytes += found.bytes;
            counted.files += 1;
            add_versions(&mut counted.versions, &tally.versions);
        }
        for (reason, count) in tally.damage {
            *self.damage.entry(reason).or_default() += count;
        }
        self.incomplete_tails += u64::from(tally.incomplete_tail);
        Ok(())
    }
}

fn add_versions(versions: &mut BTreeSet<String>, more: &BTreeSet<String>) {
    for version in more {
        if versions.len() < MOST_VERSIONS && !versions.contains(version) {
            versions.insert(version.clone());
        }
    }
}

/// What was the matter with a file, without its name.
fn reason_of(error: &Error) -> &'static str {
    match error.io() {
        Some(error) => match DamagedData::of(error) {
            Some(DamagedData { format: "gzip", .. }) => "damaged_gzip",
            Some(_) => "damaged_zstd",
            None => named(error.kind()),
        },
        None => "not_a_transcript",
    }
}

fn named(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "not_found",
        io::ErrorKind::PermissionDenied => "permission_denied",
        io::ErrorKind::IsADirectory => "is_a_directory",
        _ => "not_readable",
    }
}
