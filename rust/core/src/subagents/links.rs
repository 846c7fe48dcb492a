//! Which call started which subagent, by the strongest evidence there is.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use super::Subagent;
use crate::agents::Agent;
use crate::event::{LinkedBy, SubagentCall, Usage};
use crate::story::{StartedAgent, Story, ref_of};

/// One call that started a subagent: its story (0 is the session's own) and its position there.
type Call = (usize, usize);

/// Finds out which call started which subagent, by the strongest evidence there is, and writes it into the refs
/// of the calls and into the subagents of a session of `program`. `agents` are put in the order in which they began.
pub fn link(main: &mut Story, agents: &mut [Subagent], program: &'static dyn Agent) {
    agents.sort_by(|one, other| (&one.story.first_timestamp, &one.id).cmp(&(&other.story.first_timestamp, &other.id)));
    let mut links = Links::new(main, agents, program);
    links.by_named_call(agents);
    links.by_name(agents, |call| call.named_by(LinkedBy::Result).map(|id| (LinkedBy::Result, id.clone())));
    let mut id_of: HashMap<String, String> = HashMap::new();
    for agent in agents.iter().filter(|agent| !agent.other_name.is_empty()) {
        id_of.entry(agent.other_name.clone()).or_insert_with(|| agent.id.clone());
    }
    let named = |call: &StartedAgent| id_of.get(call.other_name.as_ref()?).cloned();
    links.by_name(agents, |call| named(call).map(|id| (LinkedBy::Result, id)));
    links.by_name(agents, |call| call.named_by(LinkedBy::Text).map(|id| (LinkedBy::Text, id.clone())));
    links.by_name(agents, |call| call.progress.clone().map(|id| (LinkedBy::Progress, id)));
    links.by_team(agents);
    links.by_folder(agents);
    links.by_prompt(agents);
    // An agent of a team that left no file is still known by name.
    links.by_name(agents, |call| {
        call.named_by(LinkedBy::Team).filter(|id| !id.is_empty()).map(|id| (LinkedBy::Team, id.clone()))
    });
    let used = all_used(main, agents);
    links.write(main, agents, &used);
    let started: HashMap<Call, StartedAgent> = links.calls.into_iter().collect();
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

/// What subagents in the background used, by the call: the note may stand in another file than the call.
fn all_used(main: &Story, agents: &[Subagent]) -> HashMap<String, Usage> {
    let mut used: HashMap<String, Usage> = HashMap::new();
    for story in std::iter::once(main).chain(agents.iter().map(|agent| &agent.story)) {
        for (call, more) in &story.used {
            let known = used.entry(call.clone()).or_default();
            *known = known.or(*more);
        }
    }
    used
}

struct Links {
    program: &'static dyn Agent,
    /// All calls, those of the session's own story first.
    calls: Vec<(Call, StartedAgent)>,
    /// What each call started, and how that is known.
    named: HashMap<Call, (LinkedBy, String)>,
    by_id: HashMap<String, usize>,
}

impl Links {
    fn new(main: &Story, agents: &[Subagent], program: &'static dyn Agent) -> Self {
        let stories = std::iter::once(main).chain(agents.iter().map(|agent| &agent.story));
        let calls = stories.enumerate().flat_map(|(story, of)| {
            of.started.iter().enumerate().map(move |(position, started)| ((story, position), started.clone()))
        });
        let mut by_id = HashMap::new();
        for (at, agent) in agents.iter().enumerate() {
            by_id.entry(agent.id.clone()).or_insert(at);
        }
        Self { program, calls: calls.collect(), named: HashMap::new(), by_id }
    }

    /// Writes what was found into the refs.
    fn write(&self, main: &mut Story, agents: &mut [Subagent], used: &HashMap<String, Usage>) {
        for (at, started) in &self.calls {
            let link = self.named.get(at);
            let agent = link.and_then(|(_, id)| self.by_id.get(id)).map(|&agent| &agents[agent]);
            let tokens = agent.map(Subagent::signal_tokens);
            let story = if at.0 == 0 { &mut *main } else { &mut agents[at.0 - 1].story };
            if at.1 == story.started.len() {
                story.started.push(started.clone());
                story.events[started.event].subagent_refs.push(ref_of(started));
            }
            if started.workflow {
                continue;
            }
            let reference = &mut story.events[started.event].subagent_refs[started.position];
            let usage = started.usage.or(used.get(&started.tool_use_id).copied().unwrap_or_default());
            reference.total_tokens = usage.total_tokens;
            reference.tool_uses = usage.tool_uses;
            reference.duration_ms = usage.duration_ms;
            reference.signal_tokens_estimate = tokens;
            reference.id = link.map(|(_, id)| id.clone());
            reference.linked_by = link.map(|(by, _)| *by);
        }
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

    /// The call may stand in another file than that of the agent which the meta file calls the parent, and in several:
    /// a fork begins with its parent's history. The first counts that is not in the agent's own.
    fn by_named_call(&mut self, agents: &mut [Subagent]) {
        let mut of_id: HashMap<&str, [Option<Call>; 2]> = HashMap::new();
        for (at, started) in self.calls.iter().filter(|(_, started)| started.names_agent()) {
            let [first, other] = of_id.entry(&started.tool_use_id).or_default();
            match first {
                None => *first = Some(*at),
                Some(first) if first.0 != at.0 => *other = other.or(Some(*at)),
                Some(_) => {}
            }
        }
        let call_of = |(at, agent): (usize, &Subagent)| {
            let calls = of_id.get(agent.named_call.as_str())?.iter().flatten();
            let call = calls.clone().find(|call| call.0 != at + 1).or(calls.clone().next())?;
            // One without a file has no meta file either.
            let by = if agent.file.is_some() { LinkedBy::Meta } else { LinkedBy::Parent };
            Some((*call, by, agent.id.clone()))
        };
        let claims: Vec<_> = agents.iter().enumerate().filter_map(call_of).collect();
        for (call, by, id) in claims {
            self.claim(agents, call, by, id);
        }
    }

    /// Agents of a team are named in its own way: by the file's name, by what their lines say, or by name alone.
    fn by_team(&mut self, agents: &mut [Subagent]) {
        let mut known: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (at, agent) in agents.iter().enumerate() {
            let names = [("name", &*agent.meta_name), ("name", &*agent.story.agent_name)];
            let all = [("id", &*agent.id), ("line", &*agent.story.agent_id)].into_iter().chain(names);
            for (kind, name) in all.filter(|(_, name)| !name.is_empty()) {
                known.entry(format!("{kind} {name}")).or_default().push_back(at);
            }
        }
        let spawned = |(at, started): &(Call, StartedAgent)| {
            let id = started.named_by(LinkedBy::Team)?.clone();
            Some((*at, id, started.other_name.clone().unwrap_or_default()))
        };
        let spawned: Vec<_> = self.calls.iter().filter_map(spawned).collect();
        for (call, id, name) in spawned {
            if self.named.contains_key(&call) {
                continue;
            }
            let mut free = |kind: &str, name: &str| {
                let known = known.get_mut(&format!("{kind} {name}"))?;
                while known.front().is_some_and(|&at| agents[at].parent.is_some()) {
                    known.pop_front();
                }
                known.front().copied()
            };
            if let Some(agent) = free("id", &id).or_else(|| free("line", &id)).or_else(|| free("name", &name)) {
                let id = agents[agent].id.clone();
                self.claim(agents, call, LinkedBy::Team, id);
            }
        }
    }

    /// The agents of a workflow have no calls: each gets a ref of its own on the call that ran it.
    fn by_folder(&mut self, agents: &mut [Subagent]) {
        let mut in_folder: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, agent) in agents.iter().enumerate().filter(|(_, agent)| agent.parent.is_none()) {
            let folder = agent.file.as_ref().and_then(|file| Path::new(file).parent()?.file_name()?.to_str());
            if let Some(folder) = folder {
                in_folder.entry(folder.to_owned()).or_default().push(at);
            }
        }
        let mut next: HashMap<usize, usize> = HashMap::new();
        for (at, _) in &self.calls {
            let count = next.entry(at.0).or_default();
            *count = (*count).max(at.1 + 1);
        }
        let ran = |(at, started): &(Call, StartedAgent)| {
            let (at, started) = (*at, started.clone());
            started.folders.clone().into_iter().map(move |folder| (at, started.clone(), folder))
        };
        let ran: Vec<_> = self.calls.iter().flat_map(ran).collect();
        let mut positions: HashMap<(usize, usize), usize> = HashMap::new();
        for (at, started) in self.calls.iter().filter(|(_, started)| !started.workflow) {
            let position = positions.entry((at.0, started.event)).or_default();
            *position = (*position).max(started.position + 1);
        }
        for ((story, _), workflow, folder) in ran {
            let Some(found) = in_folder.get_mut(&folder) else { continue };
            let mine: Vec<usize> = found.extract_if(.., |&mut agent| agent + 1 != story).collect();
            for agent in mine {
                let started = next.entry(story).or_default();
                let position = positions.entry((story, workflow.event)).or_default();
                let prompt = agents[agent].story.prompt.as_deref().unwrap_or_default().trim();
                let prompt = self.program.asked(prompt).to_owned();
                let asked = SubagentCall { description: agents[agent].description.clone(), prompt, ..<_>::default() };
                let call = (story, *started);
                let tool_use_id = workflow.tool_use_id.clone();
                let one =
                    StartedAgent { tool_use_id, event: workflow.event, position: *position, asked, ..<_>::default() };
                self.calls.push((call, one));
                let id = agents[agent].id.clone();
                self.claim(agents, call, LinkedBy::Workflow, id);
                *started += 1;
                *position += 1;
            }
        }
    }

    fn by_name(&mut self, agents: &mut [Subagent], name: impl Fn(&StartedAgent) -> Option<(LinkedBy, String)>) {
        let calls = self.calls.iter().filter(|(_, started)| !started.workflow);
        let claims: Vec<_> = calls.filter_map(|(at, started)| Some((*at, name(started)?))).collect();
        for (call, (by, id)) in claims {
            self.claim(agents, call, by, id);
        }
    }

    fn by_prompt(&mut self, agents: &mut [Subagent]) {
        let mut waiting: HashMap<String, VecDeque<Call>> = HashMap::new();
        for (at, started) in &self.calls {
            let prompt = started.asked.prompt.trim();
            if !started.workflow && !self.named.contains_key(at) && !prompt.is_empty() {
                waiting.entry(prompt.to_owned()).or_default().push_back(*at);
            }
        }
        for at in 0..agents.len() {
            let Some(prompt) = agents[at].story.prompt.as_deref().filter(|_| agents[at].parent.is_none()) else {
                continue;
            };
            let calls = waiting.get_mut(self.program.asked(prompt));
            let Some(calls) = calls else { continue };
            let Some(place) = calls.iter().position(|call| call.0 != at + 1) else { continue };
            if let Some(call) = calls.remove(place) {
                let id = agents[at].id.clone();
                self.claim(agents, call, LinkedBy::Prompt, id);
            }
        }
    }
}
