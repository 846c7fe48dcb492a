"""The same numbers in the forms that services and actions read.

- An array for the action github-action-benchmark, whose tools `customBiggerIsBetter` and
  `customSmallerIsBetter` each want a file of their own.
- Bencher Metric Format: benchmark, measure, value with its bounds. A measure is a kebab-case slug.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benches.goals.measurements import Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benches.goals.measurements import Better

# The two that Bencher knows from the start are named so; each has one unit, so theirs are converted.
_MEASURES = {"MB/s": "megabytes-per-second", "s": "seconds", "ms": "milliseconds", "MiB": "peak-memory-mib"}


def from_pytest(found: Mapping[str, Any]) -> list[Series]:
    """Seconds of each benchmark in pytest-benchmark's JSON, and MB/s where it noted the size of its input."""
    rows = []
    for bench in found["benchmarks"]:
        stats, size = bench["stats"], bench.get("extra_info", {}).get("bytes")
        name = bench["name"].removeprefix("test_").replace("_", " ")
        name = f"{bench['group']}: {name}" if bench.get("group") else name
        best, worst, median, rounds = stats["min"], stats["max"], stats["median"], stats["rounds"]
        half = f"± {(worst - best) / 2:.3g}"
        said = f"pytest-benchmark, median {median:.3g} s"
        rows.append(
            Series(f"{name} / seconds", "s", "smaller", best, best, median, rounds, half, "parse", said)
        )
        if size:
            fast, middle, slow = (size / 1e6 / seconds for seconds in (best, median, worst))
            half = f"± {(fast - slow) / 2:.3g}"
            said = f"pytest-benchmark, {size} bytes, median {middle:.4g} MB/s"
            rows.append(
                Series(
                    f"{name} / throughput", "MB/s", "bigger", fast, slow, middle, rounds, half, "parse", said
                )
            )
    return rows


def custom(rows: Iterable[Series], better: Better) -> list[dict[str, Any]]:
    """The series of one direction, as github-action-benchmark reads them."""
    return [
        {
            "name": row.name,
            "unit": row.unit,
            "value": row.value,
            "range": row.range,
            "extra": ", ".join(filter(None, [f"median {row.median:.4g}", f"rounds {row.rounds}", row.extra])),
        }
        for row in rows
        if row.better == better
    ]


def measure(unit: str) -> str:
    """The slug of what is measured in this unit."""
    return _MEASURES.get(unit) or re.sub(r"[^a-z0-9]+", "-", unit.replace("/", " per ").lower()).strip("-")


def bencher(rows: Iterable[Series]) -> dict[str, dict[str, dict[str, float]]]:
    """All series in Bencher Metric Format: the best round, and the bounds that all rounds kept."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        name = row.name.rsplit(" / ", 1)[0]
        # `range` is half of the way from the best round to the worst.
        way = 2 * float(row.range.strip("± ") or 0)
        worst = row.value - way if row.better == "bigger" else row.value + way
        found.setdefault(name, {})[measure(row.unit)] = {
            "value": row.value,
            "lower_value": min(worst, row.min, row.value),
            "upper_value": max(worst, row.median, row.value),
        }
    return found
