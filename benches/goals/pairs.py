"""Two builds beside each other: how much faster or slower each series became."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.goals.measurements import Measurements, Series

TIMES = "\N{MULTIPLICATION SIGN}"

NOISE = 0.05
"""Two runs of one build differ by so much, even on a quiet machine."""

Runs = dict[tuple[str, str], "list[Series]"]
"""Name and unit of a series, and what each run of one side gave for it."""


@dataclass(frozen=True)
class Pair:
    """A series of both sides."""

    name: str
    unit: str
    base: float
    head: float
    times_better: float
    """Above 1 the head is the better one, whatever the direction of the unit."""
    apart: bool
    """Whether every run of one side beat every run of the other."""

    @property
    def verdict(self) -> str:
        """In a word, and in silence within the noise."""
        if not self.apart or 1 / (1 + NOISE) <= self.times_better <= 1 + NOISE:
            return ""
        return "🟢 better" if self.times_better > 1 else "🔴 worse"


def pairs(base: Runs, head: Runs) -> list[Pair]:
    """The series that both sides have, in the order of the head."""
    return [_pair(base[key], rows) for key, rows in head.items() if key in base]


def _pair(base: list[Series], head: list[Series]) -> Pair:
    bigger = head[0].better == "bigger"
    # As speeds, whatever the unit: more is better.
    before, after = ([row.value if bigger else 1 / row.value for row in side] for side in (base, head))
    best_of = max if bigger else min
    return Pair(
        head[0].name,
        head[0].unit,
        best_of(row.value for row in base),
        best_of(row.value for row in head),
        max(after) / max(before),
        min(after) > max(before) or min(before) > max(after),
    )


def table(rows: Sequence[Pair]) -> list[str]:
    """The lines of a table in Markdown."""
    lines = ["| series | unit | base | head | head is | |", "|---|---|--:|--:|--:|---|"]
    for row in rows:
        name = row.name.replace("|", "\\|")
        values = f"{number(row.base)} | {number(row.head)} | {row.times_better:.2f} {TIMES}"
        lines.append(f"| {name} | {row.unit} | {values} | {row.verdict} |")
    return lines


def in_turns(base: Measurements, head: Measurements) -> str:
    """The same for two builds whose rounds took turns in one run: a table of what both have.

    The middle round of each stands for a second run: a change is one only if the middle round of one side
    beats the best of the other.
    """
    sides: list[Runs] = []
    for measured in (base, head):
        rows: Runs = {}
        for row in measured.series:
            if row.value > 0:
                rows[row.name, row.unit] = [row, replace(row, value=row.median)]
        sides.append(rows)
    return "\n".join(table(pairs(*sides)))


def number(value: float) -> str:
    """A value as one reads it: three digits, or all of a whole number."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
