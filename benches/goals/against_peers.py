"""Goal P4: from a file to its conversation in Python, beside what JSON libraries and whole tools need for it.

Each reader runs in a process of its own, reads a few times, and reports the best; imports are left out:

    python -m benches.goals.against_peers SIDE PROFILE FILE

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

    from benches.goals.measurements import Goal, Measurements
    from benches.peers.stories import Told

from benches.goals import whole_tools
from benches.goals.builds import HEAD, Build
from benches.goals.measurements import speeds
from benches.goals.stopwatch import Side, Took, WrongResultError, answer, interleave
from benches.goals.targets import PEERS, TARGETS, judged, milliseconds, ratio
from benches.peers import libraries
from benches.peers.stories import digest

PARSE = "retell_fast.parse"
TO_LIST = "retell_fast.parse, to a list"
WORKER = ("-m", "benches.goals.against_peers")
_INNER = 3
_LARGE = 500_000_000
"""From so many bytes on a process reads once only."""
_READERS = {"pysimdjson": "pysimdjson, mapped"}
"""What a goal calls a reader, where that is not its name."""
_THREADS = 2


def reader_side(build: Build, name: str, profile: str, path: Path, right: str) -> Side:
    """A reader in a process of its own, which reads a few times."""

    def run() -> Took:
        said = answer([build.python, *WORKER, name, profile, str(path)])
        if said["digest"] != right:
            raise WrongResultError("the conversation differs from that of json")
        return Took(said["seconds"], said["cpu"], said["first"])

    return Side(build.side(name), run)


def measure(paths: Mapping[str, Path], rounds: int, runs: Mapping[Build, Measurements]) -> list[Goal]:
    """P4 on the profiles that have goals, and as a table how much slower every reader is on every profile."""
    for name, why in libraries.MISSING.items():
        print(f"left out: {name}: {why}")
    goals: list[Goal] = []
    tables: dict[str, dict[str, dict[str, float]]] = {"on the wall": {}, "by processor time": {}}
    for profile, path in paths.items():
        if not knows(profile):
            print(f"left out: {profile}: this build does not know the agent yet")
            continue
        timed = _timed(profile, path, rounds, runs)
        _keep(timed, profile, path.stat().st_size, runs)
        goals += [_goal(profile, peer, timed) for peer in PEERS if f"P4 {profile} {peer}" in TARGETS]
        if ours := timed.get(TO_LIST):
            tables["on the wall"][profile] = {name: side.best / ours.best for name, side in timed.items()}
            if ours.work:
                worked = {name: side.work / ours.work for name, side in timed.items()}
                tables["by processor time"][profile] = worked
    for how, table in tables.items():
        _print_matrix(how, table)
    return goals


def _timed(profile: str, path: Path, rounds: int, runs: Mapping[Build, Measurements]) -> dict[str, Side]:
    readers = libraries.readers_of(profile)
    right = digest(readers["json"](path))
    ours = [reader_side(build, name, profile, path, right) for build in runs for name in (TO_LIST, PARSE)]
    return interleave([*ours, *(reader_side(HEAD, name, profile, path, right) for name in readers)], rounds)


def _keep(timed: Mapping[str, Side], profile: str, size: int, runs: Mapping[Build, Measurements]) -> None:
    label = f"{profile} {size / 1e6:.0f} MB"
    for build, found in runs.items():
        for name in (TO_LIST, PARSE):
            if side := timed.get(build.side(name)):
                found.add(*speeds(f"{name}, {label}", size, side, "parse"))
    for name in libraries.readers_of(profile):
        if side := timed.get(name):
            runs[HEAD].add(*speeds(f"{name}, {label}", size, side, "peers"))


def _goal(profile: str, peer: str, timed: Mapping[str, Side]) -> Goal:
    id_, name = f"P4 {profile} {peer}", _READERS.get(peer, peer)
    if name not in timed or TO_LIST not in timed:
        return judged(id_, None, note=libraries.MISSING.get(name, f"{name} was not timed"))
    measured, note = ratio(timed[name], timed[TO_LIST])
    note += f", by the first reading of a process {min(timed[name].first) / min(timed[TO_LIST].first):.2f}"
    return judged(id_, measured, milliseconds(timed[TO_LIST], timed[name]), note)


def _print_matrix(how: str, ratios: Mapping[str, Mapping[str, float]]) -> None:
    """How many times slower than retell_fast each reader is, on each profile."""
    names = list(dict.fromkeys(name for row in ratios.values() for name in row))
    print(f"\n{f'times slower, {how}':<34}" + "".join(f"{profile:>17}" for profile in ratios))
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
    print(f"\n{'whole tools, a process each':<34}{'min ms':>10}{'median ms':>11}{'CPU ms':>10}")
    for name, side in timed.items():
        cells = f"{side.best * 1000:>10.0f}{side.median * 1000:>11.0f}{side.work * 1000:>10.0f}"
        print(f"{name:<34}{cells}")
        extra = "a whole process, with interpreter start and all it writes"
        found.add(*speeds(f"{name}, classic {size / 1e6:.0f} MB", size, side, "peers", extra))


def _parse(path: Path, profile: str, *, to_list: bool) -> list[Told]:
    import retell_fast  # noqa: PLC0415 - the other sides run without it

    events = retell_fast.parse(path, threads=_THREADS).events
    return libraries.told(events, profile) if to_list else []


def main(name: str, profile: str, path: Path) -> None:
    """The inside of a reader's process: time a few readings, say what came out."""
    readers: dict[str, Callable[[Path], list[Told]]] = {
        **libraries.readers_of(profile),
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
