"""The slow, obvious twin of the Claude Code parser: one short function per rule of the events contract.

Every line goes through Python's JSON decoder; only one that it refuses is looked at by the character.
Nothing here is fast and nothing is clever: the product is compared with it, so it must be easy to check.
`parse` gives the events, and what of the manifest depends on neither clock nor path nor file system.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.twin.agents import Agent
from tests.twin.claude_types import CLAUDE_CODE
from tests.twin.lines import Json, Record, mapping, publish, read_file, string_of, trim
from tests.twin.manifest import assemble, distinct
from tests.twin.story import Story, duration_of
from tests.twin.tree import entries_of, mark_dead
from tests.twin.who import is_from_client, is_from_human
from tests.twin.words import blocks_of, content_blocks, images_of, images_within, session_of, text_of

INTERNAL_AGENTS = ("acompact-", "aprompt_suggestion-", "aside_question-")

# ---------------------------------------------------------------- duplicates


def tells_something(record: Record) -> bool:
    """Whether a record tells anything at all: words, pictures, a tool, or something about the session."""
    entry = record.entry
    if record.type not in ("user", "assistant"):
        keys = {"summary": "summary", "ai-title": "aiTitle", "custom-title": "customTitle"}
        keys["continued-in"] = "continuedInSessionId"
        if record.type == "queue-operation":
            return entry.get("operation") in ("enqueue", "dequeue", "remove", "popAll")
        if record.type == "system" and record.kind == "signal":
            return duration_of(entry.get("durationMs")) is not None
        attachment = mapping(entry.get("attachment")) if record.type == "attachment" else {}
        is_blank = attachment.get("type") == "file" and images_within(attachment) == []
        is_blank = is_blank or (record.type in keys and string_of(entry, keys[record.type]) == "")
        return not is_blank
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


def inline_agents(records: Iterable[Record]) -> list[Agent]:
    """The sidechain lines of a session, in groups: by agent id or call, else by what each one answers.

    A line that answers none opens a group; one that answers a line nobody knows goes on in the last group.
    """
    agents: list[Agent] = []
    agent_of: dict[str, Agent] = {}
    last: Agent | None = None
    for record in records:
        id_, uuid = string_of(record.entry, "agentId"), string_of(record.entry, "uuid")
        parent, call = string_of(record.entry, "parentUuid"), string_of(record.entry, "parent_tool_use_id")
        group = id_ or call
        agent = agent_of.get(group) if group else agent_of.get(parent, last) if parent else None
        if agent is None:
            name = publish(id_ or uuid) or f"inline-{len(agents) + 1}"
            agent = Agent(name, Story(with_images=True), inline=True)
            agents.append(agent)
        agent.parent_call = agent.parent_call or call
        for known in (group, uuid):
            if known:
                agent_of.setdefault(known, agent)
        agent.story.take(record)
        last = agent
    return agents


def agent_of_file(id_: str, data: bytes, meta: Json, folder: str, *, with_images: bool) -> Agent:
    """The agent whose lines stand in a file of its own."""
    agent = Agent(id_, Story(with_images=with_images), meta, folder=folder)
    records = read_file(data, CLAUDE_CODE).records
    for record in without_duplicates(records)[0]:
        agent.story.take(record)
    mark_dead(agent.story.events, records)
    return agent


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
                value = publish(
                    session_of(record.entry) if key == "sessionId" else string_of(record.entry, key)
                )
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


def own_summaries(records: Iterable[Record], all_records: Iterable[Record]) -> list[str]:
    """The summaries whose leaf stands in this file: others tell of other sessions."""
    entries = entries_of(all_records)
    found = [record.entry for record in records if record.type == "summary"]
    return [publish(string_of(one, "summary")) for one in found if string_of(one, "leafUuid") in entries]


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
    agent_folders: dict[str, str] | None = None,
    include_subagents: bool = False,
    name: str = "",
) -> tuple[list[Json], Json]:
    """The events and the manifest of a session.

    `agent_files` and `meta_files` hold, by agent id, `agent-<id>.jsonl` and `agent-<id>.meta.json`;
    `agent_folders` the names of the folders that the former lie in, where that tells something.
    `name` is the name of the session's file: all lines of an `agent-…` file are its own story.
    """
    file = read_file(data, CLAUDE_CODE)
    records, duplicates = without_duplicates(file.records)
    metas, folders = meta_files or {}, agent_folders or {}
    story = Story(with_images=True)
    sidechain = []
    for record in records:
        inline = (
            record.entry.get("isSidechain") is True or string_of(record.entry, "parent_tool_use_id") != ""
        )
        if inline and not name.startswith("agent-") and record.kind in ("signal", "fact"):
            sidechain.append(record)
        else:
            story.take(record)
    files = {
        id_: agent_of_file(id_, raw, metas.get(id_, {}), folders.get(id_, ""), with_images=include_subagents)
        for id_, raw in (agent_files or {}).items()
    }
    agents = [agent for agent in files.values() if not agent.id.startswith(INTERNAL_AGENTS)]
    agents += inline_agents(sidechain)
    mark_dead(story.events, file.records)
    events, manifest = assemble(story, agents, file, include_subagents=include_subagents)

    summaries = distinct(every_fact(records, "summary", "summary"))
    titles = [
        last_fact(records, "custom-title", "customTitle"),
        last_fact(records, "ai-title", "aiTitle"),
        *reversed(own_summaries(records, file.records)),
    ]
    facts = session_facts(records)
    bridges = [agent for agent in files.values() if agent.id.startswith("acompact-")]
    return events, {
        **manifest,
        **{key: value for key, value in facts.items() if not key.endswith("timestamp")},
        "agent": "claude-code",
        "origin": "subagent" if name.startswith("agent-") else None,
        "title": next((title for title in titles if title), None),
        "chapter_bridges": [publish(last_words(agent.story)) for agent in bridges],
        "source": {
            "bytes": len(data),
            "lines": file.lines,
            "first_timestamp": facts["first_timestamp"],
            "last_timestamp": facts["last_timestamp"],
        },
        "duplicates_dropped": duplicates,
        "inherited_records": 0,
        "incomplete_turn": None,
        "client_messages_dropped": story.client_messages_dropped,
        "queued_undelivered": sum(queued.is_human for queued in story.queue.open),
        "summaries": summaries,
        "pr_links": distinct(pull_request(record.entry) for record in records if record.type == "pr-link"),
        "continued_in": distinct(every_fact(records, "continued-in", "continuedInSessionId")),
        "last_prompt": last_fact(records, "last-prompt", "lastPrompt"),
        "leaf_uuid": last_fact(records, "last-prompt", "leafUuid"),
    }
