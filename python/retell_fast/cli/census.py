"""`retell-fast types`: which entry types transcripts hold, and which of them this release does not know."""

from __future__ import annotations

import sys
import time

import retell_fast

from .exit_status import ExitStatus
from .measures import counted, seconds, share, size
from .messages import HOMES, note, say, shown_name, tell_of_waiting, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .progress import Bar

MOST_VERSIONS = 3
"""How many versions a line of the table names; --json lists them all."""

_HEADINGS = ("", "agent", "type", "records", "bytes", "share", "files", "versions")
_WORDS = {0, 1, 2, 7}
"""The columns of words; the others hold numbers."""


def run(
    paths: Sequence[str],
    *,
    as_json: bool = False,
    agent: str | None = None,
    threads: int | None = None,
    quiet: bool = False,
) -> int:
    """Counts the types, prints what was found, and gives the exit status.

    Args:
        paths: files and folders; all sessions there are if empty.
        as_json: print a JSON object instead of a table.
        agent: as for `retell_fast.types`.
        threads: as for `retell_fast.types`.
        quiet: say nothing but warnings.
    """
    began = time.monotonic()
    if not quiet:
        for path in paths:
            tell_of_waiting(path)
    bar = _bar() if sys.stderr.isatty() and not quiet else None
    try:
        found = retell_fast.types(list(paths) or None, agent=agent, threads=threads, progress=bar)
    finally:
        if bar is not None:
            bar.close()
    if as_json:
        import json

        json.dump(found, sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in report(found))
    unknown = [name for _, name, row in _types(found) if row["unknown"]]
    if unknown:
        warn(f"{counted(len(unknown), 'type is', 'types are')} unknown to this release")
    if not quiet:
        if not found["files"] and not paths:
            note(f"no transcript found below {HOMES}")
        duration = seconds(time.monotonic() - began)
        say(f"{counted(found['files'], 'file')} · {size(found['bytes'])} · {duration}")
    needs_a_look = unknown or found["damage"] or found["unreadable"]
    return ExitStatus.NEEDS_A_LOOK if needs_a_look else ExitStatus.ALL_WELL


def report(found: dict[str, Any]) -> list[str]:
    """Gives the lines of the report: what was read, the types, and what was the matter with the files."""
    lines = [f"retell-fast {found['release']}"]
    for agent, row in found["agents"].items():
        parts = [counted(row["files"], "file"), size(row["bytes"]), counted(row["lines"], "line")]
        named = versions(row["versions"])
        lines.append(f"{agent}: {' · '.join(parts)}{f' · {named}' if named else ''}")
    if _types(found):
        lines += ["", *_table(found)]
    troubles = {"damaged": found["damage"], "not read": found["unreadable"]}
    if found["incomplete_tails"]:
        troubles["not whole yet"] = {"last_line": found["incomplete_tails"]}
    told = [f"{what}: {_counts(reasons)}" for what, reasons in troubles.items() if reasons]
    return [*lines, "", *told] if told else lines


def versions(named: Iterable[str]) -> str:
    """Gives the versions from the oldest to the newest; of many the first, the last, and their number."""
    ordered = sorted(named, key=_age)
    if len(ordered) <= MOST_VERSIONS:
        return ", ".join(ordered)
    return f"{ordered[0]} … {ordered[-1]} ({len(ordered):,})"


def _age(version: str) -> tuple[list[tuple[int, str]], bool, str]:
    """What versions are ordered by: 2.1.9 comes before 2.1.10, and 1.0.0-alpha before 1.0.0."""
    number, _, early = version.partition("-")
    parts = [(int(part), "") if part.isdecimal() else (0, part) for part in number.split(".")]
    return parts, not early, early


def _types(found: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Agent, name and numbers of each type, those that are unknown first, then those with most bytes."""
    rows = [
        (agent, name, row)
        for agent, of_agent in found["agents"].items()
        for name, row in of_agent["types"].items()
    ]
    return sorted(rows, key=lambda each: (not each[2]["unknown"], each[0], -each[2]["bytes"], each[1]))


def _table(found: dict[str, Any]) -> list[str]:
    cells = [_HEADINGS, *(_row(*each, whole=found["agents"][each[0]]["bytes"]) for each in _types(found))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADINGS))]
    lines = (
        "  ".join(
            cell.ljust(width) if column in _WORDS else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
    return [line.rstrip() for line in lines]


def _row(agent: str, name: str, row: dict[str, Any], *, whole: int) -> tuple[str, ...]:
    return (
        "unknown" if row["unknown"] else "",
        agent,
        shown_name(name),
        f"{row['count']:,}",
        size(row["bytes"]),
        share(row["bytes"] / whole if whole else 0.0),
        f"{row['files']:,}",
        versions(row["versions"]) or "-",
    )


def _counts(reasons: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in reasons.items())


def _bar() -> Bar:
    from .progress import Bar

    return Bar("counting")
