"""Lines over the records and over the sizes of a session, in pixels; `templates/chart.svg` draws them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benches.goals.pairs import number
from benches.goals.targets import PEERS
from benches.report.records import Named, Record
from benches.report.scale import Scale, Tick, fitted, logarithmic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benches.goals.measurements import Goal, Growth, Series

WIDTH, HEIGHT = 480, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 18, 30, 46
COLOURS = 8
"""How many the page has; further lines take them again, dashed."""

TITLES = {
    "parse": "From a file to its conversation",
    "peers": "Other readers of the same file",
    "memory": "Memory",
    "images": "Images out and back",
    "instructions": "Instructions",
    "growth": "Growth",
    "goals": "Goals",
}
_TITLES_OF_UNITS = {
    "s": "Time to wait",
    "ms": "Time to wait",
    "CPU s": "Processor time",
    "CPU ms": "Processor time",
    "CPU ms/MB": "Processor time",
    "sessions/s": "Folders of sessions",
}
_FORMERLY = {
    **{f"{family} classic": family for family in ("P1", "P2", "P3")},
    **{f"P4 classic {peer}": f"P4 {peer}" for peer in PEERS},
}
"""Goals that were measured on one profile only, and what they were called then."""
_LABELS = 5


@dataclass(frozen=True)
class Point:
    """A value of one record."""

    x: float
    y: float
    value: float
    record: int
    said: str


@dataclass
class Line:
    """A series over the records."""

    name: str
    series: str
    colour: int
    dashed: bool
    unit: str
    points: list[Point] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """One for each stretch of records of the same machine."""
    change: str = ""
    """How the newest value differs from the one before it on the same machine."""
    verdict: str = ""
    """Whether that is `better`, `worse`, or not for us to say."""


@dataclass(frozen=True)
class Label:
    """What stands below the axis."""

    x: float
    text: str
    below: str = ""


@dataclass(frozen=True)
class Chart:
    """One drawing."""

    key: str
    title: str
    axis: str
    lines: list[Line]
    ticks: tuple[Tick, ...]
    labels: list[Label]
    logarithmic: bool
    breaks: tuple[float, ...] = ()
    """Where the machine changes: values on both sides are not to be compared."""
    guide: str = ""
    """The path of a line that something is compared with."""


@dataclass(frozen=True)
class Spark:
    """The small drawing beside a goal: what was measured in each record, and what is wanted."""

    path: str
    points: tuple[Point, ...]
    goal: float | None
    stretch: float | None


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _columns(count: int, start: float, end: float) -> list[float]:
    """Evenly spaced: records are made when something changed, and many may be of one day."""
    step = (end - start) / count
    return [start + step * (n + 0.5) for n in range(count)]


def _groups(records: Sequence[Record]) -> dict[tuple[str, str, str, str], list[str]]:
    """The names of the series of each chart: by group and unit, and by corpus where one would be too full."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        for row in record.run.series:
            names = found.setdefault((row.group, row.unit, row.better), [])
            if row.name not in names:
                names.append(row.name)
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    order = list(TITLES)
    # Ours first, on the page and in the choice of colours.
    for key in sorted(found, key=lambda key: order.index(key[0]) if key[0] in order else len(order)):
        names = found[key]
        for name in names:
            corpus = Named.of(name).corpus if len(names) > COLOURS else ""
            groups.setdefault((*key, corpus), []).append(name)
    return groups


def histories(records: Sequence[Record]) -> list[Chart]:
    """The charts of all series over all records."""
    # A reader has the same colour in every chart that is split by corpus.
    colours: dict[str, int] = {}
    charts = []
    for (group, unit, better, corpus), names in _groups(records).items():
        for name in names:
            colours.setdefault(Named.of(name).side, len(colours))
        lines = []
        for number_of_line, name in enumerate(names):
            colour = colours[Named.of(name).side] if corpus else number_of_line
            parts = Named.of(name)
            label = parts.side if corpus else f"{parts.side}, {parts.corpus}".removesuffix(", ")
            lines.append(Line(label, name, colour % COLOURS, colour >= COLOURS, unit))
        title = _TITLES_OF_UNITS.get(unit) or TITLES.get(group, group)
        title += f": {corpus}" if corpus else ""
        axis = f"{unit}, {'more' if better == 'bigger' else 'less'} is better"
        charts.append(_history(records, f"{group} {unit} {corpus}".strip(), title, axis, lines))
    return charts


def _history(records: Sequence[Record], key: str, title: str, axis: str, lines: list[Line]) -> Chart:
    rows = [{row.name: row for row in record.run.series} for record in records]
    values = [row[line.series].value for row in rows for line in lines if line.series in row]
    scale = fitted(values, HEIGHT - BOTTOM, TOP)
    columns = _columns(len(records), LEFT, WIDTH - RIGHT)
    for line in lines:
        for n, (record, row) in enumerate(zip(records, rows, strict=True)):
            if line.series in row:
                line.points.append(_point(columns[n], scale, row[line.series], n, record))
        line.paths = [_path((point.x, point.y) for point in stretch) for stretch in _stretches(line, records)]
        _compare(line, records, rows)
    changes = [n for n in range(1, len(records)) if records[n].place != records[n - 1].place]
    return Chart(
        key,
        title,
        axis + (" (logarithmic)" if scale.logarithmic else ""),
        lines,
        scale.ticks,
        _dates(records, columns),
        scale.logarithmic,
        tuple((columns[n - 1] + columns[n]) / 2 for n in changes),
    )


def _point(x: float, scale: Scale, row: Series, place: int, record: Record) -> Point:
    said = f"{row.name}: {number(row.value)} {row.unit} ({record.date}, {record.commit})"
    return Point(x, scale.at(row.value), row.value, place, said)


def _stretches(line: Line, records: Sequence[Record]) -> list[list[Point]]:
    """The points that may be joined: neighbours of one machine."""
    stretches: list[list[Point]] = []
    for point in line.points:
        before = stretches[-1][-1] if stretches else None
        if before and records[before.record].place == records[point.record].place:
            stretches[-1].append(point)
        else:
            stretches.append([point])
    return [stretch for stretch in stretches if len(stretch) > 1]


def _compare(line: Line, records: Sequence[Record], rows: Sequence[dict[str, Series]]) -> None:
    """Say how the newest value differs from the one before it."""
    if len(line.points) < 2:
        return
    before, last = line.points[-2:]
    if records[before.record].place != records[last.record].place or not before.value:
        return
    by = last.value / before.value - 1
    line.change = f"{by:+.1%}".replace("-", "\N{MINUS SIGN}")
    row = rows[last.record][line.series]
    # What others do is no news of ours: it shows how noisy the machine is.
    others = row.group == "peers" or Named.of(row.name).kind == "floor"
    if abs(by) >= 0.02 and not others:
        bigger = row.better == "bigger"
        line.verdict = "better" if (by > 0) == bigger else "worse"


def _dates(records: Sequence[Record], columns: Sequence[float]) -> list[Label]:
    """As many dates as there is room for, always with the newest."""
    every = -(-len(records) // _LABELS)
    kept = range(len(records) - 1, -1, -every)
    return [Label(columns[n], records[n].date, records[n].commit) for n in reversed(kept)]


def growth(rows: Sequence[Growth]) -> list[Chart]:
    """Time and memory over the size of the same session, both logarithmic, beside growth in proportion."""
    if not rows:
        return []
    rows = sorted(rows, key=lambda row: row.megabytes)
    across = logarithmic([row.megabytes for row in rows], LEFT, WIDTH - RIGHT)
    return [
        _grown(
            "seconds", "Time over size", "seconds", [(row.megabytes, row.seconds) for row in rows], across
        ),
        _grown(
            "peak_mib",
            "Peak memory over size",
            "MiB",
            [(row.megabytes, row.peak_mib) for row in rows],
            across,
        ),
    ]


def _grown(key: str, title: str, unit: str, pairs: list[tuple[float, float]], across: Scale) -> Chart:
    """One of the two, from pairs of size and value."""
    shown = [pair for pair in pairs if pair[1] > 0]
    first = shown[0] if shown else (1.0, 1.0)
    proportion = [(size, first[1] * size / first[0]) for size, _ in shown]
    scale = logarithmic([value for _, value in (*shown, *proportion)] or [1.0], HEIGHT - BOTTOM, TOP)
    line = Line("measured", key, colour=0, dashed=False, unit=unit)
    for n, (size, value) in enumerate(shown):
        said = f"{size:g} MB: {number(value)} {unit}"
        line.points.append(Point(across.at(size), scale.at(value), value, n, said))
    line.paths = [_path((point.x, point.y) for point in line.points)] if len(shown) > 1 else []
    return Chart(
        f"growth {key}",
        title,
        f"{unit} (logarithmic)",
        [line],
        scale.ticks,
        [Label(across.at(size), f"{size:g} MB") for size, _ in pairs],
        logarithmic=True,
        guide=_path((across.at(size), scale.at(value)) for size, value in proportion)
        if len(shown) > 1
        else "",
    )


def wanted(text: str) -> float | None:
    """The number in a goal: 1.5 of `≤ 1.5`."""
    found = re.search(r"\d+(?:\.\d+)?", text.replace(",", ""))
    return float(found[0]) if found else None


def spark(goal: Goal, records: Sequence[Record], width: float = 132, height: float = 34) -> Spark:
    """What was measured for a goal in each record."""
    measured = [
        (n, row.measured)
        for n, record in enumerate(records)
        for row in record.run.goals
        if row.id in (goal.id, _FORMERLY.get(goal.id)) and row.measured is not None
    ]
    if not measured:
        return Spark("", (), None, None)
    marks = [wanted(goal.goal), wanted(goal.stretch)]
    values = [value for _, value in measured] + [mark for mark in marks if mark is not None]
    low, high = min(values), max(values)
    # Not from zero: so small a drawing can only show on which side of the goal a value is.
    scale = Scale(low, high if high > low else low + 1.0, height - 5, 5, logarithmic=False, named=())
    columns = _columns(len(records), 2, width - 2)
    points = tuple(
        Point(columns[n], scale.at(value), value, n, f"{records[n].date}: {number(value)} {goal.unit}")
        for n, value in measured
    )
    path = _path((point.x, point.y) for point in points) if len(points) > 1 else ""
    return Spark(path, points, *(None if mark is None else scale.at(mark) for mark in marks))
