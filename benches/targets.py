"""The goals of the project as a table, the verdict on a measured number, and how both are printed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches.measurements import Goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benches.measurements import Verdict
    from benches.stopwatch import Side


@dataclass(frozen=True)
class Target:
    """What is wanted: a ratio, a speed or a size, at most or at least."""

    what: str
    goal: float
    stretch: float
    unit: str = "x"
    at_least: bool = False

    def verdict(self, measured: float | None) -> Verdict:
        """How the measured number does."""
        if measured is None:
            return "not measured"
        if self.at_least:
            return "stretch" if measured >= self.stretch else "met" if measured >= self.goal else "not met"
        return "stretch" if measured <= self.stretch else "met" if measured <= self.goal else "not met"


TARGETS: Mapping[str, Target] = {
    "P1": Target("file to events, one thread / wc -l", 1.5, 1.2),
    "P2": Target("file to events, two threads / wc -l", 1.0, 0.8),
    "P3": Target("retell-fast parse without interpreter start / wc -l", 2.5, 1.5),
    "P4 json": Target("retell_fast.parse to a list, faster than json", 15, 20, at_least=True),
    "P4 orjson": Target("… faster than orjson", 8, 11, at_least=True),
    "P4 msgspec": Target("… faster than msgspec, typed", 4.5, 6, at_least=True),
    "P4 pysimdjson": Target("… faster than pysimdjson over mmap slices", 3, 4, at_least=True),
    "P4 fastsimdjson": Target("… faster than fastsimdjson", 4, 5.5, at_least=True),
    "P6 extract": Target("images out of a transcript, slowest size", 2.0, 3.5, "GB/s", at_least=True),
    "P6 restore": Target("images back into it, slowest size", 2.0, 3.5, "GB/s", at_least=True),
    "P6 flat": Target("time per byte, largest / smallest size, the worse of both", 1.3, 1.1),
    "P7": Target("a folder of sessions, two threads faster than one", 1.7, 1.9, at_least=True),
    "P8": Target("preview of many sessions, warm, whole command", 1.0, 0.3, "s"),
    "P9 import": Target("import retell_fast / python -c pass", 1.6, 1.2),
    "P9 version": Target("retell-fast --version / python -c pass", 2.5, 1.6),
    "P10": Target("instructions per input byte, file to events", 1.6, 1.2, "instr/B"),
}


def memory_target(what: str, signal_bytes: int) -> Target:
    """Goal P5: it depends on how much is said in a session."""
    signal = signal_bytes / (1 << 20)
    return Target(f"peak memory over a bare interpreter, {what}", 64 + 3 * signal, 32 + 2 * signal, "MiB")


def judged(
    id_: str,
    measured: float | None,
    sides: Mapping[str, float] | None = None,
    note: str = "",
    target: Target | None = None,
) -> Goal:
    """A row of the goals' table."""
    wanted = target or TARGETS[id_]
    sign = "≥" if wanted.at_least else "≤"
    return Goal(
        id=id_,
        what=wanted.what,
        goal=f"{sign} {wanted.goal:.3g}",
        stretch=f"{sign} {wanted.stretch:.3g}",
        measured=measured,
        unit=wanted.unit,
        verdict=wanted.verdict(measured),
        sides=dict(sides or {}),
        note=note,
    )


def ratio(upper: Side, lower: Side, minus: Side | None = None) -> tuple[float, str]:
    """The ratio of the fastest rounds, and in words that of the middle ones and of the work of processors.

    The last is what to look at when the machine was busy, for sides of one thread.
    """
    taken_off = (minus.best, minus.median) if minus else (0.0, 0.0)
    by_best = (upper.best - taken_off[0]) / lower.best
    by_median = (upper.median - taken_off[1]) / lower.median
    note = f"by medians {by_median:.2f}"
    if min(*lower.cpu, *upper.cpu) > 0:
        by_cpu = (min(upper.cpu) - (min(minus.cpu) if minus else 0)) / min(lower.cpu)
        note += f", by processor time {by_cpu:.2f}"
    return by_best, note


def milliseconds(*sides: Side) -> dict[str, float]:
    """The fastest rounds, for the record."""
    return {side.name: round(side.best * 1000, 3) for side in sides}


def print_goals(goals: Iterable[Goal], width: int = 135) -> None:
    """The table that people look at: what was wanted, what was measured, and the sides below it."""
    print(f"\n{'goal':<19}{'':<58}{'wanted':>9}{'stretch':>9}{'measured':>19}  verdict")
    print("-" * width)
    for goal in goals:
        measured = "-" if goal.measured is None else f"{goal.measured:.2f} {goal.unit}"
        verdict = goal.verdict.upper() if goal.verdict == "not met" else goal.verdict
        print(f"{goal.id:<19}{goal.what:<58}{goal.goal:>9}{goal.stretch:>9}{measured:>19}  {verdict}")
        sides = ", ".join(f"{name} {value:.4g}" for name, value in goal.sides.items())
        told = "; ".join(part for part in (sides, goal.note) if part)
        for line in textwrap.wrap(told, width - 19):
            print(f"{'':<19}{line}")
