"""Goals P1 to P3: the core and the whole command beside `wc -l`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benches import peers
from benches.measurements import throughput
from benches.peer_stories import digest
from benches.stopwatch import (
    PYTHON,
    ROOT,
    START,
    Side,
    Took,
    WrongResultError,
    answer,
    children_cpu,
    interleave,
    output,
    took_by,
)
from benches.targets import judged, milliseconds, ratio

if TYPE_CHECKING:
    from benches.measurements import Goal, Measurements

COMMAND = shutil.which("retell-fast", path=str(Path(PYTHON).parent)) or "retell-fast"
_INNER = 4
_THREADS = (1, 2)


@cache
def core_example() -> str | None:
    """The program that times the core without Python, or None where cargo cannot build it."""
    build = ["cargo", "build", "--quiet", "--release", "-p", "retell-core", "--example", "time_parse"]
    try:
        subprocess.run(build, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the core is not timed: {error}")
        return None
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    ending = ".exe" if sys.platform == "win32" else ""
    return str(target / "release" / "examples" / f"time_parse{ending}")


def core_side(example: str, path: Path, threads: int, events: int) -> Side:
    """The core in a process of its own: of a few rounds the first only warms it up."""
    count = ["--rounds", str(_INNER), "--threads", str(threads)]
    checked = answer([example, str(path), "--rounds", "1", "--threads", str(threads), "--check"])

    def run() -> Took:
        if checked["events"] != events:
            raise WrongResultError(f"{checked['events']} events, {events} expected")
        before = children_cpu()
        seconds = answer([example, str(path), *count])["seconds"]
        return Took(min(seconds[1:]), (children_cpu() - before) / len(seconds))

    return Side(f"core, {threads} thread{'s' if threads > 1 else ''}", run)


def wc_side(path: Path) -> Side:
    """The yardstick: a process of its own, which takes about a millisecond to start."""
    lines = sum(piece.count(b"\n") for piece in iter_pieces(path))
    counted = int(output(["wc", "-l", str(path)]).split()[0])

    def run() -> Took:
        if counted != lines:
            raise WrongResultError(f"{counted} lines, {lines} expected")
        return took_by(["wc", "-l", str(path)])

    return Side("wc -l", run)


def iter_pieces(path: Path) -> Any:
    """The bytes of a file, a mebibyte at a time; this also puts the file into the page cache."""
    with path.open("rb") as file:
        yield from iter(lambda: file.read(1 << 20), b"")


def command_side(path: Path, out: Path, right: str) -> Side:
    """The whole command with all that it writes."""

    def run() -> Took:
        shutil.rmtree(out, ignore_errors=True)
        took = took_by([COMMAND, "parse", str(path), "-o", str(out)])
        if not checked:
            checked.append(digest(peers.written(out)))
        if checked[0] != right:
            raise WrongResultError("events.json differs from what json gives")
        return took

    checked: list[str] = []
    return Side("retell-fast parse", run)


def measure(paths: dict[str, Path], rounds: int, out: Path, found: Measurements) -> list[Goal]:
    """P1 to P3 on the first profile, and in the notes what the others give."""
    if not shutil.which("wc"):
        return [judged(id_, None, note="wc is not here") for id_ in ("P1", "P2", "P3")]
    example = core_example()
    goals: list[Goal] = []
    others: dict[str, list[str]] = {"P1": [], "P2": [], "P3": []}
    for profile, path in paths.items():
        timed = _timed(profile, path, rounds, out, example)
        size = path.stat().st_size
        for name, side in timed.items():
            if name != "start":
                label = f"{name}, {profile} {size / 1e6:.0f} MB"
                found.add(throughput(label, size, side.seconds, "parse"))
        for goal in _goals(timed):
            if profile == next(iter(paths)):
                goals.append(goal)
            elif goal.measured is not None:
                others[goal.id].append(f"{profile} {goal.measured:.2f}")
    return [
        replace(goal, note="; ".join(filter(None, [goal.note, ", ".join(others[goal.id])]))) for goal in goals
    ]


def _timed(profile: str, path: Path, rounds: int, out: Path, example: str | None) -> dict[str, Side]:
    story = peers.readers_of(profile)["json"](path)
    sides = [wc_side(path), Side("start", lambda: took_by(START)), command_side(path, out, digest(story))]
    if example:
        sides += [core_side(example, path, threads, len(story)) for threads in _THREADS]
    return interleave(sides, rounds)


def _goals(timed: dict[str, Side]) -> list[Goal]:
    goals = []
    wc, start = timed.get("wc -l"), timed.get("start")
    for id_, name in (("P1", "core, 1 thread"), ("P2", "core, 2 threads"), ("P3", "retell-fast parse")):
        side = timed.get(name)
        if not (wc and side and start):
            goals.append(judged(id_, None, note=f"{name if wc else 'wc -l'} was not timed"))
            continue
        whole = id_ == "P3"
        measured, note = ratio(side, wc, start if whole else None)
        sides = milliseconds(side, wc, *([start] if whole else []))
        goals.append(judged(id_, measured, {f"{name} ms": value for name, value in sides.items()}, note))
    return goals
