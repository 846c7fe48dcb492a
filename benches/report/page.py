"""The history page: a folder of plain files that a browser opens without a server and without a network."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from benches.goals.pairs import number
from benches.report import charts
from benches.report.picture import TEMPLATES, picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benches.goals.measurements import Goal
    from benches.report.records import Record


@dataclass(frozen=True)
class Row:
    """A row of the table of goals."""

    goal: Goal
    wanted: str
    stretch: str
    unit: str
    sides: str
    spark: charts.Spark
    tone: str


_TONES = {"stretch": "best", "met": "good", "not met": "bad"}


def _as_said(text: str) -> str:
    return text.replace("<=", "≤").replace(">=", "≥")


def _row(goal: Goal, records: Sequence[Record]) -> Row:
    unit = re.sub(r"^x\b", "\N{MULTIPLICATION SIGN}", goal.unit)
    sides = " · ".join(f"{name} {number(value)}" for name, value in goal.sides.items())
    tone = _TONES.get(goal.verdict, "none")
    return Row(
        goal, _as_said(goal.goal), _as_said(goal.stretch), unit, sides, charts.spark(goal, records), tone
    )


def data(records: Sequence[Record]) -> str:
    """All records as a script: a page opened from a file may load no JSON."""
    found = [{"name": record.name, **asdict(record.run)} for record in records]
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"window.RETELL_RECORDS = {text};\n"


def page(records: Sequence[Record]) -> str:
    """The page of these records, the newest last."""
    newest = records[-1]
    return TEMPLATES.get_template("page.html").render(
        records=records,
        newest=newest,
        machine=newest.run.machine,
        goals=[_row(goal, records) for goal in newest.run.goals],
        histories=charts.histories(records),
        growth=charts.growth(newest.run.growth),
        machines=len({record.place for record in records}),
        layout=charts,
    )


def build(records: Sequence[Record], folder: Path) -> None:
    """Write the page and what it shows into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_bytes(page(records).encode())
    (folder / "data.js").write_bytes(data(records).encode())
    (folder / "picture.svg").write_bytes(picture(records[-1].run).encode())
