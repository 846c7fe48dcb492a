"""What benches write for the dashboard: rows are replaced, not doubled, and verdicts follow the goals."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from benches.measurements import Corpus, Growth, Measurements, series, this_machine, throughput
from benches.targets import TARGETS, judged, memory_target, print_goals


def test_rows_come_back_and_replace_those_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "out" / "measurements.json"
    first = Measurements(this_machine())
    first.add(Corpus("classic", 15, 1, "a" * 64), Growth(15, 0.1, 20), judged("P1", 1.4))
    first.add(throughput("parse", 15_000_000, [0.01, 0.02], "parse"))
    first.save(path)
    second = Measurements.load(path)
    assert (second.corpus, second.series, second.goals) == (first.corpus, first.series, first.goals)
    second.add(judged("P1", 1.1), Growth(15, 0.05, 20), Growth(150, 0.5, 30))
    assert [goal.measured for goal in second.goals] == [1.1]
    assert [row.seconds for row in second.growth] == [0.05, 0.5]


def test_what_another_commit_measured_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "measurements.json"
    other = dataclasses.replace(this_machine(), commit="0" * 40)
    measured = Measurements(other)
    measured.add(judged("P1", 1.4))
    measured.save(path)
    assert Measurements.load(path).goals == []
    path.write_text("{", encoding="utf-8")
    assert Measurements.load(path).goals == []


def test_a_file_has_the_form_that_publishers_read(tmp_path: Path) -> None:
    measured = Measurements(this_machine())
    measured.add(series("peak", "MiB", "smaller", [3.0, 1.0, 2.0], "memory"))
    measured.save(tmp_path / "measurements.json")
    found = json.loads((tmp_path / "measurements.json").read_bytes())
    assert set(found) == {"machine", "corpus", "series", "goals", "growth"}
    row = found["series"][0]
    assert (row["value"], row["min"], row["median"], row["rounds"], row["range"]) == (1, 1, 2, 3, "± 1")
    assert set(found["machine"]) == {
        *("cpu", "cores", "os", "python", "rustc", "retell_fast", "commit", "date"),
    }


def test_the_bigger_throughput_is_the_better() -> None:
    row = throughput("parse", 10_000_000, [0.1, 0.2], "parse")
    assert (row.value, row.min) == (100.0, 50.0)


@pytest.mark.parametrize(
    ("id_", "measured", "verdict"),
    [
        ("P1", 1.51, "not met"),
        ("P1", 1.5, "met"),
        ("P1", 1.2, "stretch"),
        ("P4 json", 14.9, "not met"),
        ("P4 json", 15, "met"),
        ("P4 json", 20, "stretch"),
        ("P8", None, "not measured"),
    ],
)
def test_verdicts(id_: str, measured: float | None, verdict: str) -> None:
    assert judged(id_, measured).verdict == verdict


def test_memory_may_grow_with_what_is_said() -> None:
    target = memory_target("15 MB", 10 << 20)
    assert (target.goal, target.stretch) == (94, 52)


def test_the_table_names_every_goal(capsys: pytest.CaptureFixture[str]) -> None:
    print_goals([judged(id_, None, note=f"why {id_}") for id_ in TARGETS])
    printed = capsys.readouterr().out
    assert all(f"why {id_}" in printed and TARGETS[id_].what in printed for id_ in TARGETS)
