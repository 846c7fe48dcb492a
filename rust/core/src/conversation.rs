//! A finished conversation: every event in its place, everything linked, and the manifest that describes it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::agents::Agent;
use crate::error::Result;
use crate::event::{Event, ImageId, Role, SubagentRef};
use crate::images::ImageStore;
use crate::io::plain_path;
use crate::manifest::{
    DamagedLine, Manifest, Parser, SecretWarning, SourceSummary, SubagentSummary, UnknownEntries, UnlinkedSubagent,
};
use crate::parallel;
use crate::refusal::Refusal;
use crate::secrets::{Finding, find_secrets};
use crate::story::{LostImage, Story};
use crate::subagents::{ChapterBridge, Subagent, UnreadableFile, inline_events};
use crate::transcript::{Facts, MOST_DAMAGE_LISTED, Transcript};

/// The version of the shape of both files; raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// What the manifest says it was made by.
pub(crate) const PROGRAM: &str = "retell-fast";

/// How tokens are estimated, as the manifest says it.
const ESTIMATION_METHOD: &str = "utf8_bytes / 4";

/// Events that one thread looks through for secrets at a time: fewer take no longer than to start it.
const EVENTS_TOGETHER: usize = 2_000;

/// A finished conversation.
pub struct Conversation {
    /// In file order.
    pub events: Vec<Event>,
    /// What is known about it.
    pub manifest: Manifest,
    /// The images that belong to events, by file name.
    pub assets: Vec<(String, ImageId)>,
    /// Entry types in no table need no look.
    pub allow_unknown: bool,
    images: Mutex<ImageStore>,
}

/// All that has been read, to be put together.
pub(crate) struct Parts<'p> {
    pub agent: &'static str,
    pub subagent_file: bool,
    pub path: Option<&'p Path>,
    pub transcript: Transcript,
    pub subagents: Vec<Subagent>,
    pub bridges: Vec<ChapterBridge>,
    pub unreadable: Vec<UnreadableFile>,
    pub include_subagents: bool,
    pub allow_unknown: bool,
    pub images: Mutex<ImageStore>,
    pub threads: usize,
}

impl Conversation {
    /// Whether the input needs a look: damage, images lost, files that could not be read, or, unless they are allowed,
    /// unknown types.
    #[must_use]
    pub fn attention(&self) -> bool {
        let manifest = &self.manifest;
        manifest.damaged_lines_total > 0
            || !manifest.images_not_extracted.is_empty()
            || !manifest.unreadable_files.is_empty()
            || (!self.allow_unknown && !manifest.unknown_entries.is_empty())
    }

    /// The event at a place, and from there `below`: which ref of it, which event under that, and so on.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`](crate::ErrorKind::Gone) when there is none.
    pub fn event(&self, index: usize, below: &[(usize, usize)]) -> Result<&Event> {
        let mut found = self.events.get(index);
        for &(position, index) in below {
            let reference = found.and_then(|event| event.subagent_refs.get(position));
            found = reference.and_then(|reference| reference.events.as_ref()?.get(index));
        }
        found.ok_or_else(|| Refusal::EventGone.into_error())
    }

    /// Copies the bytes of `image`, one of the [`assets`](Self::assets), to `out`.
    ///
    /// # Errors
    /// When the temporary file that holds it cannot be read, or `out` not be written.
    pub fn copy_image<W: Write + ?Sized>(&self, image: ImageId, out: &mut W) -> io::Result<()> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner).copy_to(image, out)
    }

    pub(crate) fn assemble(parts: Parts<'_>) -> Self {
        let Parts {
            agent,
            subagent_file,
            path,
            mut transcript,
            mut subagents,
            bridges,
            unreadable,
            include_subagents,
            allow_unknown,
            images,
            threads,
        } = parts;
        let mut main = std::mem::take(&mut transcript.story);
        let store = images.into_inner().unwrap_or_else(PoisonError::into_inner);
        let main_signal_bytes = main.signal_bytes();
        let subagent_tokens: u64 = subagents.iter().map(Subagent::signal_tokens).sum();
        let summaries: Vec<SubagentSummary> = subagents.iter().map(summary).collect();
        let lost = lost_images(&mut main, &mut subagents);
        let mut assets = Assets::default();
        assets.name(&mut main.events, "", &store);
        if include_subagents {
            for agent in &mut subagents {
                assets.name(&mut agent.story.events, &agent.id, &store);
            }
        }
        let mut pii_warnings = Vec::new();
        secret_warnings(&main.events, None, threads, &mut pii_warnings);
        let mut unlinked_subagents = Vec::new();
        if include_subagents {
            for agent in &subagents {
                secret_warnings(&agent.story.events, Some(&agent.id), threads, &mut pii_warnings);
            }
            let unlinked = inline_events(&mut main, &mut subagents).into_iter();
            unlinked_subagents.extend(unlinked.map(|at| UnlinkedSubagent::of(&mut subagents[at])));
        }
        let title = transcript.facts.title().map(str::to_owned);
        let facts = &transcript.facts;
        add_manifest_warnings(title.as_ref(), facts, &bridges, &mut pii_warnings);
        let origin = facts.thread.as_ref().and_then(|thread| thread.origin);
        let damage = Damages::of(&mut transcript, &mut subagents);
        let plain = path.map(plain_path);
        let stem = plain.as_deref().and_then(crate::subagents::session_stem);
        let manifest = Manifest {
            schema_version: SCHEMA_VERSION,
            conversation_id: conversation_id(stem, subagent_file, &transcript.session_ids.list),
            agent,
            project_encoded: path.and_then(|path| project_encoded(path, transcript.agent)),
            project_path: transcript.project_path.take(),
            title,
            sessions: transcript.session_ids.list.len(),
            session_ids: transcript.session_ids.list,
            total_events: main.events.len(),
            dead_events: main.events.iter().filter(|event| !event.live).count(),
            main_signal_bytes,
            main_signal_tokens_estimate: main_signal_bytes / 4,
            estimation_method: ESTIMATION_METHOD,
            total_signal_tokens_if_all_subagents: main_signal_bytes / 4 + subagent_tokens,
            signal_ratio: ratio(main_signal_bytes, transcript.bytes),
            subagents: summaries,
            unlinked_subagents,
            unreadable_files: unreadable,
            chapter_bridges: bridges,
            screenshots_extracted: assets.names.len(),
            assets: assets.names.iter().map(|(name, _)| name.clone()).collect(),
            images_not_extracted: lost,
            pii_warnings,
            source: SourceSummary {
                name: path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()),
                bytes: transcript.bytes,
                lines: transcript.lines,
                first_timestamp: Some(transcript.first_timestamp).filter(|text| !text.is_empty()),
                last_timestamp: Some(transcript.last_timestamp.into_string()).filter(|text| !text.is_empty()),
                in_progress: transcript.incomplete_tail.is_some(),
            },
            entries: transcript.entries,
            unknown_entries: damage.unknown,
            duplicates_dropped: transcript.duplicates,
            client_messages_dropped: main.client_messages,
            queued_undelivered: main.undelivered(),
            damaged_lines: damage.listed,
            damaged_lines_total: damage.total,
            incomplete_tail: transcript.incomplete_tail,
            incomplete_turn: main.open_turn,
            origin: origin.or_else(|| subagent_file.then_some("subagent")),
            inherited_records: transcript.inherited,
            compactions: main.compactions,
            summaries: transcript.facts.summaries.list,
            pr_links: transcript.facts.pull_requests,
            continued_in: transcript.facts.continued_in.list,
            last_prompt: transcript.facts.last_prompt,
            leaf_uuid: transcript.facts.leaf_uuid,
            versions: transcript.versions.list,
            parsed_at: parsed_at(),
            parser: Parser { name: PROGRAM, version: env!("CARGO_PKG_VERSION") },
        };
        Self { events: main.events, manifest, assets: assets.names, allow_unknown, images: Mutex::new(store) }
    }
}

/// Images of the file itself that are not in the result, by where they stand.
fn lost_images(main: &mut Story, subagents: &mut [Subagent]) -> Vec<LostImage> {
    let mut lost = std::mem::take(&mut main.lost_images);
    for agent in subagents.iter_mut().filter(|agent| agent.file.is_none()) {
        lost.append(&mut agent.story.lost_images);
    }
    lost.sort_by_key(|lost| lost.offset);
    lost
}

fn summary(agent: &Subagent) -> SubagentSummary {
    SubagentSummary {
        id: agent.id.clone(),
        description: agent.description.clone(),
        agent_type: agent.agent_type.clone(),
        file: agent.file.clone(),
        tool_use_id: agent.tool_use_id.clone(),
        linked_by: agent.linked_by,
        events: agent.story.events.len(),
        signal_tokens_estimate: agent.signal_tokens(),
    }
}

/// Six decimals: enough for a ratio, and the same text on every machine.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e6).round() / 1e6 }
}

/// The session's id is its file's name; where that is no id (a copy under another name), what the entries say.
fn conversation_id(stem: Option<&str>, subagent_file: bool, session_ids: &[String]) -> String {
    let looks_like_id =
        |stem: &&str| stem.len() == 36 && stem.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let own = stem.filter(|stem| looks_like_id(stem) || subagent_file);
    own.or(session_ids.first().map(String::as_str)).or(stem).unwrap_or("unknown").to_owned()
}

/// The folder that the file lies in, when the agent calls it after the project.
fn project_encoded(path: &Path, agent: &dyn Agent) -> Option<String> {
    let folder = path.parent()?;
    let is_project = folder.parent()?.file_name()? == agent.home().projects?;
    folder.file_name().filter(|_| is_project).map(|name| name.to_string_lossy().into_owned())
}

/// Now, or what `SOURCE_DATE_EPOCH` says, for results that are the same byte for byte.
fn parsed_at() -> String {
    let pinned = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse::<i64>().ok());
    let pinned = pinned.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    pinned
        .unwrap_or_else(|| jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap_or_default())
        .to_string()
}

/// Gives images their names: by the event that shows them first.
#[derive(Default)]
struct Assets {
    names: Vec<(String, ImageId)>,
    name_of: HashMap<ImageId, usize>,
    /// In small letters: some file systems do not tell them from capitals.
    taken: HashSet<String>,
}

/// The longest part of an asset's name that tells whose it is.
const LONGEST_OWNER: usize = 40;

impl Assets {
    fn name(&mut self, events: &mut [Event], agent: &str, store: &ImageStore) {
        let owner = if agent.is_empty() { String::new() } else { format!("{}-", owner_part(agent)) };
        for event in events {
            let mut own = 0;
            for screenshot in &mut event.screenshots {
                let format = store.format(screenshot.image);
                let at = *self.name_of.entry(screenshot.image).or_insert_with(|| {
                    let name = loop {
                        let name = format!("screenshot-{owner}{:03}-{own}.{}", event.index, format.extension);
                        own += 1;
                        // Two agents' ids may be the same but for what a file name must not hold.
                        if self.taken.insert(name.to_ascii_lowercase()) {
                            break name;
                        }
                    };
                    self.names.push((name, screenshot.image));
                    self.names.len() - 1
                });
                screenshot.filename.clone_from(&self.names[at].0);
                screenshot.media_type = format.media_type;
            }
        }
    }
}

/// An agent's id as part of a file name: what is too long is cut, and its digest tells it from others that begin so.
fn owner_part(agent: &str) -> String {
    let mut part = file_name_part(agent);
    if part.len() > LONGEST_OWNER {
        let digest = Sha256::digest(agent.as_bytes());
        let digest = digest.iter().take(4).fold(0, |number: u32, byte| number << 8 | u32::from(*byte));
        part.truncate(LONGEST_OWNER - "-01234567".len());
        part = format!("{part}-{digest:08x}");
    }
    part
}

/// `text` with everything that a file name must not hold turned into `_`.
#[must_use]
pub fn file_name_part(text: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() || "_-@".contains(letter) { letter } else { '_' };
    text.chars().map(safe).collect()
}

impl SecretWarning {
    fn of(finding: Finding, field: &'static str, event: Option<&Event>, subagent: Option<&str>) -> Self {
        Self {
            event: event.map(|event| event.index),
            field,
            rule: finding.rule,
            line: event.map(|event| event.place.line),
            preview: finding.preview,
            subagent: subagent.map(str::to_owned),
        }
    }
}

/// Adds what looks like a secret in `events`, which are looked through side by side where there are many.
fn secret_warnings(events: &[Event], subagent: Option<&str>, threads: usize, warnings: &mut Vec<SecretWarning>) {
    let pieces: Vec<&[Event]> = events.chunks(EVENTS_TOGETHER).collect();
    let found = parallel::map(threads, &pieces, |events| {
        let mut found = Vec::new();
        add_secret_warnings(events, subagent, &mut found);
        found
    });
    warnings.extend(found.into_iter().flatten());
}

fn add_secret_warnings(events: &[Event], subagent: Option<&str>, warnings: &mut Vec<SecretWarning>) {
    for event in events {
        let refs = event.subagent_refs.iter().flat_map(|SubagentRef { whole_prompt, description, .. }| {
            [("subagent_refs.prompt", whole_prompt), ("subagent_refs.description", description)]
        });
        let screenshots = event.screenshots.iter().map(|shown| ("screenshots.description", &shown.description));
        let questions = event.questions.iter().map(|question| ("questions", question));
        let fields = [
            ("says", &event.says),
            ("thinks", &event.thinks),
            ("continuation_summary", &event.continuation_summary),
            ("plan", &event.plan),
        ];
        for (field, text) in fields.into_iter().chain(questions).chain(screenshots).chain(refs) {
            let found = find_secrets(text).into_iter();
            warnings.extend(found.map(|finding| SecretWarning::of(finding, field, Some(event), subagent)));
        }
    }
}

/// Adds what looks like a secret in the texts of the manifest itself.
fn add_manifest_warnings(
    title: Option<&String>,
    facts: &Facts,
    bridges: &[ChapterBridge],
    warnings: &mut Vec<SecretWarning>,
) {
    let texts = (title.into_iter().map(|title| ("title", title)))
        .chain(facts.last_prompt.iter().map(|prompt| ("last_prompt", prompt)))
        .chain(facts.summaries.list.iter().map(|summary| ("summaries", summary)))
        .chain(bridges.iter().map(|bridge| ("chapter_bridges", &bridge.text)));
    for (field, text) in texts {
        let found = find_secrets(text).into_iter();
        warnings.extend(found.map(|finding| SecretWarning::of(finding, field, None, None)));
    }
}

/// Damage and unknown types of the session's file and of its agent files.
struct Damages {
    listed: Vec<DamagedLine>,
    total: u64,
    unknown: BTreeMap<String, UnknownEntries>,
}

impl Damages {
    fn of(transcript: &mut Transcript, subagents: &mut [Subagent]) -> Self {
        let mut all = Self { listed: Vec::new(), total: 0, unknown: BTreeMap::new() };
        all.add(transcript, None);
        for agent in subagents {
            let file = agent.file.clone();
            all.add(&mut agent.transcript, file.as_deref());
        }
        all
    }

    fn add(&mut self, transcript: &mut Transcript, file: Option<&str>) {
        self.total += transcript.damage_total;
        let room = MOST_DAMAGE_LISTED - self.listed.len();
        let damage = std::mem::take(&mut transcript.damage).into_iter().take(room);
        self.listed.extend(damage.map(|damage| DamagedLine { damage, file: file.map(str::to_owned) }));
        for (name, unknown) in std::mem::take(&mut transcript.unknown) {
            let first = UnknownEntries { unknown, file: file.map(str::to_owned) };
            let add = |known: &mut UnknownEntries| known.unknown.count += unknown.count;
            self.unknown.entry(name).and_modify(add).or_insert(first);
        }
    }
}

/// The human's and the assistant's events.
#[must_use]
pub fn count_by_role(events: &[Event]) -> (usize, usize) {
    let human = events.iter().filter(|event| event.role == Role::User).count();
    (human, events.len() - human)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_are_cut_and_still_told_apart() {
        assert_eq!(owner_part("a0b1"), "a0b1");
        assert_eq!(owner_part(&"x".repeat(40)), "x".repeat(40));
        let (one, other) = (owner_part(&format!("{}1", "x".repeat(300))), owner_part(&format!("{}2", "x".repeat(300))));
        assert_eq!((one.len(), other.len()), (40, 40));
        assert_ne!(one, other);
    }
}
