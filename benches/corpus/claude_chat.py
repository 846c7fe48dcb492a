"""A made-up session in which human and model mostly talk: nearly a third of the bytes is what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.corpus.claude_session import ClaudeSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benches.corpus.claude_lines import Profile
    from benches.corpus.vocabulary import Dice


class ChatSession(ClaudeSession):
    """The lines of Claude Code 2.1.39, and few tools."""

    def turn(self) -> None:
        """A question, a few paragraphs, and now and then a look at a file."""
        self.turns += 1
        self.ask()
        for _ in range(self.dice.between(1, 3)):
            message = self.message()
            if self.dice.chance(0.4):
                self.think(message)
            self.say(message, 1.0)
            if self.dice.chance(0.35):
                self.result(self.call(self.deal(), message))
        if self.turns % 7 == 3:
            self.interject(self.words(self.requests, 0.3))
        self.finish()
        if self.turns % 60 == 0:
            self.compact()


def chat_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a session of at least `size` bytes."""
    return ChatSession(profile, dice).lines(size)
