"""The progress bar: only on a terminal, and only for work that takes a while."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds of work before a bar appears: for less, it would only flicker."""


class Bar:
    """A bar that draws itself once the work has lasted longer than `PATIENCE`."""

    def __init__(self, label: str, *, wanted: bool) -> None:
        self._label = label
        self._wanted = wanted
        self._began = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Takes note of the bytes done and the bytes there are (None when not known)."""
        if not self._wanted:
            return
        if self._drawn is None:
            if time.monotonic() - self._began < PATIENCE:
                return
            self._drawn = _draw(self._label)
        progress, task = self._drawn
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Takes the bar off the screen."""
        if self._drawn is not None:
            self._drawn[0].stop()
            self._drawn = None


@contextmanager
def progress_bar(label: str, *, quiet: bool = False) -> Iterator[Bar]:
    """Gives a callback for `retell_fast.parse` that draws a bar on standard error.

    It is worth passing even when nothing will be drawn: Python notices Ctrl-C while it runs the callback.
    """
    bar = Bar(label, wanted=not quiet and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.close()


def _draw(label: str) -> tuple[Progress, TaskID]:
    # rich takes a tenth of a second to import: only someone who is waiting anyway pays for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress, progress.add_task(label, total=None)
