"""The fold from Codex records to events, on the story that every agent's twin shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.twin.codex_requests import answers_of, text_of_output
from tests.twin.codex_twins import REASONING, TURN_MARKS, Twins
from tests.twin.codex_types import body_of, item_of, topic_of
from tests.twin.codex_words import (
    Message,
    Tool,
    images_of_mcp,
    images_of_output,
    images_of_result,
    mcp_tool_of,
    message_of,
    thoughts_of,
    tool_of,
)
from tests.twin.lines import Json, Record, decode_or_none, mapping, publish, string_of, trim
from tests.twin.story import AgentCall, Call, Story, duration_of
from tests.twin.words import Event, picture_of

PASTED = "Image pasted by the user"


@dataclass
class CodexEvent(Event):
    """An event with what only some sessions have."""

    plan: str = ""
    questions: list[str] = field(default_factory=list)

    def to_dict(self) -> Json:
        """The event as it stands in events.json."""
        told = super().to_dict()
        if self.plan:
            told["plan"] = publish(self.plan)
        if self.questions:
            told["questions"] = [publish(question) for question in self.questions]
        return told


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
        self.twins = Twins(records)
        self.called = {tool_of(record).id for record in records if is_call(record) and tool_of(record).name}
        self.asked: dict[str, Tool] = {}  # the calls so far, by their id
        self.viewed: Call | None = None  # the call that shows the assistant an image, while nobody speaks
        self.early: dict[str, list[tuple[Record, list[Json]]]] = {}
        self.open_turn: Record | None = None
        self.open_turn_has_user = False
        self.turns: list[Event] = []  # the user events that turns begin with
        self.title: str | None = None
        self.cwd = ""
        for record in records:
            self.take(record)

    def take(self, record: Record) -> None:
        """Folds one record of the thread itself into the story."""
        self.first_timestamp = self.first_timestamp or string_of(record.entry, "timestamp")
        recording, topic = topic_of(record)
        message = message_of(record)
        if message is not None:
            self.take_message(record, message)
        elif topic in REASONING:
            self.take_thoughts(record)
        elif topic == "Plan":
            self.take_plan(record)
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

    def add(self, event: Event, *, continuation: bool = False) -> Event:
        """Adds an event; what somebody says stands between a call and an image."""
        if event.role == "user" or event.says or (isinstance(event, CodexEvent) and event.plan):
            self.viewed = None
        return super().add(event, continuation=continuation)

    def event_of(self, record: Record, role: str, decoded: str) -> CodexEvent:
        """The next event, still without words."""
        return CodexEvent(len(self.events), role, record, "", decoded=decoded)

    def show_pasted(self, event: Event, images: list[Json]) -> bool:
        """Gives an event of the human its images, each once; those that are none are reported."""
        found: list[Any] = []
        for image in images if self.with_images else []:
            if (one := picture_of(image)) not in found:
                found.append(one)
        for one in found:
            if isinstance(one, str):
                self.lose(event.record, one)
            else:
                event.pictures.append((one, PASTED))
        return event.pictures != []

    # -- words and thoughts

    def take_message(self, record: Record, message: Message) -> None:
        """A message, where this record of it tells it."""
        self.cwd = self.cwd or message.cwd
        last = self.last_assistant()
        if message.aborts and last is not None:
            last.interrupted = True
        told = self.twins.told.get(id(record))
        if told is None or told.teller is not record:
            return
        if message.is_bare and len(told.members) == 1 and self.viewed is not None:
            self.take_result_pictures(record, self.viewed, message.images)
            return
        event = self.event_of(record, message.role, message.written)
        event.says, event.source, event.questions = message.says, message.source, message.questions
        event.plan = self.twins.own_plan(told)
        if message.role == "user":
            self.first_user_text = self.first_user_text or event.says or trim(message.written)
        if self.show_pasted(event, told.images) or event.says or event.plan:
            self.add(event)
            if message.role == "user":
                self.begin_turn(event)

    def take_plan(self, record: Record) -> None:
        """A plan that the assistant has proposed."""
        text = string_of(item_of(record.entry), "text")
        event = self.event_of(record, "assistant", text)
        event.plan = trim(text)
        if event.plan:
            self.add(event)

    def take_thoughts(self, record: Record) -> None:
        """Reasoning, where no other record tells it."""
        thoughts = thoughts_of(record)
        if thoughts and id(record) not in self.twins.silent:
            event = self.event_of(record, "assistant", thoughts)
            event.thinks = thoughts
            self.add(event)

    # -- tools

    def take_tool(self, record: Record, tool: Tool, images: list[Json]) -> None:
        """A call, and the images that stand in it; one without a name calls nothing."""
        if tool.name:
            event = self.event_of(record, "assistant", "")
            event.tools = [tool.name]
            self.add(event)
            started = SpawnCall(tool) if is_spawn(tool) else None
            self.note_call(tool.id, Call(event, tool.name, tool.arguments, started))
            self.asked[tool.id] = tool
            if tool.plain_name == "view_image":
                self.viewed = Call(event, tool.name, tool.arguments)
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
        self.take_answers(record, id_, body.get("output"))

    def take_answers(self, record: Record, id_: str, output: object) -> None:
        """What the human answered when the assistant asked: words of theirs, but no turn of their own."""
        tool = self.asked.get(id_) if id_ else None
        if tool is not None and tool.plain_name != "request_user_input":
            return
        answers = answers_of(output, None if tool is None else tool.questions)
        if answers.lines:
            says = "\n".join(answers.lines)
            event = self.event_of(record, "user", text_of_output(output) or says)
            event.says, event.source, event.questions = says, "answer", answers.questions
            self.add(event)

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
        if topic in TURN_MARKS:
            self.viewed = None
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
                event.rolled_back, event.live = True, False


def is_spawn(tool: Tool) -> bool:
    """Whether the call starts a subagent."""
    return tool.plain_name == "spawn_agent" and tool.is_function


def is_call(record: Record) -> bool:
    """Whether the record is a call that went to the program."""
    return topic_of(record)[1].endswith("_call")


def plain(value: object) -> str:
    """A name without the spelling that differs between versions."""
    return value.replace("_", "").lower() if isinstance(value, str) else ""
