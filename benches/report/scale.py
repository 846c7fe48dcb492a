"""From values to places on a drawing, and from values to words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches.goals.pairs import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Where the largest value is so many times the smallest, a linear scale presses the small ones onto the axis.
_TOO_FAR_APART = 20.0


@dataclass(frozen=True)
class Tick:
    """A value that the axis names."""

    at: float
    text: str


@dataclass(frozen=True)
class Scale:
    """Where values stand between the pixels `start` (for `low`) and `end` (for `high`)."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool
    named: tuple[float, ...]

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high, here = self.low, self.high, value
        if self.logarithmic:
            low, high, here = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """The values that are named, and where."""
        return tuple(Tick(self.at(value), number(value)) for value in self.named)


def fitted(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale for these values: linear from zero, or logarithmic where they are far apart."""
    kept = list(values)
    if kept and min(kept) > 0 and max(kept) / min(kept) > _TOO_FAR_APART:
        return logarithmic(kept, start, end)
    return linear(kept, start, end)


def linear(values: Sequence[float], start: float, end: float) -> Scale:
    """From zero to a round number over the largest value, with three to five steps."""
    most = max(values, default=0.0)
    most = most if most > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(most / 4))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if most / (power * nice) <= 4.5)
    steps = math.ceil(most / step * 1.02)
    return Scale(
        0.0, steps * step, start, end, logarithmic=False, named=tuple(step * n for n in range(steps + 1))
    )


def logarithmic(values: Sequence[float], start: float, end: float) -> Scale:
    """A little more than all values; named are powers of ten, and what lies between if these are few."""
    low, high = min(values) / 1.25, max(values) * 1.25
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    between = (1, 2, 5) if math.log10(high / low) < 2.5 else (1,)
    every = math.ceil((last - first) / 6)
    named = (n * 10.0**power for power in range(first, last + 1, every) for n in between)
    kept = tuple(value for value in named if low <= value <= high)
    return Scale(low, high, start, end, logarithmic=True, named=kept)
