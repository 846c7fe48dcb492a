//! What is known about a session as a whole.

use std::collections::HashSet;

use crate::branches::{Branches, Node};
use crate::event::{Fact, PullRequest, Thread};

/// Distinct strings in the order of their first coming.
#[derive(Debug, Default)]
pub struct Distinct {
    seen: HashSet<String>,
    /// The strings.
    pub list: Vec<String>,
}

impl Distinct {
    pub(super) fn add(&mut self, text: &str) {
        if !text.is_empty() && self.list.last().is_none_or(|last| last != text) && self.seen.insert(text.to_owned()) {
            self.list.push(text.to_owned());
        }
    }
}

/// What is known about the session as a whole.
#[derive(Debug, Default)]
pub struct Facts {
    /// Given by the human; the last one.
    pub custom_title: Option<String>,
    /// Made by the assistant; the last one.
    pub assistant_title: Option<String>,
    /// One-line summaries.
    pub summaries: Distinct,
    /// The last entry of what each sums up.
    summary_leaves: Vec<(String, Node)>,
    /// The last summary of this file's own entries.
    pub own_summary: Option<String>,
    /// Pull requests, each once.
    pub pull_requests: Vec<PullRequest>,
    seen_pull_requests: HashSet<PullRequest>,
    /// Sessions that this one goes on in.
    pub continued_in: Distinct,
    /// The last prompt that was recorded apart.
    pub last_prompt: Option<String>,
    /// The last entry of the active branch.
    pub leaf_uuid: Option<String>,
    /// What the session says about itself where it begins.
    pub thread: Option<Thread>,
}

impl Facts {
    pub(super) fn take(&mut self, fact: Fact) {
        match fact {
            Fact::AssistantTitle(title) => self.assistant_title = Some(title),
            Fact::CustomTitle(title) => self.custom_title = Some(title),
            Fact::Summary { text, leaf_uuid } => {
                self.summaries.add(&text);
                let own = (text, Node::from(&leaf_uuid));
                if self.summary_leaves.last() != Some(&own) {
                    self.summary_leaves.push(own);
                }
            }
            Fact::ContinuedIn(session) => self.continued_in.add(&session),
            Fact::Folder(_) => {}
            Fact::Thread(thread) => {
                self.thread.get_or_insert(*thread);
            }
            Fact::PullRequest(pull_request) => {
                if self.seen_pull_requests.insert(pull_request.clone()) {
                    self.pull_requests.push(pull_request);
                }
            }
            Fact::LastPrompt { prompt, leaf_uuid } => {
                if !prompt.is_empty() {
                    self.last_prompt = Some(prompt);
                }
                if !leaf_uuid.is_empty() {
                    self.leaf_uuid = Some(leaf_uuid);
                }
            }
        }
    }

    /// Finds the last of the summaries that sum up entries of this file.
    pub(super) fn find_own_summary(&mut self, branches: &Branches) {
        let leaves = self.summary_leaves.iter().map(|(_, leaf)| *leaf).filter(|leaf| *leaf != Node::default());
        let own = branches.among(&leaves.collect());
        let last = self.summary_leaves.iter().rfind(|(_, leaf)| own.contains(leaf));
        self.own_summary = last.map(|(text, _)| text.clone());
    }

    /// The best title there is. A summary stands in if it is this session's: many sum up another one.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        let own = self.custom_title.as_deref().or(self.assistant_title.as_deref());
        own.or(self.own_summary.as_deref())
    }
}
