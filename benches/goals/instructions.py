"""Goal P10: instructions per byte, counted and not timed: the one number that a busy machine leaves alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from benches.corpus import generate
from benches.goals.builds import HEAD
from benches.goals.measurements import series
from benches.goals.stopwatch import WrongResultError, answer
from benches.goals.targets import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benches.goals.measurements import Goal, Measurements

# Fixed, so that the number can be compared over the years; the shorter is a prefix of the longer, and what
# both need to start, or once for a session, is taken off.
_MEGABYTES = (4, 15)
_TOOLS = {"callgrind": "valgrind", "perf": "perf"}


def measure(profiles: Iterable[str], found: Measurements) -> list[Goal]:
    """P10 on every profile by callgrind; in the notes also what the processor itself counts, where it may.

    The simulated processor has fewer instructions than the real one: no SHA, so that a screenshot costs more,
    and a copy in one instruction counts by the byte.
    """
    example = HEAD.core_example()
    if example is None:
        return [judged(f"P10 {profile}", None, note="cargo is missing") for profile in profiles]
    counters: dict[str, Callable[[list[str]], int]] = {"callgrind": _callgrind, "perf": _perf}
    missing: dict[str, str] = {}
    goals = []
    for profile in profiles:
        counted: dict[str, float] = {}
        for how, count in counters.items():
            if how not in missing and not shutil.which(_TOOLS[how]):
                missing[how] = f"{_TOOLS[how]} is missing"
            if how not in missing:
                try:
                    counted[how] = _per_byte(example, profile, count)
                except (WrongResultError, OSError, subprocess.CalledProcessError) as error:
                    missing[how] = f"{how} failed: {error}"
        for how, number in counted.items():
            name = f"instructions per byte, {profile}, {how}"
            found.add(series(name, "instr/B", "smaller", [number], "instructions"))
        sides = {how: round(number, 3) for how, number in counted.items()}
        note = "; ".join([f"one thread, {_MEGABYTES[1]} MB less {_MEGABYTES[0]} MB", *missing.values()])
        goals.append(judged(f"P10 {profile}", next(iter(counted.values()), None), sides, note))
    return goals


def _per_byte(example: str, profile: str, count: Callable[[list[str]], int]) -> float:
    paths = [generate.corpus(profile, megabytes) for megabytes in _MEGABYTES]
    short, long = (count([example, str(path), "--rounds", "1", "--threads", "1"]) for path in paths)
    return (long - short) / (paths[1].stat().st_size - paths[0].stat().st_size)


def _callgrind(command: list[str]) -> int:
    # With fewer vector instructions another code path may run than on the real processor.
    under = ["valgrind", "--tool=none", "-q", *command, "--check"]
    if answer(under)["sum"] != answer([*command, "--check"])["sum"]:
        raise WrongResultError("the result is another one under valgrind")
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(tool, check=True, capture_output=True, text=True)
    return _number(r"Collected : (\d+)", done.stderr)


def _perf(command: list[str]) -> int:
    tool = ["perf", "stat", "-x", ",", "-e", "instructions:u", *command]
    done = subprocess.run(tool, check=True, capture_output=True, text=True)
    return _number(r"(\d+),,instructions", done.stderr)


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    if "<not supported>" in text:
        raise WrongResultError("this machine does not let it count")
    if match is None:
        raise WrongResultError(f"no count in {text.strip()[-200:]!r}")
    return int(match[1])
