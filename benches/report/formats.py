"""From the form of pytest-benchmark, and to the one that the action github-action-benchmark reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.goals.measurements import Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benches.goals.measurements import Better


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
