"""Goal P10: instructions per byte, counted and not timed: the one number that a busy machine leaves alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from benches import generate
from benches.against_wc import core_example
from benches.measurements import series
from benches.stopwatch import WrongResultError, answer
from benches.targets import judged

if TYPE_CHECKING:
    from collections.abc import Callable

    from benches.measurements import Goal, Measurements

# Fixed, so that the number can be compared over the years; the shorter is a prefix of the longer, and what
# both need to start is taken off.
_MEGABYTES = (2, 4)
_PROFILES = ("classic", "modern", "chat", "images")


def measure(found: Measurements) -> Goal:
    """P10 on `classic` by callgrind; in the note the other profiles, and what the processor itself counts."""
    example = core_example()
    if example is None:
        return judged("P10", None, note="cargo is missing")
    counters: dict[str, Callable[[list[str]], int]] = {"callgrind": _callgrind, "perf": _perf}
    programs = {"callgrind": "valgrind", "perf": "perf"}
    counted: dict[str, dict[str, float]] = {}
    said = []
    for how, count in counters.items():
        if not shutil.which(programs[how]):
            said.append(f"{programs[how]} is missing")
            continue
        try:
            counted[how] = {profile: _per_byte(example, profile, count) for profile in _PROFILES}
        except (WrongResultError, OSError, subprocess.CalledProcessError) as error:
            said.append(f"{how} failed: {error}")
            continue
        for profile, number in counted[how].items():
            name = f"instructions per input byte, {profile}, {how}"
            found.add(series(name, "instr/B", "smaller", [number], "instructions"))
        said.append(f"{how}: " + ", ".join(f"{profile} {n:.2f}" for profile, n in counted[how].items()))
    said.append(f"one thread, {_MEGABYTES[1]} MB less {_MEGABYTES[0]} MB")
    first = next(iter(counted.values()), {})
    return judged("P10", first.get("classic"), {}, "; ".join(said))


def _per_byte(example: str, profile: str, count: Callable[[list[str]], int]) -> float:
    paths = [generate.corpus(profile, megabytes) for megabytes in _MEGABYTES]
    short, long = (count([example, str(path), "--rounds", "1", "--threads", "1"]) for path in paths)
    return (long - short) / (paths[1].stat().st_size - paths[0].stat().st_size)


def _callgrind(command: list[str]) -> int:
    # The simulated processor has fewer vector instructions than the real one, so another code path may run.
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
