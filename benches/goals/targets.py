"""The goals of the project as a table, the verdict on a measured number, and how both are printed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches.goals.measurements import Goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benches.goals.measurements import Verdict
    from benches.goals.stopwatch import Side


@dataclass(frozen=True)
class Target:
    """What is wanted: a ratio, a speed or a size, at most or at least; or nothing, and it is only told."""

    what: str
    goal: float | None = None
    stretch: float | None = None
    unit: str = "x"
    at_least: bool = False

    def verdict(self, measured: float | None) -> Verdict:
        """How the measured number does."""
        if measured is None:
            return "not measured"
        if self.goal is None:
            return "no goal"
        if self.stretch is not None and self._reaches(measured, self.stretch):
            return "stretch"
        return "met" if self._reaches(measured, self.goal) else "not met"

    def _reaches(self, measured: float, mark: float) -> bool:
        return measured >= mark if self.at_least else measured <= mark

    def said(self, mark: float | None) -> str:
        """A mark as the table shows it."""
        if mark is None:
            return ""
        number = f"{mark:,.0f}" if mark >= 1000 else f"{mark:.3g}"
        return f"{'≥' if self.at_least else '≤'} {number}"


# Profile, goal, stretch. A lead on one profile is no lead, so each has its own.
_ONE_THREAD = {
    "classic": (1.15, 0.85),
    "modern": (0.95, 0.85),
    "chat": (3.5, 2.0),
    "images": (1.2, 0.9),
    "codex": (2.2, 1.2),
    "mixed": (1.9, 1.0),
}
_TWO_THREADS = {
    "classic": (1.0, 0.7),
    "modern": (0.85, 0.6),
    "chat": (2.7, 1.4),
    "images": (1.1, 0.85),
    "codex": (1.7, 1.0),
    "mixed": (1.5, 0.9),
}
_COMMAND: Mapping[str, tuple[float, float | None]] = {
    "classic": (1.8, 1.5),
    "modern": (1.5, None),
    "chat": (7.0, None),
    "images": (4.0, None),
    "mixed": (3.2, None),
}
_INSTRUCTIONS: Mapping[str, tuple[float, float | None]] = {
    "classic": (1.9, 1.2),
    "modern": (1.4, None),
    "chat": (5.2, None),
    "images": (2.5, None),
    "codex": (4.8, None),
}
PEERS = ("json", "orjson", "msgspec", "pysimdjson", "fastsimdjson")
_FASTER_THAN = {
    "classic": (13, 6.5, 4, 3.3, 2.8),
    "chat": (7, 3, 2.3, 2.5, 1.4),
    "images": (9, 3, 2.8, 1.8, 1.8),
}
_FASTER_STRETCH = {"classic": (15, 8, 4.5, 3, 4)}

FAMILIES: Mapping[str, Target] = {
    "P1": Target("file to events, one thread / wc -l"),
    "P2": Target("file to events, two threads / wc -l"),
    "P3": Target("retell-fast parse without interpreter start / wc -l"),
    "P4": Target("retell_fast.parse to a list, two threads, faster", at_least=True),
    "P7": Target("a folder of sessions, one thread", unit="MB/s", at_least=True),
    "P10": Target("instructions per input byte, file to events", unit="instr/B"),
}
"""What rows of a family say for which there is no goal."""


def _by_profile(family: str, marks: Mapping[str, tuple[float, float | None]]) -> dict[str, Target]:
    row = FAMILIES[family]
    return {f"{family} {profile}": Target(row.what, *pair, row.unit) for profile, pair in marks.items()}


def _faster() -> dict[str, Target]:
    rows = {}
    for profile, goals in _FASTER_THAN.items():
        stretches = _FASTER_STRETCH.get(profile, (None,) * len(PEERS))
        for peer, goal, stretch in zip(PEERS, goals, stretches, strict=True):
            # What was wanted of old is less than what is wanted now of two of them.
            beyond = stretch if stretch is not None and stretch > goal else None
            what = f"retell_fast.parse to a list, faster than {peer}"
            rows[f"P4 {profile} {peer}"] = Target(what, goal, beyond, at_least=True)
    return rows


TARGETS: Mapping[str, Target] = {
    **_by_profile("P1", _ONE_THREAD),
    **_by_profile("P2", _TWO_THREADS),
    **_by_profile("P3", _COMMAND),
    "P3 small": Target("retell-fast parse of 2 MB, start included / python -c pass", 1.7),
    **_faster(),
    "P6 extract": Target("images out of a transcript, slowest size", 2.0, 3.5, "GB/s", at_least=True),
    "P6 restore": Target("images back into it, slowest size", 2.0, 3.5, "GB/s", at_least=True),
    "P6 flat": Target("time per byte, largest / smallest size, the worse of both", 1.3, 1.1),
    "P7 small": Target("small sessions, one thread", 15_000, None, "sessions/s", at_least=True),
    "P8": Target("preview of many sessions, warm, whole command", 1.0, 0.3, "s"),
    "P9 import": Target("import retell_fast / python -c pass", 1.6, 1.2),
    "P9 version": Target("retell-fast --version / python -c pass", 2.5, 1.6),
    **_by_profile("P10", _INSTRUCTIONS),
}

_MIB = 1 << 20


def memory_target(what: str, signal_bytes: int, line_bytes: float = 0) -> Target:
    """Goal P5: it depends on how much is said in a session, and on a line that is most of it."""
    signal = signal_bytes / _MIB
    goal = max(64 + 3 * signal, 1.2 * line_bytes / _MIB)
    return Target(f"peak memory over a bare interpreter, {what}", goal, 32 + 2 * signal, "MiB")


def judged(
    id_: str,
    measured: float | None,
    sides: Mapping[str, float] | None = None,
    note: str = "",
    target: Target | None = None,
) -> Goal:
    """A row of the goals' table."""
    wanted = target or TARGETS.get(id_) or FAMILIES[id_.partition(" ")[0]]
    return Goal(
        id=id_,
        what=wanted.what,
        goal=wanted.said(wanted.goal),
        stretch=wanted.said(wanted.stretch),
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
    if upper.work and lower.work:
        by_cpu = (upper.work - (minus.work if minus else 0)) / lower.work
        note += f", by processor time {by_cpu:.2f}"
    return by_best, note


def milliseconds(*sides: Side) -> dict[str, float]:
    """The fastest rounds on the wall and of processors, for the record."""
    found = {}
    for side in sides:
        found[f"{side.name} ms"] = round(side.best * 1000, 3)
        if side.work:
            found[f"{side.name} CPU ms"] = round(side.work * 1000, 3)
    return found


def print_goals(goals: Iterable[Goal], width: int = 140) -> None:
    """The table that people look at: what was wanted, what was measured, and the sides below it."""
    print(f"\n{'goal':<25}{'':<59}{'wanted':>9}{'stretch':>9}{'measured':>21}  verdict")
    print("-" * width)
    for goal in goals:
        measured = "-" if goal.measured is None else f"{_digits(goal.measured)} {goal.unit}"
        verdict = goal.verdict.upper() if goal.verdict == "not met" else goal.verdict
        marks = f"{goal.goal or '-':>9}{goal.stretch or '-':>9}"
        print(f"{goal.id:<25}{goal.what:<59}{marks}{measured:>21}  {verdict}")
        sides = ", ".join(f"{name} {value:.4g}" for name, value in goal.sides.items())
        told = "; ".join(part for part in (sides, goal.note) if part)
        for line in textwrap.wrap(told, width - 25):
            print(f"{'':<25}{line}")


def _digits(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.2f}"
