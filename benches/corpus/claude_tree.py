"""A made-up projects folder: many small sessions, and beside most of them the files of their subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.corpus.claude_session import ClaudeSession, Tapes
from benches.corpus.vocabulary import NOUNS, Dice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benches.corpus.claude_lines import Profile

_PROJECTS = 40
_SHARE_OF_AGENTS = 0.2


class SmallSession(ClaudeSession):
    """A session of short turns: with long ones it could not be small. Each of them calls a subagent."""

    most_answers = 7
    agent_every = 1


class AgentSession(ClaudeSession):
    """The file of a subagent: its lines name it, and its results have no second copy."""

    sidechain = "true"

    def tool_result(self, block: str, copy: str, source: str) -> None:  # noqa: ARG002 - main files have the copy
        """A `user` line that brings a result."""
        self.parent = source
        self.user(f"[{block}]", tail=f',"sourceToolAssistantUUID":"{source}"')

    def lines_of(self, agent: str, prompt: str, session: str, size: float) -> Iterator[bytes]:
        """From the prompt to the report."""
        self.session = session
        self.slug = f',"agentId":"{agent}","slug":"quiet-drifting-lantern"'
        self.user(f'"{prompt}"')
        while self.ledger.total < size:
            self.answer()
        self.say(self.message(), 2.0)
        yield from self.written


def tree(
    kind: type[ClaudeSession], profile: Profile, agents: Profile, size: float, sessions: int, seed: int
) -> Iterator[tuple[str, bytes]]:
    """The files of a projects folder of about `size` bytes: the path below it, and what is in it.

    Args:
        kind: what the main files are.
        profile: what their bytes consist of.
        agents: the same for the files of subagents.
        size: bytes of all files together.
        sessions: how many main files there are.
        seed: any whole number.
    """
    dice = Dice(seed)
    tapes = Tapes.drawn(dice)
    each = size / sessions
    done = 0
    for number in range(sessions):
        own = Dice(seed * 1_000_003 + number)
        project = f"-home-robin-projects-{NOUNS[number % _PROJECTS]}"
        session = kind(profile, own, tapes)
        # What is missing from all before or too much is made up for, so that the folder has its size.
        wanted = own.spread(each) + (each * number - done) / 8
        data = b"".join(session.lines(max(1, wanted * (1 - _SHARE_OF_AGENTS))))
        done += len(data)
        yield f"{project}/{session.session}.jsonl", data
        for agent, prompt in session.agents:
            file = AgentSession(agents, own, tapes)
            lines = file.lines_of(agent, prompt, session.session, own.spread(each * _SHARE_OF_AGENTS))
            data = b"".join(lines)
            done += len(data)
            yield f"{project}/{session.session}/subagents/agent-{agent}.jsonl", data
