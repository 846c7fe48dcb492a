"""The slow, obvious twin of the Claude Code parser: one short function per rule of the events contract.

Every line goes through Python's JSON decoder; only one that it refuses is looked at by the character.
Nothing here is fast and nothing is clever: the product is compared with it, so it must be easy to check.
`parse` gives the events, and what of the manifest depends on neither clock nor path nor file system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from tests.naive_lines import (
    INVALID,
    Json,
    Record,
    mapping,
    piece,
    publish,
    read_file,
    string_of,
    trim,
)
from tests.naive_story import AgentCall, Story, duration_of, is_from_client, is_from_human
from tests.naive_words import blocks_of, content_blocks, images_of, name_pictures, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

INTERNAL_AGENTS = ("acompact-", "aprompt_suggestion-", "aside_question-")

# ---------------------------------------------------------------- counts and duplicates


def count_entries(records: Iterable[Record]) -> dict[str, Json]:
    """Per type: how many records and how many bytes."""
    counts: dict[str, Json] = {}
    for record in records:
        count = counts.setdefault(record.type, {"count": 0, "bytes": 0})
        count["count"] += 1
        count["bytes"] += record.length
    return counts


def count_unknown(records: Iterable[Record]) -> dict[str, Json]:
    """Per unknown type: how many records, and the line of the first."""
    counts: dict[str, Json] = {}
    for record in records:
        if record.kind == "unknown":
            counts.setdefault(record.type, {"count": 0, "first_line": record.line})["count"] += 1
    return counts


def tells_something(record: Record) -> bool:
    """Whether a record tells anything at all: words, pictures, a tool, or something about the session."""
    entry = record.entry
    if record.type not in ("user", "assistant"):
        keys = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
        keys["continued-in"] = "continuedInSessionId"
        if record.type == "queue-operation":
            return entry.get("operation") in ("enqueue", "dequeue", "remove", "popAll")
        if record.type == "system" and record.kind == "signal":
            return duration_of(entry) is not None
        return record.type not in keys or string_of(entry, keys[record.type]) != ""
    message = mapping(entry.get("message"))
    blocks = content_blocks(message.get("content"))
    if list(blocks_of(blocks, "tool_result")):
        return True
    if record.type == "user":
        pictures = images_of(blocks) if is_from_human(entry) else []
        return text_of(blocks) != "" or pictures != []
    thoughts = [trim(string_of(block, "thinking")) for block in blocks_of(blocks, "thinking")]
    calls = blocks_of(blocks, "tool_use", "server_tool_use", "mcp_tool_use")
    tools = [string_of(block, "name") for block in calls]
    return is_from_client(entry) or text_of(blocks) != "" or any(thoughts) or any(tools)


def without_duplicates(records: Iterable[Record]) -> tuple[list[Record], int]:
    """The records, each uuid of what is read once, and how many were dropped.

    The first place wins, unless it tells nothing: an empty copy costs no words.
    """
    seen: set[str] = set()
    kept, dropped = [], 0
    for record in records:
        uuid = string_of(record.entry, "uuid")
        if uuid and record.kind in ("signal", "fact"):
            if uuid in seen:
                dropped += 1
                continue
            if tells_something(record):
                seen.add(uuid)
        kept.append(record)
    return kept, dropped


# ---------------------------------------------------------------- subagents


@dataclass
class Agent:
    """A subagent: a file of its own or an inline group."""

    id: str
    story: Story
    meta: Json = field(default_factory=dict)
    call: AgentCall | None = None
    linked_by: str | None = None

    def signal_tokens(self) -> int:
        """Four bytes of signal are taken for one token."""
        return signal_bytes(self.story) // 4

    def prompt(self) -> str:
        """The first user text, without the wrapper that teams put around it."""
        text = trim(self.story.first_user_text or "")
        wrapped = re.fullmatch(r"<teammate-message[^>]*>(.*)</teammate-message>", text, re.DOTALL)
        return trim(wrapped.group(1)) if wrapped else text


def signal_bytes(story: Story) -> int:
    """UTF-8 bytes of everything said and thought in the story."""
    return sum(event.signal_bytes() for event in story.events)


def inline_agents(records: Iterable[Record]) -> list[Agent]:
    """The sidechain lines of a session, in groups: by agent id, else by the line that each one answers.

    A line that answers none opens a group; one that answers a line nobody knows goes on in the last group.
    """
    agents: list[Agent] = []
    agent_of: dict[str, Agent] = {}
    last: Agent | None = None
    for record in records:
        id_, uuid = string_of(record.entry, "agentId"), string_of(record.entry, "uuid")
        parent = string_of(record.entry, "parentUuid")
        agent = agent_of.get(id_) if id_ else agent_of.get(parent, last) if parent else None
        if agent is None:
            name = publish(id_ or uuid) or f"inline-{len(agents) + 1}"
            agent = Agent(name, Story(with_images=True))
            agents.append(agent)
        for known in (id_, uuid):
            if known:
                agent_of.setdefault(known, agent)
        agent.story.take(record)
        last = agent
    return agents


def agent_of_file(id_: str, data: bytes, meta: Json, *, with_images: bool) -> Agent:
    """The agent whose lines stand in a file of its own."""
    agent = Agent(id_, Story(with_images=with_images), meta)
    for record in without_duplicates(read_file(data).records)[0]:
        agent.story.take(record)
    return agent


def link(agents: list[Agent], calls: list[AgentCall]) -> None:
    """Gives every call its agent, by the strongest evidence there is; equal prompts are the last resort."""
    for agent in agents:
        named = (call for call in calls if call.id and call.id == agent.meta.get("toolUseId"))
        for call in islice(named, 1):  # an id that stands twice is that of its first call
            claim(call, agent.id, "meta", agents)
    for name in ("result", "text", "progress"):
        for call in calls:
            if name in call.evidence:
                claim(call, publish(call.evidence[name]), name, agents)
    for agent in agents:
        for call in calls:
            foreign = call not in agent.story.agent_calls and call.ref["id"] is None
            if agent.call is None and foreign and call.prompt and call.prompt == agent.prompt():
                claim(call, agent.id, "prompt", agents)


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
    return {
        "id": agent.id,
        "description": string_of(agent.meta, "description") or (asked.ref["description"] if asked else ""),
        "agent_type": string_of(agent.meta, "agentType") or (asked.agent_type if asked else ""),
        "tool_use_id": asked.ref["tool_use_id"] if asked else None,
        "linked_by": agent.linked_by,
        "events": len(agent.story.events),
        "signal_tokens_estimate": agent.signal_tokens(),
    }


def last_words(story: Story) -> str:
    """The last text of the assistant."""
    return next(
        (event.says for event in reversed(story.events) if event.role == "assistant" and event.says), ""
    )


# ---------------------------------------------------------------- the manifest


def session_facts(records: Iterable[Record]) -> Json:
    """Session ids, versions, project path and time span, over the entries that belong to the conversation."""
    session_ids: list[str] = []
    versions: list[str] = []
    timestamps: list[str] = []
    paths: list[str] = []
    lists = {"sessionId": session_ids, "version": versions, "timestamp": timestamps, "cwd": paths}
    for record in records:
        if record.kind == "signal" or (record.type == "system" and record.kind == "fact"):
            for key, values in lists.items():
                value = publish(string_of(record.entry, key))
                if value and (key == "timestamp" or value not in values):
                    values.append(value)
    return {
        "sessions": len(session_ids),
        "session_ids": session_ids,
        "versions": versions,
        "project_path": paths[0] if paths else None,
        "first_timestamp": timestamps[0] if timestamps else None,
        "last_timestamp": timestamps[-1] if timestamps else None,
    }


def every_fact(records: Iterable[Record], type_: str, key: str) -> list[str]:
    """The strings that the entries of a type hold under `key`."""
    return [publish(string_of(record.entry, key)) for record in records if record.type == type_]


def last_fact(records: Iterable[Record], type_: str, key: str) -> str | None:
    """The last of them that says something."""
    return next((value for value in reversed(every_fact(records, type_, key)) if value), None)


def distinct(values: Iterable[Any]) -> list[Any]:
    """The values that say something, each once, in the order of their first coming."""
    found: list[Any] = []
    for value in values:
        if value and value not in found:
            found.append(value)
    return found


def pull_request(entry: Json) -> Json:
    """A pull request that the session made or worked on."""
    number = entry.get("prNumber")
    known = isinstance(number, int) and not isinstance(number, bool)
    url, repository = publish(string_of(entry, "prUrl")), publish(string_of(entry, "prRepository"))
    return {"number": number if known else None, "url": url, "repository": repository}


def parse(
    data: bytes,
    *,
    agent_files: dict[str, bytes] | None = None,
    meta_files: dict[str, Json] | None = None,
    include_subagents: bool = False,
    name: str = "",
) -> tuple[list[Json], Json]:
    """The events and the manifest of a session.

    `agent_files` and `meta_files` hold, by agent id, `agent-<id>.jsonl` and `agent-<id>.meta.json`.
    `name` is the name of the session's file: all lines of an `agent-…` file are its own story.
    """
    file = read_file(data)
    records, duplicates = without_duplicates(file.records)
    filenames: dict[bytes, str] = {}
    metas = meta_files or {}
    story = Story(with_images=True)
    sidechain = []
    for record in records:
        inline = record.entry.get("isSidechain") is True and not name.startswith("agent-")
        if inline and record.kind in ("signal", "fact"):
            sidechain.append(record)
        else:
            story.take(record)
    files = {
        id_: agent_of_file(id_, raw, metas.get(id_, {}), with_images=include_subagents)
        for id_, raw in (agent_files or {}).items()
    }
    inline_stories = inline_agents(sidechain)
    agents = [agent for agent in files.values() if not agent.id.startswith(INTERNAL_AGENTS)]
    agents = sorted(agents + inline_stories, key=lambda agent: (agent.story.first_timestamp, agent.id))
    calls = [call for teller in (story, *(agent.story for agent in agents)) for call in teller.agent_calls]
    link(agents, calls)
    name_pictures(story.events, "", filenames)
    for agent in agents if include_subagents else []:
        name_pictures(agent.story.events, f"{re.sub('[^A-Za-z0-9_@-]', '_', agent.id)}-", filenames)
    own_stories = [story, *(agent.story for agent in inline_stories)]
    events = include(agents, story) if include_subagents else [event.to_dict() for event in story.events]

    summaries = distinct(every_fact(records, "summary", "summary"))
    titles = [
        last_fact(records, "custom-title", "customTitle"),
        last_fact(records, "ai-title", "aiTitle"),
        *reversed(summaries),
    ]
    damage = file.damage + [damaged for told in own_stories for damaged in invalid_utf8(told)]
    lost = [image for told in own_stories for image in told.images_not_extracted]
    facts = session_facts(records)
    bytes_ = signal_bytes(story)
    bridges = [agent for agent in files.values() if agent.id.startswith("acompact-")]
    manifest = {
        **{key: value for key, value in facts.items() if not key.endswith("timestamp")},
        "agent": "claude-code",
        "title": next((title for title in titles if title), None),
        "total_events": len(events),
        "main_signal_bytes": bytes_,
        "main_signal_tokens_estimate": bytes_ // 4,
        "total_signal_tokens_if_all_subagents": bytes_ // 4 + sum(agent.signal_tokens() for agent in agents),
        "subagents": [describe_agent(agent) for agent in agents],
        "unlinked_subagents": [agent.id for agent in agents if hangs_on_nothing(agent, agents, story)],
        "chapter_bridges": [publish(last_words(agent.story)) for agent in bridges],
        "screenshots_extracted": len(filenames),
        "images_not_extracted": sorted(lost, key=lambda image: image["offset"]),
        "source": {
            "bytes": len(data),
            "lines": file.lines,
            "first_timestamp": facts["first_timestamp"],
            "last_timestamp": facts["last_timestamp"],
        },
        "entries": count_entries(file.records),
        "unknown_entries": count_unknown(file.records),
        "duplicates_dropped": duplicates,
        "damaged_lines": sorted(damage, key=lambda damaged: damaged["offset"])[:1000],
        "damaged_lines_total": len(damage),
        "incomplete_tail": file.incomplete_tail,
        "client_messages_dropped": story.client_messages_dropped,
        "queued_undelivered": sum(queued.is_human for queued in story.queue.open),
        "compactions": story.compactions,
        "summaries": summaries,
        "pr_links": distinct(pull_request(record.entry) for record in records if record.type == "pr-link"),
        "continued_in": distinct(every_fact(records, "continued-in", "continuedInSessionId")),
        "last_prompt": last_fact(records, "last-prompt", "lastPrompt"),
        "leaf_uuid": last_fact(records, "last-prompt", "leafUuid"),
    }
    return events, manifest


def invalid_utf8(story: Story) -> list[Json]:
    """The records whose words held bytes that are no UTF-8: read, and reported."""
    found = []
    for event in story.events:
        if INVALID in event.decoded:
            damaged = piece(event.record.line, event.record.offset, event.record.length)
            found.append({**damaged, "reason": "invalid_utf8", "recovered": True})
    return found
