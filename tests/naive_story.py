"""The story of the slow twin: the fold from entries to events, the queue, and the calls of agents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.naive_lines import Json, Record, clean, decode_or_none, mapping, publish, string_of, trim
from tests.naive_queue import Queued, WordQueue
from tests.naive_words import (
    Event,
    Picture,
    Words,
    blocks_of,
    content_blocks,
    human_words,
    images_of,
    images_within,
    picture_of,
    text_of,
    texts_of,
)

AGENT_TOOLS = {"Task", "Agent"}

# ---------------------------------------------------------------- the story


@dataclass
class Call:
    """A tool call: the event that made it, and what its result is read for."""

    event: Event
    tool: str
    arguments: Json
    agent: AgentCall | None = None  # when the call starts a subagent

    def shown(self) -> str:
        """The tool and its target, for the description of a picture."""
        targets = (string_of(self.arguments, key) for key in ("file_path", "path", "url", "filename"))
        target = next((target for target in targets if target), "")
        return f"Screenshot from {self.tool}" + (f" ({target})" if target else "")


def queued_of(content: object, session: str = "") -> Queued:
    """The text and the images of a queued content."""
    blocks = content_blocks(content)
    return Queued(texts_of(blocks), images_of(blocks), session)


class Story:
    """The fold from entries to events, for a session, an agent's file or an inline agent."""

    def __init__(self, *, with_images: bool) -> None:
        self.with_images = with_images
        self.images_not_extracted: list[Json] = []
        self.events: list[Event] = []
        self.calls: dict[str, Call] = {}
        self.agent_calls: list[AgentCall] = []
        self.pending: set[str] = set()
        self.queue = WordQueue()
        self.client_messages_dropped = 0
        self.compactions = 0
        self.first_user_text: str | None = None
        self.first_timestamp = ""

    def take(self, record: Record) -> None:
        """Folds one entry into the story; of noise only progress tells something."""
        if record.type == "progress":
            self.take_progress(record)
        if record.kind == "noise":
            return
        self.first_timestamp = self.first_timestamp or string_of(record.entry, "timestamp")
        if record.type == "system" and record.kind == "fact":
            self.pending.add("compaction")
            self.compactions += 1
        elif record.type == "system" and record.kind == "signal":
            self.take_turn_duration(duration_of(record.entry.get("durationMs")))
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
        before = next((told.session_id for told in reversed(self.events) if told.session_id), "")
        if before and event.session_id and before != event.session_id:
            event.boundary.append("session_change")
        if continuation:
            event.boundary.append("continuation")
        event.boundary += sorted(self.pending)
        self.pending.clear()
        self.events.append(event)
        return event

    def add_user(self, record: Record, words: Words, text: str, images: list[Json]) -> None:
        """Adds an event of the human: words, or pictures, or both."""
        noun = "queued" if words.source == "queued" else "pasted"
        pictures = [(picture, f"Image {noun} by the user") for picture in self.keep(record, images)]
        if words.says or pictures:
            event = self.event_of(record, "user", text)
            event.says, event.source, event.pictures = words.says, words.source, pictures
            if words.continuation:
                event.continuation_summary, event.says = words.says, ""
            self.add(event, continuation=words.continuation)

    def add_queued(self, record: Record, queued: Queued) -> None:
        """Adds the event of a delivery."""
        words = Words(queued.words.says, "queued")
        self.add_user(record, words, queued.text, queued.images)

    def event_of(self, record: Record, role: str, decoded: str) -> Event:
        """The next event, still without words; `decoded` is the text that they will be taken from."""
        uuid = string_of(record.entry, "uuid")
        return Event(len(self.events), role, record, "", uuid=uuid, decoded=decoded)

    def keep(self, record: Record, images: list[Json]) -> list[Picture]:
        """The pictures among the images of a record; the others are reported."""
        found = [picture_of(block) for block in images if self.with_images]
        for reason in found:
            if isinstance(reason, str):
                self.lose(record, reason)
        return [picture for picture in found if not isinstance(picture, str)]

    def lose(self, record: Record, reason: str) -> None:
        """Reports an image that is in the transcript and not in the result."""
        lost = {"line": record.line, "offset": record.offset, "reason": reason}
        self.images_not_extracted.append(lost)

    def last_assistant(self) -> Event | None:
        """The latest event of the assistant."""
        return next((event for event in reversed(self.events) if event.role == "assistant"), None)

    def take_turn_duration(self, duration: int | None) -> None:
        """The duration goes to the last assistant event, when no new turn has begun and it has none yet."""
        if duration is None:
            return
        for event in reversed(self.events):
            if event.role == "assistant":
                event.duration_ms = duration if event.duration_ms is None else event.duration_ms
                return
            if event.source not in ("queued", "answer") and "continuation" not in event.boundary:
                return

    # -- the human

    def take_user(self, record: Record) -> None:
        """A `user` entry: evidence first, then the human's words, if there are any."""
        entry = record.entry
        message = mapping(entry.get("message"))
        if "content" not in message:
            return
        blocks = content_blocks(message["content"])
        self.take_results(record, blocks)
        only_results = blocks != [] and all(mapping(block).get("type") == "tool_result" for block in blocks)
        text = text_of(blocks)
        if only_results:
            return
        is_summary = entry.get("isCompactSummary") is True
        words = human_words(texts_of(blocks), is_summary=is_summary) if is_from_human(entry) else None
        if self.first_user_text is None and text:
            # Context that the client put before the prompt is not part of it.
            self.first_user_text = (words.says if words else "") or text
        if words:
            self.take_words(record, words, text, images_of(blocks))

    def take_words(self, record: Record, words: Words, text: str, images: list[Json]) -> None:
        """What a human's text does: an interruption, an event, a compaction.

        A continuation summary is written by the client: it never was in the queue.
        """
        last = self.last_assistant()
        if words.interruption and last is not None:
            last.interrupted = True
        compacts = words.command == "/compact" and not self.joins_summary()
        says = "" if words.dropped else words.says
        repeated = None if words.continuation else self.queue.user_line(trim(text), says)
        if repeated is not None:
            self.show(repeated, self.keep(record, images), "Image pasted by the user")
        else:
            self.add_user(record, words, text, images)
        if compacts:
            self.pending.add("compaction")

    def joins_summary(self) -> bool:
        """Whether the last event is the summary of a compaction: a late `/compact` is the reason for it."""
        if not self.events or "continuation" not in self.events[-1].boundary:
            return False
        if "compaction" not in self.events[-1].boundary:
            self.events[-1].boundary.append("compaction")
        return True

    # -- the assistant

    def take_assistant(self, record: Record) -> None:
        """An `assistant` entry: what it says, thinks and reaches for; messages of the client are counted."""
        message = mapping(record.entry.get("message"))
        if is_from_client(record.entry):
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
            self.queue.assistant_spoke()
            for block in tool_blocks:
                id_, tool, asked = string_of(block, "id"), string_of(block, "name"), block.get("input")
                started = AgentCall(id_, asked) if tool in AGENT_TOOLS else None
                self.note_call(id_, Call(event, tool, mapping(asked), started))
        self.take_results(record, blocks)

    def note_call(self, id_: str, call: Call) -> None:
        """Remembers a tool call by its id; a call of an agent gets its reference at once."""
        if id_:
            self.calls[id_] = call
        if call.agent is not None:
            self.agent_calls.append(call.agent)
            call.event.subagent_refs.append(call.agent.ref)

    def take_results(self, record: Record, blocks: list[Any]) -> None:
        """Takes from tool results the pictures and the agent's id and usage."""
        results = list(blocks_of(blocks, "tool_result"))
        for block in results:
            id_ = string_of(block, "tool_use_id")
            self.take_result_pictures(record, self.calls.get(id_), images_within(block.get("content")))
            # `toolUseResult` does not say which result it belongs to when there are several.
            extra = mapping(record.entry.get("toolUseResult")) if len(results) == 1 else {}
            answered = self.agent_call(id_)
            if answered is not None:
                answered.answered = True
                answered.take_result(text_of(content_blocks(block.get("content"))), extra)

    def take_result_pictures(self, record: Record, call: Call | None, images: list[Json]) -> None:
        """Pictures go to the event whose call made them, else to what the assistant said last."""
        event = call.event if call else self.last_assistant()
        pictures = self.keep(record, images)
        if event is not None:
            self.show(event, pictures, call.shown() if call else "Screenshot from a tool")
        else:
            for _ in pictures:
                self.lose(record, "no_event")

    def take_progress(self, record: Record) -> None:
        """The progress of an agent names the call that it works for; nobody asks when all are answered."""
        if all(call.answered for call in self.agent_calls if call is self.agent_call(call.id)):
            return
        data = mapping(record.entry.get("data"))
        call = self.agent_call(string_of(record.entry, "parentToolUseID"))
        if call and data.get("type") == "agent_progress" and string_of(data, "agentId"):
            call.evidence.setdefault("progress", string_of(data, "agentId"))

    def agent_call(self, id_: str) -> AgentCall | None:
        """The last call of an agent with this id, if no other call has taken the id since."""
        return self.calls[id_].agent if id_ in self.calls else None

    # -- the queue

    def take_queue_operation(self, record: Record) -> None:
        """`enqueue` opens, `remove` delivers, `popAll` takes all back, `dequeue` announces a user line."""
        operation = record.entry.get("operation")
        queued = queued_of(record.entry.get("content"), string_of(record.entry, "sessionId"))
        if operation == "enqueue":
            self.queue.open.append(queued)
        elif operation == "dequeue":
            self.queue.dequeues += 1
        elif operation == "popAll":
            self.queue.open.clear()
        elif operation == "remove":
            taken = self.queue.remove(queued)
            events = len(self.events)
            if taken is not None:
                self.add_queued(record, taken)
            if taken is not None and len(self.events) > events:
                self.queue.became(taken.text, self.events[-1])

    def take_queued_command(self, record: Record) -> None:
        """A `queued_command` attachment delivers, unless a `remove` did it before."""
        attachment = mapping(record.entry.get("attachment"))
        queued = queued_of(attachment.get("prompt"))
        holders = (attachment, record.entry)
        is_human = queued.is_human and attachment.get("commandMode") != "task-notification"
        is_human = is_human and not any(
            holder.get("isMeta") is True or foreign_origin(holder) for holder in holders
        )
        outcome = self.queue.attachment(queued, is_human=is_human)
        if outcome is True:
            self.add_queued(record, queued)
        elif isinstance(outcome, Event):
            images = queued.images if is_human else []
            self.show(outcome, self.keep(record, images), "Image queued by the user")

    def show(self, event: Event, pictures: list[Picture], description: str) -> None:
        """Adds the pictures that the event does not have yet."""
        for picture in pictures:
            if picture not in [shown for shown, _ in event.pictures]:
                event.pictures.append((picture, description))


def foreign_origin(holder: Json) -> bool:
    """Whether the origin says that somebody else than the human wrote it."""
    kind = mapping(holder.get("origin")).get("kind")
    return isinstance(kind, str) and kind != "human"


def is_from_human(entry: Json) -> bool:
    """Whether the flags of a user entry leave it to the human."""
    if entry.get("isMeta") is True:
        return False
    if entry.get("isVisibleInTranscriptOnly") is True and entry.get("isCompactSummary") is not True:
        return False
    return not (foreign_origin(entry) or string_of(entry, "sourceToolUseID") or string_of(entry, "teamName"))


def is_from_client(entry: Json) -> bool:
    """Whether the client wrote an entry in the assistant's name."""
    return (
        entry.get("isApiErrorMessage") is True or mapping(entry.get("message")).get("model") == "<synthetic>"
    )


def duration_of(duration: object) -> int | None:
    """The milliseconds that something took, when the value is a number of them."""
    if isinstance(duration, bool) or not isinstance(duration, int | float) or duration < 0:
        return None
    return int(duration)


# ---------------------------------------------------------------- calls of agents


class AgentCall:
    """A call of an agent, its reference, and what its result said about the agent."""

    def __init__(self, tool_use_id: str, arguments: object) -> None:
        if isinstance(arguments, str):  # some old files hold them as a string of JSON
            arguments = decode_or_none(trim(clean(arguments)), 0)
        asked = mapping(arguments)
        self.id, self.answered = tool_use_id, False
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
