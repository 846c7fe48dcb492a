"""Which records of a Codex rollout are one message: words and thoughts are recorded twice, in several ways.

Nothing is left out because the file has records of another kind: only because its own twin is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.twin.codex_types import item_of, topic_of
from tests.twin.codex_words import Message, all_thoughts_of, message_of, squeezed, thoughts_of
from tests.twin.lines import Json, Record, string_of

ITEMS, TELLERS = ("R", "O"), ("E", "I")
TURN_MARKS = ("task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted")
BLACKENED = re.compile(r"\[REDACTED[^\[\]]*\]")
REASONING = ("reasoning", "Reasoning", "agent_reasoning", "agent_reasoning_raw_content")


@dataclass
class Told:
    """One message, and the records of it in the order of the file."""

    role: str
    members: list[tuple[Record, Message]] = field(default_factory=list)

    @property
    def recordings(self) -> list[str]:
        """In which ways it has been recorded so far."""
        return [topic_of(record)[0] for record, _ in self.members]

    @property
    def sides(self) -> set[bool]:
        """Whether items tell it, and whether anything else does."""
        return {recording in ITEMS for recording in self.recordings}

    @property
    def teller(self) -> Record:
        """The record that its event is made of: an event or a completed item, if there is one."""
        tellers = [record for record, _ in self.members if topic_of(record)[0] in TELLERS]
        return tellers[0] if tellers else self.members[0][0]

    @property
    def images(self) -> list[Json]:
        """The images of all its records."""
        return [image for _, message in self.members for image in message.images]

    @property
    def plan(self) -> str:
        """The plan that stands in it."""
        return next((message.plan for _, message in self.members if message.plan), "")


class Twins:
    """What the records of a thread tell, with those that only tell it once more."""

    def __init__(self, records: list[Record]) -> None:
        self.told: dict[int, Told] = {}  # by the identity of each record
        self.stretches: dict[int, int] = {}
        self.pair(records)
        self.take_blackened_out()
        self.silent = self.silent_thoughts(records)
        self.plans = {
            (self.stretches[id(record)], squeezed(string_of(item_of(record.entry), "text")))
            for record in records
            if topic_of(record) == ("I", "Plan")
        }

    def pair(self, records: list[Record]) -> None:
        """The same words, recorded in different ways, are one message.

        Not beyond an answer to them or the end of a turn: who says "yes" twice has said it twice. A stretch
        ends with each turn and each message of the human.
        """
        open_: dict[str, list[Told]] = {"user": [], "assistant": []}
        stretch = 0
        for record in records:
            message = message_of(record)
            counts = message is not None and message.counts
            if topic_of(record)[1] in TURN_MARKS:
                open_ = {"user": [], "assistant": []}
            if topic_of(record)[1] in TURN_MARKS or (message and counts and message.role == "user"):
                stretch += 1
            self.stretches[id(record)] = stretch
            if message is None or not counts:
                continue
            open_["assistant" if message.role == "user" else "user"].clear()
            recording = topic_of(record)[0]
            same = [
                told
                for told in open_[message.role]
                if told.members[0][1].tells_the_same(message) and recording not in told.recordings
            ]
            told = same[-1] if same else Told(message.role)
            if not same:
                open_[message.role].append(told)
            told.members.append((record, message))
            self.told[id(record)] = told

    def take_blackened_out(self) -> None:
        """Leaves out what is blackened and told by an item alone, where the human's words stand elsewhere.

        It may be anything that the client said in the human's place.
        """
        of_user = [told for told in self.told.values() if told.role == "user"]
        if any(False in told.sides for told in of_user):
            for told in of_user:
                words = told.members[0][1].words
                is_blackened = squeezed(words) != "" and squeezed(BLACKENED.sub("", words)) == ""
                if is_blackened and told.sides == {True} and not told.images:
                    for record, _ in told.members:
                        self.told.pop(id(record), None)

    def silent_thoughts(self, records: list[Record]) -> set[int]:
        """The records whose thoughts an item holds, or another record has told."""
        items = [record for record in records if topic_of(record)[1] == "reasoning"]
        held = [(self.stretches[id(record)], all_thoughts_of(record)) for record in items]
        silent: set[int] = set()
        told: list[tuple[int, str, set[str]]] = []
        for record in records:
            recording, topic = topic_of(record)
            thoughts = squeezed(thoughts_of(record)) if topic in REASONING else ""
            stretch = self.stretches[id(record)]
            if thoughts == "":
                continue
            if recording in TELLERS and any(there == stretch and thoughts in text for there, text in held):
                silent.add(id(record))
                continue
            same = [one for one in told if one[:2] == (stretch, thoughts) and recording not in one[2]]
            if same:
                silent.add(id(record))
                same[0][2].add(recording)
            else:
                told.append((stretch, thoughts, {recording}))
        return silent

    def own_plan(self, told: Told) -> str:
        """The plan of a message, unless a completed item tells it."""
        near = {self.stretches[id(record)] for record, _ in told.members}
        is_told = any((stretch, squeezed(told.plan)) in self.plans for stretch in near)
        return "" if is_told else told.plan
