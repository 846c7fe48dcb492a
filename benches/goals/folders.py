"""Goals P7 to P9: folders of many sessions, and how long it takes to start.

One pass over a folder runs in a process of its own, which may use as many cores as it has threads:

    python -m benches.goals.folders THREADS FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benches.goals.builds import COMMAND
from benches.goals.measurements import series, speeds, waits
from benches.goals.stopwatch import (
    PYTHON,
    START,
    Side,
    Took,
    WrongResultError,
    answer,
    interleave,
    output,
    took_by,
)
from benches.goals.targets import judged, milliseconds, ratio

if TYPE_CHECKING:
    from benches.goals.measurements import Goal, Measurements


def measure_folder(
    id_: str, folder: Path, rounds: int, found: Measurements, *, in_sessions: bool = False
) -> Goal:
    """P7: every session of a folder, subagents included; one thread decides, two are told beside it.

    Args:
        id_: of the goal.
        folder: what `generate.corpus_tree` gave.
        rounds: of both sides.
        found: takes the series.
        in_sessions: whether sessions a second are what counts, and not megabytes.
    """
    files = [file for file in folder.rglob("*.jsonl") if not file.name.startswith("agent-")]
    size = sum(file.stat().st_size for file in folder.rglob("*.jsonl"))
    if not hasattr(os, "sched_setaffinity"):
        return judged(id_, None, note="it takes Linux to hold a pass to one core")
    expected = _pass(1, folder)["events"]

    def side(threads: int) -> Side:
        def run() -> Took:
            said = _pass(threads, folder)
            if said["events"] != expected:
                raise WrongResultError(f"{said['events']} events, {expected} expected")
            return Took(said["seconds"], said["cpu"])

        return Side(f"{threads} thread{'s' if threads > 1 else ''}", run)

    timed = interleave([side(threads) for threads in (1, 2) if threads <= (os.cpu_count() or 1)], rounds)
    if "1 thread" not in timed:
        return judged(id_, None, note="a side failed")
    sides: dict[str, float] = {}
    for name, each in timed.items():
        label = f"folder of {len(files)} sessions, {name}"
        rate = series(
            f"{label} / rate", "sessions/s", "bigger", [len(files) / s for s in each.seconds], "parse"
        )
        found.add(*speeds(label, size, each, "parse"), rate)
        sides |= {f"{name} sessions/s": round(rate.value), f"{name} MB/s": round(size / 1e6 / each.best, 1)}
    one = timed["1 thread"]
    sides |= milliseconds(*timed.values())
    measured = (len(files) if in_sessions else size / 1e6) / one.best
    note = f"{len(files)} sessions, {size / 1e6:.0f} MB, {expected} events, read one by one"
    return judged(id_, measured, sides, note)


def _pass(threads: int, folder: Path) -> dict[str, float]:
    said: dict[str, float] = answer([PYTHON, "-m", "benches.goals.folders", str(threads), str(folder)])
    return said


def main(threads: int, folder: Path) -> None:
    """The inside of one pass: read every session, count its events."""
    import retell_fast  # noqa: PLC0415 - nobody else here needs it

    # A session over a few megabytes is itself read with all cores that the process may use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    files = sorted(file for file in folder.rglob("*.jsonl") if not file.name.startswith("agent-"))

    def count(file: Path) -> int:
        return len(retell_fast.parse(file, include_subagents=True).events)

    begin, working = time.perf_counter(), time.process_time()
    if threads == 1:
        # To hand a small session to another thread takes as long as a third of its parse.
        events = sum(map(count, files))
    else:
        with ThreadPoolExecutor(threads) as pool:
            events = sum(pool.map(count, files))
    took = {"seconds": time.perf_counter() - begin, "cpu": time.process_time() - working}
    print(json.dumps({**took, "events": events}))


def measure_preview(home: Path, sessions: int, rounds: int, found: Measurements) -> Goal:
    """P8: the list of all sessions, by the command."""
    env = {"CLAUDE_CONFIG_DIR": str(home)}
    command = [COMMAND, "preview", str(sessions), "--json"]
    listed = len(json.loads(output(command, env)))
    if listed != sessions:
        return judged("P8", None, note=f"{listed} of {sessions} sessions were listed")
    side = Side("retell-fast preview", lambda: took_by(command, env))
    interleave([side], rounds)
    found.add(*waits(f"preview of {sessions} sessions", "s", side, "parse"))
    size = sum(file.stat().st_size for file in home.rglob("*.jsonl"))
    note = f"{sessions} sessions, {size / 1e6:.0f} MB, median {side.median:.2f} s"
    return judged("P8", side.best, milliseconds(side), note)


def measure_start(rounds: int, found: Measurements) -> list[Goal]:
    """P9: the import, and the shortest command, beside an interpreter that does nothing."""
    commands = {
        "python -c pass": START,
        "import retell_fast": [PYTHON, "-c", "import retell_fast"],
        "retell-fast --version": [COMMAND, "--version"],
    }
    sides = [Side(name, partial(took_by, command)) for name, command in commands.items()]
    timed = interleave(sides, rounds)
    goals = []
    start = timed["python -c pass"]
    for id_, name in (("P9 import", "import retell_fast"), ("P9 version", "retell-fast --version")):
        found.add(*waits(name, "ms", timed[name], "parse"))
        measured, note = ratio(timed[name], start)
        goals.append(judged(id_, measured, milliseconds(timed[name], start), note))
    return goals


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
