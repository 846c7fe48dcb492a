"""Made-up session transcripts: the same profile, size and seed give the same bytes on every machine.

    python benches/generate.py --profile classic --megabytes 150 --seed 1 OUT.jsonl

A profile is a row of `PROFILES`: which writer makes the lines, and what share of the bytes each part takes.
The parts are nudged while writing (see `Ledger`), so the shares hold for every seed and from about 5 MB on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OUT = Path(__file__).resolve().parent / "out"


class Dice:
    """Seeded chance from `random.Random.random` alone, the one method whose sequence Python promises to keep.

    Only `+ - * /` are used on the floats: they round alike on every platform, the functions of `math` do not.
    """

    _BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, limit: int) -> int:
        """From 0 to below `limit`."""
        return int(self._random() * limit)

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True that often, of 1."""
        return self._random() < probability

    def spread(self, typical: float) -> int:
        """A size whose mean is `typical`: mostly half of it, now and then three times as much."""
        draw = self._random()
        return int(typical * (0.4 + 2.4 * draw * draw * draw))

    def pick(self, options: Sequence[str]) -> str:
        """One of the options."""
        return options[int(self._random() * len(options))]

    def hexadecimal(self, digits: int) -> str:
        """Up to 13 digits."""
        return f"{int(self._random() * 2**53) >> (53 - 4 * digits):0{digits}x}"

    def uuid(self) -> str:
        """A version 4 UUID."""
        first, last = self.hexadecimal(12), self.hexadecimal(12)
        middle = self.hexadecimal(7)
        return f"{first[:8]}-{first[8:]}-4{middle[:3]}-{'89ab'[int(middle[3], 16) & 3]}{middle[4:]}-{last}"

    def letters(self, count: int) -> str:
        """Base 62, as in message and tool ids."""
        alphabet, result = self._BASE62, ""
        while len(result) < count:
            number = int(self._random() * 2**53)
            for _ in range(8):
                number, digit = divmod(number, 62)
                result += alphabet[digit]
        return result[:count]


# The vocabulary is a made-up harbour office. In the templates <n> is a noun, <v> a verb, <T> a type name,
# <#> a number, <p> a path, ¶ a line end, ␛ the escape character.
_WORDS = """
tide lantern ledger buoy anchor harbour beacon kettle rudder parcel meadow pebble quay mooring gull compass
signal berth cargo ferry pilot chart current depth fathom gauge hull jetty keel lock marker net oar pier rope
sail tug vessel wharf yard almanac breeze crate drift ember fog galley horizon inlet knot
"""
_ACTIONS = """
measure carry fold count weigh light steer gather settle moor chart borrow mend paint lift lower sort trim
post release announce delay collect compare draw watch
"""
_NOUNS, _VERBS = _WORDS.split(), _ACTIONS.split()
_FOLDERS = ("src/office", "src/harbour", "tests/harbour", "web/pages", "web/parts", "tools", "docs/notes")
_ENDINGS = ("py", "ts", "rs", "md", "toml", "tsx", "css", "sql")

_CODE = r'''
def <v>_<n>(<n>: <T>, *, <n>_limit: int = <#>) -> <T>:
    """Give the <n> of every <n> that a <n> may <v>."""
    if <n>.<n>_<n> is None or len(<n>) > <#>:
        raise <T>Error(f"<n> {<n>!r} has no <n>")
    <n>s = [<n> for <n> in <n>.<n>s if <n>.<v>() != "<n>-<#>"]
    pattern = re.compile(r"^<n>-(\d+)\.(?:<n>|<n>)\s*$")
    logger.info("<v> %s of %d\n", <n>, <#>)
    return <T>(<n>=<n>, <n>=self._<v>(<n>), note="")

class <T>(<T>Base):
    <n>: dict[str, <T>] = field(default_factory=dict)  # <n> → <n>
	const <n> = await <v><T>(<n>Id, { <n>: "<n>", limit: <#> });
	return <n>.map((<n>) => `${<n>.<n>}/<#>`).join("\n");
    let <n> = <n>.iter().filter(|<n>| <n>.<v>() > <#>).count();
    assert_eq!(<v>(&<n>), Some("<n>"), "the <n> must not <v> twice");
        self.<n>_<n>[<n>] = {"<n>": <#>, "<n>": "<p>", "type": "<n>"}

    # The <n> comes before the <n>: a <n> that <v>s late would lose its <n>.
    with open("<p>", encoding="utf-8") as <n>:
        for <n>, <n>_<n> in enumerate(<n>.<v>()):
            yield <n>, <n>_<n>
    }
    else:
        break
import <n>_<n>
from <n>.<n> import <T>, <v>_<n>
    <n> = <n>.<v>(<n>, <n>=<#>)
    for <n> in <n>.<n>s:
        <n>s.append(<n>.<v>(<n>) + <#>)
        if <n>_<n> < <#> and not <n>.<n>:
            continue
    <n>.<v>(<n>)
    return <n>, <n>_<n>

- The <n> of a <n> is <v>ed by the <n>, never by the <n> itself.
                <n>: <n>.<n>.<v>(),
export type <T> = { <n>: string; <n>?: number; <n>: <T>[] };
SELECT <n>, count(*) AS <n>_count FROM <n>s WHERE <n> LIKE '%<n>%' GROUP BY <n>;
    expect(<v><T>("<n>")).toEqual({ <n>: <#>, "<n>-<n>": null });
'''
_SHELL = r"""
<p>:<#>: warning: unused <n> `<n>` in <v>_<n>
   Compiling <n>-<n> v0.<#>.1 (/home/robin/projects/lanternfish/crates/<n>)
tests/harbour/test_<n>.py::test_<v>_<n> PASSED                           [ <#>%]
  ✓ <p> > the <n> may <v> (<#> ms)
␛[31mFAILED␛[0m <p>::test_<n>_<v> - AssertionError: assert "<n>" == "<n>"
└─ <p>:<#>: <T>.<v>/2
{"type":"<n>","<n>":{"<n>":<#>,"path":"C:\\<n>\\<n>"}}
INFO  <n>.<n>  <v> of <n> done in <#> ms (<#> <n>s, <#> <n>s)
diff --git a/<p> b/<p>
@@ -<#>,7 +<#>,9 @@ def <v>_<n>(<n>: <T>) -> None:

-rw-r--r--  1 robin robin  <#> Feb 10 09:14 <n>_<n>.log
[<#>/980] Building <T>.<T>.<n>_<n>
make[1]: Entering directory '/home/robin/projects/lanternfish/<n>/<n>'
ok  	lanternfish/<n>/<n>	0.<#>s
  <n>_<n> ......................................... <#>
Compiling <#> files (.<n>) for the <n> of the <n>
   <#>:	    <n> = <n>.<v>(<n>)
tests/harbour/test_<n>.py::test_<n>_of_<n> PASSED                        [ <#>%]
tests/harbour/test_<n>.py::test_<n>_without_<n> PASSED                   [ <#>%]
2026-02-10 09:14:<#> <n> <v>s <n> <#> at <n> <#>
<p>:<#>:<#>: note: the <n> of this <n> stands here
  <#> | 	<n> := <v>(<n>, "<n>\n")
      |      ^^^^^^^^ the <n> is <v>ed here
"""
_PROSE = r"""
The <n> is <v>ed before the <n>, so `<v>_<n>` sees an empty <n> — that is why the <n> goes missing.
I'll <v> the <n> in `<p>` first and then look at how the <n> and the <n> share one <n>.
Done. The <n> now <v>s each <n> once, and its tests pass:¶¶- `<p>`: keeps its <n>¶- `<p>`: new test
There are two ways:¶¶1. **Keep the <n>** and <v> it late¶2. **Drop the <n>** and ask the <n> each time
Let me <v> the <n> and the <n> next to it, since the "<n>" in the error message names neither of them.
The failing test wants a <n> of <#>, but the <n> gives <#>; the café <n> ("naïve <n>") is not to blame…
Hmm, the <n> holds a <n> for every <n>. If two <n>s <v> at once, the later <n> wins. Is that what was meant?
```python¶<n> = <v>_<n>("<n>", limit=<#>)¶assert <n> != "\n"¶```
All <#> tests pass ✅ and the <n> takes <#> ms where it took <#> ms before.
"""
_REQUESTS = r"""
Please <v> the <n> before the <n> opens, the <n> complains about its "<n>".
Why does the <n> <v> the <n> twice?
The <n> page shows <#> where I expected <#>, can you have a look at <p>?
Looks good, now do the same for the <n>.
And don't touch the <n>, the other <n> still needs it.
When I <v> a <n> I get:¶    <T>Error: <n> has no <n>¶It worked yesterday — maybe the <n>?
Let's keep the <n> simple: one <n>, one <n>.
"""


def _escaped(text: str) -> str:
    """The inside of a JSON string as `JSON.stringify` writes it: non-ASCII characters stay as they are."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _filled(dice: Dice, templates: str, count: int) -> list[str]:
    """`count` pieces of text, each from a template (one a line) drawn by chance."""
    drawn = templates.strip("\n").replace("␛", "\x1b").split("\n")
    words: Mapping[str, Callable[[], str]] = {
        "n": lambda: dice.pick(_NOUNS),
        "v": lambda: dice.pick(_VERBS),
        "T": lambda: dice.pick(_NOUNS).title(),
        "#": lambda: str(dice.between(2, 980)),
        "p": lambda: _path(dice),
    }
    return [
        re.sub("<([nvT#p])>", lambda blank: words[blank[1]](), dice.pick(drawn)).replace("¶", "\n")
        for _ in range(count)
    ]


def _path(dice: Dice) -> str:
    return f"{dice.pick(_FOLDERS)}/{dice.pick(_NOUNS)}_{dice.pick(_NOUNS)}.{dice.pick(_ENDINGS)}"


class Tape:
    """Made-up lines, escaped for JSON once, from which stretches of any size are cut without further work."""

    def __init__(self, lines: Sequence[str], glue: str = "\n") -> None:
        self.lines = [_escaped(line) for line in lines]
        self.glue = _escaped(glue)
        self._text = self.glue.join(self.lines)
        self._starts: list[int] = []
        self._plain_starts: list[int] = []
        start = plain = 0
        for escaped, line in zip(self.lines, lines, strict=True):
            self._starts.append(start)
            self._plain_starts.append(plain)
            start += len(escaped) + len(self.glue)
            plain += len(line.encode()) + len(glue)
        self._starts.append(start)
        self._plain_starts.append(plain)
        self._glue_length = len(glue)

    def span(self, dice: Dice, size: int) -> tuple[int, int]:
        """First and past-the-last line of a stretch of about `size` escaped characters, one line at least."""
        limit = len(self._text)
        first = bisect_right(self._starts, dice.below(max(1, limit - size))) - 1
        last = bisect_left(self._starts, min(self._starts[first] + max(size, 1), limit))
        return first, max(last, first + 1)

    def text(self, span: tuple[int, int]) -> str:
        """The escaped text of a stretch."""
        return self._text[self._starts[span[0]] : self._starts[span[1]] - len(self.glue)]

    def plain_bytes(self, span: tuple[int, int]) -> int:
        """UTF-8 bytes of the stretch once its escapes are decoded."""
        return self._plain_starts[span[1]] - self._plain_starts[span[0]] - self._glue_length

    def cut(self, dice: Dice, size: int) -> str:
        """A stretch of about that many characters, as text."""
        return self.text(self.span(dice, size))


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

    def __init__(self, profile: Profile, dice: Dice) -> None:
        self.dice = dice
        self.ledger = Ledger(profile)
        self.session = dice.uuid()
        self.first_message = dice.uuid()
        self.parent: str | None = None
        self.slug = ""
        self.clock = datetime(2026, 2, 10, 9, 14, 3, tzinfo=timezone.utc)
        self.files = [_path(dice) for _ in range(120)]
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
            f'{start}{logical},"isSidechain":false,"userType":"external","cwd":"{self.cwd}",'
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


@dataclass(frozen=True)
class Call:
    """A tool call, and what its result repeats of the input."""

    tool: str
    id: str
    uuid: str
    repeated: str


@dataclass(frozen=True)
class Tool:
    """How often a tool is called, and how many hook lines stand before and after its result."""

    weight: int
    before: int
    after: int


_TOOLS: Mapping[str, Tool] = {
    "Bash": Tool(40, 4, 2),
    "Edit": Tool(22, 2, 7),
    "Read": Tool(20, 0, 2),
    "Write": Tool(7, 2, 7),
    "Grep": Tool(5, 0, 2),
    "Glob": Tool(4, 0, 2),
    "TaskOutput": Tool(1, 0, 1),
    "Task": Tool(0, 0, 1),  # placed by `turn`, so that short files have some
}
_DECK = [name for name, tool in _TOOLS.items() for _ in range(tool.weight)]
# Coprime to the 100 cards of the deck: stepping by it deals every card once before any comes again.
_STEP = 37
_CONTINUED = "This session is being continued from a previous conversation that ran out of context."


class ClaudeSession(ClaudeLines):
    """The story of a session: turns, answers, tool calls with their noise.

    What is rare stands at fixed turns instead of being drawn, so that short files have all of it.
    """

    def __init__(self, profile: Profile, dice: Dice) -> None:
        super().__init__(profile, dice)
        self.code = Tape(_filled(dice, _CODE, 9000))
        self.shell = Tape(_filled(dice, _SHELL, 6000))
        self.prose = Tape(_filled(dice, _PROSE, 3000), "\n\n")
        self.requests = Tape(_filled(dice, _REQUESTS, 800), " ")
        self.signature = dice.letters(1200)
        self.turns = 0
        self.dealt = 0
        self.commands = 0

    def stretch(self, part: str, tape: Tape, weight: float = 1.0) -> str:
        """A stretch of the tape, of a size that suits the part."""
        return tape.cut(self.dice, self.ledger.size(part, self.dice, weight))

    def words(self, tape: Tape, weight: float) -> str:
        """A stretch that somebody says or thinks."""
        span = tape.span(self.dice, self.ledger.size("signal", self.dice, weight))
        self.ledger.bytes["signal"] += tape.plain_bytes(span)
        return tape.text(span)

    def message(self) -> tuple[str, str]:
        """Ids of a new message and its request."""
        return "msg_01" + self.dice.letters(22), "req_011C" + self.dice.letters(20)

    # Tool calls: the input, and what of it the result repeats

    def call(self, name: str, message: tuple[str, str]) -> Call:
        """Write a `tool_use` line."""
        arguments, repeated = getattr(self, f"_call_{name.lower()}")()
        tool_use = "toolu_01" + self.dice.letters(22)
        uuid = self.assistant(
            message,
            f'{{"type":"tool_use","id":"{tool_use}","name":"{name}","input":{{{arguments}}},'
            '"caller":{"type":"direct"}}',
        )
        return Call(name, tool_use, uuid, repeated)

    def _file(self) -> str:
        return f"{self.cwd}/{self.dice.pick(self.files)}"

    def _call_bash(self) -> tuple[str, str]:
        words = f"{self.dice.pick(_VERBS)} the {self.dice.pick(_NOUNS)}"
        target = self.dice.pick(_NOUNS)
        return f'"command":"make {target} 2>&1 | grep -v \\"{words}\\"","description":"Please {words}"', ""

    def _call_edit(self) -> tuple[str, str]:
        path, old, new = (
            self._file(),
            self.stretch("assistant", self.code),
            self.stretch("assistant", self.code),
        )
        arguments = f'"replace_all":false,"file_path":"{path}","old_string":"{old}","new_string":"{new}"'
        return arguments, f'"filePath":"{path}","oldString":"{old}","newString":"{new}"'

    def _call_write(self) -> tuple[str, str]:
        file = f'"{self._file()}","content":"{self.stretch("assistant", self.code, 6)}"'
        return f'"file_path":{file}', f'"filePath":{file}'

    def _call_read(self) -> tuple[str, str]:
        path = self._file()
        return f'"file_path":"{path}"', path

    def _call_grep(self) -> tuple[str, str]:
        return f'"pattern":"{self.dice.pick(_NOUNS)}\\\\.\\\\w+","output_mode":"content"', ""

    def _call_glob(self) -> tuple[str, str]:
        return f'"pattern":"**/*{self.dice.pick(_NOUNS)}*"', ""

    def _call_taskoutput(self) -> tuple[str, str]:
        task = "b" + self.dice.hexadecimal(6)
        return f'"task_id":"{task}","block":true,"timeout":30000', task

    def _call_task(self) -> tuple[str, str]:
        prompt = self.requests.cut(self.dice, 600)
        description = f"Look at the {self.dice.pick(_NOUNS)}"
        return f'"description":"{description}","prompt":"{prompt}","subagent_type":"Explore"', prompt

    # Tool results: content for the model, copy for the program

    def result(self, call: Call) -> None:
        """What follows a call: hooks, progress, the result in its two copies, more hooks."""
        tool = _TOOLS[call.tool]
        self.hooks("PreToolUse", call.tool, call.id, tool.before)
        if call.tool != "Task" and self.dice.chance(0.04):
            error = self.stretch("mirrored", self.shell, 0.3)
            block = f'"type":"tool_result","content":"Exit code 1\\n{error}","is_error":true'
            self.tool_result(
                f'{{{block},"tool_use_id":"{call.id}"}}', f'"Error: Exit code 1\\n{error}"', call.uuid
            )
            self.hooks("PostToolUseFailure", call.tool, call.id, tool.after)
            return
        content, copy = getattr(self, f"_result_{call.tool.lower()}")(call)
        fine = ',"is_error":false' if call.tool == "Bash" else ""
        block = f'{{"tool_use_id":"{call.id}","type":"tool_result","content":{content}{fine}}}'
        self.tool_result(block, copy, call.uuid)
        self.hooks("PostToolUse", call.tool, call.id, tool.after)

    def _result_bash(self, call: Call) -> tuple[str, str]:
        self.commands += 1
        if self.commands % 4 == 0:
            self._bash_progress(call)
        output = "" if self.dice.chance(0.1) else self.stretch("mirrored", self.shell)
        flags = '"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false'
        return f'"{output}"', f'{{"stdout":"{output}",{flags}}}'

    def _bash_progress(self, call: Call) -> None:
        first, last = self.shell.span(self.dice, self.ledger.size("progress", self.dice))
        steps = self.dice.between(6, 18)
        for step in range(1, steps + 1):
            # The output grows, and every line repeats all of it: most of the bytes of progress are this.
            end = first + max(1, (last - first) * step // steps)
            recent, full = self.shell.text((max(first, end - 5), end)), self.shell.text((first, end))
            data = (
                f'{{"type":"bash_progress","output":"{recent}","fullOutput":"{full}",'
                f'"elapsedTimeSeconds":{step + 2},"totalLines":{end - first},"timeoutMs":120000}}'
            )
            self.progress(data, f"bash-progress-{step - 1}", call.id)

    def _result_read(self, call: Call) -> tuple[str, str]:
        first, last = self.code.span(self.dice, self.ledger.size("mirrored", self.dice, 1.6))
        numbered = [f"{number:6}→{line}" for number, line in enumerate(self.code.lines[first:last], 1)]
        if self.dice.chance(0.3):
            numbered += ["", "<system-reminder>", "This is shown in part only.", "</system-reminder>"]
        content = "\\n".join(numbered)
        counts = f'"numLines":{last - first},"startLine":1,"totalLines":{last - first}'
        file = f'{{"filePath":"{call.repeated}","content":"{self.code.text((first, last))}",{counts}}}'
        return f'"{content}"', f'{{"type":"text","file":{file}}}'

    def _result_edit(self, call: Call) -> tuple[str, str]:
        original = self.stretch("toolUseResult", self.code)
        first, last = self.code.span(self.dice, 900)
        patch = '","'.join([f"{' -+'[row % 3]}{self.code.lines[row]}" for row in range(first, last)])
        old_and_new = (
            f'"oldStart":{first},"oldLines":{last - first},"newStart":{first},"newLines":{last - first}'
        )
        copy = (
            f'{{{call.repeated},"originalFile":"{original}","structuredPatch":[{{{old_and_new},'
            f'"lines":["{patch}"]}}],"userModified":false,"replaceAll":false}}'
        )
        return '"The file has been updated successfully."', copy

    def _result_write(self, call: Call) -> tuple[str, str]:
        copy = f'{{"type":"create",{call.repeated},"structuredPatch":[],"originalFile":null}}'
        return '"File created successfully."', copy

    def _result_glob(self, _call: Call) -> tuple[str, str]:
        names = [f"{self.cwd}/{_path(self.dice)}" for _ in range(self.dice.between(1, 90))]
        counts = f'"durationMs":{self.dice.between(3, 90)},"numFiles":{len(names)},"truncated":false'
        content, listed = "\\n".join(names), '","'.join(names)
        return f'"{content}"', f'{{"filenames":["{listed}"],{counts}}}'

    def _result_grep(self, _call: Call) -> tuple[str, str]:
        span = self.code.span(self.dice, self.ledger.size("mirrored", self.dice, 0.3))
        found = f'"{self.code.text(span)}"'
        files = '"mode":"content","numFiles":0,"filenames":[]'
        return found, f'{{{files},"content":{found},"numLines":{span[1] - span[0]}}}'

    def _result_taskoutput(self, call: Call) -> tuple[str, str]:
        output = self.stretch("mirrored", self.shell, 2)
        header = f"<task_id>{call.repeated}</task_id>\\n\\n<status>completed</status>\\n\\n<output>\\n"
        task = f'"task_id":"{call.repeated}","task_type":"local_bash","status":"completed"'
        copy = f'{{{task},"description":"Run the tests","output":"{output}","exitCode":0}}'
        return f'"{header}{output}\\n</output>"', f'{{"retrieval_status":"success","task":{copy}}}'

    def _result_task(self, call: Call) -> tuple[str, str]:
        dice, agent = self.dice, "a" + self.dice.hexadecimal(6)
        steps, tokens = dice.between(3, 12), dice.between(9000, 90000)
        duration = dice.between(20000, 200000)
        self._agent_progress(call, agent, f'"type":"text","text":"{call.repeated}"')
        for _ in range(steps):
            self._agent_step(call, agent)
        text = f'{{"type":"text","text":"{self.stretch("mirrored", self.prose)}"}}'
        note = f"agentId: {agent} (for resuming to continue this agent's work if needed)\\n<usage>"
        note += f"total_tokens: {tokens}\\ntool_uses: {steps}\\nduration_ms: {duration}</usage>"
        usage = '{"input_tokens":4,"cache_creation_input_tokens":812,"output_tokens":640}'
        copy = (
            f'{{"status":"completed","prompt":"{call.repeated}","agentId":"{agent}","content":[{text}],'
            f'"totalDurationMs":{duration},"totalTokens":{tokens},"totalToolUseCount":{steps},"usage":{usage}}}'
        )
        return f'[{text},{{"type":"text","text":"{note}"}}]', copy

    def _agent_step(self, call: Call, agent: str) -> None:
        """A subagent's own tool call and its result, each nested in a progress line of the main file."""
        message, request = self.message()
        tool_use = "toolu_01" + self.dice.letters(22)
        asked = f'"type":"tool_use","id":"{tool_use}","name":"Read","input":{{"file_path":"{self._file()}"}}'
        usage = '{"input_tokens":3,"output_tokens":2,"service_tier":"standard"},"context_management":null'
        self._agent_data(
            call,
            agent,
            f'"type":"assistant","timestamp":"{self.now()}","message":{{"model":"claude-haiku","id":"{message}",'
            f'"type":"message","role":"assistant","content":[{{{asked}}}],"stop_reason":null,'
            f'"stop_sequence":null,"usage":{usage}}},"requestId":"{request}","uuid":"{self.dice.uuid()}"',
        )
        found = self.stretch("progress", self.code)
        block = f'"tool_use_id":"{tool_use}","type":"tool_result","content":"{found}"'
        self._agent_progress(call, agent, block)

    def _agent_progress(self, call: Call, agent: str, block: str) -> None:
        self._agent_data(
            call,
            agent,
            f'"type":"user","message":{{"role":"user","content":[{{{block}}}]}},'
            f'"uuid":"{self.dice.uuid()}","timestamp":"{self.now()}"',
        )

    def _agent_data(self, call: Call, agent: str, entry: str) -> None:
        data = (
            f'{{"message":{{{entry}}},"normalizedMessages":[],"type":"agent_progress",'
            f'"prompt":"{call.repeated}","agentId":"{agent}"}}'
        )
        self.progress(data, f"agent_msg_01{self.dice.letters(22)}", call.id)

    # Turns

    def open(self) -> None:
        """What stands before the first turn."""
        self.snapshot(update=False)
        self.hooks("SessionStart", "startup", self.dice.uuid(), 2)
        self.slug = ',"slug":"quiet-drifting-lantern"'

    def answer(self, name: str | None = None) -> None:
        """One answer: thinking and text now and then, then one call, or a few in parallel."""
        dice, message = self.dice, self.message()
        if dice.chance(0.12):
            signature = self.signature[: dice.between(300, 1200)]
            thinking = f'"thinking":"{self.words(self.prose, 1.4)}","signature":"{signature}"'
            self.assistant(message, f'{{"type":"thinking",{thinking}}}')
        if dice.chance(0.5):
            self.say(message, 1.0)
        name = name or self.deal()
        parallel = name in {"Read", "Grep", "Glob"} and dice.chance(0.15)
        calls = [self.call(name, message) for _ in range(dice.between(2, 3) if parallel else 1)]
        for call in calls:
            self.result(call)
        if dice.chance(0.15):
            self.snapshot(update=True)

    def deal(self) -> str:
        """The next tool. Dealt, not drawn: a short file has the same mix of tools as a long one."""
        self.dealt += 1
        return _DECK[self.dealt * _STEP % len(_DECK)]

    def say(self, message: tuple[str, str], weight: float) -> None:
        """A `text` block."""
        self.assistant(message, f'{{"type":"text","text":"{self.words(self.prose, weight)}"}}')

    def turn(self) -> None:
        """From the human's message to the turn's duration."""
        self.turns += 1
        self.snapshot(update=False)
        self.ask()
        for number in range(self.dice.between(4, 26)):
            self.answer("Task" if number == 1 and self.turns % 5 == 2 else None)
            if number == 2 and self.turns % 7 == 3:
                # Typed while the model works and taken up in the middle of the turn: its only copy is here.
                self.queue("enqueue", self.words(self.requests, 0.3))
                self.answer()
                self.queue("remove")
        self.finish()
        if self.turns % 12 == 0:
            self.compact()

    def ask(self) -> None:
        """The human's message: typed ahead and taken from the queue, as a slash command, or plain."""
        words = self.words(self.requests, 0.5)
        if self.turns % 9 == 4:
            self.queue("enqueue", words)
            self.queue("dequeue")
            self.human(words)
        elif self.turns % 11 == 6:
            name = "<command-message>review</command-message>\\n<command-name>/review</command-name>"
            self.user(f'"{name}\\n<command-args>{words}</command-args>"')
            body = f'[{{"type":"text","text":"{self.prose.cut(self.dice, 3000)}"}}]'
            self.user(body, ',"isMeta":true')
        else:
            self.human(words)

    def finish(self) -> None:
        """The last answer of a turn, or an interruption; a task in the background may end here as well."""
        dice = self.dice
        if self.turns % 10 == 7:
            self.user('[{"type":"text","text":"[Request interrupted by user]"}]')
            return
        if self.turns % 13 == 8:
            self.assistant(self.message(), '{"type":"text","text":"API Error: overloaded"}', "<synthetic>")
        self.say(self.message(), 1.6)
        if self.turns % 8 == 5:
            task = f"<task-id>b{dice.hexadecimal(6)}</task-id>\\n<status>completed</status>"
            summary = '<summary>Background command \\"Run the tests\\" completed (exit code 0)</summary>'
            self.queue("enqueue", f"<task-notification>\\n{task}\\n{summary}\\n</task-notification>")
        hook = dice.uuid()
        self.hooks("Stop", "Stop", hook, 2)
        infos = '"hookCount":2,"hookInfos":[{"command":"stop-0.sh"},{"command":"stop-1.sh"}],"hookErrors":[]'
        flags = '"preventedContinuation":false,"stopReason":"","hasOutput":true,"level":"suggestion"'
        self.system("stop_hook_summary", f"{infos},{flags}", f',"toolUseID":"{hook}"')
        self.system("turn_duration", f'"durationMs":{dice.between(9000, 2_000_000)}', ',"isMeta":false')

    def compact(self) -> None:
        """The context is full, or the human says `/compact`; that command is logged after the summary."""
        manual = self.turns % 24 == 0
        self.compact_boundary("manual" if manual else "auto")
        summary = f'"{_CONTINUED}\\n\\n{self.prose.cut(self.dice, 9000)}"'
        self.user(summary, ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true')
        if manual:
            caveat = '"<local-command-caveat>Caveat: local commands follow.</local-command-caveat>"'
            self.user(caveat, ',"isMeta":true')
            gap = "\\n            "
            name = f"<command-name>/compact</command-name>{gap}<command-message>compact</command-message>"
            self.user(f'"{name}{gap}<command-args></command-args>"')
            self.user('"<local-command-stdout>Compacted</local-command-stdout>"')
        self.hooks("SessionStart", "compact", self.dice.uuid(), 2)


def _claude_classic(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    session = ClaudeSession(profile, dice)
    session.open()
    while session.ledger.total < size:
        session.turn()
        yield from session.written
        session.written.clear()


PROFILES: Mapping[str, Profile] = {
    # Claude Code 2.1.39, as measured on real sessions. User lines are 47 %: `mirrored` is what of them stands
    # outside of `toolUseResult`. The rest, under 1 %, is system lines and queue operations.
    "classic": Profile(
        write=_claude_classic,
        mean_line=5000,
        shares={
            "mirrored": 0.17,
            "toolUseResult": 0.30,
            "progress": 0.37,
            "assistant": 0.14,
            "snapshot": 0.01,
            "signal": 0.016,
        },
        typical={
            "mirrored": 8000,
            "toolUseResult": 20_000,
            "progress": 19_000,
            "assistant": 5000,
            "snapshot": 4000,
            "signal": 1000,
        },
    ),
}


def lines(profile: str, megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a corpus, each with its line end.

    Args:
        profile: a row of `PROFILES`.
        megabytes: millions of bytes; the last turn is finished, so it will be a little more.
        seed: any whole number.
    """
    row = PROFILES[profile]
    return row.write(row, Dice(seed), megabytes * 1_000_000)


def classic(megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a Claude Code 2.1.39 session."""
    return lines("classic", megabytes, seed)


def write(path: Path, profile: str, megabytes: float, seed: int) -> str:
    """Write a corpus and give its sha256; a half-written one is never left under its name."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        for line in lines(profile, megabytes, seed):
            digest.update(line)
            file.write(line)
    beside.replace(path)
    return digest.hexdigest()


def corpus(profile: str, megabytes: float, seed: int = 1) -> Path:
    """A corpus in `benches/out`, made once; one that an older version of this file made is replaced."""
    version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    stem = f"{profile}-{megabytes:g}mb-seed{seed}-"
    path = OUT / f"{stem}{version}.jsonl"
    if not path.exists():
        for old in OUT.glob(f"{stem}*.jsonl"):
            old.unlink()
        OUT.mkdir(exist_ok=True)
        (OUT / ".gitignore").write_text("*\n", encoding="utf-8")  # large, and anyone can make it again
        write(path, profile, megabytes, seed)
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a made-up session transcript for benchmarks.")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="classic")
    parser.add_argument("--megabytes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    asked = parser.parse_args()
    digest = write(asked.out, asked.profile, asked.megabytes, asked.seed)
    print(f"sha256 {digest}  {asked.out.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
