"""What `retell-fast images` tells a person: the table, the summary, and what stayed where it was."""

from __future__ import annotations

from .measures import counted, seconds, share, size
from .messages import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from retell_fast import ImageReport

MOST_NAMES = 10
"""How many names are printed; an archive can miss thousands of images, and --json lists them all."""

_HEADINGS = ("pictures", "bytes", "share", "duplicates", "media types", "file")


def summary(report: ImageReport, *, duration: float, restored: bool = False) -> str:
    """Gives the report in one line: files, pictures, sizes, what stayed where it was, time.

    Args:
        report: what was done.
        duration: seconds the whole took.
        restored: pictures were put back, not taken out.
    """
    parts = [counted(report.files, "file")] if report.files > 1 else []
    parts.append(f"{counted(report.images, 'picture')}, {report.distinct:,} distinct")
    change = f"{size(report.bytes_before)} → {size(report.bytes_after)}"
    if restored:
        parts += [change, f"{len(report.missing):,} missing"]
    else:
        saved = max(0, report.bytes_before - report.bytes_after)
        parts += [f"{change}, {size(saved)} saved", report.left_inline_in_words]
    return " · ".join([*parts, seconds(duration)])


def names(found: Sequence[str]) -> list[str]:
    """Gives the first of the names, and how many more there are, in not more than `MOST_NAMES` lines."""
    if len(found) <= MOST_NAMES:
        return list(found)
    shown = found[: MOST_NAMES - 1]
    return [*shown, f"and {len(found) - len(shown):,} more"]


def table(rows: Sequence[tuple[str, ImageReport]], total: ImageReport) -> list[str]:
    """Gives the lines of a table with a row for each file, and one for all where there are several."""
    cells = [_HEADINGS, *(_row(file, report) for file, report in rows)]
    if len(rows) != 1:
        cells.append(_row("total", total))
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADINGS))]
    return [
        "  ".join(
            # Numbers to the right, words to the left; nothing stands behind the last.
            (cell.rjust if column < 4 else cell.ljust)(width if column < 5 else 0)  # noqa: PLR2004
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def _row(file: str, report: ImageReport) -> tuple[str, ...]:
    ratio = report.image_bytes / report.bytes_before if report.bytes_before else 0.0
    kinds = sorted(report.media_types.items(), key=lambda each: (-each[1], each[0]))
    return (
        f"{report.images:,}",
        size(report.image_bytes),
        share(ratio),
        f"{report.duplicates:,}",
        ", ".join(f"{kind.removeprefix('image/')} {count:,}" for kind, count in kinds) or "-",
        one_line(file),
    )
