"""What a bench run becomes: the forms that others read, and records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from benches.goals.measurements import Corpus, Goal, Growth, Machine, Measurements, Series
from benches.goals.pairs import number
from benches.report import formats, records

pytest.importorskip("vl_convert")
from benches.report import publish

OURS, READ = "retell_fast.parse", " / throughput"


def row(
    name: str, value: float, worst: float, unit: str = "MB/s", group: Any = "peers", extra: str = ""
) -> Series:
    """A series whose median lies halfway to the worst round."""
    bigger = value > worst
    half = abs(value - worst) / 2
    better: Any = "bigger" if bigger else "smaller"
    least = min(value, worst)
    return Series(name, unit, better, value, least, least + half, 5, f"± {half:g}", group, extra)


ROWS = [
    row(f"{OURS} classic 150 MB{READ}", 7500, 7000, group="parse"),
    row(f"wc -l classic 150 MB{READ}", 8000, 7800),
    row(f"json classic 150 MB{READ}", 300.5, 290, extra="json.loads"),
    row(f"json chat 150 MB{READ}", 250, 240),
    row(f"json chat 15 MB{READ}", 260, 240),
    row(f"{OURS} chat 15 MB{READ}", 3000, 2900, group="parse"),
    row(f"{OURS} classic 150 MB / seconds", 0.02, 0.024, unit="s", group="parse"),
    row("peak memory, classic 150 MB", 38.2, 38.2, unit="MiB", group="memory"),
]
RUN = Measurements(
    Machine(
        "Abacus 9", 4, "Linux", "3.13.1", "rustc", "0.1.0", "0123456789abcdef", "2026-03-04T05:06:07+00:00"
    ),
    [Corpus("classic", 150, 1, "0" * 64)],
    ROWS,
    [Goal("P1", "against wc -l", "<= 1.5", "<= 1.2", 1.0666666666, "x", "stretch", {"wc -l": 18.75})],
    [Growth(15, 0.002, 12.5)],
)

TIMED = {
    "machine_info": {},
    "benchmarks": [
        {
            "group": "in Python",
            "name": "test_parse_to_list",
            "extra_info": {"bytes": 15_000_000},
            "stats": {"min": 0.01, "max": 0.03, "median": 0.015, "rounds": 7},
        },
        {
            "group": None,
            "name": "test_start",
            "extra_info": {},
            "stats": {"min": 0.02, "max": 0.02, "median": 0.02, "rounds": 1},
        },
    ],
}

# What github-action-benchmark takes for its custom tools.
CUSTOM = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
        "properties": {
            "value": {"type": "number"},
            **{name: {"type": "string"} for name in ("name", "unit", "range", "extra")},
        },
    },
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of the benches, as they leave it."""
    RUN.save(tmp_path / "out" / "measurements.json")
    (tmp_path / "out" / "pytest-benchmark.json").write_text(json.dumps(TIMED))
    return tmp_path / "out"


def written(path: Path) -> Any:
    return json.loads(path.read_bytes())


def run(out: Path, *arguments: str) -> int:
    return publish.main(["--out", str(out), "--records", str(out.parent / "record"), *arguments])


# ---------------------------------------------------------------- the forms


def test_each_form_is_written_beside_what_was_measured(out: Path) -> None:
    assert run(out) == 0
    names = {path.name for path in out.iterdir()}
    assert {"benchmark-bigger.json", "benchmark-smaller.json", "picture.svg"} <= names
    assert not (out.parent / "record").exists()


def test_the_arrays_hold_one_direction_each(out: Path) -> None:
    run(out)
    bigger, smaller = written(out / "benchmark-bigger.json"), written(out / "benchmark-smaller.json")
    for rows in (bigger, smaller):
        jsonschema.validate(rows, CUSTOM)
        names = [row["name"] for row in rows]
        assert len(names) == len(set(names)), "the action tells series apart by name"
    assert {row["unit"] for row in bigger} == {"MB/s"}
    assert {row["unit"] for row in smaller} == {"s", "MiB"}
    assert bigger[2] == {
        "name": "json classic 150 MB / throughput",
        "unit": "MB/s",
        "value": 300.5,
        "range": "± 5.25",
        "extra": "median 295.2, rounds 5, json.loads",
    }


def test_the_records_that_are_kept_can_be_read() -> None:
    kept = records.newest_last()
    assert kept
    assert all(record.run.series and record.run.goals and record.run.corpus for record in kept)


def test_pytest_benchmarks_numbers_become_series() -> None:
    rows = formats.from_pytest(TIMED)
    assert [(row.name, row.unit, row.value, row.range) for row in rows] == [
        ("in Python: parse to list / seconds", "s", 0.01, "± 0.01"),
        ("in Python: parse to list / throughput", "MB/s", 1500.0, "± 500"),
        ("start / seconds", "s", 0.02, "± 0"),
    ]


def test_pytest_benchmark_alone_is_enough(out: Path) -> None:
    (out / "measurements.json").unlink()
    assert run(out) == 0
    assert len(written(out / "benchmark-bigger.json")) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": 1}', '{"benchmarks": [{}]}'])
@pytest.mark.parametrize("name", ["measurements.json", "pytest-benchmark.json"])
def test_a_file_of_another_kind_is_an_error(
    out: Path, capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (out / name).write_text(text)
    assert run(out) == 1
    assert name in capsys.readouterr().err


def test_nothing_measured_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "out") == 1
    assert "make bench" in capsys.readouterr().err


# ---------------------------------------------------------------- records


def test_a_record_is_named_by_its_day_and_commit_and_reads_back(out: Path) -> None:
    assert run(out, "--record") == 0
    (record,) = records.newest_last(out.parent / "record")
    assert record.name == "2026-03-04-01234567"
    assert record.run.machine == RUN.machine
    assert record.run.corpus == RUN.corpus
    assert [(row.name, row.value) for row in record.run.series] == [(row.name, row.value) for row in ROWS]
    assert record.run.goals[0].measured == 1.06667


def test_a_record_can_be_named(out: Path) -> None:
    run(out, "--record", "two threads/again")
    assert (out.parent / "record" / "2026-03-04-two-threads-again.json").exists()


def test_a_record_has_one_row_a_line() -> None:
    lines = records.compact(RUN).splitlines()
    assert sum('"unit"' in line and '"better"' in line for line in lines) == len(ROWS)


def test_a_record_with_fields_of_a_later_version_is_read(tmp_path: Path) -> None:
    found = json.loads(records.compact(RUN))
    found["series"][0]["mood"] = "sunny"
    found["weather"] = {}
    (tmp_path / "later.json").write_text(json.dumps(found))
    assert records.read(tmp_path / "later.json").series == ROWS


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0021, "0.0021"), (0.02, "0.02"), (1.0666, "1.07"), (38.2, "38.2"), (7894.7, "7,895")],
)
def test_numbers_are_said_in_three_digits(value: float, text: str) -> None:
    assert number(value) == text
