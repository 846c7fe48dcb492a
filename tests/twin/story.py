"""The story of the slow twin: the fold from entries to events, the queue, and the calls of agents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.twin.lines import Json, Record, clean, decode_or_none, mapping, publish, string_of, trim
from tests.twin.markers import without_context_around
from tests.twin.queue import Queued, WordQueue
from tests.twin.results import (
    answers_of,
    clarified,
    given_back,
    plan_answered,
    plan_asked,
    rejection_of,
    teammate,
    usage_note,
    workflow_folder,
)
from tests.twin.who import (
    clears,
    foreign_origin,
    is_from_client,
    is_from_human,
    is_notice,
    is_plan,
    is_typed_by_human,
    words_of_user,
)
from tests.twin.words import (
    Event,
    Picture,
    Words,
    blocks_of,
    content_blocks,
    images_of,
    images_within,
    picture_of,
    session_of,
    text_of,
    texts_of,
)

AGENT_TOOLS = {"Task", "Agent"}
PLAN_TOOL, QUESTION_TOOL, WORKFLOW_TOOL = "ExitPlanMode", "AskUserQuestion", "Workflow"

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


@dataclass
class WorkflowRun:
    """A call of `Workflow`: its event, and the folder in which the files of its agents lie."""

    tool_use_id: str
    event: Event
    folder: str
    story: Story


BOUNDARIES = ["compaction", "clear"]
# Words that come while a turn goes on.
WITHIN_A_TURN = {"queued", "answer", "rejection"}


def queued_of(content: object, entry: Json, *, is_typed: bool = False) -> Queued:
    """The text and the images of a queued content."""
    blocks = content_blocks(content)
    return Queued(texts_of(blocks), images_of(blocks), session_of(entry), is_typed)


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
        self.agent_id = ""
        self.agent_name = ""
        self.workflow_runs: list[WorkflowRun] = []
        self.usage_notes: dict[str, dict[str, int]] = {}

    def take(self, record: Record) -> None:
        """Folds one entry into the story; of noise only progress and a hook that clears tell something."""
        self.agent_id = self.agent_id or string_of(record.entry, "agentId")
        self.agent_name = self.agent_name or string_of(record.entry, "agentName")
        if clears(record):
            self.pending.add("clear")
        if record.type == "progress":
            self.take_progress(record)
        if record.kind != "noise":
            self.take_told(record)

    def take_told(self, record: Record) -> None:
        """Folds one entry that is no noise."""
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
            self.take_attachment(record, mapping(record.entry.get("attachment")))
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
        event.boundary += sorted(self.pending, key=BOUNDARIES.index)
        self.pending.clear()
        self.events.append(event)
        return event

    def add_user(self, record: Record, words: Words, text: str, images: list[Json]) -> None:
        """Adds an event of the human: words, or pictures, or both."""
        noun = "queued" if words.source == "queued" else "pasted"
        pictures = [(picture, f"Image {noun} by the user") for picture in self.keep(record, images)]
        if words.says or words.summary or pictures:
            event = self.event_of(record, "user", text)
            event.says, event.source, event.pictures = words.says, words.source, pictures
            event.continuation_summary = words.summary
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
            if event.source not in WITHIN_A_TURN and "continuation" not in event.boundary:
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
        told = self.take_human_results(record, blocks)
        only_results = blocks != [] and all(mapping(block).get("type") == "tool_result" for block in blocks)
        texts, text = texts_of(blocks), text_of(blocks)
        if only_results:
            return
        is_typed = is_typed_by_human(entry)
        words = words_of_user(entry, texts)
        if self.first_user_text is None and text:
            # Context that the client put before the prompt is not part of it.
            self.first_user_text = (words.says or words.summary if words else "") or text
        if not is_typed:
            self.note_usage(texts)
        if words is None or words.machine:
            told = any(is_notice(one) for one in texts)
            self.queue.line_of_the_client(text, session_of(entry), is_notification=told)
        elif words.source is None and is_plan(entry, words.says, is_typed=is_typed):
            words.source = "plan"
        if words and told and not text:
            # Pictures without words belong to what was said through a result.
            self.show(self.events[-1], self.keep(record, images_of(blocks)), "Image pasted by the user")
        elif words:
            self.take_words(record, words, text, images_of(blocks))

    def note_usage(self, texts: list[str]) -> None:
        """Notes what agents in the background used, as notifications tell it."""
        for text in texts:
            note = usage_note(text) if is_notice(text) else None
            if note is not None and note[1]:
                self.usage_notes.setdefault(note[0], {}).update(note[1])

    def take_words(self, record: Record, words: Words, text: str, images: list[Json]) -> None:
        """What a human's text does: an interruption, an event, a compaction.

        A continuation summary is written by the client: it never was in the queue.
        """
        last = self.last_assistant()
        if words.interruption and last is not None:
            last.interrupted = True
        compacts = words.command == "/compact" and not self.joins_summary()
        says = "" if words.dropped else words.says
        is_in_queue = not words.continuation and not words.machine
        session = session_of(record.entry)
        repeated = self.queue.user_line(text, says, session) if is_in_queue else None
        if repeated is not None:
            self.show(repeated, self.keep(record, images), "Image pasted by the user")
        else:
            self.add_user(record, words, text, images)
        if compacts:
            self.pending.add("compaction")
        if words.command == "/clear":
            self.pending.add("clear")

    def joins_summary(self) -> bool:
        """Whether the last event is the summary of a compaction: a late `/compact` is the reason for it."""
        if not self.events or "continuation" not in self.events[-1].boundary:
            return False
        boundary = self.events[-1].boundary
        if "compaction" not in boundary:
            boundary.insert(boundary.index("continuation") + 1, "compaction")
        return True

    # -- the assistant

    def take_assistant(self, record: Record) -> None:
        """An `assistant` entry: what it says, thinks and reaches for; messages of the client are counted."""
        message = mapping(record.entry.get("message"))
        if is_from_client(record.entry):
            self.client_messages_dropped += 1
            return
        blocks = content_blocks(message.get("content"))
        thoughts = [trim(string_of(block, "thinking")) for block in blocks_of(blocks, "thinking")]
        calls = blocks_of(blocks, "tool_use", "server_tool_use", "mcp_tool_use")
        tool_blocks = [block for block in calls if string_of(block, "name")]
        event = self.event_of(record, "assistant", "")
        event.says = text_of(blocks)
        event.thinks = "\n".join(thought for thought in thoughts if thought)
        event.tools = [string_of(block, "name") for block in tool_blocks]
        event.message_id, event.decoded = string_of(message, "id"), event.says + event.thinks
        if event.says or event.thinks or event.tools:
            self.add(event)
            self.queue.assistant_spoke()
            for block in tool_blocks:
                id_, tool, asked = string_of(block, "id"), string_of(block, "name"), block.get("input")
                started = AgentCall(id_, asked) if tool in AGENT_TOOLS else None
                if tool == PLAN_TOOL and not event.plan:
                    event.plan = plan_asked(asked)
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
            # What was given back as data does not say which result it belongs to when there are several.
            extra = given_back(record.entry) if len(results) == 1 else {}
            call, text = self.calls.get(id_), text_of(content_blocks(block.get("content")))
            if call and call.tool == PLAN_TOOL and not call.event.plan:
                call.event.plan = plan_answered(extra, record.entry)
            folder = workflow_folder(extra, text) if call and call.tool == WORKFLOW_TOOL else ""
            if call and folder:
                self.workflow_runs.append(WorkflowRun(id_, call.event, folder, self))
            answered = self.agent_call(id_)
            if answered is not None:
                answered.answered = True
                answered.take_result(text, extra)

    def take_human_results(self, record: Record, blocks: list[Any]) -> int:
        """Takes from tool results what the human answered, and what they said when they rejected a call.

        Gives how many events that made.
        """
        results, events = list(blocks_of(blocks, "tool_result")), len(self.events)
        for block in results:
            call = self.calls.get(string_of(block, "tool_use_id"))
            text = trim(text_of(content_blocks(block.get("content"))))
            extra = given_back(record.entry) if len(results) == 1 else {}
            rejection = rejection_of(text, block)
            answers = answers_of(text, extra) if rejection is None else clarified(rejection)
            words = without_context_around(rejection) if rejection and answers is None else ""
            denied = len(results) == 1 and record.entry.get("toolDenialKind") == "user-rejected"
            if denied and not words and not (answers and answers.says):
                feedback = trim(string_of(record.entry, "userFeedback"))
                answers = clarified(feedback)
                words = without_context_around(feedback) if answers is None else ""
            if words and is_from_human(record.entry):
                self.add_told(record, "rejection", words, [])
            elif answers is not None and answers.says:
                if (call is None or call.tool == QUESTION_TOOL) and is_from_human(record.entry):
                    self.add_told(record, "answer", "\n".join(answers.says), answers.questions)
            elif call is not None and (rejection is not None or denied):
                call.event.rejected = True
        return len(self.events) - events

    def add_told(self, record: Record, source: str, says: str, questions: list[str]) -> None:
        """Adds the event of words that the client put into a tool result."""
        event = self.event_of(record, "user", says)
        event.says, event.source, event.questions = says, source, questions
        self.add(event)

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
        queued = queued_of(record.entry.get("content"), record.entry)
        self.note_usage(queued.texts)
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
                self.queue.became(Queued(taken.texts, [], queued.session), self.events[-1])

    def take_queued_command(self, record: Record) -> None:
        """A `queued_command` attachment delivers, unless a `remove` did it before."""
        attachment = mapping(record.entry.get("attachment"))
        holders = (attachment, record.entry)
        is_typed = any(is_typed_by_human(holder) for holder in holders)
        queued = queued_of(attachment.get("prompt"), record.entry, is_typed=is_typed)
        if not is_typed:
            self.note_usage(queued.texts)
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
            if is_human:
                outcome.uuid, outcome.place = string_of(record.entry, "uuid"), record

    def take_attachment(self, record: Record, attachment: Json) -> None:
        """An `attachment` entry that is no noise."""
        if attachment.get("type") == "queued_command":
            self.take_queued_command(record)
        else:
            self.take_mentioned(record, attachment)

    def take_mentioned(self, record: Record, attachment: Json) -> None:
        """Pictures in a file that the human mentioned with an @ belong to what they said last."""
        pictures = self.keep(record, images_within(attachment))
        event = next((event for event in reversed(self.events) if event.role == "user"), None)
        if event is not None:
            self.show(event, pictures, "Image mentioned by the user")
        else:
            for _ in pictures:
                self.lose(record, "no_event")

    def show(self, event: Event, pictures: list[Picture], description: str) -> None:
        """Adds the pictures that the event does not have yet."""
        for picture in pictures:
            if picture not in [shown for shown, _ in event.pictures]:
                event.pictures.append((picture, description))


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
        self.teammate: tuple[str, str] | None = None  # the id and the name that it has in a team
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
        self.teammate = self.teammate or teammate(extra)
        if string_of(extra, "agentId"):
            self.evidence.setdefault("result", string_of(extra, "agentId"))
        said = re.findall(r"^agentId:[ \t]*(\S+)", text, re.MULTILINE)
        if said and self.teammate is None:
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
