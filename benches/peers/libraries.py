"""What a good Python user of each JSON library would write to get the conversation out of a session file.

All readers give the same list, so that they can be compared with each other and with retell_fast. They follow
the few rules that the generated sessions need, not the whole contract: they have less to do. A library that
is not installed is left out, and `MISSING` says so.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import mmap
from typing import TYPE_CHECKING, Any

from benches.peers.stories import CodexStory, Story, TypedStory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from benches.peers.stories import Told

    from retell_fast import Event

# Python's default of 8 KiB is smaller than many lines; larger than this gains nothing.
_BUFFER = 1 << 20

MISSING: dict[str, str] = {}
"""Readers that cannot run here, and why."""


def _line_by_line(path: Path, story: Story | CodexStory, loads: Callable[[bytes], Any]) -> list[Told]:
    take = story.take
    with path.open("rb", buffering=_BUFFER) as file:
        for line in file:
            take(loads(line))
    return story.told


def _slice_by_slice(path: Path, story: Story, parse: Callable[[memoryview], Any]) -> list[Told]:
    """Lines as slices of the mapped file, which are never copied; nobody may shorten the file meanwhile."""
    take, begin = story.take, 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        find, size = mapped.find, len(mapped)
        with memoryview(mapped) as view:
            while begin < size:
                end = find(b"\n", begin)
                end = size if end < 0 else end
                with view[begin:end] as line:
                    take(parse(line))
                begin = end + 1
    return story.told


def read_json(path: Path) -> list[Told]:
    """The standard library: `json.loads` of every line, as bytes.

    Every line is decoded whole. No search for a substring stands before that: a nested entry would fool it.
    `json.loads` decodes the bytes itself, which takes a little less than reading the file as text.
    """
    return _line_by_line(path, Story(), json.loads)


def _read_orjson(path: Path) -> list[Told]:
    """The library orjson: `orjson.loads` of every line, as bytes, which it takes without a copy."""
    return _line_by_line(path, Story(), importlib.import_module("orjson").loads)


def _read_msgspec(path: Path) -> list[Told]:
    """The library msgspec: only the fields that have a place in a struct are made into objects."""
    story = TypedStory()
    take, decode = story.take, story.decoder().decode
    with path.open("rb", buffering=_BUFFER) as file:
        for line in file:
            take(decode(line))
    return story.told


def _read_pysimdjson(path: Path) -> list[Told]:
    """The library pysimdjson: one parser for all lines, and Python objects only for what is asked for.

    It validates every line, but of a dropped line no object is made besides its type. The view of a line must
    be gone before the parser goes on to the next; `Story.take` keeps none.
    """
    return _line_by_line(path, Story(), importlib.import_module("simdjson").Parser().parse)


def _read_pysimdjson_mapped(path: Path) -> list[Told]:
    """The same over slices of the mapped file."""
    return _slice_by_slice(path, Story(), importlib.import_module("simdjson").Parser().parse)


def _read_fastsimdjson(path: Path) -> list[Told]:
    """The library fastsimdjson: lazy views, line by line; its `parse_many` takes longer."""
    return _line_by_line(path, Story(), importlib.import_module("fastsimdjson").parse)


def _codex_json(path: Path) -> list[Told]:
    return _line_by_line(path, CodexStory(), json.loads)


def _codex_orjson(path: Path) -> list[Told]:
    return _line_by_line(path, CodexStory(), importlib.import_module("orjson").loads)


def _installed(readers: Mapping[str, tuple[str, Callable[[Path], list[Told]]]]) -> dict[str, Any]:
    there = {}
    for name, (module, reader) in readers.items():
        if importlib.util.find_spec(module):
            there[name] = reader
        else:
            MISSING[name] = f"{module} is not installed"
    return there


READERS: Mapping[str, Callable[[Path], list[Told]]] = _installed(
    {
        "json": ("json", read_json),
        "orjson": ("orjson", _read_orjson),
        "msgspec": ("msgspec", _read_msgspec),
        "pysimdjson": ("simdjson", _read_pysimdjson),
        "pysimdjson, mapped": ("simdjson", _read_pysimdjson_mapped),
        "fastsimdjson": ("fastsimdjson", _read_fastsimdjson),
    }
)

CODEX_READERS: Mapping[str, Callable[[Path], list[Told]]] = _installed(
    {"json": ("json", _codex_json), "orjson": ("orjson", _codex_orjson)}
)


def readers_of(profile: str) -> Mapping[str, Callable[[Path], list[Told]]]:
    """The readers that understand the sessions of a profile of the generator."""
    return CODEX_READERS if profile.startswith("codex") else READERS


def told(events: Iterable[Event], profile: str = "classic") -> list[Told]:
    """The events of retell_fast in the form of the readers above, which of rollouts give the words only."""
    if profile.startswith("codex"):
        return [(event.role, event.says, "", ()) for event in events if event.says]
    return [(event.role, event.says, event.thinks, tuple(event.tools)) for event in events]


def written(out: Path, profile: str = "classic") -> list[Told]:
    """What the command `retell-fast parse` wrote, in the form of the readers."""
    events = json.loads((out / "events.json").read_bytes())
    if profile.startswith("codex"):
        return [(e["role"], e["says"], "", ()) for e in events if e["says"]]
    return [(e["role"], e["says"], e.get("thinks", ""), tuple(e.get("tools", ()))) for e in events]


def signal_bytes(story: Iterable[Told]) -> int:
    """UTF-8 bytes of everything said and thought."""
    return sum(len(says.encode()) + len(thinks.encode()) for _role, says, thinks, _tools in story)
