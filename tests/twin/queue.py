"""The queue of words typed while the assistant worked, as the obvious lists.

The product finds everything by text or from one end; here every list is gone through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.twin.lines import decode_value, trim
from tests.twin.words import BARE_COMMAND, Words, human_words

if TYPE_CHECKING:
    from tests.twin.lines import Json
    from tests.twin.words import Event

MOST_COMBINED = 64
"""So many texts at the most are tried as parts of a combined delivery."""


@dataclass
class Queued:
    """Words typed while the assistant worked."""

    texts: list[str]
    images: list[Json]
    session: str = ""
    is_typed: bool = False  # known to be the human's, whatever it looks like

    @property
    def text(self) -> str:
        """All of it: the key by which operations find each other."""
        return trim("\n".join(self.texts))

    @property
    def words(self) -> Words:
        """What the human said in it."""
        words = human_words(self.texts, is_typed=self.is_typed)
        # A prompt in the queue continues nothing, even if it begins so.
        words.says = words.says or words.summary
        return words

    @property
    def is_notification(self) -> bool:
        """Whether the client wrote this, not the human."""
        return self.words.machine or (not self.is_typed and is_task_note(self.text))

    @property
    def is_human(self) -> bool:
        """Whether these are plain words or only pictures: no markup, no slash command without words."""
        words = self.words
        if words.dropped or words.source is not None or words.interruption or self.is_notification:
            return False
        return not BARE_COMMAND.fullmatch(words.says) if words.says else self.images != []


def is_task_note(text: str) -> bool:
    """Whether a text is what 2.1.45 to 2.1.50 put into the queue about a task, and nothing else."""
    try:
        note, end = decode_value(text, 0)
    except (ValueError, StopIteration):
        return False
    return end == len(text) and isinstance(note, dict) and {"task_id", "task_type"} <= note.keys()


@dataclass
class Delivered:
    """Words that a `remove` made an event of."""

    text: str
    session: str
    event: Event
    turn: int


class WordQueue:
    """What is open, what was delivered, and what is still expected."""

    def __init__(self) -> None:
        self.open: list[Queued] = []
        self.credits = 0
        self.dequeues = 0
        self.delivered: list[Delivered] = []
        self.fresh: list[str] = []
        self.told: set[str] = set()
        self.turn = 0

    def waiting(self) -> list[Queued]:
        """The open ones that are no notifications."""
        return [queued for queued in self.open if not queued.is_notification]

    def equal(self, text: str, session: str, *, with_images: bool = False) -> Queued | None:
        """The first open one of this text, of this session if there is one; pictures alone have no text."""
        if not text and not with_images:
            return None
        same = [one for one in self.open if one.text == text and (text or one.is_human)]
        return next(iter([one for one in same if one.session == session] or same), None)

    def close(self, queued: Queued | None) -> int:
        """Closes it; gives how many that was."""
        if queued is None:
            return 0
        self.open = [one for one in self.open if one is not queued]
        return 1

    def remove(self, words: Queued) -> Queued | None:
        """Something was given to the assistant; what has to become an event here."""
        if words.is_notification:
            self.close(self.equal(words.text, words.session))
            return None
        if words.text:
            found = self.equal(words.text, words.session)
        elif self.credits > 0:
            self.credits -= 1
            return None
        else:
            own = [queued for queued in self.waiting() if queued.session == words.session]
            found = next(iter(own or self.waiting()), None)
        if found is None and self.credits > 0:
            self.credits -= 1
            return None
        if found is None and words.text in self.told:
            return None
        self.close(found)
        taken = found or words
        return taken if taken.is_human else None

    def became(self, words: Queued, event: Event) -> None:
        """Removed words have become this event."""
        self.told.add(words.text)
        self.delivered.append(Delivered(words.text, words.session, event, self.turn))
        self.fresh = [*self.fresh, words.text][-MOST_COMBINED:]

    def take_delivered(self, text: str, session: str, *, this_turn: bool) -> Event | None:
        """The event that the text became already; taken, so that it is found once."""
        if not text:
            return None
        same = [
            one for one in self.delivered if one.text == text and (not this_turn or one.turn == self.turn)
        ]
        for one in [one for one in same if one.session == session] or same:
            self.delivered = [other for other in self.delivered if other is not one]
            return one.event
        parts = parts_of(text, self.fresh)
        firsts = [one for one in self.delivered if parts and one.text == parts[0]]
        if not firsts:
            return None
        self.delivered = [one for one in self.delivered if one.text not in parts]
        self.fresh = [one for one in self.fresh if one not in parts]
        return firsts[-1].event

    def attachment(self, words: Queued, *, is_human: bool) -> Event | bool | None:
        """The event that an attachment repeats, or whether it is one of its own."""
        own = self.equal(words.text, words.session, with_images=True)
        if words.is_notification:
            self.close(own)
            return False
        repeated = self.take_delivered(words.text, words.session, this_turn=True)
        if repeated is None and own is None:
            repeated = self.take_delivered(words.text, words.session, this_turn=False)
        if repeated is not None:
            return repeated
        closed = self.close(own) if own else self.close_parts(words.text)
        self.credits += max(1, closed)
        if is_human:
            self.told.add(words.text)
        return is_human

    def user_line(self, text: str, says: str, session: str) -> Event | None:
        """The event that a user line repeats, if it does; it may close what is open."""
        own = self.equal(text, session) or self.equal(says, session)
        if not (self.dequeues and own):
            repeated = self.take_delivered(text, session, this_turn=True)
            repeated = repeated or self.take_delivered(says, session, this_turn=True)
            if repeated is not None:
                return repeated
        closed = self.close(own)
        if self.dequeues:
            closed = closed or self.close_parts(text) or self.close_alike(is_markup=not says)
            self.used_up(max(1, closed))
        if closed:
            self.told.add(text)
        return None

    def line_of_the_client(self, text: str, session: str, *, is_notification: bool) -> None:
        """A user line that no human wrote uses up what the client itself had put into the queue."""
        own = [self.equal(text, session)]
        if own == [None]:
            notes = [queued for queued in self.open if queued.is_notification][:MOST_COMBINED]
            parts = parts_of(text, [queued.text for queued in notes])
            own = [self.equal(part, session) for part in parts]
            if not own and is_notification and self.dequeues:
                own = [*notes[:1]]
        closed = sum(self.close(queued) for queued in own if queued in self.open)
        if closed:
            self.used_up(closed)

    def used_up(self, closed: int) -> None:
        """So many announced deliveries have come."""
        self.dequeues = max(0, self.dequeues - closed) if self.open else 0

    def close_parts(self, text: str) -> int:
        """Closes the open texts that this one is made of."""
        parts = parts_of(text, [queued.text for queued in self.waiting()[:MOST_COMBINED]])
        found = [next((one for one in self.waiting() if one.text == part), None) for part in parts]
        return sum(self.close(queued) for queued in found if queued in self.open)

    def close_alike(self, *, is_markup: bool) -> int:
        """Words close words, markup closes markup: a queued command comes back spelled in tags."""
        oldest = self.waiting()[:MOST_COMBINED]
        return self.close(next((queued for queued in oldest if queued.is_human != is_markup), None))

    def assistant_spoke(self) -> None:
        """What the human types from now on is new."""
        self.turn += 1
        self.fresh.clear()


def parts_of(text: str, known: list[str]) -> list[str]:
    """The known texts, in their order, that the text is made of with line ends between; [] if it is not."""
    parts, rest = [], text
    for part in known:
        behind = rest.removeprefix(part)
        if part and rest.startswith(part) and (not behind or behind.startswith("\n")):
            parts.append(part)
            rest = behind.lstrip("\n")
    return parts if not rest and len(parts) > 1 else []
