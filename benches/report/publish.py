"""What was measured, in the forms that others read: arrays for an action, a picture, records.

    python -m benches.report.publish             # after `make bench`
    python -m benches.report.publish --record    # also keep the run, and draw the README's picture from it

Reads `measurements.json` and pytest-benchmark's `pytest-benchmark.json` in `benches/out/`, whichever are
there, and writes beside them `benchmark-bigger.json`, `benchmark-smaller.json` and `picture.svg`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benches.goals import measurements
from benches.goals.measurements import Measurements
from benches.report import formats, records
from benches.report.picture import picture

PICTURE = "newest.svg"
"""The README shows it: drawn from the newest record, beside the records."""


def measured(folder: Path) -> tuple[Measurements, list[measurements.Series]]:
    """What the benches left in their folder, and what pytest-benchmark timed besides.

    Raises:
        ValueError: nothing is there, or something else.
    """
    run, timed = folder / "measurements.json", folder / "pytest-benchmark.json"
    if not run.exists() and not timed.exists():
        raise ValueError(f"{folder}: holds neither {run.name} nor {timed.name}, run `make bench` first")
    found = records.read(run) if run.exists() else Measurements(measurements.this_machine())
    return found, from_pytest(timed) if timed.exists() else []


def from_pytest(path: Path) -> list[measurements.Series]:
    """The series in a file of pytest-benchmark.

    Raises:
        ValueError: it is something else.
    """
    try:
        return formats.from_pytest(json.loads(path.read_bytes()))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not what pytest-benchmark writes: {error!r}") from error


def publish(run: Measurements, timed: list[measurements.Series], folder: Path) -> list[Path]:
    """Write all forms, and give their paths."""
    rows = [*run.series, *timed]
    written = {
        "benchmark-bigger.json": _json(formats.custom(rows, "bigger")),
        "benchmark-smaller.json": _json(formats.custom(rows, "smaller")),
        "picture.svg": picture(run),
    }
    for name, text in written.items():
        (folder / name).write_bytes(text.encode())
    return [folder / name for name in written]


def record(run: Measurements, folder: Path, name: str = "") -> list[Path]:
    """Keep the run, draw the picture of the newest record, and give the paths of both.

    Raises:
        ValueError: there is nothing worth keeping.
    """
    if not run.series:
        raise ValueError("nothing was measured that a record could hold, run `make bench` first")
    kept = records.keep(run, folder, name)
    drawn = folder / PICTURE
    drawn.write_bytes(picture(records.newest_last(folder)[-1].run).encode())
    return [kept, drawn]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Publish, and say what was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=measurements.OUT, help="the folder of the benches")
    parser.add_argument("--records", type=Path, default=records.FOLDER, help="the folder of the records")
    parser.add_argument(
        "--record", nargs="?", const="", metavar="NAME", help="keep the run (name: the commit)"
    )
    options = parser.parse_args(arguments)
    try:
        run, timed = measured(options.out)
        written = publish(run, timed, options.out)
        if options.record is not None:
            written += record(run, options.records, options.record)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in written:
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
