"""Two builds beside each other: how much faster or slower each series became, as a table in Markdown.

    python -m benches.report.ratio --base base-1.json base-2.json --head head-1.json head-2.json

A file is a `measurements.json`, or what pytest-benchmark wrote. The runs of both sides should be made in
turns. The best of all files counts, since noise only ever makes a round slower, and a change is one only if
every run of one side beat every run of the other. It is a report: a slower head is no error.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benches.goals.pairs import NOISE, TIMES, Runs, pairs, table
from benches.report import formats, records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benches.goals.measurements import Series

MARK = "<!-- retell-fast benchmarks -->"
"""Begins the comment, so that the next run finds it and writes over it."""


def series_of(path: Path) -> list[Series]:
    """The series in a file of either kind.

    Raises:
        ValueError: it is of neither kind.
    """
    try:
        found = json.loads(path.read_bytes())
        if "benchmarks" in found:
            return formats.from_pytest(found)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not what the benches write: {error!r}") from error
    return records.read(path).series


def runs(paths: Iterable[Path]) -> Runs:
    """What all files of one side hold."""
    found: Runs = {}
    for path in paths:
        # Of nothing there is no ratio: memory over that of an interpreter may be none.
        for row in (row for row in series_of(path) if row.value > 0):
            found.setdefault((row.name, row.unit), []).append(row)
    return found


def report(base: Runs, head: Runs) -> str:
    """The comment: what changed, then everything folded away."""
    rows = pairs(base, head)
    # A series in seconds and the same in MB/s say one thing; the table of changes takes the second.
    fast = {row.name.removesuffix(" / throughput") for row in rows if row.unit == "MB/s"}
    rows = [row for row in rows if row.unit != "s" or row.name.removesuffix(" / seconds") not in fast]
    changed = sorted((row for row in rows if row.verdict), key=lambda row: row.times_better)
    lines = [MARK, "### Benchmarks: head against base", ""]
    if not rows:
        return "\n".join([*lines, "The two sides have no series in common.", ""])
    if changed:
        lines += [
            f"{len(changed)} of {len(rows)} series changed by more than {NOISE:.0%}, and in every run:",
            "",
            *table(changed),
        ]
    else:
        lines += [f"None of {len(rows)} series changed by more than {NOISE:.0%} and in every run."]
    lines += ["", "<details><summary>all series</summary>", "", *table(rows), "", "</details>", ""]
    for what, missing in (
        ("only in head", head.keys() - base.keys()),
        ("only in base", base.keys() - head.keys()),
    ):
        if missing:
            names = sorted({name.rsplit(" / ", 1)[0] for name, _ in missing})
            lines += [f"{what}: {', '.join(names)}", ""]
    lines += [
        f"Built and measured in one job, in turns; the best of all runs counts. 2 {TIMES} is twice as good."
    ]
    return "\n".join([*lines, ""])


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", type=Path, nargs="+", required=True, help="runs of the build that was")
    parser.add_argument("--head", type=Path, nargs="+", required=True, help="runs of the build that may come")
    options = parser.parse_args(arguments)
    try:
        text = report(runs(options.base), runs(options.head))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    # A terminal or a pipe that is not UTF-8 must not lose the report.
    sys.stdout.buffer.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
