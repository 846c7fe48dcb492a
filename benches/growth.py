"""Does the cost grow in proportion to the input? Time per megabyte and peak memory at growing sizes.

    python benches/growth.py --megabytes 15 150 1500 --rounds 5

Sides take turns within a size. A step is worse than proportional when a megabyte of the larger session takes
longer than one of the smaller: said with a tolerance of 15 %, and never asserted. The rows are added to
`benches/out/measurements.json`.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benches.stopwatch import Side

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches import generate
from benches.against_peers import PARSE, TO_LIST, reader_side
from benches.measurements import Corpus, Growth, Measurements, throughput
from benches.stopwatch import PYTHON, START, answer, can_tell_peaks, interleave, peak_bytes

TOLERANCE = 1.15
_MIB = 1 << 20
_PARSE_ONLY = "import sys, retell_fast; retell_fast.parse(sys.argv[1])"
_WORKER = str(Path(__file__).with_name("against_peers.py"))


def measure(sizes: list[float], rounds: int, seed: int, found: Measurements) -> dict[float, dict[str, Side]]:
    """All sides at every size; a session of gigabytes gets fewer rounds."""
    timed_at = {}
    for megabytes in sizes:
        path = generate.corpus("classic", megabytes, seed)
        found.add(Corpus("classic", megabytes, seed, generate.sha256_of(path)))
        right = answer([PYTHON, _WORKER, "json", "classic", str(path)])["digest"]
        sides = [reader_side(name, "classic", path, right) for name in (PARSE, TO_LIST, "json")]
        timed_at[megabytes] = timed = interleave(sides, rounds if megabytes < 1000 else max(1, rounds // 2))
        size = path.stat().st_size
        for name, side in timed.items():
            found.add(throughput(f"{name}, growth {megabytes:g} MB", size, side.seconds, "growth"))
        if PARSE in timed:
            found.add(Growth(size / 1e6, timed[PARSE].best, _peak_mib(path)))
    return timed_at


def _peak_mib(path: Path) -> float:
    """Of the parse in Python, over a bare interpreter; 0 where the system cannot tell."""
    if not can_tell_peaks():
        return 0.0
    return round((peak_bytes([PYTHON, "-c", _PARSE_ONLY, str(path)]) - peak_bytes(START)) / _MIB, 1)


def print_growth(timed_at: dict[float, dict[str, Side]], found: Measurements) -> None:
    """Milliseconds per megabyte, the steps between sizes, and a verdict on each side."""
    sizes = list(timed_at)
    print(f"\n{'ms per MB':<30}" + "".join(f"{size:>9g} MB" for size in sizes) + f"{'worst step':>12}")
    for name in (PARSE, TO_LIST, "json"):
        if any(name not in timed for timed in timed_at.values()):
            continue
        per_mb = [timed[name].best * 1000 / size for size, timed in timed_at.items()]
        worst = max((later / earlier for earlier, later in pairwise(per_mb)), default=1.0)
        verdict = "no step worse than proportional" if worst <= TOLERANCE else "WORSE THAN PROPORTIONAL"
        print(f"{name:<30}" + "".join(f"{value:>12.4f}" for value in per_mb) + f"{worst:>12.2f}  {verdict}")
    peaks = {round(row.megabytes): row.peak_mib for row in found.growth}
    print(f"{'peak MiB of ' + PARSE:<30}" + "".join(f"{_nearest(peaks, size):>12.1f}" for size in sizes))


def _nearest(peaks: dict[int, float], megabytes: float) -> float:
    return peaks[min(peaks, key=lambda size: abs(size - megabytes))]


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
