"""The picture of a run: for each profile, how many megabytes a second every reader takes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vl_convert
from benches.goals.pairs import number
from benches.report.records import Named, short_commit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benches.goals.measurements import Measurements, Series

_MOST_BARS = 12
_COLOURS = {"ours": "#2563eb", "floor": "#0f9d76", "other": "#b3bdca"}
_PAPER, _INK, _SOFT, _EDGE = "#ffffff", "#1c2330", "#5b6675", "#d8dee6"
_AT_NIGHT = {_PAPER: "#10151d", _INK: "#e8edf4", _SOFT: "#98a4b5", _EDGE: "#2b3442", "#b3bdca": "#4d5a6c"}


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


def _chosen(rows: Iterable[Series]) -> list[Series]:
    """The fastest first; of too many, the slowest of the others are left out."""
    rows = sorted(rows, key=lambda row: -row.value)
    others = [row for row in rows if Named.of(row.name).kind == "other"]
    room = max(0, _MOST_BARS - (len(rows) - len(others)))
    return [row for row in rows if row not in others[room:]]


def _bars(run: Measurements) -> list[dict[str, Any]]:
    bars = []
    for corpus, rows in readers(run).items():
        chosen = _chosen(rows)
        left_out = len(rows) - len(chosen)
        panel = f"{corpus} · {left_out} slower left out" if left_out else corpus
        for row in chosen:
            name = Named.of(row.name)
            bars.append(
                {
                    "panel": panel,
                    "reader": name.side,
                    "kind": name.kind,
                    "MB/s": row.value,
                    "said": number(row.value),
                }
            )
    return bars


def specification(run: Measurements) -> dict[str, Any]:
    """The picture in Vega-Lite."""
    machine = run.machine
    where = f"{machine.cpu}, {machine.cores} cores · Python {machine.python}"
    when = f"{machine.date[:10]} · {short_commit(machine)} · best of all rounds, interleaved"
    bars = _bars(run)
    about = "Megabytes of transcript a second; longer is better. wc -l only counts the lines."
    speed = {"field": "MB/s", "type": "quantitative", "axis": None}
    kinds = {"field": "kind", "legend": None}
    reader = {"field": "reader", "sort": None, "title": None}
    return {
        "data": {"values": bars},
        "title": {
            "text": "From a session file to its conversation",
            "subtitle": [about if bars else "this run compared no readers", f"{where} · {when}"],
        },
        "facet": {"field": "panel", "sort": None, "title": None},
        "columns": 2,
        "spec": {
            "width": 220,
            "height": {"step": 18},
            "encoding": {"y": reader, "x": speed},
            "layer": [
                {
                    "mark": {"type": "bar", "height": 12},
                    "encoding": {"color": {**kinds, "scale": _scale()}},
                },
                {
                    "mark": {"type": "text", "align": "left", "dx": 6, "aria": False},
                    "encoding": {"text": {"field": "said"}},
                },
            ],
        },
        "resolve": {"scale": {"y": "independent"}},
        "spacing": {"row": 18, "column": 50},
        "padding": 20,
        "config": _config(),
    }


def _scale() -> dict[str, Any]:
    return {"domain": list(_COLOURS), "range": list(_COLOURS.values())}


def _config() -> dict[str, Any]:
    return {
        "background": _PAPER,
        "font": "Liberation Sans, Helvetica, Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {"domain": False, "ticks": False, "labelColor": _INK, "labelFontSize": 12, "labelLimit": 210},
        "header": {"labelAnchor": "start", "labelFontSize": 13, "labelFontWeight": 600, "labelColor": _INK},
        "title": {
            "anchor": "start",
            "fontSize": 19,
            "color": _INK,
            "subtitleColor": _SOFT,
            "subtitleFontSize": 12,
            "subtitlePadding": 8,
            "offset": 16,
        },
        "text": {"color": _INK, "fontSize": 12},
    }


def picture(run: Measurements) -> str:
    """The SVG, which carries its own background and the colours of a dark page too."""
    rules = "".join(
        f'[fill="{day}"]{{fill:{night}}}[stroke="{day}"]{{stroke:{night}}}'
        for day, night in _AT_NIGHT.items()
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    head, _, rest = vl_convert.vegalite_to_svg(specification(run)).partition(">")
    return f"{head}>{style}{rest}\n"
