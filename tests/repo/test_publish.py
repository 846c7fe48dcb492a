"""What a bench run becomes: the forms that others read, records, the README's picture."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from benches.goals.measurements import Corpus, Goal, Growth, Machine, Measurements, Series
from benches.goals.pairs import number
from benches.report import formats, picture, publish, records, scale
from tests.support.checkout import ROOT

SVG = "{http://www.w3.org/2000/svg}"

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

# https://bencher.dev/docs/reference/bencher-metric-format: a measure has a value, and may have two bounds.
BENCHER = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {key: {"type": "number"} for key in ("value", "lower_value", "upper_value")},
        },
    },
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
    assert {"benchmark-bigger.json", "benchmark-smaller.json", "bencher.json", "picture.svg"} <= names
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


def test_benchers_form_has_a_measure_for_each_unit(out: Path) -> None:
    run(out)
    found = written(out / "bencher.json")
    jsonschema.validate(found, BENCHER)
    assert found["retell_fast.parse classic 150 MB"] == {
        "megabytes-per-second": {"value": 7500, "lower_value": 7000, "upper_value": 7500},
        "seconds": {"value": 0.02, "lower_value": 0.02, "upper_value": 0.024},
    }
    assert found["peak memory, classic 150 MB"]["peak-memory-mib"]["value"] == 38.2


def test_time_on_the_wall_and_of_processors_stand_beside_each_other() -> None:
    name = "core, 1 thread, chat 150 MB"
    rows = [
        row(f"{name} / throughput", 900, 800, group="parse"),
        row(f"{name} / processor time", 1.2, 1.4, unit="CPU ms/MB", group="parse"),
    ]
    assert [entry["unit"] for entry in formats.custom(rows, "smaller")] == ["CPU ms/MB"]
    found = formats.bencher(rows)
    jsonschema.validate(found, BENCHER)
    assert set(found[name]) == {"megabytes-per-second", "cpu-ms-per-mb"}


def test_the_records_that_are_kept_can_be_read() -> None:
    kept = records.newest_last()
    assert kept
    assert all(record.run.series and record.run.goals and record.run.corpus for record in kept)


def test_a_unit_that_is_new_becomes_a_slug() -> None:
    assert formats.measure("instructions/byte") == "instructions-per-byte"


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


def test_the_picture_beside_the_records_is_of_the_newest(out: Path) -> None:
    folder = out.parent / "record"
    newer = replace(RUN, machine=replace(RUN.machine, date="2026-05-06T00:00:00+00:00"))
    records.keep(newer, folder)
    run(out, "--record")
    assert (folder / publish.PICTURE).read_text(encoding="utf-8") == picture.picture(newer)


# ---------------------------------------------------------------- the picture


def bars(svg: str) -> dict[str, list[tuple[str, str, float]]]:
    """The bars of each panel: name, kind, length."""
    found = {}
    for panel in ElementTree.fromstring(svg).iter(f"{SVG}g"):  # noqa: S314  # written a moment ago
        words = [(word.get("class", ""), word.text or "") for word in panel.iter(f"{SVG}text")]
        names = [text for kind, text in words if kind.startswith("name")]
        drawn = list(panel.iter(f"{SVG}rect"))
        found[words[0][1]] = [
            (name, bar.get("class", "").split()[-1], float(bar.get("width", "")))
            for name, bar in zip(names, drawn, strict=True)
        ]
    return found


def test_the_bars_are_as_long_as_the_values_are_large() -> None:
    found = bars(picture.picture(RUN))
    assert [(name, kind) for name, kind, _ in found["classic 150 MB"]] == [
        ("wc -l", "floor"),
        ("retell_fast.parse", "ours"),
        ("json", "other"),
    ]
    counted, ours, other = (length for _, _, length in found["classic 150 MB"])
    assert ours / counted == pytest.approx(7500 / 8000, rel=0.001)
    assert other / counted == pytest.approx(300.5 / 8000, rel=0.01)


def test_of_each_profile_the_largest_size_with_something_to_compare_is_drawn() -> None:
    assert list(bars(picture.picture(RUN))) == ["classic 150 MB", "chat 15 MB"]


def test_a_crowd_is_thinned_from_the_slow_end_and_we_stay() -> None:
    crowd = [
        replace(ROWS[2], name=f"reader {n} classic 150 MB / throughput", value=1000.0 + n) for n in range(30)
    ]
    slow = replace(ROWS[0], value=1.0)
    text = picture.picture(replace(RUN, series=[slow, *crowd]))
    (drawn,) = bars(text).values()
    assert len(drawn) == 12
    assert drawn[0][0] == "reader 29"
    assert "19 slower left out" in text
    assert drawn[-1][:2] == ("retell_fast.parse", "ours")


def test_names_are_text_in_the_picture() -> None:
    row = replace(ROWS[0], name="a<b>&c classic 150 MB / throughput")
    assert next(iter(bars(picture.picture(replace(RUN, series=[row]))).values()))[0][0] == "a<b>&c"


def test_a_run_without_readers_has_a_picture_that_says_so() -> None:
    assert "compared no readers" in picture.picture(replace(RUN, series=[]))


def test_the_picture_loads_nothing() -> None:
    assert re.findall(r"(?:href|src|url)[=(]", picture.picture(RUN)) == []


def test_the_readme_shows_the_picture_of_the_newest_record() -> None:
    shown = re.findall(r"!\[[^\]]+\]\((benches/[^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown == [f"benches/record/{publish.PICTURE}"]
    # Windows checks text out with its own line ends.
    kept = (ROOT / shown[0]).read_bytes().replace(b"\r\n", b"\n")
    assert kept == picture.picture(records.newest_last()[-1].run).encode()


# ---------------------------------------------------------------- scales


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0021, "0.0021"), (0.02, "0.02"), (1.0666, "1.07"), (38.2, "38.2"), (7894.7, "7,895")],
)
def test_numbers_are_said_in_three_digits(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    "values", [[0.0], [3.0], [7999.0, 8000.0], [0.001, 0.0012], [1.0, 5000.0], [15, 150, 1500]]
)
def test_a_scale_holds_its_values_and_names_some(values: list[float]) -> None:
    fitted = scale.fitted(values, 200, 0)
    assert all(0 <= fitted.at(value) <= 200 for value in values)
    assert 2 <= len(fitted.ticks) <= 9
    assert all(-1e-9 <= tick.at <= 200 + 1e-9 for tick in fitted.ticks)
