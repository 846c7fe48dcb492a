"""The picture of a run: for each profile, how many megabytes a second every reader takes in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from benches.goals.pairs import number
from benches.report.records import Named, short_commit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benches.goals.measurements import Measurements, Series

WIDTH = 860
_MARGIN = 24
_GAP = 36
_ROW = 18
_BAR = 12
_PANEL_HEAD = 34
_TOP = 84
_FOOT = 44
_VALUE = 78
_MOST_BARS = 12
_LONGEST_NAME = 30

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
TEMPLATES.filters["number"] = number


@dataclass(frozen=True)
class Bar:
    """One reader."""

    name: str
    value: float
    kind: str
    """As `Named.kind` says."""
    y: float
    width: float


@dataclass(frozen=True)
class Panel:
    """One corpus, and its readers with the fastest on top."""

    title: str
    x: float
    y: float
    names: float
    """How wide the column of names is."""
    bars: tuple[Bar, ...]
    left_out: int
    height: float

    @property
    def floor(self) -> float | None:
        """How long the bar of `wc -l` is."""
        return next((bar.width for bar in self.bars if bar.kind == "floor"), None)


def readers(run: Measurements) -> dict[str, list[Series]]:
    """The series that may stand beside each other: of each profile the largest size, as measured."""
    found: dict[str, dict[float, list[Series]]] = {}
    for row in run.series:
        if row.unit == "MB/s" and row.group in ("parse", "peers"):
            name = Named.of(row.name)
            if name.profile:
                found.setdefault(name.profile, {}).setdefault(name.size, []).append(row)

    def best(sizes: dict[float, list[Series]]) -> list[Series]:
        # A size at which nothing was compared says less than a smaller one at which something was.
        return max(sizes.items(), key=lambda size: (len(size[1]) > 1, size[0]))[1]

    return {Named.of(rows[0].name).corpus: rows for rows in map(best, found.values())}


def _chosen(rows: Iterable[Series]) -> list[tuple[str, float]]:
    """Names and values, the fastest first; of too many, the slowest of the others are left out."""
    named = [(Named.of(row.name).side, row.value) for row in sorted(rows, key=lambda row: -row.value)]
    kept = [side for side in named if Named(side[0]).kind != "other"]
    others = [side for side in named if Named(side[0]).kind == "other"]
    return sorted([*kept, *others[: max(0, _MOST_BARS - len(kept))]], key=lambda side: -side[1])


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _panels(run: Measurements) -> tuple[list[Panel], float]:
    """The panels, and where the lowest ends."""
    chosen = {corpus: _chosen(rows) for corpus, rows in readers(run).items()}
    columns = 2 if len(chosen) > 1 else 1
    width = (WIDTH - 2 * _MARGIN - _GAP * (columns - 1)) / columns
    most = max((value for sides in chosen.values() for _, value in sides), default=1.0)
    longest = max((len(_shortened(name)) for sides in chosen.values() for name, _ in sides), default=0)
    names = 12 + 6.6 * longest
    panels: list[Panel] = []
    top = bottom = float(_TOP)
    for place, (corpus, sides) in enumerate(chosen.items()):
        column = place % columns
        top = bottom if column == 0 else top
        bars = tuple(
            Bar(
                _shortened(name),
                value,
                Named(name).kind,
                _PANEL_HEAD + _ROW * row,
                (width - names - _VALUE) * value / most,
            )
            for row, (name, value) in enumerate(sides)
        )
        height = _PANEL_HEAD + _ROW * len(bars)
        panels.append(
            Panel(
                corpus,
                _MARGIN + column * (width + _GAP),
                top,
                names,
                bars,
                len(readers(run)[corpus]) - len(bars),
                height,
            )
        )
        bottom = max(bottom, top + height + 22)
    return panels, bottom


def picture(run: Measurements) -> str:
    """The SVG, which carries its own background and both colour schemes."""
    panels, bottom = _panels(run)
    machine = run.machine
    return TEMPLATES.get_template("picture.svg").render(
        panels=panels,
        floor=any(panel.floor is not None for panel in panels),
        width=WIDTH,
        height=round(bottom + _FOOT),
        margin=_MARGIN,
        bar_height=_BAR,
        where=f"{machine.cpu}, {machine.cores} cores · Python {machine.python}",
        when=f"{machine.date[:10]} · {short_commit(machine)}",
    )
