"""Whole runs beside each other: retell_fast, `wc -l`, and Python readers of the same conversation.

    python benches/compare.py --megabytes 150 --rounds 7

The rounds are interleaved, and only ratios within one run mean something: the machine may be busy. Each side
runs in a fresh process; readers report the time from the file's name to the conversation, without imports.
What a side gives is compared in every round; a side with a wrong result is named and not timed. Prints a
table and the goals, and writes `benches/out/compare.json`. It is a report: the exit status is always 0.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches import generate, peers

_MIB = 1024 * 1024
_WC = "wc -l"
_START = "python -c pass"
_COMMAND = "retell-fast parse"
_PARSE = "retell_fast.parse"
_PARSE_LIST = "retell_fast.parse, to a list"

# Starts a command and prints its peak memory. A child begins with the peak of the process that started it, so
# that has to be a small one: a bare interpreter without `site`, and no import beyond what is loaded anyway.
_PEAK_OF = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
print(os.wait4(child, 0)[2].ru_maxrss)
"""


class WrongResultError(Exception):
    """A side failed, or gave another conversation than the plainest reader did."""


@dataclass
class Side:
    """One row of the table."""

    name: str
    command: Sequence[str]
    """What is run; a worker of this file if `reader` is set."""
    reader: bool = False
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int | None = None
    wrong: str | None = None

    @property
    def best(self) -> float:
        """The fastest round."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.seconds)


def _digest(story: list[peers.Told]) -> str:
    return hashlib.sha256(repr(story).encode("utf-8", "surrogatepass")).hexdigest()


def _work(name: str, path: Path) -> None:
    """The inside of a reader's process: time one reading, say what came out."""
    if name in peers.READERS:
        reader = peers.READERS[name]
        begin = time.perf_counter()
        story = reader(path)
        seconds = time.perf_counter() - begin
    else:
        import retell_fast  # noqa: PLC0415 - the other sides run without it

        begin = time.perf_counter()
        conversation = retell_fast.parse(path)
        story = peers.told(conversation.events) if name == _PARSE_LIST else []
        seconds = time.perf_counter() - begin
        story = story or peers.told(conversation.events)
    print(json.dumps({"seconds": seconds, "digest": _digest(story)}))


def _sides(path: Path, out: Path) -> list[Side]:
    """Everything that can run here; what cannot is named."""
    worker = [sys.executable, str(Path(__file__).resolve())]
    sides = [Side(_START, [sys.executable, "-c", "pass"])]
    if wc := shutil.which("wc"):
        sides.append(Side(_WC, [wc, "-l", str(path)]))
    else:
        print("left out: wc is not here")
    command = shutil.which("retell-fast", path=str(Path(sys.executable).parent)) or shutil.which(
        "retell-fast"
    )
    if command and importlib.util.find_spec("retell_fast"):
        sides.append(Side(_COMMAND, [command, "parse", str(path), "-o", str(out)]))
        names = [_PARSE, _PARSE_LIST, *peers.READERS]
    else:
        print("left out: retell_fast is not installed for this Python")
        names = list(peers.READERS)
    sides += [Side(name, [*worker, "--worker", name, str(path)], reader=True) for name in names]
    return sides


def _run(side: Side, out: Path, digest: str, lines: int) -> float:
    """Run a side once, check what it gave, and return its seconds."""
    shutil.rmtree(out, ignore_errors=True)
    begin = time.perf_counter()
    done = subprocess.run(side.command, check=False, capture_output=True, text=True, encoding="utf-8")
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise WrongResultError(f"exit status {done.returncode}: {said[-1] if said else ''}")
    if side.reader:
        answer = json.loads(done.stdout)
        seconds = float(answer["seconds"])
        right = answer["digest"] == digest
    elif side.name == _COMMAND:
        right = _digest(_written(out)) == digest
    else:
        right = side.name != _WC or int(done.stdout.split()[0]) == lines
    if not right:
        raise WrongResultError("the result differs from that of json")
    return seconds


def _written(out: Path) -> list[peers.Told]:
    """What the command wrote, in the form of the readers."""
    events = json.loads((out / "events.json").read_bytes())
    return [(e["role"], e["says"], e.get("thinks", ""), tuple(e.get("tools", ()))) for e in events]


def _peak(side: Side, out: Path) -> int | None:
    """Bytes of memory the side's process held at most, or None where the system cannot tell."""
    if not hasattr(os, "wait4"):
        return None
    shutil.rmtree(out, ignore_errors=True)
    launcher = [sys.executable, "-I", "-S", "-c", _PEAK_OF, *side.command]
    said = subprocess.run(launcher, check=True, capture_output=True, text=True).stdout
    return int(said) * (1 if sys.platform == "darwin" else 1024)


def _count(path: Path) -> tuple[str, int]:
    """Sha256 and number of lines; reading it all also puts the file into the page cache."""
    digest, lines = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_MIB):
            digest.update(piece)
            lines += piece.count(b"\n")
    return digest.hexdigest(), lines


def _attempt(side: Side, out: Path, digest: str, lines: int) -> list[float]:
    """The seconds of one run, or nothing and a reason why the side is out."""
    if side.wrong is None:
        try:
            return [_run(side, out, digest, lines)]
        except (WrongResultError, OSError, ValueError, KeyError) as error:
            side.wrong = f"{type(error).__name__}: {error}"
    return []


def _measure(sides: list[Side], rounds: int, out: Path, digest: str, lines: int) -> None:
    for side in sides:
        _attempt(side, out, digest, lines)  # warms up and checks
    for number in range(rounds):
        # Each round begins with another side, so that none is always the one behind the slowest.
        shift = number % len(sides)
        for side in sides[shift:] + sides[:shift]:
            side.seconds += _attempt(side, out, digest, lines)
    for side in sides:
        side.peak_bytes = None if side.wrong else _peak(side, out)


def _table(sides: list[Side], size: int) -> None:
    timed = {side.name: side for side in sides if side.seconds and side.wrong is None}
    yardstick = timed.get(_WC)
    print(f"\n{'':<30}{'min ms':>9}{'median':>9}{'GB/s':>8}{'x wc -l':>9}{'peak MiB':>10}")
    for side in sides:
        if side.name not in timed:
            print(f"{side.name:<30}NOT TIMED: {side.wrong}")
            continue
        speed = "" if side.name == _START else f"{size / side.best / 1e9:.2f}"
        ratio = f"{side.best / yardstick.best:.1f}" if yardstick and side.name != _START else ""
        peak = f"{side.peak_bytes / _MIB:.1f}" if side.peak_bytes else ""
        print(
            f"{side.name:<30}{side.best * 1e3:>9.1f}{side.median * 1e3:>9.1f}{speed:>8}{ratio:>9}{peak:>10}"
        )


def _goals(sides: list[Side], signal: int) -> list[dict[str, Any]]:
    """Each goal with what was measured: by the fastest rounds, and by the median ones."""
    found = {side.name: side for side in sides if side.seconds and side.wrong is None}
    goals: list[dict[str, Any]] = []
    start, command, parse = found.get(_START), found.get(_COMMAND), found.get(_PARSE_LIST)
    if start and command and (wc := found.get(_WC)):
        by_best = (command.best - start.best) / wc.best
        by_median = (command.median - start.median) / wc.median
        name = "retell-fast parse, interpreter start taken off, against wc -l"
        goals.append({"name": name, "unit": "x", "min": by_best, "median": by_median, "at_most": 2.5})
    for library, at_least in (("json", 15), ("orjson", 8)):
        if parse and (peer := found.get(library)):
            times = {"min": peer.best / parse.best, "median": peer.median / parse.median}
            goals.append(
                {"name": f"{_PARSE_LIST}, faster than {library}", "unit": "x", **times, "at_least": at_least}
            )
    if start and command and start.peak_bytes and command.peak_bytes:
        above = (command.peak_bytes - start.peak_bytes) / _MIB
        limit = 64 + 3 * signal / _MIB
        name = "peak memory of retell-fast parse over a bare interpreter"
        goals.append({"name": name, "unit": " MiB", "min": above, "median": above, "at_most": limit})
    for goal in goals:
        goal["met"] = goal["min"] <= goal["at_most"] if "at_most" in goal else goal["min"] >= goal["at_least"]
    return goals


def _print_goals(goals: list[dict[str, Any]]) -> None:
    print()
    for goal in goals:
        wanted = f"at most {goal['at_most']:.1f}" if "at_most" in goal else f"at least {goal['at_least']:.1f}"
        verdict = "met   " if goal["met"] else "MISSED"
        measured = f"{goal['min']:.2f}{goal['unit']} (by medians {goal['median']:.2f})"
        print(f"{verdict} {goal['name']}: {measured}, goal {wanted}{goal['unit']}")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description="Compare retell_fast with wc -l and with Python JSON readers."
    )
    parser.add_argument("--profile", choices=sorted(generate.PROFILES), default="classic")
    parser.add_argument("--megabytes", type=float, default=150)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", nargs=2, metavar=("SIDE", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        _work(asked.worker[0], Path(asked.worker[1]))
        return

    path = generate.corpus(asked.profile, asked.megabytes, asked.seed)
    sha256, lines = _count(path)
    story = peers.read_json(path)
    signal = peers.signal_bytes(story)
    size = path.stat().st_size
    print(f"{asked.profile}, seed {asked.seed}, sha256 {sha256}")
    print(f"{size} bytes, {lines} lines, {len(story)} events, {signal} bytes of signal ({signal / size:.2%})")
    print(f"{asked.rounds} rounds on {platform.machine()}, {os.cpu_count()} cores")

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        sides = _sides(path, out)
        _measure(sides, max(1, asked.rounds), out, _digest(story), lines)
    goals = _goals(sides, signal)
    _table(sides, size)
    _print_goals(goals)
    report = {
        "corpus": {
            "profile": asked.profile,
            "seed": asked.seed,
            "bytes": size,
            "lines": lines,
            "events": len(story),
            "signal_bytes": signal,
            "sha256": sha256,
        },
        "machine": {"system": platform.system(), "machine": platform.machine(), "cores": os.cpu_count()},
        "versions": {
            "python": platform.python_version(),
            **{package: _version(package) for package in ("retell-fast", "orjson", "pysimdjson")},
        },
        "sides": [
            {"name": side.name, "seconds": side.seconds, "peak_bytes": side.peak_bytes, "wrong": side.wrong}
            for side in sides
        ],
        "goals": goals,
    }
    (generate.OUT / "compare.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
