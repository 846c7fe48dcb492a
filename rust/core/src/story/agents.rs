//! The calls of a story that started subagents, and what their results tell.

use super::Story;
use crate::event::{LinkedBy, SubagentCall, SubagentRef, Usage};

/// Characters of a subagent's prompt that its ref shows.
const PROMPT_CHARACTERS: usize = 300;

/// A call that started a subagent, with all that tells which one.
#[derive(Debug, Clone, Default)]
pub struct StartedAgent {
    /// The call's id, "" when absent.
    pub tool_use_id: String,
    /// Index of the event that made the call.
    pub event: usize,
    /// Index of its ref in the event.
    pub position: usize,
    /// What was asked.
    pub asked: SubagentCall,
    /// From the results that named the agent: the first of each kind.
    pub named: Vec<(LinkedBy, String)>,
    /// From the result: another name of the agent.
    pub other_name: Option<String>,
    /// From progress entries.
    pub progress: Option<String>,
    /// From the result.
    pub usage: Usage,
    /// Whether it runs a workflow: it has no ref then, but for the agents that are found for it.
    pub workflow: bool,
    /// From the results: the folders of the workflow.
    pub folders: Vec<String>,
    pub(crate) answered: bool,
}

impl StartedAgent {
    /// What a result of one kind calls the agent.
    pub(crate) fn named_by(&self, by: LinkedBy) -> Option<&String> {
        self.named.iter().find(|(kind, _)| *kind == by).map(|(_, id)| id)
    }

    /// Whether the id of the call is that of one agent's.
    pub(crate) fn names_agent(&self) -> bool {
        !self.tool_use_id.is_empty() && !self.workflow
    }
}

impl Story {
    pub(super) fn start(&mut self, call: StartedAgent) {
        if !call.tool_use_id.is_empty() {
            let before = self.started_by_id.insert(call.tool_use_id.clone(), self.started.len());
            self.give_up(before);
            self.unanswered += usize::from(!call.answered);
        }
        self.started.push(call);
    }

    /// Another call has taken the id of the one at `before`: its result can no longer be told.
    pub(super) fn give_up(&mut self, before: Option<usize>) {
        if let Some(started) = before.map(|at| &mut self.started[at])
            && !started.answered
        {
            started.answered = true;
            self.unanswered -= 1;
        }
    }

    pub(super) fn subagent_result(
        &mut self,
        call: &str,
        agent: Option<(LinkedBy, String)>,
        other_name: Option<String>,
        usage: Usage,
    ) {
        let Some(&at) = self.started_by_id.get(call) else { return };
        let started = &mut self.started[at];
        if !started.answered {
            started.answered = true;
            self.unanswered -= 1;
        }
        // The text behind the result that tells of a team is not about the agent's id.
        let is_told = |by: LinkedBy| {
            started.named_by(by).is_some() || (by == LinkedBy::Text && started.named_by(LinkedBy::Team).is_some())
        };
        if let Some(named) = agent.filter(|(by, _)| !is_told(*by)) {
            started.named.push(named);
        }
        started.other_name = started.other_name.take().or(other_name);
        if started.usage == Usage::default() {
            started.usage = usage;
        }
    }
}

/// A ref to the agent that a call started, as far as the call tells.
pub(crate) fn ref_of(started: &StartedAgent) -> SubagentRef {
    let StartedAgent { tool_use_id, asked, .. } = started;
    SubagentRef {
        tool_use_id: tool_use_id.clone(),
        description: asked.description.clone(),
        prompt: asked.prompt.chars().take(PROMPT_CHARACTERS).collect(),
        whole_prompt: asked.prompt.clone(),
        ..SubagentRef::default()
    }
}
