"""The history page: one file that a browser opens without a server and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import vl_convert
from benches.goals.pairs import number
from benches.report import charts
from benches.report.picture import picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.report.records import Record

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_TEMPLATES.filters["number"] = number


def page(records: Sequence[Record]) -> str:
    """The page of these records, the newest last."""
    newest = records[-1]
    before = records[-2].run.goals if len(records) > 1 else []
    return _TEMPLATES.get_template("page.html").render(
        records=records,
        newest=newest,
        machine=newest.run.machine,
        machines=len({record.place for record in records}),
        picture=picture(newest.run),
        measured_before={goal.id: goal.measured for goal in before if goal.measured is not None},
        histories=charts.histories(records),
        growth=charts.growth(newest.run.growth) if newest.run.growth else {},
        vega=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"),
    )


def build(records: Sequence[Record], folder: Path) -> None:
    """Write the page into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_bytes(page(records).encode())
