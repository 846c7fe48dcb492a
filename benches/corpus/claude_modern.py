"""A made-up session of Claude Code 2.1.233: mostly attachments that list skills, agents and tools.

The session's own data moved to the end of each line, progress is gone, thinking is kept as a signature only,
and words typed while the model works arrive as an attachment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.corpus.claude_session import ClaudeSession
from benches.corpus.vocabulary import Tape, filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benches.corpus.claude_lines import Profile
    from benches.corpus.claude_session import Call, Tapes
    from benches.corpus.vocabulary import Dice

_LISTING = r"""
- <v>-<n>: <v> a <n> or the <n> of a <n>. Use when the <n> asks to <v> "the <n>", or when a <n> has no <n>.
- <n>:<v>-<n>: This skill should be used for every <n> that a <n> may <v> — also in `<p>` and its <n>.
- <n>-<n>: The <n> that <v>s each <n>; it takes <#> of them at most, and gives a <n> back. (Tools: Read, Grep)
- mcp__<n>__<v>_<n>: <v> the <n> of a "<n>" within <#> ms
"""


class ModernSession(ClaudeSession):
    """The same story, told by a later version."""

    agent_tool = "Agent"
    version = "2.1.233"

    def __init__(self, profile: Profile, dice: Dice, tapes: Tapes | None = None) -> None:
        super().__init__(profile, dice, tapes)
        self.listing = Tape(filled(dice, _LISTING, 3000))
        self.profile = profile
        self.words_asked = ""
        self._attachments: Mapping[str, Callable[[int], str]] = {
            "skills": self._skills,
            "agents": self._agents,
            "tools": self._tools,
            "reminders": self._reminder,
        }

    # Lines in the key order of this version

    def _head(self, parent: str | None, logical: str = "") -> str:
        start = f'{{"parentUuid":"{parent}"' if parent else '{"parentUuid":null'
        return f'{start}{logical},"isSidechain":{self.sidechain}'

    def _tail(self) -> str:
        return (
            f',"userType":"external","entrypoint":"cli","cwd":"{self.cwd}","sessionId":"{self.session}",'
            f'"version":"{self.version}","gitBranch":"tides"{self.slug}}}'
        )

    def user(self, content: str, flags: str = "", tail: str = "") -> None:
        """A `user` line without a tool result."""
        super().user(content, flags, tail + self._tail()[:-1])

    def human(self, words: str) -> None:
        """What the human typed at the prompt."""
        self.words_asked = words
        origin = ',"permissionMode":"default","origin":{"kind":"human"},"promptSource":"typed"'
        self.user(f'"{words}"', tail=origin)

    def assistant(self, message: tuple[str, str], block: str, model: str = "claude-opus-4-9") -> str:
        """One block of a message."""
        uuid = super().assistant(message, block, model)
        self._append_tail("assistant")
        return uuid

    def system(self, subtype: str, middle: str, tail: str = "") -> None:
        """A `system` line."""
        super().system(subtype, middle, tail + self._tail()[:-1])

    def compact_boundary(self, trigger: str) -> None:
        """A new root of the tree."""
        super().compact_boundary(trigger)
        self._append_tail(None)

    def _append_tail(self, part: str | None) -> None:
        """Put the session's data behind the line that was written last."""
        tail = self._tail()
        self.written[-1] = self.written[-1][:-2] + tail.encode() + b"\n"
        self.ledger.total += len(tail) - 1
        if part is not None:
            self.ledger.bytes[part] += len(tail) - 1

    def attachment(self, part: str, body: str) -> None:
        """An `attachment` line."""
        parent, uuid = self._next()
        self._line(
            part,
            f'{self._head(parent)},"attachment":{{{body}}},"type":"attachment","uuid":"{uuid}",'
            f'"timestamp":"{self.now()}"{self._tail()}',
        )

    def note(self, type_: str, key: str, value: str) -> None:
        """A line that tells something about the session: it has neither uuid nor time."""
        self._line(None, f'{{"type":"{type_}","{key}":"{value}","sessionId":"{self.session}"}}')

    # Attachments

    def hooks(self, event: str, name: str, tool_use: str, count: int) -> None:
        """What hooks gave back; most give nothing, and leave no line."""
        if count > 4:
            command = f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{event.lower()}.sh"
            data = f'"hookName":"{event}:{name}","toolUseID":"{tool_use}","hookEvent":"{event}"'
            result = (
                f'"content":"","stdout":"","stderr":"","exitCode":0,"command":"{command}","durationMs":31'
            )
            self.attachment("reminders", f'"type":"hook_success",{data},{result}')

    def _skills(self, size: int) -> str:
        first, last = self.listing.span(self.dice, size)
        content = self.listing.text((first, last))
        return f'"type":"skill_listing","content":"{content}","skillCount":{last - first},"isInitial":false'

    def _agents(self, size: int) -> str:
        lines = self._listed(size)
        return f'"type":"agent_listing_delta","addedTypes":[],"addedLines":["{lines}"],"removedTypes":[]'

    def _tools(self, size: int) -> str:
        lines = self._listed(size)
        return f'"type":"deferred_tools_delta","addedNames":[],"addedLines":["{lines}"],"removedNames":[]'

    def _listed(self, size: int) -> str:
        first, last = self.listing.span(self.dice, size)
        return '","'.join(self.listing.lines[first:last])

    def _reminder(self, size: int) -> str:
        if self.dice.chance(0.5):
            return '"type":"task_reminder","content":[],"itemCount":0'
        path = f"{self.cwd}/CLAUDE.md"
        memory = f'"path":"{path}","type":"Project","content":"{self.prose.cut(self.dice, size * 2)}"'
        return f'"type":"nested_memory","path":"{path}","content":{{{memory}}},"displayPath":"CLAUDE.md"'

    def attach(self) -> None:
        """Attachments until they have their share: each time the part that is furthest behind."""
        shares, written = self.profile.shares, self.ledger.bytes
        while True:
            behind = max(self._attachments, key=lambda part: shares[part] * self.ledger.total - written[part])
            if shares[behind] * self.ledger.total <= written[behind]:
                return
            size = self.dice.spread(self.profile.typical[behind])
            self.attachment(behind, self._attachments[behind](size))

    # The story, where it differs

    def open(self) -> None:
        """What stands before the first turn."""
        self.note("mode", "mode", "normal")
        self.note("permission-mode", "permissionMode", "default")
        self.snapshot(update=False)
        self.slug = ',"slug":"quiet-drifting-lantern"'

    def answer(self, name: str | None = None) -> None:
        """One answer, and what the client attaches behind it."""
        super().answer(name)
        self.attach()

    def think(self, message: tuple[str, str]) -> None:
        """A `thinking` block: its text is not kept."""
        signature = self.signature[: self.dice.between(300, 1200)]
        self.assistant(message, f'{{"type":"thinking","thinking":"","signature":"{signature}"}}')

    def interject(self, words: str) -> None:
        """Typed while the model works: the attachment is the record, the queue repeats it."""
        self.queue("enqueue", words)
        self.answer()
        origin = '"commandMode":"prompt","origin":{"kind":"human"}'
        self.attachment("reminders", f'"type":"queued_command","prompt":"{words}",{origin}')
        self.queue("remove")

    def finish(self) -> None:
        """The end of a turn, and the title once more."""
        super().finish()
        self.note("last-prompt", "lastPrompt", self.words_asked)
        self.note("ai-title", "aiTitle", "Mend the tide ledger")

    def _bash_progress(self, call: Call) -> None:
        """No progress is written any more."""

    def _agent_progress(self, call: Call, agent: str, block: str) -> None:
        """No progress is written any more."""

    def _agent_step(self, call: Call, agent: str) -> None:
        """An agent's steps stand in its own file only."""


def modern_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a Claude Code 2.1.233 session of at least `size` bytes."""
    return ModernSession(profile, dice).lines(size)
