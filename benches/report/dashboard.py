"""Builds the history page from the records.

python -m benches.report.dashboard target/dashboard
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benches.report import page, records


def main(arguments: list[str] | None = None) -> int:
    """Build the page, and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m benches.report.dashboard", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write index.html")
    parser.add_argument("--records", type=Path, default=records.FOLDER, help="the records to draw")
    options = parser.parse_args(arguments)
    try:
        found = records.newest_last(options.records)
        if found:
            page.build(found, options.folder)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if not found:
        hint = "see `python -m benches.report.publish --help`"
        print(f"error: {options.records}: no records, {hint}", file=sys.stderr)
        return 1
    print(f"wrote {options.folder / 'index.html'}, records: {len(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
