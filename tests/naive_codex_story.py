"""The fold from Codex records to events, on the story that every agent's twin shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.naive_codex_types import body_of, item_of, topic_of
from tests.naive_codex_words import (
    Message,
    Tool,
    images_of_mcp,
    images_of_output,
    images_of_result,
    mcp_tool_of,
    message_of,
    squeezed,
    thoughts_of,
    tool_of,
)
from tests.naive_lines import Json, Record, decode_or_none, mapping, string_of, trim
from tests.naive_story import AgentCall, Call, Story, duration_of
from tests.naive_words import Event, Picture, picture_of

PASTED = "Image pasted by the user"


@dataclass
class Shown:
    """The images beside words of the human, or the reasons why there are none; each once."""

    record: Record
    event: Event | None = None
    found: list[Picture | str] = field(default_factory=list)

    def add(self, more: list[Picture | str]) -> None:
        """Adds those that are not there yet."""
        self.found += [one for number, one in enumerate(more) if one not in self.found + more[:number]]


@dataclass
class Kept:
    """What was said or thought last, and how it has been recorded so far."""

    event: Event
    text: str
    recordings: set[str]
    shown: Shown

    def is_twin(self, event: Event, text: str, recording: str) -> bool:
        """Whether this is the same once more, recorded in another way."""
        same = self.event.role == event.role and squeezed(self.text) == squeezed(text)
        return same and recording not in self.recordings


class SpawnCall(AgentCall):
    """A call of `spawn_agent`: its result may name the path of the agent instead of its id."""

    def __init__(self, tool: Tool) -> None:
        asked = tool.arguments
        prompt = string_of(asked, "message")
        super().__init__(
            tool.id,
            {
                "prompt": "" if prompt.startswith("gAAAAA") else prompt,  # encrypted
                "subagent_type": string_of(asked, "agent_type"),
                "description": string_of(asked, "task_name") or string_of(asked, "nickname"),
            },
        )
        self.path = ""

    def take_output(self, output: object) -> None:
        """The id of the agent, or the path that is known by its name."""
        told = mapping(decode_or_none(trim(output), 0) if isinstance(output, str) else output)
        if "result" in self.evidence or self.path:
            return
        if string_of(told, "agent_id"):
            self.evidence["result"] = string_of(told, "agent_id")
        else:
            self.path = string_of(told, "task_name")


class CodexStory(Story):
    """The fold over the records of a thread that are its own."""

    def __init__(self, records: list[Record], *, with_images: bool) -> None:
        super().__init__(with_images=with_images)
        self.told_by_events = roles_told_by_events(records)
        self.untold = {id(record) for record in untold_records(records)}
        self.called = {tool_of(record).id for record in records if is_call(record) and tool_of(record).name}
        self.early: dict[str, list[tuple[Record, list[Json]]]] = {}
        self.reasons_in_items = any(is_reasoning_item(record) and thoughts_of(record) for record in records)
        self.held: list[tuple[Record, list[Json]]] = []
        self.shown: list[Shown] = []
        self.last_message: Kept | None = None
        self.last_thoughts: Kept | None = None
        self.open_turn: Record | None = None
        self.open_turn_has_user = False
        self.turns: list[Event] = []  # the user events that turns begin with
        self.title: str | None = None
        self.cwd = ""
        for record in records:
            self.take(record)
        self.release()
        self.show_pasted()

    def take(self, record: Record) -> None:
        """Folds one record of the thread itself into the story."""
        self.first_timestamp = self.first_timestamp or string_of(record.entry, "timestamp")
        recording, topic = topic_of(record)
        message = message_of(record)
        if message is not None:
            self.take_message(record, message, recording)
        elif topic in ("reasoning", "Reasoning", "agent_reasoning", "agent_reasoning_raw_content"):
            self.take_thoughts(record, recording)
        elif topic.endswith("_call"):
            self.take_tool(record, tool_of(record), images_of_result(record))
        elif topic in ("mcp_tool_call_end", "McpToolCall"):
            self.take_mcp(record)
        elif topic.endswith("_call_output"):
            self.take_output(record)
        elif topic in ("image_generation_end", "ImageGeneration", "Extension"):
            of_item, of_event = (
                string_of(item_of(record.entry), "id"),
                string_of(body_of(record.entry), "call_id"),
            )
            id_ = of_item if recording == "I" else of_event
            self.take_told_pictures(record, id_, images_of_result(record))
        else:
            self.take_mark(topic, body_of(record.entry))
            self.take_turn(record, topic)
            self.take_spawned(record)

    def take_mark(self, topic: str, body: Json) -> None:
        """A record about the thread as a whole."""
        if topic in ("compacted", "context_compacted", "ContextCompaction"):
            self.compactions += "compaction" not in self.pending
            self.pending.add("compaction")
        elif topic == "thread_name_updated":
            self.title = string_of(body, "thread_name") or self.title
        elif topic == "thread_rolled_back":
            self.roll_back(duration_of(body.get("num_turns")) or 0)

    # -- events

    def add_once(self, event: Event, recording: str, last: Kept | None, images: list[Json]) -> Kept | None:
        """Adds what is said or thought, unless it is the twin of the last; gives what is the last now."""
        text = event.says or event.thinks
        if last is not None and last.is_twin(event, text, recording):
            last.recordings.add(recording)
            last.shown.add(self.found_in(images))
            return last
        shown = Shown(event.record)
        if event.role == "user":
            for _, held in self.held:
                shown.add(self.found_in(held))
            self.held.clear()
            shown.add(self.found_in(images))
            self.shown.append(shown)
        if not text and not any(isinstance(one, tuple) for one in shown.found):
            return last
        shown.event = self.add(event)
        return Kept(event, text, {recording}, shown)

    def found_in(self, images: list[Json]) -> list[Picture | str]:
        """The images, or why they are none."""
        return [picture_of(image) for image in images if self.with_images]

    def add(self, event: Event, *, continuation: bool = False) -> Event:
        """Adds an event; images that are held by then belong to what came before it."""
        self.release()
        super().add(event, continuation=continuation)
        if event.role == "user":
            self.begin_turn(event)
        return event

    def release(self) -> None:
        """Gives the images that were held to the last event."""
        for record, images in self.held:
            mine = [shown for shown in self.shown if self.events and shown.event is self.events[-1]]
            if mine:
                mine[0].add(self.found_in(images))
            else:
                self.take_result_pictures(record, None, images)
        self.held.clear()

    def show_pasted(self) -> None:
        """Gives every event of the human its images, and reports those that are none."""
        for shown in self.shown:
            for one in shown.found:
                if isinstance(one, str):
                    self.lose(shown.record, one)
                elif shown.event is not None:
                    shown.event.pictures.append((one, PASTED))

    # -- words and thoughts

    def take_message(self, record: Record, message: Message, recording: str) -> None:
        """A message, unless events tell what was said and this is only an item."""
        self.cwd = self.cwd or message.cwd
        last = self.last_assistant()
        if message.aborts and last is not None:
            last.interrupted = True
        if recording == "R" and message.role in self.told_by_events and id(record) not in self.untold:
            self.held += [(record, message.images)] if message.images else []
            return
        event = self.event_of(record, message.role, message.written)
        event.says = message.says
        if message.role == "user":
            self.first_user_text = self.first_user_text or event.says or trim(message.written)
        if message.role == "user" or event.says:
            self.last_message = self.add_once(event, recording, self.last_message, message.images)

    def take_thoughts(self, record: Record, recording: str) -> None:
        """Reasoning: items tell it, and events only where no item does."""
        thoughts = thoughts_of(record)
        if thoughts and not (self.reasons_in_items and recording in ("E", "I")):
            event = self.event_of(record, "assistant", thoughts)
            event.thinks = thoughts
            self.last_thoughts = self.add_once(event, recording, self.last_thoughts, [])

    # -- tools

    def take_tool(self, record: Record, tool: Tool, images: list[Json]) -> None:
        """A call, and the images that stand in it; one without a name calls nothing."""
        if tool.name:
            event = self.event_of(record, "assistant", "")
            event.tools = [tool.name]
            self.add(event)
            started = SpawnCall(tool) if is_spawn(tool) else None
            self.note_call(tool.id, Call(event, tool.name, tool.arguments, started))
        self.take_result_pictures(record, self.calls.get(tool.id), images)
        for early, found in self.early.pop(tool.id, []) if tool.name else []:
            self.take_result_pictures(early, self.calls.get(tool.id), found)

    def take_told_pictures(self, record: Record, id_: str, images: list[Json]) -> None:
        """Images of a call that has ended; its own record may still come."""
        if id_ and id_ not in self.calls and id_ in self.called:
            self.early.setdefault(id_, []).append((record, images))
        else:
            self.take_result_pictures(record, self.calls.get(id_), images)

    def take_mcp(self, record: Record) -> None:
        """The end of a call of a server's tool is the call itself where no other record tells of it."""
        tool = mcp_tool_of(record)
        images = images_of_mcp(record)
        if tool.name and tool.id not in self.calls and (not tool.id or tool.id not in self.called):
            self.take_tool(record, tool, images)
        else:
            self.take_told_pictures(record, tool.id, images)

    def take_output(self, record: Record) -> None:
        """What a tool gave back: images, and the agent that was started."""
        body = body_of(record.entry)
        id_ = string_of(body, "call_id")
        images = images_of_output(body.get("output"))
        self.take_result_pictures(record, self.calls.get(id_), images)
        started = self.agent_call(id_)
        if isinstance(started, SpawnCall):
            started.take_output(body.get("output"))
            # An output that tells nothing else is passed over.
            started.answered |= bool(images or started.path or "result" in started.evidence)

    def take_spawned(self, record: Record) -> None:
        """A record that says which thread a call has started."""
        recording, topic = topic_of(record)
        told = item_of(record.entry) if recording == "I" else body_of(record.entry)
        thread = string_of(told, "agent_thread_id")
        if topic == "collab_agent_spawn_end":
            id_, thread = string_of(told, "call_id"), string_of(told, "new_thread_id")
        elif topic in ("sub_agent_activity", "SubAgentActivity") and plain(told.get("kind")) == "started":
            event_id = string_of(told, "event_id") or string_of(told, "call_id")
            id_ = string_of(told, "id") if recording == "I" else event_id
        elif topic == "CollabAgentToolCall" and plain(told.get("tool")) == "spawnagent":
            receivers = told.get("receiver_thread_ids")
            first = receivers[0] if isinstance(receivers, list) and receivers else None
            id_, thread = string_of(told, "id"), string_of({"first": first}, "first")
        else:
            return
        call = self.agent_call(id_)
        if call is not None and thread:
            call.evidence.setdefault("progress", thread)

    # -- turns

    def take_turn(self, record: Record, topic: str) -> None:
        """The beginning, the end or the breaking off of a turn."""
        if topic in ("task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted"):
            self.release()
        if topic in ("task_started", "turn_started"):
            self.open_turn, self.open_turn_has_user = record, False
        elif topic in ("task_complete", "turn_complete"):
            self.open_turn = None
            self.take_turn_duration(duration_of(body_of(record.entry).get("duration_ms")))
        elif topic == "turn_aborted":
            self.open_turn = None
            last = self.last_assistant()
            if last is not None:
                last.interrupted = True

    def begin_turn(self, event: Event) -> None:
        """A turn begins with what the human says; what is said while it runs belongs to it."""
        if self.open_turn is None or not self.open_turn_has_user:
            self.turns.append(event)
        self.open_turn_has_user = True

    def roll_back(self, count: int) -> None:
        """Marks the events of the last turns that are not marked yet."""
        left = [event for event in self.turns if not event.rolled_back]
        if count and left:
            for event in self.events[left[-count:][0].index :]:
                event.rolled_back = True


def is_spawn(tool: Tool) -> bool:
    """Whether the call starts a subagent."""
    return tool.plain_name == "spawn_agent" and tool.is_function


def is_call(record: Record) -> bool:
    """Whether the record is a call that went to the program."""
    return topic_of(record)[1].endswith("_call")


def plain(value: object) -> str:
    """A name without the spelling that differs between versions."""
    return value.replace("_", "").lower() if isinstance(value, str) else ""


def roles_told_by_events(records: list[Record]) -> set[str]:
    """The roles whose words stand in events or completed items."""
    roles = set()
    for record in records:
        message = message_of(record)
        if message is not None and topic_of(record)[0] in ("E", "I") and message.has_words:
            roles.add(message.role)
    return roles


def untold_records(records: list[Record]) -> list[Record]:
    """The records up to the last answer before which no event or completed item tells any words.

    They are of a program that wrote no events; a later one went on in its file.
    """
    answers = 0
    for number, record in enumerate(records, 1):
        message = message_of(record)
        recording = topic_of(record)[0]
        if message is None:
            continue
        if recording in ("E", "I") and message.has_words:
            return records[:answers]
        if recording == "R" and message.role == "assistant" and message.has_words:
            answers = number
    return []


def is_reasoning_item(record: Record) -> bool:
    """Whether the record is an item of reasoning."""
    return topic_of(record)[1] == "reasoning"
