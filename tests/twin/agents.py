"""Subagents in the slow twin: their stories, the calls that started them, and the events under those."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from tests.twin.lines import Json, publish, string_of, trim
from tests.twin.story import AgentCall, Story, WorkflowRun


def signal_bytes(story: Story) -> int:
    """UTF-8 bytes of everything said and thought in the story."""
    return sum(event.signal_bytes() for event in story.events)


@dataclass
class Agent:
    """A subagent: a file of its own or an inline group."""

    id: str
    story: Story
    meta: Json = field(default_factory=dict)
    call: AgentCall | None = None
    linked_by: str | None = None
    inline: bool = False
    nickname: str = ""
    parent_call: str = ""  # the call that all its lines name
    folder: str = ""  # in which its file lies
    path: str = ""

    def signal_tokens(self) -> int:
        """Four bytes of signal are taken for one token."""
        return signal_bytes(self.story) // 4

    def prompt(self) -> str:
        """The first user text, without the wrapper that teams put around it."""
        text = trim(self.story.first_user_text or "")
        wrapped = re.fullmatch(r"<teammate-message[^>]*>(.*)</teammate-message>", text, re.DOTALL)
        return trim(wrapped.group(1)) if wrapped else text


def link(agents: list[Agent], calls: list[AgentCall], runs: Iterable[WorkflowRun] = ()) -> None:
    """Gives every call its agent, by the strongest evidence there is; equal prompts are the last resort."""
    for linked_by, named_by in (("meta", call_in_meta), ("parent", call_in_lines)):
        for agent in agents:
            named = [call for call in calls if call.id and call.id == named_by(agent)]
            # An id that stands twice is that of its first call; a fork begins with a copy of its own.
            foreign = [call for call in named if call not in agent.story.agent_calls]
            for call in (foreign or named)[:1]:
                claim(call, agent.id, linked_by, agents)
    for name in ("result", "text", "progress"):
        for call in calls:
            if name in call.evidence:
                claim(call, publish(call.evidence[name]), name, agents)
    link_teams(agents, calls)
    for run in runs:
        link_workflow(run, agents)
    link_by_prompt(agents, calls)
    for call in calls:
        if call.teammate and call.teammate[0]:
            claim(call, publish(call.teammate[0]), "team", agents)


def link_by_prompt(agents: list[Agent], calls: list[AgentCall]) -> None:
    """Gives the calls that are left the agents that begin with what they asked."""
    for agent in agents:
        for call in calls:
            foreign = call not in agent.story.agent_calls and call.ref["id"] is None
            if agent.call is None and foreign and call.prompt and call.prompt == agent.prompt():
                claim(call, agent.id, "prompt", agents)


def call_in_meta(agent: Agent) -> object:
    """The call that the file beside an agent's names."""
    return agent.meta.get("toolUseId")


def call_in_lines(agent: Agent) -> object:
    """The call that the agent's own lines name."""
    return agent.parent_call


def link_teams(agents: list[Agent], calls: list[AgentCall]) -> None:
    """Gives the calls that started a member of a team the agent that is found by its id or name."""
    for call in calls:
        mate = teammate_among(agents, *call.teammate) if call.teammate else None
        if mate is not None:
            claim(call, mate.id, "team", agents)


def teammate_among(agents: list[Agent], id_: str, name: str) -> Agent | None:
    """The agent that a team knows by this id, or by this name."""
    free = [agent for agent in agents if agent.call is None]
    by_id = [agent for agent in free if id_ and agent.id == publish(id_)]
    by_line = [agent for agent in free if id_ and agent.story.agent_id == id_]
    by_name = [
        agent for agent in free if name and name in (string_of(agent.meta, "name"), agent.story.agent_name)
    ]
    return next(iter(by_id + by_line + by_name), None)


def link_workflow(run: WorkflowRun, agents: list[Agent]) -> None:
    """Gives a workflow the agents in its folder that nothing has claimed, each a reference of its own."""
    for agent in agents:
        if agent.call is None and agent.folder and agent.folder == run.folder:
            asked = {"description": string_of(agent.meta, "description"), "prompt": agent.prompt()}
            call = AgentCall(run.tool_use_id, asked)
            run.story.agent_calls.append(call)
            run.event.subagent_refs.append(call.ref)
            claim(call, agent.id, "workflow", [agent])


def fill_usage(calls: list[AgentCall], stories: Iterable[Story]) -> None:
    """Adds what notifications told of agents in the background, where the results did not say."""
    for story in stories:
        for call in calls:
            for name, figure in story.usage_notes.get(call.id, {}).items():
                if call.ref[name] is None:
                    call.ref[name] = figure


def claim(call: AgentCall, id_: str, linked_by: str, agents: list[Agent]) -> None:
    """Links a call that has no agent yet; an agent that was resumed has several calls, its first counts."""
    if call.ref["id"] is not None:
        return
    call.ref.update({"id": id_, "linked_by": linked_by})
    for agent in islice((agent for agent in agents if agent.id == id_), 1):
        call.ref["signal_tokens_estimate"] = agent.signal_tokens()
        if agent.call is None and call not in agent.story.agent_calls:
            agent.call, agent.linked_by = call, linked_by


def include(agents: list[Agent], story: Story) -> list[Json]:
    """The events of a story, with those of its agents under the calls they belong to, to any depth."""
    for call in story.agent_calls:
        for agent in agents:
            if agent.call is call:
                call.ref["events"] = include(agents, agent.story)
    return [event.to_dict() for event in story.events]


def hangs_on_nothing(agent: Agent, agents: list[Agent], story: Story) -> bool:
    """Whether no call of the story leads to the agent; agents in a circle hang on nothing."""
    if agent.call is None or agent.call in story.agent_calls:
        return agent.call is None
    owners = [owner for owner in agents if agent.call in owner.story.agent_calls]
    others = [other for other in agents if other is not agent]
    return all(hangs_on_nothing(owner, others, story) for owner in owners if owner in others)


def describe_agent(agent: Agent) -> Json:
    """An agent as the manifest lists it (without its file)."""
    asked = agent.call
    description = string_of(agent.meta, "description") or (asked.ref["description"] if asked else "")
    return {
        "id": agent.id,
        "description": description or agent.nickname,
        "agent_type": string_of(agent.meta, "agentType") or (asked.agent_type if asked else ""),
        "tool_use_id": asked.ref["tool_use_id"] if asked else None,
        "linked_by": agent.linked_by,
        "events": len(agent.story.events),
        "signal_tokens_estimate": agent.signal_tokens(),
    }
