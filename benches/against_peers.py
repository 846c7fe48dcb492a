"""Goal P4: from a file to its conversation in Python, beside what JSON libraries and whole tools need for it.

Each reader runs in a process of its own, reads a few times, and reports the best; imports are left out:

    python benches/against_peers.py SIDE PROFILE FILE

Of `images` retell_fast also takes out the screenshots, decoded and named by their sha256; the readers pass
them over.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benches.measurements import Goal, Group, Measurements
    from benches.peer_stories import Told

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches import peers, whole_tools
from benches.measurements import throughput
from benches.peer_stories import digest
from benches.stopwatch import PYTHON, Side, Took, WrongResultError, answer, interleave
from benches.targets import judged, milliseconds, ratio

PARSE = "retell_fast.parse"
TO_LIST = "retell_fast.parse, to a list"
_INNER = 3
_LARGE = 500_000_000
"""From so many bytes on a process reads once only."""
_GOALS = {
    "P4 json": "json",
    "P4 orjson": "orjson",
    "P4 msgspec": "msgspec",
    "P4 pysimdjson": "pysimdjson, mapped",
    "P4 fastsimdjson": "fastsimdjson",
}


def reader_side(name: str, profile: str, path: Path, right: str) -> Side:
    """A reader in a process of its own, which reads a few times."""

    def run() -> Took:
        said = answer([PYTHON, __file__, name, profile, str(path)])
        if said["digest"] != right:
            raise WrongResultError("the conversation differs from that of json")
        return Took(said["seconds"], said["cpu"], said["first"])

    return Side(name, run)


def measure(paths: Mapping[str, Path], rounds: int, found: Measurements) -> list[Goal]:
    """P4 on the first profile, and in the notes what the others give."""
    for name, why in peers.MISSING.items():
        print(f"left out: {name}: {why}")
    ratios: dict[str, dict[str, float]] = {}
    timed_of: dict[str, dict[str, Side]] = {}
    for profile, path in paths.items():
        if not knows(profile):
            print(f"left out: {profile}: this build does not know the agent yet")
            continue
        readers = peers.readers_of(profile)
        right = digest(readers["json"](path))
        sides = [reader_side(name, profile, path, right) for name in (TO_LIST, PARSE, *readers)]
        timed = timed_of[profile] = interleave(sides, rounds)
        size = path.stat().st_size
        for name, side in timed.items():
            group: Group = "parse" if name in (PARSE, TO_LIST) else "peers"
            found.add(throughput(f"{name}, {profile} {size / 1e6:.0f} MB", size, side.seconds, group))
        if TO_LIST in timed:
            ratios[profile] = {name: side.best / timed[TO_LIST].best for name, side in timed.items()}
    _print_matrix(ratios)
    first = next(iter(paths))
    return [_goal(id_, name, first, timed_of, ratios) for id_, name in _GOALS.items()]


def _goal(
    id_: str,
    name: str,
    first: str,
    timed_of: Mapping[str, Mapping[str, Side]],
    ratios: Mapping[str, Mapping[str, float]],
) -> Goal:
    timed = timed_of.get(first, {})
    if name not in timed or TO_LIST not in timed:
        return judged(id_, None, note=peers.MISSING.get(name, f"{name} was not timed"))
    measured, note = ratio(timed[name], timed[TO_LIST])
    note += f", by the first reading of a process {min(timed[name].first) / min(timed[TO_LIST].first):.2f}"
    others = [f"{p} {row[name]:.1f}" for p, row in ratios.items() if p != first and name in row]
    sides = {f"{side} ms": value for side, value in milliseconds(timed[TO_LIST], timed[name]).items()}
    return judged(id_, measured, sides, "; ".join(filter(None, [note, ", ".join(others)])))


def _print_matrix(ratios: Mapping[str, Mapping[str, float]]) -> None:
    """How many times slower than retell_fast each reader is, on each profile."""
    names = list(dict.fromkeys(name for row in ratios.values() for name in row))
    print(f"\n{'times slower than retell_fast':<34}" + "".join(f"{profile:>17}" for profile in ratios))
    for name in names:
        cells = [f"{row[name]:.1f}" if name in row else "-" for row in ratios.values()]
        print(f"{name:<34}" + "".join(f"{cell:>17}" for cell in cells))


def knows(profile: str) -> bool:
    """Whether the built module reads the sessions of this profile."""
    if not profile.startswith("codex"):
        return True
    import retell_fast  # noqa: PLC0415 - the other sides run without it

    try:
        retell_fast.parse(b'{"type":"session_meta","payload":{}}\n', agent="codex")
    except ValueError:  # unknown agent
        return False
    except retell_fast.RetellError:
        return True
    return True


def measure_tools(path: Path, rounds: int, folder: Path, found: Measurements) -> None:
    """Whole tools on one session, where they are installed; they do other things too, so there is no goal."""
    shutil.rmtree(folder, ignore_errors=True)
    sides = whole_tools.sides(path, folder)
    timed = interleave(sides, rounds)
    size = path.stat().st_size
    print(f"\n{'whole tools, a process each':<34}{'min ms':>10}{'median ms':>11}")
    for name, side in timed.items():
        print(f"{name:<34}{side.best * 1000:>10.0f}{side.median * 1000:>11.0f}")
        extra = "a whole process, with interpreter start and all it writes"
        found.add(throughput(f"{name}, classic {size / 1e6:.0f} MB", size, side.seconds, "peers", extra))


def _parse(path: Path, profile: str, *, to_list: bool) -> list[Told]:
    import retell_fast  # noqa: PLC0415 - the other sides run without it

    events = retell_fast.parse(path).events
    return peers.told(events, profile) if to_list else []


def main(name: str, profile: str, path: Path) -> None:
    """The inside of a reader's process: time a few readings, say what came out."""
    readers: dict[str, Callable[[Path], list[Told]]] = {
        **peers.readers_of(profile),
        TO_LIST: partial(_parse, profile=profile, to_list=True),
        PARSE: partial(_parse, profile=profile, to_list=False),
    }
    if name in (PARSE, TO_LIST):
        importlib.import_module("retell_fast")
    took = []
    story: list[Told] = []
    for _ in range(1 if path.stat().st_size > _LARGE else _INNER):
        story = []
        begin, working = time.perf_counter(), time.process_time()
        story = readers[name](path)
        took.append((time.perf_counter() - begin, time.process_time() - working))
    if name == PARSE:
        story = readers[TO_LIST](path)
    best = {"seconds": min(took)[0], "cpu": min(cpu for _, cpu in took), "first": took[0][0]}
    print(json.dumps({**best, "digest": digest(story)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
