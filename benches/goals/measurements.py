"""What a bench run measured, on its way to the dashboard: one JSON file that every bench adds to.

The file says on which machine, on which corpora, and what came out. Whoever publishes reads nothing else;
what a field means stands on the classes below, and its JSON name is its Python name.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import cpuinfo
from benches.goals.stopwatch import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.goals.stopwatch import Side

OUT = ROOT / "benches" / "out"
FILE = OUT / "measurements.json"

Better = Literal["bigger", "smaller"]
Group = Literal["parse", "memory", "peers", "images", "goals", "growth", "instructions"]
Verdict = Literal["met", "stretch", "not met", "not measured", "no goal"]


@dataclass(frozen=True)
class Machine:
    """Where the numbers come from; numbers of two machines are not to be compared."""

    cpu: str
    cores: int
    os: str
    python: str
    rustc: str
    retell_fast: str
    commit: str
    """The commit that was measured; `-dirty` is added if the tree had changes."""
    date: str
    """UTC, ISO 8601."""


@dataclass(frozen=True)
class Corpus:
    """A generated input: `benches.corpus.generate` makes the same bytes of it anywhere."""

    profile: str
    megabytes: float
    seed: int
    sha256: str
    pieces: int = 0
    """Bytes of each write that put the file into the page cache (see `page_cache`); 0 is for unknown."""


@dataclass(frozen=True)
class Series:
    """One number that is worth a line on a chart, and how sure it is."""

    name: str
    unit: str
    better: Better
    value: float
    """The best round: noise only ever makes a round slower."""
    min: float
    median: float
    rounds: int
    range: str
    """Half of the distance between the worst and the best round, as `± 1.2`."""
    group: Group
    extra: str = ""


@dataclass(frozen=True)
class Goal:
    """A goal of the project, P1 to P10 or a part of one, with what was measured for it."""

    id: str
    what: str
    goal: str
    """As `≤ 1.5`, or empty."""
    stretch: str
    measured: float | None
    unit: str
    verdict: Verdict
    sides: dict[str, float] = field(default_factory=dict)
    """The best round of each side, by name and unit: on the wall in ms, and of processors in CPU ms."""
    note: str = ""


@dataclass(frozen=True)
class Growth:
    """One size of the same session: time and memory should grow in proportion to it, or less."""

    megabytes: float
    seconds: float
    peak_mib: float


@dataclass
class Measurements:
    """All of one run."""

    machine: Machine
    corpus: list[Corpus] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path = FILE) -> Measurements:
        """What the benches before this one wrote for the same commit of this machine, or nothing yet."""
        here = this_machine()
        try:
            found = json.loads(path.read_bytes())
            before = Machine(**found["machine"])
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return cls(here)
        if (before.cpu, before.commit, before.python) != (here.cpu, here.commit, here.python):
            return cls(here)
        return cls(
            here,
            [Corpus(**row) for row in found["corpus"]],
            [Series(**row) for row in found["series"]],
            [Goal(**row) for row in found["goals"]],
            [Growth(**row) for row in found["growth"]],
        )

    def add(self, *rows: Corpus | Series | Goal | Growth) -> None:
        """Add rows; a row that was measured before is replaced where it stands."""
        for row in rows:
            _replace(self._table(row), row)

    def save(self, path: Path = FILE) -> None:
        """Write the file whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + ".part")
        beside.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        beside.replace(path)

    def _table(self, row: object) -> list[Any]:
        tables: dict[type, list[Any]] = {
            Corpus: self.corpus,
            Series: self.series,
            Goal: self.goals,
            Growth: self.growth,
        }
        return tables[type(row)]


def _key(row: Any) -> tuple[Any, ...]:
    if isinstance(row, Corpus):
        return row.profile, row.megabytes, row.seed
    if isinstance(row, Series):
        return row.name, row.unit
    return (row.id,) if isinstance(row, Goal) else (row.megabytes,)


def _replace(table: list[Any], row: Any) -> None:
    for number, old in enumerate(table):
        if _key(old) == _key(row):
            table[number] = row
            return
    table.append(row)


def series(
    name: str, unit: str, better: Better, rounds: Sequence[float], group: Group, extra: str = ""
) -> Series:
    """A series from the values of all rounds."""
    best = max(rounds) if better == "bigger" else min(rounds)
    half = (max(rounds) - min(rounds)) / 2
    return Series(
        name,
        unit,
        better,
        best,
        min(rounds),
        statistics.median(rounds),
        len(rounds),
        f"± {half:.3g}",
        group,
        extra,
    )


def throughput(name: str, size: int, seconds: Sequence[float], group: Group, extra: str = "") -> Series:
    """Megabytes of input per second, from the seconds of all rounds."""
    return series(f"{name} / throughput", "MB/s", "bigger", [size / 1e6 / s for s in seconds], group, extra)


def work(name: str, size: int, cpu: Sequence[float], group: Group, extra: str = "") -> Series:
    """Milliseconds that processors worked for a megabyte of input, from their seconds in all rounds."""
    values = [seconds * 1e9 / size for seconds in cpu]
    return series(f"{name} / processor time", "CPU ms/MB", "smaller", values, group, extra)


def speeds(name: str, size: int, side: Side, group: Group, extra: str = "") -> list[Series]:
    """What is kept of a side that read so many bytes: by the wall, and by processors if known."""
    rows = [throughput(name, size, side.seconds, group, extra)]
    return [*rows, work(name, size, side.cpu, group, extra)] if side.work else rows


def waits(name: str, unit: Literal["s", "ms"], side: Side, group: Group) -> list[Series]:
    """The same of a side that has no size: what one waits for it, and what processors work for it."""
    times = 1 if unit == "s" else 1000
    rows = [series(name, unit, "smaller", [seconds * times for seconds in side.seconds], group)]
    if side.work:
        values = [seconds * times for seconds in side.cpu]
        rows.append(series(f"{name} / processor time", f"CPU {unit}", "smaller", values, group))
    return rows


def _system() -> str:
    """The operating system without the name of its build, which tells nobody else anything."""
    release = platform.release().partition("-")[0]
    return f"{platform.system()} {release} {platform.machine()}"


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.partition("\n")[0].strip()


def _commit() -> str:
    dirty = "-dirty" if _first_line("git", "status", "--porcelain", "--untracked-files=no") else ""
    commit = _first_line("git", "rev-parse", "HEAD")
    return commit + dirty if commit else "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def this_machine() -> Machine:
    """The machine that runs this, and what is measured on it."""
    return Machine(
        cpu=cpuinfo.get_cpu_info().get("brand_raw") or platform.machine(),
        cores=os.cpu_count() or 1,
        os=_system(),
        python=platform.python_version(),
        rustc=_first_line("rustc", "--version") or "not installed",
        retell_fast=_version("retell-fast"),
        commit=_commit(),
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )
