"""What a good Python user of each JSON library would write to get the conversation out of a session file.

All readers give the same list, so that they can be compared with each other and with retell_fast. They follow
the few rules that the generated `classic` sessions need, not the whole contract: they have less to do.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import simdjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from retell_fast import Event

Told = tuple[str, str, str, tuple[str, ...]]
"""Role, what was said, what was thought, names of the tools called."""

_NOT_TYPED = ("<local-command-", "<task-notification>", "[Request interrupted by user")

# Python's default of 8 KiB is smaller than many lines; larger than this gains nothing.
_BUFFER = 1 << 20


class Story:
    """The rules, shared by all readers; an entry may be a dict or pysimdjson's lazy view of one.

    The frequent types stand first and nothing is looked up before it is needed: a lazy view pays for each.
    """

    def __init__(self) -> None:
        self.told: list[Told] = []
        self._typed_ahead: list[str] = []

    def take(self, entry: Any) -> None:
        """Add what the entry says, if it says something."""
        kind = entry["type"]
        if kind == "progress":
            return
        if kind == "assistant":
            if not entry["isSidechain"]:
                self._assistant(entry["message"])
        elif kind == "user":
            if not entry["isSidechain"] and not entry.get("isMeta"):
                self._user(entry)
        elif kind == "queue-operation":
            self._queue(entry["operation"], entry.get("content"))

    def _assistant(self, message: Any) -> None:
        if message["model"] == "<synthetic>":
            return
        says: list[str] = []
        thinks: list[str] = []
        tools: list[str] = []
        for block in message["content"]:
            kind = block["type"]
            if kind == "tool_use":
                tools.append(block["name"])
            elif kind == "text":
                says.append(block["text"])
            elif kind == "thinking":
                thinks.append(block["thinking"])
        self.told.append(("assistant", "\n".join(says), "\n".join(thinks), tuple(tools)))

    def _user(self, entry: Any) -> None:
        content = entry["message"]["content"]
        if not isinstance(content, str):
            content = "\n".join([block["text"] for block in content if block["type"] == "text"])
        text = content.strip()
        if not text or text.startswith(_NOT_TYPED):
            return
        if entry.get("isCompactSummary"):
            text = ""
        elif text.startswith("<command-"):
            arguments = _inside(text, "command-args")
            if not arguments:
                return
            text = f"{_inside(text, 'command-name')} {arguments}"
        elif text in self._typed_ahead:
            self._typed_ahead.remove(text)
        self.told.append(("user", text, "", ()))

    def _queue(self, operation: str, content: str | None) -> None:
        """Words typed while the model works stand only here when they are removed and not dequeued."""
        if operation == "enqueue" and content and not content.startswith(_NOT_TYPED):
            self._typed_ahead.append(content)
        elif operation == "remove" and self._typed_ahead:
            self.told.append(("user", self._typed_ahead.pop(0), "", ()))


def _inside(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


def read_json(path: Path) -> list[Told]:
    """The standard library: `json.loads` of every line, as bytes.

    Every line is decoded whole. No search for a substring stands before that: a nested entry would fool it.
    `json.loads` decodes the bytes itself, which takes a little less than reading the file as text.
    """
    story, loads = Story(), json.loads
    with path.open("rb", buffering=_BUFFER) as file:
        for line in file:
            story.take(loads(line))
    return story.told


def read_orjson(path: Path) -> list[Told]:
    """The library orjson: `orjson.loads` of every line, as bytes, which it takes without a copy."""
    story, loads = Story(), orjson.loads
    with path.open("rb", buffering=_BUFFER) as file:
        for line in file:
            story.take(loads(line))
    return story.told


def read_pysimdjson(path: Path) -> list[Told]:
    """The library pysimdjson: one parser for all lines, and Python objects only for what is asked for.

    It validates every line, but of a dropped line no object is made besides its type. The view of a line must
    be gone before the parser goes on to the next; `Story.take` keeps none.
    """
    story, parse = Story(), simdjson.Parser().parse
    with path.open("rb", buffering=_BUFFER) as file:
        for line in file:
            story.take(parse(line))
    return story.told


READERS: Mapping[str, Callable[[Path], list[Told]]] = {
    "json": read_json,
    "orjson": read_orjson,
    "pysimdjson": read_pysimdjson,
}


def told(events: Iterable[Event]) -> list[Told]:
    """The events of retell_fast in the form of the readers above."""
    return [(event.role, event.says, event.thinks, tuple(event.tools)) for event in events]


def signal_bytes(story: Iterable[Told]) -> int:
    """UTF-8 bytes of everything said and thought."""
    return sum(len(says.encode()) + len(thinks.encode()) for _role, says, thinks, _tools in story)
