"""Charts of the records as Vega-Lite specifications: what is drawn where, and nothing about pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.report.records import Named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benches.goals.measurements import Growth
    from benches.report.records import Record

Spec = dict[str, Any]

TITLES = {
    "parse": "From a file to its conversation",
    "peers": "Other readers of the same file",
    "memory": "Memory",
    "images": "Images out and back",
    "instructions": "Instructions",
    "growth": "The same session at several sizes",
}
"""Groups of series, ours first."""

# Where the largest value is so many times the smallest, a linear scale presses the small ones onto the axis.
_TOO_FAR_APART = 20.0
_LEGEND = {"title": None, "orient": "bottom", "columns": 4, "labelLimit": 300, "symbolLimit": 0}


def histories(records: Sequence[Record]) -> dict[str, Spec]:
    """A chart for each group and unit, by its title; in it a drawing for each corpus."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for record in records:
        for row in record.run.series:
            name = Named.of(row.name)
            found.setdefault((row.group, row.unit, row.better), []).append(
                {
                    "record": f"{record.date} {record.commit}",
                    "machine": ", ".join(map(str, record.place)),
                    "series": row.name,
                    "side": name.side,
                    "corpus": name.corpus or "other",
                    "value": row.value,
                    "median": row.median,
                    "range": row.range,
                    "rounds": row.rounds,
                }
            )
    order = list(TITLES)
    keys = sorted(found, key=lambda key: order.index(key[0]) if key[0] in order else len(order))
    return {f"{TITLES.get(key[0], key[0])}, {key[1]}": _history(found[key], *key[1:]) for key in keys}


def _history(rows: list[dict[str, Any]], unit: str, better: str) -> Spec:
    """Lines over the records, joined where the machine is the same."""
    # Where a corpus has one series each, all share a drawing; else there is one for each corpus.
    faceted = len({row["series"] for row in rows}) > len({row["corpus"] for row in rows}) > 1
    line: Spec = {
        "width": 240 if faceted else 620,
        "height": 150,
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "record", "sort": None, "title": None, "axis": {"labelAngle": -20}},
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": f"{unit}, {'more' if better == 'bigger' else 'less'} is better",
                "scale": {"type": _scale(row["value"] for row in rows)},
            },
            "color": {
                "field": "side" if faceted else "series",
                "sort": None,
                "scale": {"scheme": "tableau20"},
                "legend": _LEGEND,
            },
            "detail": {"field": "machine"},
            "tooltip": [{"field": key} for key in ("series", "value", "median", "range", "rounds")]
            + [{"field": "record"}, {"field": "machine"}],
        },
    }
    if not faceted:
        return {"data": {"values": rows}, **line}
    corpus = {"field": "corpus", "sort": None, "title": None}
    independent = {"scale": {"x": "independent", "y": "independent"}}
    return {"data": {"values": rows}, "facet": corpus, "columns": 3, "spec": line, "resolve": independent}


def _scale(values: Iterable[float]) -> str:
    kept = list(values)
    return "log" if min(kept) > 0 and max(kept) / min(kept) > _TOO_FAR_APART else "linear"


def growth(rows: Sequence[Growth]) -> dict[str, Spec]:
    """Time and memory over the size of the same session, both logarithmic, beside growth in proportion."""
    rows = sorted(rows, key=lambda row: row.megabytes)
    return {
        "Time over size": _grown([(row.megabytes, row.seconds) for row in rows], "seconds"),
        "Peak memory over size": _grown([(row.megabytes, row.peak_mib) for row in rows], "MiB"),
    }


def _grown(pairs: list[tuple[float, float]], unit: str) -> Spec:
    # 0 stands for a system that cannot tell.
    pairs = [pair for pair in pairs if pair[1] > 0]
    rows = [{"MB": size, "value": value, "line": "measured"} for size, value in pairs]
    rows += [{"MB": s, "value": pairs[0][1] * s / pairs[0][0], "line": "in proportion"} for s, _ in pairs]
    logarithmic = {"type": "quantitative", "scale": {"type": "log", "nice": False, "padding": 12}}
    sizes = [size for size, _ in pairs]
    return {
        "data": {"values": rows},
        "width": 380,
        "height": 180,
        "mark": {"type": "line", "point": True, "tooltip": {"content": "data"}},
        "encoding": {
            "x": {"field": "MB", "axis": {"values": sizes, "format": ".0f"}, **logarithmic},
            "y": {"field": "value", "title": unit, **logarithmic},
            "color": {"field": "line", "sort": None, "legend": _LEGEND},
            "strokeDash": {"field": "line", "sort": None, "legend": _LEGEND},
        },
    }
