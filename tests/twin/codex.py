"""The slow, obvious twin of the parser of Codex rollouts: from bytes to events and manifest.

What is inherited is left out first, then the records are folded in file order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.twin.agents import Agent
from tests.twin.codex_story import CodexStory, SpawnCall
from tests.twin.codex_types import CODEX, OUTPUTS, SESSION, body_of, topic_of
from tests.twin.lines import (
    File,
    Json,
    Record,
    decode_key,
    decode_value,
    make_record,
    mapping,
    piece,
    publish,
    read_file,
    skip_blank,
    string_of,
)
from tests.twin.manifest import assemble, distinct, invalid_utf8
from tests.twin.story import duration_of

# ---------------------------------------------------------------- the document of 2025

DOCUMENT = re.compile(rb'(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*"(?:session|items)"')


def is_document(data: bytes) -> bool:
    """Whether the file is one document with all items of a session."""
    return DOCUMENT.match(data) is not None


class DocumentReader:
    """Goes through the document, and stops where it is not whole."""

    def __init__(self, data: bytes) -> None:
        self.data, self.text = data, data.decode("latin-1")
        self.others: list[int] = []  # the ends of what is no record
        self.file = File(lines=read_file(data, CODEX).lines)

    def read(self) -> File:
        """The records of the document, and what is wrong with it."""
        at = skip_blank(self.text, 3 if self.data.startswith(b"\xef\xbb\xbf") else 0)
        try:
            end = self.read_members(at + 1)
        except ValueError:
            self.file.incomplete_tail = self.place(self.behind_whole(at), len(self.text))
            return self.file
        rest = end + len(self.text[end:]) - len(self.text[end:].lstrip(" \t\r\n"))
        if rest < len(self.text):
            damage = {"reason": "trailing_bytes", "recovered": True}
            self.file.damage.append({**self.place(rest, len(self.text)), **damage})
        return self.file

    def behind_whole(self, start: int) -> int:
        """Where that begins which is not whole: behind the last record, and the comma that follows it."""
        ends = [record.offset + record.length for record in self.file.records]
        at = skip_blank(self.text, max([start, *ends, *self.others]))
        return skip_blank(self.text, at + 1) if self.text[at : at + 1] == "," else at

    def read_members(self, at: int) -> int:
        """Reads the members of the root from `at`; gives where the root ends."""
        seen: set[str] = set()
        while True:
            at = skip_blank(self.text, at)
            if self.text[at : at + 1] == "}":
                return at + 1
            container: tuple[str, list[object]] = ("{", [])
            start = self.whole(at, decode_key(self.text, at, container) if self.is_key(at) else None)
            key, start = str(container[1][0]), skip_blank(self.text, start)
            is_first = key not in seen
            seen.add(key)
            if key == "items" and is_first and self.text[start : start + 1] == "[":
                at = self.read_items(start + 1)
            else:
                at = self.value_end(start)
                if key == "session" and is_first:
                    self.take(start, at)
            at = self.behind(at, "}")

    def is_key(self, at: int) -> bool:
        """Whether a key and a colon stand at `at`."""
        try:
            decode_key(self.text, at, ("{", []))
        except ValueError:
            return False
        return True

    def read_items(self, at: int) -> int:
        """Reads the items from `at`; gives where their array ends."""
        while True:
            at = skip_blank(self.text, at)
            if self.text[at : at + 1] == "]":
                return at + 1
            end = self.value_end(at)
            self.take(at, end)
            at = self.behind(end, "]")

    def behind(self, at: int, closing: str) -> int:
        """Where to go on behind a value: at the next one or at the end of what holds it."""
        at = skip_blank(self.text, at)
        if self.text[at : at + 1] == ",":
            return at + 1
        return self.whole(at, at if self.text[at : at + 1] == closing else None)

    def value_end(self, at: int) -> int:
        """Where the value at `at` ends."""
        try:
            end = decode_value(self.text, at)[1]
        except (ValueError, StopIteration):
            return self.whole(at, None)
        return end

    def whole(self, at: int, end: int | None) -> int:
        """The end, if there is one; else reading stops at `at`."""
        if end is None:
            raise ValueError(at)
        return end

    def place(self, start: int, end: int) -> Json:
        """A place in the file."""
        return piece(self.data.count(b"\n", 0, start) + 1, start, end - start)

    def take(self, start: int, end: int) -> None:
        """Adds a value of the document as a record."""
        place = self.place(start, end)
        if self.text[start] != "{":
            self.others.append(end)
            self.file.damage.append({**place, "reason": "not_an_object", "recovered": False})
            return
        record = make_record(self.data[start:end], CODEX)
        record.line, record.offset = place["line"], start
        self.file.records.append(record)


def read_rollout(data: bytes) -> File:
    """The records of a rollout, whichever form it has."""
    return DocumentReader(data).read() if is_document(data) else read_file(data, CODEX)


# ---------------------------------------------------------------- what is inherited


def first_meta(records: list[Record]) -> Record | None:
    """The record that says which thread this is."""
    return next((record for record in records if record.type in ("session_meta", SESSION)), None)


def spawn_of(meta: Json) -> Json:
    """What the meta says about the thread that started this one."""
    return mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))


def is_fork_or_child(meta: Json) -> bool:
    """Whether the thread may begin with the history of another one."""
    named = string_of(meta, "forked_from_id") or string_of(meta, "parent_thread_id")
    return bool(named or spawn_of(meta)) or meta.get("thread_source") == "subagent"


def inherited_by_ordinal(records: list[Record], meta: Record, first_own: int) -> list[Record]:
    """The records whose ordinal is before the first of the thread itself."""
    found = []
    for record in records:
        ordinal = duration_of(record.entry.get("ordinal"))
        if record is not meta and ordinal is not None and ordinal < first_own:
            found.append(record)
    return found


def inherited_by_second(records: list[Record], meta: Record) -> list[Record]:
    """The records of the second in which the history was copied, when it was: two token counts share it."""
    counts = [record for record in records if record.type == "event_msg/token_count"]
    seconds = [string_of(record.entry, "timestamp")[:19] for record in counts]
    if len(seconds) < 2 or seconds[0] != seconds[1]:
        return []
    first = records.index(counts[0])
    later = (
        number
        for number, record in enumerate(records)
        if number >= first and string_of(record.entry, "timestamp")[:19] != seconds[0]
    )
    return records[records.index(meta) + 1 : next(later, len(records))]


def is_marked_inherited(record: Record) -> bool:
    """Whether a record of the human's words says itself that it was inherited."""
    body = body_of(record.entry)
    keys = ("metadata", "internal_chat_message_metadata_passthrough")
    holders = [body, *(mapping(body.get(key)) for key in keys)]
    topic = topic_of(record)[1]
    is_user = topic in ("user_message", "UserMessage") or (topic == "message" and body.get("role") == "user")
    return is_user and any(holder.get("inherited_user_message") is True for holder in holders)


def inherited_of(records: list[Record]) -> list[Record]:
    """The records that a thread has from the one it was forked from or started by."""
    meta = first_meta(records)
    found: list[Record] = []
    if meta is not None:
        body = body_of(meta.entry)
        first_own = duration_of(body.get("subagent_history_start_ordinal"))
        if first_own is None:
            first_own = duration_of(mapping(body.get("history_base")).get("end_ordinal_exclusive"))
        if first_own is not None:
            found = inherited_by_ordinal(records, meta, first_own)
        elif is_fork_or_child(body):
            found = inherited_by_second(records, meta)
    ids = {id(record) for record in found}
    return [record for record in records if id(record) in ids or is_marked_inherited(record)]


# ---------------------------------------------------------------- threads and their children


@dataclass
class Thread:
    """A rollout that was read."""

    file: File
    meta: Json
    inherited: list[Record]
    own: list[Record]  # of class signal
    story: CodexStory

    @property
    def id(self) -> str:
        """The id of the thread."""
        return string_of(self.meta, "id")

    @property
    def parent(self) -> str:
        """The thread that started this one."""
        parent = string_of(spawn_of(self.meta), "parent_thread_id")
        is_subagent = self.meta.get("thread_source") == "subagent"
        return parent or (string_of(self.meta, "parent_thread_id") if is_subagent else "")

    def told(self, key: str) -> str:
        """What the meta says about the agent that the thread is."""
        return string_of(spawn_of(self.meta), key) or string_of(self.meta, key)


def is_read(record: Record) -> bool:
    """Whether a record may tell something: what tools gave back is looked into as well."""
    return record.kind == "signal" or topic_of(record)[1] in OUTPUTS


def read_thread(data: bytes, *, with_images: bool) -> Thread:
    """Reads a rollout and folds its own records."""
    file = read_rollout(data)
    inherited = inherited_of(file.records)
    gone = {id(record) for record in inherited}
    own = [record for record in file.records if is_read(record) and id(record) not in gone]
    meta = first_meta(file.records)
    story = CodexStory(own, with_images=with_images)
    return Thread(file, body_of(meta.entry) if meta else {}, inherited, own, story)


def children_of(thread: Thread, others: dict[str, bytes], *, with_images: bool) -> list[Agent]:
    """The threads that this one or one of its children started, by the path of their files.

    They are looked for only where the thread started one, or where what is damaged may have said so.
    """
    damaged = thread.file.damage or thread.file.incomplete_tail or invalid_utf8(thread.story)
    if not (thread.story.agent_calls or damaged):
        return []
    waiting = [read_thread(others[path], with_images=with_images) for path in sorted(others)]
    known = {thread.id}
    found: list[Thread] = []
    while True:
        new: dict[str, Thread] = {}
        for child in waiting:
            if child.parent and child.parent in known and child.id not in known:
                new.setdefault(child.id, child)
        if not new:
            return [agent_of(child) for child in found]
        found += new.values()
        known |= new.keys()


def agent_of(child: Thread) -> Agent:
    """A child as the subagent that it is."""
    meta = {"agentType": publish(child.told("agent_role"))}
    nickname = publish(child.told("agent_nickname"))
    return Agent(child.id, child.story, meta, nickname=nickname, path=child.told("agent_path"))


def resolve_paths(stories: list[CodexStory], agents: list[Agent]) -> None:
    """Results that name the path of an agent name the agent."""
    for story in stories:
        for call in story.agent_calls:
            path = call.path if isinstance(call, SpawnCall) else ""
            found = [agent.id for agent in agents if path and agent.path == path]
            if found:
                call.evidence["result"] = found[0]


# ---------------------------------------------------------------- the manifest

ORIGINS = {
    "guardian": "guardian",
    "guardian_review": "guardian",
    "review": "review",
    "compact": "compaction",
    "memory_consolidation": "memory",
    "thread_spawn": "subagent",
    "subagent": "subagent",
}


def origin_of(meta: Json) -> str | None:
    """Who began the thread, when it was not a human who talks to it."""
    source = meta.get("source")
    subagent = mapping(source).get("subagent")
    if isinstance(subagent, dict):
        other = subagent.get("other")
        subagent = other if isinstance(other, str) else next(iter(subagent), None)
    for name in (subagent, meta.get("thread_source")):
        if isinstance(name, str) and name in ORIGINS:
            return ORIGINS[name]
    return "script" if meta.get("originator") == "codex_exec" or source == "exec" else None


def parse(
    data: bytes, *, others: dict[str, bytes] | None = None, include_subagents: bool = False
) -> tuple[list[Json], Json]:
    """The events and the manifest of a thread; `others` are the rollouts in the same tree, by path."""
    thread = read_thread(data, with_images=True)
    story = thread.story
    agents = children_of(thread, others or {}, with_images=include_subagents)
    resolve_paths([story, *(agent.story for agent in agents if isinstance(agent.story, CodexStory))], agents)
    events, manifest = assemble(story, agents, thread.file, include_subagents=include_subagents)
    signal = [record for record in thread.own if record.kind == "signal"]
    times = [publish(time) for record in signal if (time := string_of(record.entry, "timestamp"))]
    turn = story.open_turn
    ids = distinct([publish(thread.id)])
    return events, {
        **manifest,
        "agent": "codex",
        "origin": origin_of(thread.meta),
        "sessions": len(ids),
        "session_ids": ids,
        "versions": distinct([publish(string_of(thread.meta, "cli_version"))]),
        "project_path": publish(string_of(thread.meta, "cwd") or story.cwd) or None,
        "title": publish(story.title) if story.title else None,
        "chapter_bridges": [],
        "source": {
            "bytes": len(data),
            "lines": thread.file.lines,
            "first_timestamp": times[0] if times else None,
            "last_timestamp": times[-1] if times else None,
        },
        "duplicates_dropped": 0,
        "inherited_records": len(thread.inherited),
        "incomplete_turn": piece(turn.line, turn.offset, turn.length) if turn else None,
        "client_messages_dropped": 0,
        "queued_undelivered": 0,
        "summaries": [],
        "pr_links": [],
        "continued_in": [],
        "last_prompt": None,
        "leaf_uuid": None,
    }
