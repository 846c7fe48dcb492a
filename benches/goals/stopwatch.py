"""Sides beside each other: rounds in turns, results checked, the time and the memory of whole processes.

Only ratios within one run mean something: the machine may be busy, and it is so for all sides only when
they take turns. Each round begins with another side, so that none is always the one behind the slowest.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sys.executable
START = [PYTHON, "-c", "pass"]

# Starts a command and prints its peak memory. A child begins with the peak of the process that started it, so
# that has to be a small one: a bare interpreter without `site`, and no import beyond what is loaded anyway.
_PEAK_OF = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
print(os.wait4(child, 0)[2].ru_maxrss)
"""


class WrongResultError(Exception):
    """A side failed, or gave another result than it should."""


class Took(NamedTuple):
    """What one round of a side took."""

    seconds: float
    cpu: float
    """Seconds that processors worked for it, whatever else the machine did; 0 where nobody can tell."""
    first: float = 0.0
    """Seconds of the first time in a process, where `seconds` is the best of a few."""


@dataclass
class Side:
    """One of those that are compared."""

    name: str
    run: Callable[[], Took]
    """Does the work once, checks what came out, and gives the seconds that count."""
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    wrong: str | None = None
    """Why it was not timed."""

    @property
    def best(self) -> float:
        """The fastest round."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle round."""
        return statistics.median(self.seconds)

    @property
    def work(self) -> float:
        """Seconds that processors worked in the round that took least; 0 where nobody can tell."""
        return min(self.cpu, default=0.0)


def interleave(sides: Sequence[Side], rounds: int) -> dict[str, Side]:
    """Time all sides in turns; those with a wrong result are named, and not among what is given back."""
    for side in sides:
        _attempt(side)  # warms up and checks
        side.seconds.clear()
        side.cpu.clear()
        side.first.clear()
    for number in range(max(1, rounds)):
        shift = number % len(sides)
        for side in [*sides[shift:], *sides[:shift]]:
            _attempt(side)
    for side in sides:
        if side.wrong:
            print(f"not timed: {side.name}: {side.wrong}")
    return {side.name: side for side in sides if not side.wrong}


def _attempt(side: Side) -> None:
    if side.wrong is None:
        try:
            took = side.run()
        except (WrongResultError, OSError, ValueError, KeyError) as error:
            side.wrong = f"{type(error).__name__}: {error}"
        else:
            side.seconds.append(took.seconds)
            side.cpu.append(took.cpu)
            side.first.append(took.first)


def output(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """What a command writes to standard output; it must succeed."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, encoding="utf-8", env=_with(env), cwd=ROOT
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise WrongResultError(f"exit status {done.returncode}: {said[-1] if said else ''}")
    return done.stdout


def took_by(command: Sequence[str], env: Mapping[str, str] | None = None) -> Took:
    """What a whole process takes, its output thrown away."""
    own = _with(env)
    before, begin = children_cpu(), time.perf_counter()
    done = subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own, cwd=ROOT
    )
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise WrongResultError(f"exit status {done.returncode}")
    return Took(seconds, children_cpu() - before)


def children_cpu() -> float:
    """Seconds that processors worked for all children so far."""
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415 - Windows has none

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answer(command: Sequence[str], env: Mapping[str, str] | None = None) -> Any:
    """The JSON that a command prints."""
    return json.loads(output(command, env))


def _with(env: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, **(env or {})}


def can_tell_peaks() -> bool:
    """Whether the system says how much memory a child held."""
    return hasattr(os, "wait4")


def peak_bytes(command: Sequence[str]) -> int:
    """Bytes of memory that the process of a command held at most."""
    launcher = [PYTHON, "-I", "-S", "-c", _PEAK_OF, *command]
    return int(output(launcher)) * (1 if sys.platform == "darwin" else 1024)


def load() -> float:
    """How many processes wanted a core during the last minute, where the system tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
