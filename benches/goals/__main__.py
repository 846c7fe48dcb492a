"""The goals of the project, P1 to P10, measured and printed as a table.

    python -m benches.goals                     # minutes
    python -m benches.goals --quick             # a few minutes, on small sessions
    python -m benches.goals --only P1 P2 --profiles chat images
    python -m benches.goals --only P1 P2 --against ../before    # another checkout, built, in the same turns

Every side is checked to give the right result before it is timed; sides take turns, and the fastest rounds
are compared. All that is measured is added to `benches/out/measurements.json`; what the other checkout gave
stands in `base.json` beside it, under the same names. It is a report: no number makes it fail.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

from benches.corpus import generate
from benches.corpus.page_cache import LARGE, SMALL, write_in_pieces
from benches.goals import against_peers, against_wc, builds, folders, instructions, memory, pairs
from benches.goals.builds import HEAD, Build
from benches.goals.measurements import OUT, Corpus, Goal, Measurements, series
from benches.goals.stopwatch import PYTHON, ROOT, load
from benches.goals.targets import judged, print_goals

_BUSY = 0.5
"""From this load on, before anything is measured here, others take time from some of the sides."""

PROFILES = ("classic", "modern", "chat", "images", "codex", "mixed")
_LARGE_FOLIOS = "classic-large-folios"
"""The same bytes as `classic`, held by the page cache as it holds files that were written at once."""
_SMALL = 2


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
    profiles: tuple[str, ...] = ()
    """Of P1 to P4 and P10; none stands for all of them."""


_QUICK = Sizes(megabytes=15, rounds=3, memory=(15, 60), one_line=15, images=(5, 25), tree=(200, 60))


class Run:
    """One run over the goals."""

    def __init__(self, sizes: Sizes, seed: int, runs: dict[Build, Measurements], out: Path) -> None:
        self.sizes, self.seed, self.runs, self.out = sizes, seed, runs, out
        self.found = runs[HEAD]
        self.profiles = sizes.profiles or PROFILES

    def corpus(self, profile: str, megabytes: float, one_line: float = 0) -> Path:
        """A session, noted in the record."""
        path = generate.corpus(profile, megabytes, self.seed, one_line)
        name = f"{profile} with one line of {one_line:g} MB" if one_line else profile
        self.found.add(Corpus(name, megabytes, self.seed, generate.sha256_of(path)))
        return path

    def timed_corpus(self, profile: str, megabytes: float) -> Path:
        """The same, in the state that is measured: no matter what the page cache made of it since."""
        path = generate.corpus(profile, megabytes, self.seed)
        write_in_pieces(path, path, SMALL)
        self.found.add(Corpus(profile, megabytes, self.seed, generate.sha256_of(path), SMALL))
        return path

    def large_folios(self) -> Path:
        """`classic` in the other state."""
        path = generate.corpus("classic", self.sizes.megabytes, self.seed)
        sha256 = generate.sha256_of(path)
        self.found.add(Corpus(_LARGE_FOLIOS, self.sizes.megabytes, self.seed, sha256, LARGE))
        return write_in_pieces(path, path.with_name(path.name.replace("classic", _LARGE_FOLIOS)), LARGE)

    def tree(self, sessions: int, megabytes: float, profile: str) -> Path:
        """A folder of sessions, noted in the record."""
        folder = generate.corpus_tree(sessions, megabytes, self.seed, profile)
        name = f"tree of {sessions} {profile} sessions"
        self.found.add(Corpus(name, megabytes, self.seed, generate.sha256_of(folder)))
        return folder

    def against_wc(self, families: Collection[str]) -> list[Goal]:
        """P1 to P3."""
        out, rounds = self.out / "out", self.sizes.rounds
        paths = {profile: self.timed_corpus(profile, self.sizes.megabytes) for profile in self.profiles}
        if "classic" in paths:
            paths[_LARGE_FOLIOS] = self.large_folios()
        goals = against_wc.measure(paths, rounds, out, families, self.runs)
        if "P3" in families and "classic" in paths:
            # It is quick, so there may be many rounds.
            small = self.timed_corpus("classic", _SMALL)
            goals.append(against_wc.measure_small(small, rounds * 4, out, self.runs))
        return goals

    def against_peers(self, _families: Collection[str]) -> list[Goal]:
        """P4, and whole tools."""
        profiles = self.sizes.profiles or (*PROFILES, "codex-paginated")
        paths = {profile: self.timed_corpus(profile, self.sizes.megabytes) for profile in profiles}
        goals = against_peers.measure(paths, self.sizes.rounds, self.runs)
        if not self.sizes.profiles:
            rounds = min(3, self.sizes.rounds)
            against_peers.measure_tools(paths["classic"], rounds, self.out / "tools", self.found)
        return goals

    def memory(self, _families: Collection[str]) -> list[Goal]:
        """P5."""
        paths = {f"{megabytes:g} MB": self.corpus("classic", megabytes) for megabytes in self.sizes.memory}
        line = self.sizes.one_line
        what = f"one line {line:g} MB"
        paths[what] = self.corpus("classic", line + 10, line)
        return memory.measure(paths, {what: line * 1e6}, self.out / "out", self.found)

    def images(self, _families: Collection[str]) -> list[Goal]:
        """P6, by the bench of the image codec."""
        sizes = [f"{megabytes:g}" for megabytes in self.sizes.images]
        command = [PYTHON, "-m", "benches.goals.images", "--rounds", str(self.sizes.rounds)]
        command += ["--seed", str(self.seed), "--megabytes", *sizes]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        report = json.loads((OUT / "images.json").read_bytes())["sizes"]
        goals, flatness = [], {}
        for side in ("extract", "restore"):
            speeds = {}
            for size in report:
                label = f"{size['bytes'] / 1e6:.0f} MB"
                speeds[label] = size["bytes"] / size["seconds"][side] / 1e9
                name = f"images {side} {label}"
                worked = size["cpu"][side] * 1e9 / size["bytes"]
                self.found.add(
                    series(f"{name} / throughput", "MB/s", "bigger", [speeds[label] * 1000], "images"),
                    series(f"{name} / processor time", "CPU ms/MB", "smaller", [worked], "images"),
                )
            sides = {f"{label} GB/s": round(speed, 2) for label, speed in speeds.items()}
            goals.append(judged(f"P6 {side}", min(speeds.values()), sides, "in memory"))
            first, *_, last = speeds.values()
            flatness[side] = first / last
        sides = {side: round(flat, 2) for side, flat in flatness.items()}
        return [*goals, judged("P6 flat", max(flatness.values()), sides)]

    def folder(self, _families: Collection[str]) -> list[Goal]:
        """P7."""
        small, large = self.tree(*self.sizes.preview, "chat"), self.tree(*self.sizes.tree, "classic")
        rounds = self.sizes.rounds
        return [
            folders.measure_folder("P7 small", small, rounds, self.found, in_sessions=True),
            folders.measure_folder("P7 large", large, rounds, self.found),
        ]

    def preview(self, _families: Collection[str]) -> list[Goal]:
        """P8."""
        sessions, megabytes = self.sizes.preview
        home = self.tree(sessions, megabytes, "chat")
        return [folders.measure_preview(home, sessions, self.sizes.rounds, self.found)]

    def start(self, _families: Collection[str]) -> list[Goal]:
        """P9: it is quick, so there may be many rounds."""
        return folders.measure_start(self.sizes.rounds * 4, self.found)

    def instructions(self, _families: Collection[str]) -> list[Goal]:
        """P10."""
        return instructions.measure(self.profiles, self.found)


_STEPS: dict[str, tuple[tuple[str, ...], Callable[[Run, Collection[str]], list[Goal]]]] = {
    "file to events, beside wc -l": (("P1", "P2", "P3"), Run.against_wc),
    "file to events, beside other readers": (("P4",), Run.against_peers),
    "memory": (("P5",), Run.memory),
    "images": (("P6",), Run.images),
    "folders": (("P7",), Run.folder),
    "preview": (("P8",), Run.preview),
    "start": (("P9",), Run.start),
    "instructions": (("P10",), Run.instructions),
}
_FAMILIES = tuple(family for families, _ in _STEPS.values() for family in families)
_COMPARED = ("P1", "P2", "P3", "P4")
"""What another checkout is measured for."""


def _with_load(goal: Goal, busy: float) -> Goal:
    """The goal with a warning for whoever reads the record: memory and instructions do not depend on it."""
    if busy <= _BUSY or goal.id.split()[0] in ("P5", "P10"):
        return goal
    return replace(goal, note="; ".join(filter(None, [goal.note, f"busy machine, load {busy:.1f}"])))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the goals P1 to P10 and print them as a table.")
    parser.add_argument("--quick", action="store_true", help="small sessions, few rounds: a few minutes")
    parser.add_argument(
        "--only", nargs="+", type=str.upper, choices=_FAMILIES, metavar="GOAL", help="P1 to P10"
    )
    parser.add_argument(
        "--profiles", nargs="+", choices=[*PROFILES, "codex-paginated"], help="of P1 to P4 and P10 (all)"
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="DIR",
        help="a checkout with a built package to measure beside this one",
    )
    parser.add_argument("--megabytes", type=float, help="of the sessions of P1 to P4 (150, quick 15)")
    parser.add_argument(
        "--memory", type=float, nargs="+", help="megabytes of the sessions of P5 (15 300 1500)"
    )
    parser.add_argument("--rounds", type=int, help="of every side (7, quick 3)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.against:
        asked.only = [family for family in asked.only or _COMPARED if family in _COMPARED]
        if not asked.only:
            parser.error(f"--against is for {', '.join(_COMPARED)}")
        try:
            asked.against = builds.base(asked.against)
        except ValueError as error:
            parser.error(str(error))
    return asked


def _sizes(asked: argparse.Namespace) -> Sizes:
    given = _QUICK if asked.quick else Sizes()
    return replace(
        given,
        megabytes=asked.megabytes or given.megabytes,
        memory=tuple(asked.memory or given.memory),
        rounds=asked.rounds or given.rounds,
        profiles=tuple(asked.profiles or ()),
    )


def main() -> None:
    """The command line."""
    asked = _asked()
    found = Measurements.load()
    runs = {HEAD: found}
    if asked.against:
        runs[asked.against] = Measurements(found.machine)
    machine = found.machine
    print(f"{machine.cpu}, {machine.cores} cores, {machine.os}, commit {machine.commit}")
    busy = load()
    if busy > _BUSY:
        print(f"the machine is busy (load {busy:.1f}): only memory and instructions can be trusted fully")
    goals: list[Goal] = []
    wanted = set(asked.only or _FAMILIES)
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        run = Run(_sizes(asked), asked.seed, runs, Path(folder))
        for what, (families, step) in _STEPS.items():
            if wanted & set(families):
                print(f"… {what}", flush=True)
                goals += [_with_load(goal, busy) for goal in step(run, wanted)]
    found.add(*goals)
    found.save()
    print_goals(goals)
    print(f"\nadded to {OUT / 'measurements.json'}; wc -l and the commands are whole processes")
    if asked.against:
        runs[asked.against].save(OUT / "base.json")
        print(f"\n{pairs.in_turns(runs[asked.against], found)}")


if __name__ == "__main__":
    main()
