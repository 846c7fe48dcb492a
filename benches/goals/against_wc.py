"""Goals P1 to P3: the core and the whole command beside `wc -l`."""

from __future__ import annotations

import shutil
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from benches.goals.builds import HEAD, Build
from benches.goals.measurements import speeds
from benches.goals.stopwatch import (
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
from benches.goals.targets import judged, milliseconds, ratio
from benches.peers import libraries
from benches.peers.stories import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from benches.goals.measurements import Goal, Measurements

_INNER = 4
_COMMAND = "retell-fast parse"
_SIDES = {"P1": "core, 1 thread", "P2": "core, 2 threads", "P3": _COMMAND}


class Told(NamedTuple):
    """What a session says: a sum over its conversation, and how many events that are."""

    digest: str
    events: int


def core_side(build: Build, name: str, path: Path, threads: int, events: int) -> Side | None:
    """The core in a process of its own: of a few rounds the first only warms it up."""
    example = build.core_example()
    if example is None:
        return None
    count = ["--rounds", str(_INNER), "--threads", str(threads)]
    checked = answer([example, str(path), "--rounds", "1", "--threads", str(threads), "--check"])

    def run() -> Took:
        if checked["events"] != events:
            raise WrongResultError(f"{checked['events']} events, {events} expected")
        before = children_cpu()
        seconds = answer([example, str(path), *count])["seconds"]
        return Took(min(seconds[1:]), (children_cpu() - before) / len(seconds))

    return Side(build.side(name), run)


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


def command_side(build: Build, profile: str, path: Path, out: Path, right: str) -> Side:
    """The whole command with all that it writes."""

    def run() -> Took:
        shutil.rmtree(out, ignore_errors=True)
        took = took_by([build.command, "parse", str(path), "-o", str(out)])
        if not checked:
            checked.append(digest(libraries.written(out, profile)))
        if checked[0] != right:
            raise WrongResultError("events.json differs from what json gives")
        return took

    checked: list[str] = []
    return Side(build.side(_COMMAND), run)


def told_in(profile: str, path: Path) -> Told:
    """The right result: what `json` gives, in as many events as the package makes of that."""
    import retell_fast  # noqa: PLC0415 - only the first check needs it

    right = digest(libraries.readers_of(profile)["json"](path))
    events = retell_fast.parse(path).events
    if digest(libraries.told(events, profile)) != right:
        raise WrongResultError(f"{path}: retell_fast.parse differs from what json gives")
    return Told(right, len(events))


def measure(
    paths: Mapping[str, Path],
    rounds: int,
    out: Path,
    families: Collection[str],
    runs: Mapping[Build, Measurements],
) -> list[Goal]:
    """Those of P1 to P3 that are wanted, on every profile, with every build; the goals are of this one."""
    asked = [family for family in _SIDES if family in families]
    if not shutil.which("wc"):
        return [judged(f"{id_} {profile}", None, note="wc is not here") for id_ in asked for profile in paths]
    goals: dict[str, list[Goal]] = {family: [] for family in asked}
    for profile, path in paths.items():
        timed = _timed(profile, path, rounds, out, asked, runs)
        size = path.stat().st_size
        label = f"{profile} {size / 1e6:.0f} MB"
        for build, found in runs.items():
            for name in (_SIDES[family] for family in asked):
                if side := timed.get(build.side(name)):
                    found.add(*speeds(f"{name}, {label}", size, side, "parse"))
        if wc := timed.get("wc -l"):
            runs[HEAD].add(*speeds(f"wc -l, {label}", size, wc, "parse"))
        for family in asked:
            goals[family].append(_goal(family, profile, timed))
    return [goal for family in asked for goal in goals[family]]


def _timed(
    profile: str,
    path: Path,
    rounds: int,
    out: Path,
    asked: Collection[str],
    runs: Mapping[Build, Measurements],
) -> dict[str, Side]:
    told = told_in(profile, path)
    sides = [wc_side(path)]
    if "P3" in asked:
        sides.append(Side("start", partial(took_by, START)))
    for build in runs:
        if "P3" in asked:
            sides.append(command_side(build, profile, path, out, told.digest))
        for family, threads in (("P1", 1), ("P2", 2)):
            if family in asked and (side := core_side(build, _SIDES[family], path, threads, told.events)):
                sides.append(side)
    return interleave(sides, rounds)


def _goal(family: str, profile: str, timed: Mapping[str, Side]) -> Goal:
    id_, name = f"{family} {profile}", _SIDES[family]
    wc, start, side = timed.get("wc -l"), timed.get("start"), timed.get(name)
    whole = family == "P3"
    if not (wc and side and (start or not whole)):
        return judged(id_, None, note=f"{name if wc else 'wc -l'} was not timed")
    measured, note = ratio(side, wc, start if whole else None)
    sides = [side, wc, start] if start and whole else [side, wc]
    return judged(id_, measured, milliseconds(*sides), note)


def measure_small(path: Path, rounds: int, out: Path, runs: Mapping[Build, Measurements]) -> Goal:
    """P3 on a session as most are: the interpreter's start is most of it, so it is not taken off."""
    told = told_in("classic", path)
    commands = [command_side(build, "classic", path, out, told.digest) for build in runs]
    timed = interleave([Side("python -c pass", partial(took_by, START)), *commands], rounds)
    size = path.stat().st_size
    for build, found in runs.items():
        if side := timed.get(build.side(_COMMAND)):
            found.add(*speeds(f"{_COMMAND}, classic {size / 1e6:.0f} MB", size, side, "parse"))
    if _COMMAND not in timed:
        return judged("P3 small", None, note=f"{_COMMAND} was not timed")
    command, start = timed[_COMMAND], timed["python -c pass"]
    measured, note = ratio(command, start)
    return judged("P3 small", measured, milliseconds(command, start), note)
