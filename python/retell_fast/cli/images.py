"""`retell-fast images`: list the images of transcripts, move them into files, put them back."""

from __future__ import annotations

import os
import sys
import time

import retell_fast

from .exit_status import ExitStatus
from .messages import fail, note, say, warn
from .pictures import names, summary, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from retell_fast import ImageReport

    from .progress import Bar


def run(action: str, given: dict[str, Any]) -> int:
    """Does what `retell-fast images ACTION` asks for, and gives the exit status.

    Args:
        action: "list", "extract" or "restore".
        given: what the function of that name takes.
    """
    if action == "list":
        return list_(**given)
    if given["out"] is None and not given["in_place"] and not given["dry_run"]:
        fail("there is nowhere to write to", "name a place with -o OUT, or say --in-place or --dry-run")
        return ExitStatus.WRONG_USAGE
    return extract(**given) if action == "extract" else restore(**given)


def list_(paths: Sequence[str], *, as_json: bool, threads: int | None = None) -> int:
    """Prints how many images there are in each file, how large, and of which kind."""
    # Two files can hold the same picture, which only a look at all of them together tells.
    together = paths[0] if len(paths) == 1 else paths
    total = _with_bar(
        "looking into",
        paths[0],
        lambda bar: retell_fast.list_images(together, threads=threads, progress=bar),
        quiet=False,
    )
    rows = total.by_file
    if as_json:
        listed = [{"path": file, **report.to_dict()} for file, report in rows]
        _print_json({"files": listed, "total": total.to_dict()})
    else:
        sys.stdout.writelines(f"{line}\n" for line in table(rows, total))
        if total.left_inline:
            note(total.left_inline_in_words)
    return ExitStatus.ALL_WELL


def extract(
    path: str,
    *,
    assets_dir: str,
    out: str | None = None,
    max_image_bytes: int | None = None,
    threads: int | None = None,
    **manner: bool,
) -> int:
    """Moves the images of a transcript or a folder into files, and says how it went.

    Args:
        path: as for `retell_fast.externalize`.
        assets_dir: as for `retell_fast.externalize`.
        out: as for `retell_fast.externalize`.
        max_image_bytes: as for `retell_fast.externalize`.
        threads: as for `retell_fast.externalize`.
        manner: `in_place` and `dry_run` as for `retell_fast.externalize`; `as_json` and `quiet`.
    """
    began = time.monotonic()
    caps: dict[str, int] = {} if max_image_bytes is None else {"max_image_bytes": max_image_bytes}
    report = _with_bar(
        "extracting",
        path,
        lambda bar: retell_fast.externalize(
            path,
            None if manner["dry_run"] else out,
            assets_dir,
            in_place=manner["in_place"],
            dry_run=manner["dry_run"],
            threads=threads,
            progress=bar,
            **caps,
        ),
        quiet=manner["quiet"],
    )
    _close(report, summary(report, duration=time.monotonic() - began), out or path, manner)
    return ExitStatus.ALL_WELL


def restore(
    path: str,
    *,
    assets_dir: str,
    out: str | None = None,
    format: str = "retell",  # noqa: A002 - named as the option and the argument of `retell_fast.restore`
    threads: int | None = None,
    **manner: bool,
) -> int:
    """Puts the images back into a transcript or a folder, and says how it went.

    Args:
        path: as for `retell_fast.restore`.
        assets_dir: as for `retell_fast.restore`.
        out: as for `retell_fast.restore`.
        format: as for `retell_fast.restore`.
        threads: as for `retell_fast.restore`.
        manner: `allow_missing`, `in_place` and `dry_run` as for `retell_fast.restore`; `as_json` and `quiet`.
    """
    began = time.monotonic()
    report = _with_bar(
        "restoring",
        path,
        lambda bar: retell_fast.restore(
            path,
            None if manner["dry_run"] else out,
            assets_dir,
            format="entire" if format == "entire" else "retell",
            allow_missing=manner["allow_missing"],
            in_place=manner["in_place"],
            dry_run=manner["dry_run"],
            threads=threads,
            progress=bar,
        ),
        quiet=manner["quiet"],
    )
    for name in names(report.missing):
        warn(f"left where it was: {name}")
    told = summary(report, duration=time.monotonic() - began, restored=True)
    _close(report, told, out or path, manner)
    return ExitStatus.NEEDS_A_LOOK if report.missing else ExitStatus.ALL_WELL


def _close(report: ImageReport, told: str, out: str, manner: dict[str, bool]) -> None:
    if manner["as_json"]:
        _print_json(report.to_dict())
    if manner["quiet"]:
        return
    for path in names(report.skipped):
        note(f"passed over {path}")
    say(told)
    say("wrote nothing: --dry-run" if manner["dry_run"] else f"wrote {out}")


def _with_bar(
    doing: str, path: str, work: Callable[[Bar | None], ImageReport], *, quiet: bool
) -> ImageReport:
    """Does the work under a progress bar, if there is somebody to look at it."""
    if quiet or not sys.stderr.isatty():
        return work(None)
    from .progress import Bar

    bar = Bar(f"{doing} {os.path.basename(os.path.normpath(path))}")
    try:
        return work(bar)
    finally:
        bar.close()


def _print_json(value: dict[str, Any]) -> None:
    import json

    json.dump(value, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")
