"""Images out of a transcript and back at growing sizes: the time per byte should stay flat.

    python -m benches.goals.images --megabytes 25 50 100 200 400 --rounds 5

Each session holds as many distinct screenshots as megabytes, each twice. Two ways of measuring:

- bounded: from a file as a stream, in memory that is there and does not grow. `extract file` and
  `restore file` are dry runs, which read the file and do everything but write. Their floor is `read`, the
  file into one small buffer; `memcpy` copies the bytes to memory that is there.
- fresh: `extract` and `restore` of `bytes`, which give new `bytes`, in memory that the system first has to
  find and clear. Their floor is `copy`, which gets its memory the same way. What the process let go is
  handed back to the system before each round: otherwise small results would be written to memory that is
  there, and large ones not.

The peer is the plain twin with `re` and `base64`, from memory to memory. What each gives is checked before it
is timed; rounds are interleaved between the sides; the fastest counts, the median is kept. Prints a table
and the goals, and writes `benches/out/images.json`. It is a report: the exit status is always 0.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

from benches.corpus import generate
from benches.goals.measurements import OUT
from tests.twin import images as twin

import retell_fast

_SIDES = (
    "memcpy",
    "read",
    "extract file",
    "restore file",
    "copy",
    "extract",
    "restore",
    "twin extract",
    "twin restore",
)
_MEASURED = ("extract file", "restore file", "extract", "restore")
_FLOOR = {"extract file": "read", "restore file": "read"}
"""Beside which floor a side stands; the others beside `copy`."""
_FLATNESS = 1.3
_SPEED = 2.0


def _hand_back() -> None:
    """Gives memory that was let go back to the system, where the C library can (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _read(path: Path, buffer: bytearray) -> None:
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _seconds(rounds: int, work: dict[str, Callable[[], object]]) -> dict[str, list[tuple[float, float]]]:
    """Of every side the seconds of all rounds, on the wall and of processors; results are not kept."""
    seconds: dict[str, list[tuple[float, float]]] = {side: [] for side in work}
    for number in range(rounds):
        for side, once in work.items():
            # The twins are slow, and only tell the order of magnitude.
            if "twin" in side and number > 0:
                continue
            _hand_back()
            begin, working = time.perf_counter(), time.process_time()
            result = once()
            seconds[side].append((time.perf_counter() - begin, time.process_time() - working))
            del result
    return seconds


def _measure(megabytes: float, rounds: int, seed: int, folder: Path) -> dict[str, Any]:
    """The seconds of every side on a session of that size."""
    path = generate.corpus("images", megabytes, seed)
    transcript = path.read_bytes()
    codec = retell_fast.codec_for("claude-code")
    assert codec is not None
    expected = twin.extract(transcript)
    store = {name: image for name, (_, image) in expected.assets.items()}
    slim, assets = codec.extract_images(transcript)
    assert slim == expected.rewritten, "extract is wrong"
    assert {asset.name: asset.data for asset in assets} == store, "the assets are wrong"
    del assets
    assert codec.reinject_images(slim, store) == transcript, "restore is wrong"
    assert twin.restore(slim, store.get) == transcript, "the twin's restore is wrong"
    slim_path, assets_dir = folder / f"{megabytes:g}.jsonl", folder / f"{megabytes:g}"
    retell_fast.externalize(path, slim_path, assets_dir)
    assert slim_path.read_bytes() == slim, "externalize is wrong"
    there, buffer = memoryview(bytearray(transcript)), bytearray(1 << 20)
    work: dict[str, Callable[[], object]] = {
        "memcpy": lambda: there.__setitem__(slice(None), transcript),
        "read": lambda: _read(path, buffer),
        "copy": lambda: bytearray(transcript),
        "extract": lambda: codec.extract_images(transcript),
        "restore": lambda: codec.reinject_images(slim, store),
        "extract file": lambda: retell_fast.externalize(path, None, assets_dir, dry_run=True),
        "restore file": lambda: retell_fast.restore(slim_path, None, assets_dir, dry_run=True),
        "twin extract": lambda: twin.extract(transcript),
        "twin restore": lambda: twin.restore(slim, store.get),
    }
    seconds = _seconds(rounds, work)
    return {
        "bytes": len(transcript),
        "slim_bytes": len(slim),
        "images": expected.images,
        "distinct": len(store),
        "seconds": {side: min(wall for wall, _ in each) for side, each in seconds.items()},
        "median": {side: statistics.median(wall for wall, _ in each) for side, each in seconds.items()},
        "cpu": {side: min(cpu for _, cpu in each) for side, each in seconds.items()},
    }


def _table(sizes: list[dict[str, Any]]) -> None:
    first = sizes[0]
    headings = ("ms", "CPU ms", "GB/s", "per byte", "x floor", "x twin")
    print(f"\n{'MB':>6}{'images':>8}  {'side':<14}" + "".join(f"{heading:>10}" for heading in headings))
    for size in sizes:
        for side in _SIDES:
            seconds = size["seconds"][side]
            relative = (seconds / size["bytes"]) / (first["seconds"][side] / first["bytes"])
            floor = size["seconds"][_FLOOR.get(side, "copy")]
            worked = size["cpu"][side]
            twin = size["seconds"].get(f"twin {side.removesuffix(' file')}") if side in _MEASURED else None
            print(
                f"{size['bytes'] / 1e6:>6.0f}{size['images']:>8}  {side:<14}{seconds * 1e3:>10.1f}"
                f"{worked * 1e3:>10.1f}"
                f"{size['bytes'] / seconds / 1e9:>10.2f}{relative:>10.2f}"
                f"{seconds / floor:>10.1f}{f'{twin / seconds:.1f}' if twin else '':>10}"
            )


def _goals(sizes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first, last = sizes[0], sizes[-1]
    goals: list[dict[str, Any]] = []
    for side in _MEASURED:
        flat = (last["seconds"][side] / last["bytes"]) / (first["seconds"][side] / first["bytes"])
        name = f"{side}: time per byte of the largest against the smallest"
        goals.append({"name": name, "measured": flat, "at_most": _FLATNESS, "met": flat <= _FLATNESS})
        slowest = min(size["bytes"] / size["seconds"][side] for size in sizes) / 1e9
        name = f"{side}: GB/s at the slowest size"
        goals.append({"name": name, "measured": slowest, "at_least": _SPEED, "met": slowest >= _SPEED})
    return goals


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure the image codec at growing sizes.")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[25, 50, 100, 200, 400])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes = [
            _measure(megabytes, max(1, asked.rounds), asked.seed, Path(folder))
            for megabytes in asked.megabytes
        ]
    print(f"images, seed {asked.seed}, {asked.rounds} rounds on {platform.machine()}, {os.cpu_count()} cores")
    _table(sizes)
    print()
    goals = _goals(sizes)
    for goal in goals:
        wanted = f"at most {goal['at_most']}" if "at_most" in goal else f"at least {goal['at_least']}"
        print(
            f"{'met   ' if goal['met'] else 'MISSED'} {goal['name']}: {goal['measured']:.2f}, goal {wanted}"
        )
    report = {
        "machine": {"system": platform.system(), "machine": platform.machine(), "cores": os.cpu_count()},
        "python": platform.python_version(),
        "sizes": sizes,
        "goals": goals,
    }
    OUT.mkdir(exist_ok=True)
    (OUT / "images.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
