"""Goal P5: the memory that the whole command holds at most, over a bare interpreter, as the input grows."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from benches.goals.builds import COMMAND
from benches.goals.measurements import series
from benches.goals.stopwatch import START, can_tell_peaks, peak_bytes
from benches.goals.targets import judged, memory_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benches.goals.measurements import Goal, Measurements

_MIB = 1 << 20
_ROUNDS = 3


def measure(
    paths: Mapping[str, Path], lines: Mapping[str, float], out: Path, found: Measurements
) -> list[Goal]:
    """P5 for every session, by what it is; `lines` has the bytes of a line that is most of one."""
    if not can_tell_peaks():
        target = memory_target("at every size", 0)
        return [judged("P5", None, note="this system does not tell peaks", target=target)]
    start = min(peak_bytes(START) for _ in range(_ROUNDS))
    goals = []
    for what, path in paths.items():
        peaks = []
        for _ in range(_ROUNDS):
            shutil.rmtree(out, ignore_errors=True)
            peaks.append(peak_bytes([COMMAND, "parse", str(path), "-o", str(out)]))
        manifest = json.loads((out / "manifest.json").read_bytes())
        signal = manifest["main_signal_bytes"]
        assert signal > 0, "the command wrote nothing"
        over = [(peak - start) / _MIB for peak in peaks]
        found.add(series(f"peak memory over a bare interpreter, {what}", "MiB", "smaller", over, "memory"))
        # Of memory the worst round counts: a peak is reached or it is not.
        sides = {"retell-fast parse MiB": max(peaks) / _MIB, "interpreter MiB": start / _MIB}
        note = f"{signal / _MIB:.1f} MiB of signal in {path.stat().st_size / 1e6:.0f} MB"
        target = memory_target(what, signal, lines.get(what, 0))
        goals.append(judged(f"P5 {what}", max(over), sides, note, target))
    return goals
