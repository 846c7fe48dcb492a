"""The goals of the project, P1 to P10, measured and printed as a table.

    python benches/goals.py                     # minutes
    python benches/goals.py --quick             # about a minute, on small sessions
    python benches/goals.py --only P1 P2 P4     # some of them

Every side is checked to give the right result before it is timed; sides take turns, and the fastest rounds
are compared. All that is measured is added to `benches/out/measurements.json`. It is a report: the exit
status is always 0.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches import against_peers, against_wc, folders, generate, instructions, memory
from benches.measurements import Corpus, Goal, Measurements, series
from benches.stopwatch import PYTHON, load
from benches.targets import judged, print_goals

_BUSY = 0.5
"""From this load on, before anything is measured here, others take time from some of the sides."""
_IMAGE_BENCH = Path(__file__).with_name("compare_images.py")


@dataclass(frozen=True)
class Sizes:
    """How large the inputs are, in megabytes, and how often everything runs."""

    megabytes: float = 150
    rounds: int = 7
    memory: tuple[float, ...] = (15, 300, 1500)
    one_line: float = 150
    images: tuple[float, ...] = (25, 50, 100, 200, 400)
    tree: tuple[int, float] = (2000, 1000)
    preview: tuple[int, float] = (10_000, 240)
    profiles: tuple[str, ...] = ("classic", "modern", "chat", "images")


_QUICK = Sizes(megabytes=15, rounds=3, memory=(15, 60), one_line=15, images=(5, 25), tree=(200, 60))


class Run:
    """One run over the goals."""

    def __init__(self, sizes: Sizes, seed: int, found: Measurements, out: Path) -> None:
        self.sizes, self.seed, self.found, self.out = sizes, seed, found, out

    def corpus(self, profile: str, megabytes: float, one_line: float = 0) -> Path:
        """A session, noted in the record."""
        path = generate.corpus(profile, megabytes, self.seed, one_line)
        name = f"{profile} with one line of {one_line:g} MB" if one_line else profile
        self.found.add(Corpus(name, megabytes, self.seed, generate.sha256_of(path)))
        return path

    def tree(self, sessions: int, megabytes: float, profile: str) -> Path:
        """A folder of sessions, noted in the record."""
        folder = generate.corpus_tree(sessions, megabytes, self.seed, profile)
        name = f"tree of {sessions} {profile} sessions"
        self.found.add(Corpus(name, megabytes, self.seed, generate.sha256_of(folder)))
        return folder

    def against_wc(self) -> list[Goal]:
        """P1 to P3."""
        paths = {profile: self.corpus(profile, self.sizes.megabytes) for profile in self.sizes.profiles}
        return against_wc.measure(paths, self.sizes.rounds, self.out / "out", self.found)

    def against_peers(self) -> list[Goal]:
        """P4, and whole tools."""
        profiles = (*self.sizes.profiles, "codex", "codex-paginated")
        paths = {profile: self.corpus(profile, self.sizes.megabytes) for profile in profiles}
        goals = against_peers.measure(paths, self.sizes.rounds, self.found)
        against_peers.measure_tools(
            paths["classic"], min(3, self.sizes.rounds), self.out / "tools", self.found
        )
        return goals

    def memory(self) -> list[Goal]:
        """P5."""
        paths = {f"{megabytes:g} MB": self.corpus("classic", megabytes) for megabytes in self.sizes.memory}
        line = self.sizes.one_line
        paths[f"one line {line:g} MB"] = self.corpus("classic", line + 10, line)
        return memory.measure(paths, self.out / "out", self.found)

    def images(self) -> list[Goal]:
        """P6, by the bench of the image codec."""
        sizes = [f"{megabytes:g}" for megabytes in self.sizes.images]
        command = [PYTHON, str(_IMAGE_BENCH), "--rounds", str(self.sizes.rounds), "--seed", str(self.seed)]
        subprocess.run([*command, "--megabytes", *sizes], check=True, stdout=subprocess.DEVNULL)
        report = json.loads((generate.OUT / "compare_images.json").read_bytes())["sizes"]
        goals, flatness = [], {}
        for side in ("extract", "restore"):
            speeds = {}
            for size in report:
                label = f"{size['bytes'] / 1e6:.0f} MB"
                speeds[label] = size["bytes"] / size["seconds"][side] / 1e9
                name = f"images {side} {label} / throughput"
                self.found.add(series(name, "MB/s", "bigger", [speeds[label] * 1000], "images"))
            sides = {f"{label} GB/s": round(speed, 2) for label, speed in speeds.items()}
            goals.append(judged(f"P6 {side}", min(speeds.values()), sides, "in memory"))
            first, *_, last = speeds.values()
            flatness[side] = first / last
        sides = {side: round(flat, 2) for side, flat in flatness.items()}
        return [*goals, judged("P6 flat", max(flatness.values()), sides)]

    def folder(self) -> list[Goal]:
        """P7."""
        return [folders.measure_folder(self.tree(*self.sizes.tree, "classic"), self.sizes.rounds, self.found)]

    def preview(self) -> list[Goal]:
        """P8."""
        sessions, megabytes = self.sizes.preview
        home = self.tree(sessions, megabytes, "chat")
        return [folders.measure_preview(home, sessions, self.sizes.rounds, self.found)]

    def start(self) -> list[Goal]:
        """P9: it is quick, so there may be many rounds."""
        return folders.measure_start(self.sizes.rounds * 4, self.found)

    def instructions(self) -> list[Goal]:
        """P10."""
        return [instructions.measure(self.found)]


_STEPS: dict[str, tuple[tuple[str, ...], Callable[[Run], list[Goal]]]] = {
    "file to events, beside wc -l": (("P1", "P2", "P3"), Run.against_wc),
    "file to events, beside other readers": (("P4",), Run.against_peers),
    "memory": (("P5",), Run.memory),
    "images": (("P6",), Run.images),
    "a folder": (("P7",), Run.folder),
    "preview": (("P8",), Run.preview),
    "start": (("P9",), Run.start),
    "instructions": (("P10",), Run.instructions),
}


def _with_load(goal: Goal, busy: float) -> Goal:
    """The goal with a warning for whoever reads the record: memory and instructions do not depend on it."""
    if busy <= _BUSY or goal.id.startswith(("P5", "P10")):
        return goal
    return replace(goal, note="; ".join(filter(None, [goal.note, f"busy machine, load {busy:.1f}"])))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measure the goals P1 to P10 and print them as a table.")
    parser.add_argument("--quick", action="store_true", help="small sessions, few rounds: about a minute")
    parser.add_argument("--only", nargs="+", metavar="GOAL", help="P1 to P10")
    parser.add_argument("--megabytes", type=float, help="of the sessions of P1 to P4 (150, quick 15)")
    parser.add_argument(
        "--memory", type=float, nargs="+", help="megabytes of the sessions of P5 (15 300 1500)"
    )
    parser.add_argument("--rounds", type=int, help="of every side (7, quick 3)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    given = _QUICK if asked.quick else Sizes()
    sizes = Sizes(
        **{
            **vars(given),
            "megabytes": asked.megabytes or given.megabytes,
            "memory": tuple(asked.memory or given.memory),
            "rounds": asked.rounds or given.rounds,
        }
    )
    wanted = {goal.upper() for goal in asked.only or []}
    found = Measurements.load()
    machine = found.machine
    print(f"{machine.cpu}, {machine.cores} cores, {machine.os}, commit {machine.commit}")
    busy = load()
    if busy > _BUSY:
        print(f"the machine is busy (load {busy:.1f}): only memory and instructions can be trusted fully")
    goals: list[Goal] = []
    with tempfile.TemporaryDirectory(dir=generate.OUT) as folder:
        run = Run(sizes, asked.seed, found, Path(folder))
        for what, (ids, step) in _STEPS.items():
            if not wanted or wanted & set(ids):
                print(f"… {what}", flush=True)
                goals += [_with_load(goal, busy) for goal in step(run)]
    found.add(*goals)
    found.save()
    print_goals(goals)
    print(f"\nadded to {generate.OUT / 'measurements.json'}; wc -l and the commands are whole processes")


if __name__ == "__main__":
    main()
