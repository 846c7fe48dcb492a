"""The progress bar: only on a terminal, and only for work that takes a while."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds of work before a bar appears: for less, it would only flicker."""


class Bar:
    """A callback for `retell_fast.parse`: draws a bar once the work has lasted longer than `PATIENCE`."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int, total: int | None) -> None:
        """Takes note of the bytes done and the bytes there are (None when not known)."""
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


def _draw(label: str) -> tuple[Progress, TaskID]:
    # rich takes a tenth of a second to import: only someone who is waiting anyway pays for it.
    from rich.console import Console
    from rich.progress import (
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
