"""Numbers as people read them: counts, sizes, shares, durations."""

from __future__ import annotations


def beginning(session_id: str) -> str:
    """Gives as much of a session's id as tells it apart: 8 characters, 13 of a UUID of version 7.

    Those begin with the time: 8 characters tell no more than the minute, 13 the millisecond (RFC 9562, 5.7).
    """
    return session_id[: 13 if session_id[14:15] == "7" else 8]


def counted(count: int, one: str, many: str | None = None) -> str:
    """Gives the count with its noun: "1 session", "12,034 sessions"; `many` where an s is not enough."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def size(count: int) -> str:
    """Gives bytes in the decimal unit that fits: "812 B", "15.3 MB"."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        # 999.95 would be printed as 1000.0: that is the next unit.
        if amount < 999.95:  # noqa: PLR2004
            return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def share(ratio: float) -> str:
    """Gives a ratio from 0 to 1 in percent: "1.6 %", "< 0.1 %"."""
    percent = 100 * ratio
    return "< 0.1 %" if 0 < percent < 0.05 else f"{percent:.1f} %"  # noqa: PLR2004


def seconds(duration: float) -> str:
    """Gives seconds with two decimals, or minutes when there are many: "0.03 s", "2 min 5 s"."""
    if duration < 60:  # noqa: PLR2004
        return f"{duration:.2f} s"
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest} s"
