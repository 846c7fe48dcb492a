"""Goals P7 to P9: folders of many sessions, and how long it takes to start.

One pass over a folder runs in a process of its own, which may use as many cores as it has threads:

    python benches/folders.py THREADS FOLDER
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

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches.against_wc import COMMAND
from benches.measurements import series, throughput
from benches.stopwatch import PYTHON, START, Side, Took, WrongResultError, answer, interleave, output, took_by
from benches.targets import judged, milliseconds, ratio

if TYPE_CHECKING:
    from benches.measurements import Goal, Measurements


def measure_folder(folder: Path, rounds: int, found: Measurements) -> Goal:
    """P7: every session of a folder, subagents included, with two threads and with one."""
    files = [file for file in folder.rglob("*.jsonl") if not file.name.startswith("agent-")]
    size = sum(file.stat().st_size for file in folder.rglob("*.jsonl"))
    if not hasattr(os, "sched_setaffinity") or (os.cpu_count() or 1) < 2:
        return judged("P7", None, note="it takes Linux and two cores to compare threads")
    expected = _pass(1, folder)["events"]

    def side(threads: int) -> Side:
        def run() -> Took:
            said = _pass(threads, folder)
            if said["events"] != expected:
                raise WrongResultError(f"{said['events']} events, {expected} expected")
            return Took(said["seconds"], said["cpu"])

        return Side(f"{threads} thread{'s' if threads > 1 else ''}", run)

    timed = interleave([side(1), side(2)], rounds)
    if len(timed) < 2:
        return judged("P7", None, note="a side failed")
    one, two = timed["1 thread"], timed["2 threads"]
    name = f"folder of {len(files)} sessions"
    for timed_side in (one, two):
        found.add(throughput(f"{name}, {timed_side.name}", size, timed_side.seconds, "parse"))
    measured, note = ratio(one, two)
    sides = {f"{key} ms": value for key, value in milliseconds(one, two).items()}
    what = f"{len(files)} sessions, {size / 1e6:.0f} MB, {expected} events, read one by one in a thread pool"
    return judged("P7", measured, sides, f"{note}; {what}")


def _pass(threads: int, folder: Path) -> dict[str, float]:
    said: dict[str, float] = answer([PYTHON, __file__, str(threads), str(folder)])
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
    found.add(series(f"preview of {sessions} sessions", "s", "smaller", side.seconds, "parse"))
    size = sum(file.stat().st_size for file in home.rglob("*.jsonl"))
    note = f"{sessions} sessions, {size / 1e6:.0f} MB, median {side.median:.2f} s"
    return judged("P8", side.best, {}, note)


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
        found.add(series(name, "ms", "smaller", [s * 1000 for s in timed[name].seconds], "parse"))
        measured, note = ratio(timed[name], start)
        sides_ms = {f"{key} ms": value for key, value in milliseconds(timed[name], start).items()}
        goals.append(judged(id_, measured, sides_ms, note))
    return goals


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
