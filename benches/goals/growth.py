"""Does the cost grow in proportion to the input? Time per megabyte and peak memory at growing sizes.

    python -m benches.goals.growth --megabytes 15 150 1500 --rounds 5

Sides take turns within a size. A step is worse than proportional when a megabyte of the larger session costs
more processor time than one of the smaller: said with a tolerance of 15 %, and never asserted. The rows are
added to `benches/out/measurements.json`.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benches.goals.stopwatch import Side

from benches.corpus import generate
from benches.corpus.page_cache import SMALL, write_in_pieces
from benches.goals.against_peers import PARSE, TO_LIST, WORKER, reader_side
from benches.goals.builds import HEAD
from benches.goals.measurements import Corpus, Growth, Measurements, speeds
from benches.goals.stopwatch import PYTHON, START, answer, can_tell_peaks, interleave, peak_bytes

TOLERANCE = 1.15
_MIB = 1 << 20
_PARSE_ONLY = "import sys, retell_fast; retell_fast.parse(sys.argv[1])"


def measure(sizes: list[float], rounds: int, seed: int, found: Measurements) -> dict[float, dict[str, Side]]:
    """All sides at every size; a session of gigabytes gets fewer rounds."""
    timed_at = {}
    for megabytes in sizes:
        path = generate.corpus("classic", megabytes, seed)
        write_in_pieces(path, path, SMALL)
        found.add(Corpus("classic", megabytes, seed, generate.sha256_of(path), SMALL))
        right = answer([PYTHON, *WORKER, "json", "classic", str(path)])["digest"]
        sides = [reader_side(HEAD, name, "classic", path, right) for name in (PARSE, TO_LIST, "json")]
        timed = interleave(sides, rounds if megabytes < 1000 else max(1, rounds // 2))
        size = path.stat().st_size
        timed_at[size / 1e6] = timed
        for name, side in timed.items():
            found.add(*speeds(f"{name}, growth {megabytes:g} MB", size, side, "growth"))
        if PARSE in timed:
            found.add(Growth(size / 1e6, timed[PARSE].best, _peak_mib(path)))
    return timed_at


def _peak_mib(path: Path) -> float:
    """Of the parse in Python, over a bare interpreter; 0 where the system cannot tell."""
    if not can_tell_peaks():
        return 0.0
    return round((peak_bytes([PYTHON, "-c", _PARSE_ONLY, str(path)]) - peak_bytes(START)) / _MIB, 1)


def print_growth(timed_at: dict[float, dict[str, Side]], found: Measurements) -> None:
    """Milliseconds per megabyte on the wall and of processors, the worst step between sizes, the verdict."""
    sizes = list(timed_at)
    print(f"\n{'ms per MB':<46}" + "".join(f"{size:>9.0f} MB" for size in sizes) + f"{'worst step':>12}")
    for name in (PARSE, TO_LIST, "json"):
        if all(name in timed for timed in timed_at.values()):
            wall = [timed[name].best * 1000 / size for size, timed in timed_at.items()]
            cpu = [timed[name].work * 1000 / size for size, timed in timed_at.items()]
            _print_row(name, wall, "")
            _print_row(f"{name}, processor time", cpu, _verdict(cpu))
    peaks = [row.peak_mib for row in found.growth if row.megabytes in sizes]
    print(f"{'peak MiB of ' + PARSE:<46}" + "".join(f"{peak:>12.1f}" for peak in peaks))


def _worst_step(per_mb: list[float]) -> float:
    return max((later / earlier for earlier, later in pairwise(per_mb)), default=1.0)


def _verdict(per_mb: list[float]) -> str:
    proportional = _worst_step(per_mb) <= TOLERANCE
    return "no step worse than proportional" if proportional else "WORSE THAN PROPORTIONAL"


def _print_row(name: str, per_mb: list[float], verdict: str) -> None:
    cells = "".join(f"{value:>12.4f}" for value in per_mb)
    print(f"{name:<46}{cells}{_worst_step(per_mb):>12.2f}  {verdict}".rstrip())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure whether the cost grows in proportion to the input.")
    parser.add_argument("--megabytes", type=float, nargs="+", default=[15, 150, 1500])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = Measurements.load()
    timed_at = measure(sorted(asked.megabytes), asked.rounds, asked.seed, found)
    print_growth(timed_at, found)
    found.save()


if __name__ == "__main__":
    main()
