"""The dated records of `benches/record/`: a run's measurements, one row a line, for readable diffs."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from benches.goals.measurements import Corpus, Goal, Growth, Machine, Measurements, Series
from benches.goals.stopwatch import ROOT

FOLDER = ROOT / "benches" / "record"

_Row = TypeVar("_Row", Corpus, Goal, Growth, Machine, Series)

# How the benches name a series: side, profile, size, and what was taken of it.
_NAME = re.compile(r"(?P<side>.+?),? (?P<profile>[\w-]+) (?P<size>[\d.]+) MB(?: / (?P<measure>.+))?")


@dataclass(frozen=True)
class Named:
    """The parts of a series' name; a name of another form is all `side`."""

    side: str
    profile: str = ""
    size: float = 0.0
    measure: str = ""

    @classmethod
    def of(cls, name: str) -> Named:
        """The parts of this name."""
        found = _NAME.fullmatch(name)
        if not found:
            side, _, measure = name.partition(" / ")
            return cls(side, measure=measure)
        return cls(found["side"], found["profile"], float(found["size"]), found["measure"] or "")

    @property
    def corpus(self) -> str:
        """Profile and size, as one says it."""
        return f"{self.profile} {self.size:g} MB" if self.profile else ""

    @property
    def kind(self) -> str:
        """`floor` is `wc -l`, which only counts lines; `ours` is retell-fast; all else is `other`."""
        if self.side.startswith("wc "):
            return "floor"
        return "ours" if self.side.startswith(("retell", "core")) else "other"


@dataclass(frozen=True)
class Record:
    """One run that was kept."""

    name: str
    """The file's name without its ending: the date, and the commit."""
    run: Measurements

    @property
    def date(self) -> str:
        """The day, in UTC."""
        return self.run.machine.date[:10]

    @property
    def commit(self) -> str:
        """As short as git shows it; `+` stands for changes that were not committed."""
        return short_commit(self.run.machine)

    @property
    def place(self) -> tuple[str, int]:
        """What must be the same for two records to be comparable."""
        return self.run.machine.cpu, self.run.machine.cores


def short_commit(machine: Machine) -> str:
    """The commit as short as git shows it; `+` stands for changes that were not committed."""
    commit, _, dirty = machine.commit.partition("-")
    return commit[:8] + ("+" if dirty else "")


def _rows(kind: type[_Row], found: list[dict[str, Any]]) -> list[_Row]:
    """Rows of a file, also of one that a later version wrote with more fields."""
    known = {field.name for field in fields(kind)}
    return [kind(**{key: value for key, value in row.items() if key in known}) for row in found]


def read(path: Path) -> Measurements:
    """The measurements in a file.

    Raises:
        ValueError: the file holds something else.
    """
    try:
        found = json.loads(path.read_bytes())
        return Measurements(
            _rows(Machine, [found["machine"]])[0],
            _rows(Corpus, found["corpus"]),
            _rows(Series, found["series"]),
            _rows(Goal, found["goals"]),
            _rows(Growth, found["growth"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not what the benches write: {error!r}") from error


def _rounded(value: Any) -> Any:
    """The same with six digits: no clock here knows more."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


def compact(run: Measurements) -> str:
    """The text of a record: each row on a line of its own."""

    def line(value: Any) -> str:
        return json.dumps(_rounded(value), ensure_ascii=False)

    parts = []
    for name, value in asdict(run).items():
        if isinstance(value, list) and value:
            rows = ",\n".join("  " + line(row) for row in value)
            parts.append(f" {line(name)}: [\n{rows}\n ]")
        else:
            parts.append(f" {line(name)}: {line(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def keep(run: Measurements, folder: Path = FOLDER, name: str = "") -> Path:
    """Write a record, named by its day and by its commit or `name`, and give its path."""
    label = re.sub(r"[^\w.-]+", "-", name or short_commit(run.machine).replace("+", "-dirty"))
    path = folder / f"{run.machine.date[:10]}-{label}.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compact(run).encode())
    return path


def newest_last(folder: Path = FOLDER) -> list[Record]:
    """All records of a folder, in the order in which they were measured."""
    found = [Record(path.stem, read(path)) for path in folder.glob("*.json")]
    return sorted(found, key=lambda record: (record.run.machine.date, record.name))
