"""Lines as Claude Code writes them, and the ledger that keeps their shares of the bytes in place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from benches.corpus.vocabulary import path_in_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benches.corpus.vocabulary import Dice


class Ledger:
    """Counts what was written, part by part, and says how large the next piece of a part should be."""

    # As if so many lines with the right shares stood before the first one: the first sizes are no outliers.
    _HEAD_START = 40

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.total = 0
        self.lines = 0
        self.bytes = dict.fromkeys(profile.shares, 0)

    def size(self, part: str, dice: Dice, weight: float = 1.0) -> int:
        """A size for the next piece of `part`: what is typical, or more if the part is behind its share."""
        # Measured against lines times mean line, not the total: that keeps the mean line in place as well.
        share = self._profile.shares[part] * self._profile.mean_line
        wanted = share * (self.lines + self._HEAD_START)
        lag = wanted / (self.bytes[part] + share * self._HEAD_START)
        return dice.spread(self._profile.typical[part] * weight * min(3.0, max(0.2, lag * lag * lag * lag)))


@dataclass(frozen=True)
class Profile:
    """One kind of session: who writes it, and what its bytes consist of."""

    write: Callable[[Profile, Dice, float], Iterator[bytes]]
    mean_line: int
    shares: Mapping[str, float]
    """Part of the file to its share of the bytes. `signal` is decoded text, the other parts are lines."""
    typical: Mapping[str, int]
    """Bytes of one piece of a part, before the ledger's correction."""


class ClaudeLines:
    """Whole lines of a main session file, in the key order of Claude Code 2.1.39.

    Text that comes in is escaped already. Lines gather in `written` until somebody takes them.
    """

    cwd = "/home/robin/projects/lanternfish"
    sidechain = "false"
    """As JSON; the lines of a subagent's file say `true`."""

    def __init__(self, profile: Profile, dice: Dice) -> None:
        self.dice = dice
        self.ledger = Ledger(profile)
        self.session = dice.uuid()
        self.first_message = dice.uuid()
        self.parent: str | None = None
        self.slug = ""
        self.clock = datetime(2026, 2, 10, 9, 14, 3, tzinfo=timezone.utc)
        self.files = [path_in_project(dice) for _ in range(120)]
        self.written: list[bytes] = []

    def now(self, up_to_ms: int = 900) -> str:
        """A timestamp a little after the last one."""
        self.clock += timedelta(milliseconds=self.dice.between(1, up_to_ms))
        return self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _line(self, part: str | None, text: str) -> None:
        data = (text + "\n").encode()
        self.written.append(data)
        self.ledger.lines += 1
        self.ledger.total += len(data)
        if part is not None:
            self.ledger.bytes[part] += len(data)

    def _head(self, parent: str | None, logical: str = "") -> str:
        start = f'{{"parentUuid":"{parent}"' if parent else '{"parentUuid":null'
        return (
            f'{start}{logical},"isSidechain":{self.sidechain},"userType":"external","cwd":"{self.cwd}",'
            f'"sessionId":"{self.session}","version":"2.1.39","gitBranch":"tides"{self.slug}'
        )

    def _next(self) -> tuple[str | None, str]:
        """The parent of a new line and its own uuid, which becomes the parent of the line after it."""
        parent, uuid = self.parent, self.dice.uuid()
        self.parent = uuid
        return parent, uuid

    def user(self, content: str, flags: str = "", tail: str = "") -> None:
        """A `user` line without a tool result; flags such as `,"isMeta":true` stand before the uuid."""
        parent, uuid = self._next()
        self._line(
            "mirrored",
            f'{self._head(parent)},"type":"user","message":{{"role":"user","content":{content}}}{flags},'
            f'"uuid":"{uuid}","timestamp":"{self.now(4000)}"{tail}}}',
        )

    def human(self, words: str) -> None:
        """What the human typed at the prompt."""
        metadata = ',"thinkingMetadata":{"maxThinkingTokens":31999},"todos":[],"permissionMode":"default"'
        self.user(f'"{words}"', tail=metadata)

    def tool_result(self, block: str, copy: str, source: str) -> None:
        """A `user` line that brings a result twice: for the model in `block`, for the program in `copy`."""
        self.parent = source
        self.user(f"[{block}]", tail=f',"toolUseResult":{copy},"sourceToolAssistantUUID":"{source}"')
        copied = len(copy.encode())
        self.ledger.bytes["toolUseResult"] += copied
        self.ledger.bytes["mirrored"] -= copied

    def assistant(self, message: tuple[str, str], block: str, model: str = "claude-opus-4-6") -> str:
        """One block of a message, given as message id and request id; returns the line's uuid."""
        parent, uuid = self._next()
        dice = self.dice
        usage = (
            f'{{"input_tokens":{dice.between(1, 9)},"cache_creation_input_tokens":{dice.between(90, 9000)},'
            f'"cache_read_input_tokens":{dice.between(9000, 150000)},"cache_creation":'
            f'{{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":{dice.between(90, 9000)}}},'
            f'"output_tokens":{dice.between(1, 900)},"service_tier":"standard","inference_geo":"global"}}'
        )
        self._line(
            "assistant",
            f'{self._head(parent)},"message":{{"model":"{model}","id":"{message[0]}","type":"message",'
            f'"role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}},'
            f'"requestId":"{message[1]}","type":"assistant","uuid":"{uuid}","timestamp":"{self.now(6000)}"}}',
        )
        return uuid

    def progress(self, data: str, tool_use: str, parent_tool_use: str, *, swapped: bool = False) -> None:
        """A `progress` line; hooks after a call and at the start of a session have the tail keys swapped."""
        parent, uuid = self._next()
        tail = f'"toolUseID":"{tool_use}","parentToolUseID":"{parent_tool_use}","uuid":"{uuid}",'
        tail += f'"timestamp":"{self.now(300)}"'
        if swapped:
            tail = f'"parentToolUseID":"{parent_tool_use}","toolUseID":"{tool_use}",'
            tail += f'"timestamp":"{self.now(300)}","uuid":"{uuid}"'
        self._line("progress", f'{self._head(parent)},"type":"progress","data":{data},{tail}}}')

    def hooks(self, event: str, name: str, tool_use: str, count: int) -> None:
        """Progress of `count` hooks of one event."""
        for number in range(count):
            command = f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{event.lower()}-{number}.sh"
            data = f'"hookEvent":"{event}","hookName":"{event}:{name}","command":"{command}"'
            swapped = event != "PreToolUse"
            self.progress(f'{{"type":"hook_progress",{data}}}', tool_use, tool_use, swapped=swapped)

    def system(self, subtype: str, middle: str, tail: str = "") -> None:
        """A `system` line."""
        parent, uuid = self._next()
        self._line(
            None,
            f'{self._head(parent)},"type":"system","subtype":"{subtype}",{middle},'
            f'"timestamp":"{self.now()}","uuid":"{uuid}"{tail}}}',
        )

    def compact_boundary(self, trigger: str) -> None:
        """A new root of the tree: the line before it is only its logical parent."""
        logical, uuid = self._next()
        metadata = f'{{"trigger":"{trigger}","preTokens":{self.dice.between(150_000, 170_000)}}}'
        self._line(
            None,
            self._head(None, f',"logicalParentUuid":"{logical}"')
            + ',"type":"system","subtype":"compact_boundary","content":"Conversation compacted",'
            f'"isMeta":false,"timestamp":"{self.now()}","uuid":"{uuid}","level":"info",'
            f'"compactMetadata":{metadata}}}',
        )

    def queue(self, operation: str, content: str | None = None) -> None:
        """A `queue-operation` line."""
        words = "" if content is None else f',"content":"{content}"'
        self._line(
            None,
            f'{{"type":"queue-operation","operation":"{operation}","timestamp":"{self.now()}",'
            f'"sessionId":"{self.session}"{words}}}',
        )

    def snapshot(self, *, update: bool) -> None:
        """A `file-history-snapshot` line; an update tracks as many files as there is room in the share."""
        when = self.now()
        tracked = self.ledger.size("snapshot", self.dice) // 140 if update else 0
        backups = ",".join(
            f'"{name}":{{"backupFileName":"{self.dice.hexadecimal(8)}{self.dice.hexadecimal(8)}@v1",'
            f'"version":1,"backupTime":"{when}"}}'
            for name in self.files[:tracked]
        )
        self._line(
            "snapshot",
            f'{{"type":"file-history-snapshot","messageId":"{self.dice.uuid()}","snapshot":{{"messageId":'
            f'"{self.first_message}","trackedFileBackups":{{{backups}}},"timestamp":"{when}"}},'
            f'"isSnapshotUpdate":{"true" if update else "false"}}}',
        )
