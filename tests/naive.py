"""The slow, obvious twin of the Claude Code parser: one short function per rule of the events contract.

Every line goes through Python's JSON decoder; only one that it refuses is looked at by the character.
Nothing here is fast and nothing is clever: the product is compared with it, so it must be easy to check.
`parse` gives the events, and what of the manifest depends on neither clock nor path nor file system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.naive_lines import (
    INVALID,
    Json,
    Record,
    clean,
    count_entries,
    count_unknown,
    decode_or_none,
    mapping,
    piece,
    publish,
    read_file,
    string_of,
    trim,
    without_duplicates,
)
from tests.naive_words import (
    Assets,
    Event,
    Picture,
    Words,
    blocks_of,
    content_blocks,
    human_words,
    images_of,
    images_within,
    strip_context,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

AGENT_TOOLS = {"Task", "Agent"}
INTERNAL_AGENTS = ("acompact-", "aprompt_suggestion-", "aside_question-")
SLASH_COMMAND = re.compile(r"/[A-Za-z][A-Za-z0-9_:.-]*(\s|$)")

# ---------------------------------------------------------------- the story


@dataclass
class Call:
    """A tool call: the event that made it, and what its result is read for."""

    event: Event
    tool: str
    arguments: Json

    def shown(self) -> str:
        """The tool and its target, for the description of a picture."""
        targets = (string_of(self.arguments, key) for key in ("file_path", "path", "url", "filename"))
        target = next((target for target in targets if target), "")
        return f"Screenshot from {self.tool}" + (f" ({target})" if target else "")


@dataclass
class Queued:
    """Words typed while the assistant worked, not yet delivered."""

    text: str
    images: list[Json]
    pictures: list[Picture] = field(default_factory=list)

    @property
    def is_notification(self) -> bool:
        """Whether a background task wrote this, not the human."""
        return self.text.startswith("<task-notification>")

    @property
    def is_human(self) -> bool:
        """Whether these are plain words or only pictures: no markup, no slash command."""
        words = human_words(self.text)
        if words.dropped or words.source is not None or words.interruption:
            return False
        return not SLASH_COMMAND.match(words.says) if words.says else self.images != []


def queued_of(content: object) -> Queued:
    """The text and the images of a queued content."""
    blocks = content_blocks(content)
    return Queued(trim(text_of(blocks)), images_of(blocks))


class Story:
    """The fold from entries to events, for a session, an agent's file or an inline agent."""

    def __init__(self, assets: Assets | None) -> None:
        self.assets = assets
        self.events: list[Event] = []
        self.calls: dict[str, Call] = {}
        self.agent_calls: list[AgentCall] = []
        self.pending: set[str] = set()
        self.open: list[Queued] = []
        self.credits = 0
        self.dequeues = 0
        self.delivered: list[str] = []
        self.client_messages_dropped = 0
        self.compactions = 0
        self.first_user_text: str | None = None
        self.first_timestamp = ""

    def take(self, record: Record) -> None:
        """Folds one entry into the story; noise tells nothing."""
        if record.kind == "noise":
            return
        self.first_timestamp = self.first_timestamp or string_of(record.entry, "timestamp")
        if record.type == "system" and record.kind == "fact":
            self.pending.add("compaction")
            self.compactions += 1
        elif record.type == "system" and record.kind == "signal":
            self.take_turn_duration(record.entry)
        elif record.type == "user":
            self.take_user(record)
        elif record.type == "assistant":
            self.take_assistant(record)
        elif record.type == "attachment" and record.kind == "signal":
            self.take_queued_command(record)
        elif record.type == "queue-operation":
            self.take_queue_operation(record)

    # -- events and boundaries

    def add(self, event: Event, *, continuation: bool = False) -> Event:
        """Adds an event with the boundary that stands before it."""
        before = self.events[-1].session_id if self.events else ""
        if before and event.session_id and before != event.session_id:
            event.boundary.append("session_change")
        if continuation:
            event.boundary.append("continuation")
        event.boundary += sorted(self.pending)
        self.pending.clear()
        self.events.append(event)
        return event

    def add_user(self, event: Event, pictures: list[Picture], *, continuation: bool = False) -> None:
        """Adds an event of the human, with the pictures that came with it."""
        self.add(event, continuation=continuation)
        if self.assets is not None:
            noun = "queued" if event.source == "queued" else "pasted"
            self.assets.attach(event, pictures, f"Image {noun} by the user")

    def add_queued(self, record: Record, queued: Queued) -> None:
        """Adds the event of a delivery."""
        event = self.event_of(record, "user", queued.text)
        event.says, event.source = human_words(queued.text).says, "queued"
        self.add_user(event, queued.pictures)

    def event_of(self, record: Record, role: str, decoded: str) -> Event:
        """The next event, still without words; `decoded` is the text that they will be taken from."""
        uuid = string_of(record.entry, "uuid")
        return Event(len(self.events), role, record, "", uuid=uuid, decoded=decoded)

    def keep(self, record: Record, images: list[Json]) -> list[Picture]:
        """The pictures among the images of a record; none where pictures are not wanted."""
        return self.assets.keep(record, images) if self.assets is not None else []

    def last_assistant(self) -> Event | None:
        """The latest event of the assistant."""
        return next((event for event in reversed(self.events) if event.role == "assistant"), None)

    def take_turn_duration(self, entry: Json) -> None:
        """The duration goes to the last assistant event, when no new turn has begun and it has none yet."""
        duration = entry.get("durationMs")
        if isinstance(duration, bool) or not isinstance(duration, int | float) or duration < 0:
            return
        for event in reversed(self.events):
            if event.role == "assistant":
                event.duration_ms = int(duration) if event.duration_ms is None else event.duration_ms
                return
            if event.source != "queued" and "continuation" not in event.boundary:
                return

    # -- the human

    def take_user(self, record: Record) -> None:
        """A `user` entry: evidence first, then the human's words, if there are any."""
        entry = record.entry
        blocks = content_blocks(mapping(entry.get("message")).get("content"))
        self.take_results(record, blocks)
        only_results = blocks != [] and all(mapping(block).get("type") == "tool_result" for block in blocks)
        text = text_of(blocks)
        if self.first_user_text is None and not only_results and text:
            self.first_user_text = text
        if only_results or entry.get("isMeta") is True:
            return
        if self.closes_queued(trim(text)) or not is_from_human(entry):
            return
        images = images_of(blocks)
        if trim(text) or images:
            self.take_words(record, text, images)

    def take_words(self, record: Record, text: str, images: list[Json]) -> None:
        """The event for a human's text, a continuation summary or pictures without a word."""
        is_summary = record.entry.get("isCompactSummary") is True
        words = Words(strip_all_context(text)) if is_summary else human_words(text)
        last = self.last_assistant()
        if words.interruption and last is not None:
            last.interrupted = True
        compacts = words.command == "/compact" and not self.was_just_compacted()
        if not words.dropped and (words.says or images):
            event = self.event_of(record, "user", text)
            lowered = words.says.translate(ASCII_LOWER)
            is_summary = is_summary or (words.source is None and CONTINUATION in lowered)
            event.continuation_summary, event.says = (words.says, "") if is_summary else ("", words.says)
            event.source = words.source
            self.add_user(event, self.keep(record, images), continuation=is_summary)
        if compacts:
            self.pending.add("compaction")

    def was_just_compacted(self) -> bool:
        """Whether the last event is the summary of a compaction: a late `/compact` is the same one."""
        return bool(self.events) and {"continuation", "compaction"} <= set(self.events[-1].boundary)

    # -- the assistant

    def take_assistant(self, record: Record) -> None:
        """An `assistant` entry: what it says, thinks and reaches for; messages of the client are counted."""
        message = mapping(record.entry.get("message"))
        if record.entry.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            self.client_messages_dropped += 1
            return
        blocks = content_blocks(message.get("content"))
        thoughts = [string_of(block, "thinking") for block in blocks_of(blocks, "thinking")]
        calls = blocks_of(blocks, "tool_use", "server_tool_use", "mcp_tool_use")
        tool_blocks = [block for block in calls if string_of(block, "name")]
        event = self.event_of(record, "assistant", "")
        event.says = text_of(blocks)
        event.thinks = "\n".join(thought for thought in thoughts if trim(thought))
        event.tools = [string_of(block, "name") for block in tool_blocks]
        event.message_id, event.decoded = string_of(message, "id"), event.says + event.thinks
        if event.says or event.thinks or event.tools:
            self.add(event)
            self.delivered.clear()
            for block in tool_blocks:
                self.note_call(event, block)
        self.take_results(record, blocks)

    def note_call(self, event: Event, block: Json) -> None:
        """Remembers a tool call by its id; a call of an agent gets its reference at once."""
        id_, tool, arguments = string_of(block, "id"), string_of(block, "name"), block.get("input")
        if id_:
            self.calls.setdefault(id_, Call(event, tool, mapping(arguments)))
        if tool in AGENT_TOOLS:
            self.agent_calls.append(AgentCall(id_, arguments))
            event.subagent_refs.append(self.agent_calls[-1].ref)

    def take_results(self, record: Record, blocks: list[Any]) -> None:
        """Takes from tool results the pictures and the agent's id and usage."""
        results = list(blocks_of(blocks, "tool_result"))
        for block in results:
            id_ = string_of(block, "tool_use_id")
            self.take_result_pictures(record, self.calls.get(id_), images_within(block.get("content")))
            # `toolUseResult` does not say which result it belongs to when there are several.
            extra = mapping(record.entry.get("toolUseResult")) if len(results) == 1 else {}
            answered = next(
                (call for call in self.agent_calls if id_ and call.ref["tool_use_id"] == publish(id_)), None
            )
            if answered is not None:
                answered.take_result(text_of(content_blocks(block.get("content"))), extra)

    def take_result_pictures(self, record: Record, call: Call | None, images: list[Json]) -> None:
        """Pictures go to the event whose call made them, else to what the assistant said last."""
        event = call.event if call else self.last_assistant()
        pictures = self.keep(record, images)
        if self.assets is not None and event is not None:
            self.assets.attach(event, pictures, call.shown() if call else "Screenshot from a tool")
        elif self.assets is not None:
            for _ in pictures:
                self.assets.refuse(record, "no_event")

    # -- the queue

    def take_queue_operation(self, record: Record) -> None:
        """`enqueue` opens, `remove` delivers, `popAll` takes all back, `dequeue` announces a user line."""
        operation = record.entry.get("operation")
        queued = queued_of(record.entry.get("content"))
        if operation == "enqueue":
            queued.pictures = self.keep(record, queued.images) if queued.is_human else []
            self.open.append(queued)
        elif operation == "dequeue":
            self.dequeues += 1
        elif operation == "popAll":
            self.open.clear()
        elif operation == "remove":
            self.take_remove(record, queued.text)

    def take_remove(self, record: Record, text: str) -> None:
        """Delivers the words that a `remove` closes, unless an attachment delivered them already."""
        if text:
            closed = self.close_equal(text)
            self.credits -= closed is None and self.credits > 0
        elif self.credits > 0:
            self.credits -= 1
            return
        else:
            closed = self.close_first()
        if closed is not None and closed.is_human:
            self.delivered.append(closed.text)
            self.add_queued(record, closed)

    def take_queued_command(self, record: Record) -> None:
        """A `queued_command` attachment delivers, unless a `remove` did it just before."""
        attachment = mapping(record.entry.get("attachment"))
        queued = queued_of(attachment.get("prompt"))
        holders = (attachment, record.entry)
        is_human = queued.is_human and attachment.get("commandMode") != "task-notification"
        is_human = is_human and not any(
            holder.get("isMeta") is True or foreign_origin(holder) for holder in holders
        )
        queued.pictures = self.keep(record, queued.images) if is_human else []
        if self.was_delivered(queued.text):
            return
        self.credits += 1
        self.close_equal(queued.text)
        if is_human:
            self.add_queued(record, queued)

    def was_delivered(self, text: str) -> bool:
        """Whether a `remove` delivered this text and nothing has repeated it yet."""
        if not text or text not in self.delivered:
            return False
        self.delivered.remove(text)
        return True

    def close_equal(self, text: str) -> Queued | None:
        """Closes the first open one with this text."""
        equal = (at for at, queued in enumerate(self.open) if text and queued.text == text)
        return next((self.open.pop(at) for at in equal), None)

    def close_first(self) -> Queued | None:
        """Closes the first open one that is no notification."""
        return next(
            (self.open.pop(at) for at, queued in enumerate(self.open) if not queued.is_notification), None
        )

    def closes_queued(self, text: str) -> bool:
        """Matches a user line with the queue; whether its words were delivered already."""
        if self.was_delivered(text):
            return True
        closed = self.close_equal(text)
        if self.dequeues > 0:
            self.dequeues -= 1
            if closed is None:
                self.close_contained(text)
        return False

    def close_contained(self, text: str) -> None:
        """A dequeued line that equals none: it holds several of them, or it is the first one, rewritten."""
        kept = [
            queued
            for queued in self.open
            if queued.is_notification or not queued.text or queued.text not in text
        ]
        if len(kept) == len(self.open):
            self.close_first()
        else:
            self.open = kept


CONTINUATION = "continued from a previous conversation"
ASCII_LOWER = {ord(upper): ord(upper) + 32 for upper in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def strip_all_context(text: str) -> str:
    """`strip_context` until nothing changes, trimmed."""
    text = trim(text)
    while (stripped := trim(strip_context(text))) != text:
        text = stripped
    return text


def foreign_origin(holder: Json) -> bool:
    """Whether the origin says that somebody else than the human wrote it."""
    kind = mapping(holder.get("origin")).get("kind")
    return isinstance(kind, str) and kind != "human"


def is_from_human(entry: Json) -> bool:
    """Whether the flags of a user entry leave it to the human."""
    if entry.get("isVisibleInTranscriptOnly") is True and entry.get("isCompactSummary") is not True:
        return False
    return not (foreign_origin(entry) or string_of(entry, "sourceToolUseID") or string_of(entry, "teamName"))


# ---------------------------------------------------------------- subagents


class AgentCall:
    """A call of an agent, its reference, and what its result said about the agent."""

    def __init__(self, tool_use_id: str, arguments: object) -> None:
        if isinstance(arguments, str):  # some old files hold them as a string of JSON
            arguments = decode_or_none(trim(clean(arguments)), 0)
        asked = mapping(arguments)
        self.prompt = trim(string_of(asked, "prompt"))
        self.agent_type = publish(string_of(asked, "subagent_type"))
        self.evidence: dict[str, str] = {}
        self.ref: Json = {
            "tool_use_id": publish(tool_use_id),
            "id": None,
            "description": publish(string_of(asked, "description")),
            "prompt": publish(string_of(asked, "prompt"))[:300],
            "total_tokens": None,
            "tool_uses": None,
            "duration_ms": None,
            "signal_tokens_estimate": None,
            "linked_by": None,
        }

    def take_result(self, text: str, extra: Json) -> None:
        """The agent's id (structured, or the last line that says it) and what the run used."""
        if string_of(extra, "agentId"):
            self.evidence.setdefault("result", string_of(extra, "agentId"))
        said = re.findall(r"^agentId:[ \t]*(\S+)", text, re.MULTILINE)
        if said:
            self.evidence.setdefault("text", said[-1])
        blocks = re.findall(r"<usage>(.*?)</usage>", text, re.DOTALL)
        keys = {
            "total_tokens": "totalTokens",
            "tool_uses": "totalToolUseCount",
            "duration_ms": "totalDurationMs",
        }
        for name, key in keys.items():
            written = re.search(rf"\b{name}:\s*([0-9]+)", blocks[-1] if blocks else "")
            value = extra.get(key)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                value = int(written.group(1)) if written else None
            if self.ref[name] is None:
                self.ref[name] = value


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
    """The sidechain lines of a session, grouped by agent id, else by the root that their parents lead to."""
    agents: dict[str, Agent] = {}
    group_of: dict[str, str] = {}
    for record in records:
        if record.kind == "noise":
            continue
        uuid, parent = string_of(record.entry, "uuid"), string_of(record.entry, "parentUuid")
        key = string_of(record.entry, "agentId") or group_of.get(parent) or uuid
        group_of[uuid] = key
        agents.setdefault(key, Agent(publish(key), Story(None))).story.take(record)
    return list(agents.values())


def agent_of_file(id_: str, data: bytes, meta: Json) -> Agent:
    """The agent whose lines stand in a file of its own."""
    agent = Agent(id_, Story(None), meta)
    for record in without_duplicates(read_file(data).records)[0]:
        agent.story.take(record)
    return agent


def progress_evidence(records: Iterable[Record]) -> dict[str, str]:
    """Which agent each call started, as the progress of the agents tells."""
    found: dict[str, str] = {}
    for record in records:
        data = mapping(record.entry.get("data"))
        if record.type == "progress" and data.get("type") == "agent_progress" and string_of(data, "agentId"):
            found.setdefault(string_of(record.entry, "parentToolUseID"), string_of(data, "agentId"))
    return found


def link(agents: list[Agent], calls: list[AgentCall], progress: dict[str, str]) -> None:
    """Gives every call its agent, by the strongest evidence there is; equal prompts are the last resort."""
    for call in calls:
        for agent in agents:
            if call.ref["tool_use_id"] and agent.meta.get("toolUseId") == call.ref["tool_use_id"]:
                claim(call, agent.id, "meta", agents)
    for name in ("result", "text", "progress"):
        for call in calls:
            found = progress.get(call.ref["tool_use_id"]) if name == "progress" else call.evidence.get(name)
            if found:
                claim(call, publish(found), name, agents)
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
    for agent in agents:
        if agent.id == id_:
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
    assets, metas = Assets(), meta_files or {}
    story = Story(assets)
    sidechain = []
    for record in records:
        if record.entry.get("isSidechain") is True and not name.startswith("agent-"):
            sidechain.append(record)
        else:
            story.take(record)
    files = {id_: agent_of_file(id_, raw, metas.get(id_, {})) for id_, raw in (agent_files or {}).items()}
    agents = [agent for agent in files.values() if not agent.id.startswith(INTERNAL_AGENTS)]
    agents = sorted(
        agents + inline_agents(sidechain), key=lambda agent: (agent.story.first_timestamp, agent.id)
    )
    calls = [call for teller in (story, *(agent.story for agent in agents)) for call in teller.agent_calls]
    link(agents, calls, progress_evidence(file.records))
    events = include(agents, story) if include_subagents else [event.to_dict() for event in story.events]

    summaries = distinct(every_fact(records, "summary", "summary"))
    titles = [
        last_fact(records, "custom-title", "customTitle"),
        last_fact(records, "ai-title", "aiTitle"),
        *reversed(summaries),
    ]
    damage = file.damage + invalid_utf8(story)
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
        "unlinked_subagents": [agent.id for agent in agents if agent.call is None],
        "chapter_bridges": [publish(last_words(agent.story)) for agent in bridges],
        "screenshots_extracted": len(assets.filenames),
        "images_not_extracted": assets.not_extracted,
        "source": {
            "bytes": len(data),
            "lines": file.lines,
            "first_timestamp": facts["first_timestamp"],
            "last_timestamp": facts["last_timestamp"],
        },
        "entries": count_entries(file.records),
        "unknown_entries": count_unknown(file.records),
        "duplicates_dropped": duplicates,
        "damaged_lines": sorted(damage, key=lambda damaged: (damaged["offset"], damaged["reason"]))[:1000],
        "damaged_lines_total": len(damage),
        "incomplete_tail": file.incomplete_tail,
        "client_messages_dropped": story.client_messages_dropped,
        "queued_undelivered": sum(queued.is_human for queued in story.open),
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
