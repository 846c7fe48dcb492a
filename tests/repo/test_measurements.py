"""What benches write for the dashboard: rows are replaced, not doubled, and verdicts follow the goals."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benches.corpus import generate
from benches.corpus.page_cache import SMALL, write_in_pieces
from benches.goals import builds
from benches.goals.measurements import (
    Corpus,
    Growth,
    Measurements,
    series,
    speeds,
    this_machine,
    throughput,
    waits,
)
from benches.goals.stopwatch import Side, Took, interleave
from benches.goals.targets import (
    FAMILIES,
    PEERS,
    TARGETS,
    judged,
    memory_target,
    milliseconds,
    print_goals,
    ratio,
)
from tests.support.checkout import ROOT


def test_rows_come_back_and_replace_those_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "out" / "measurements.json"
    first = Measurements(this_machine())
    first.add(Corpus("classic", 15, 1, "a" * 64), Growth(15, 0.1, 20), judged("P1 classic", 1.4))
    first.add(throughput("parse", 15_000_000, [0.01, 0.02], "parse"))
    first.save(path)
    second = Measurements.load(path)
    assert (second.corpus, second.series, second.goals) == (first.corpus, first.series, first.goals)
    second.add(judged("P1 classic", 1.1), Growth(15, 0.05, 20), Growth(150, 0.5, 30))
    assert [goal.measured for goal in second.goals] == [1.1]
    assert [row.seconds for row in second.growth] == [0.05, 0.5]


def test_what_another_commit_measured_is_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "measurements.json"
    other = dataclasses.replace(this_machine(), commit="0" * 40)
    measured = Measurements(other)
    measured.add(judged("P1 classic", 1.4))
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
        ("P1 classic", 1.16, "not met"),
        ("P1 classic", 1.15, "met"),
        ("P1 classic", 0.85, "stretch"),
        ("P1 chat", 3.4, "met"),
        ("P4 classic json", 12.9, "not met"),
        ("P4 classic json", 13, "met"),
        ("P4 classic json", 15, "stretch"),
        ("P3 chat", 0.1, "met"),
        ("P3 codex", 0.1, "no goal"),
        ("P3 codex", None, "not measured"),
        ("P8", None, "not measured"),
    ],
)
def test_verdicts(id_: str, measured: float | None, verdict: str) -> None:
    assert judged(id_, measured).verdict == verdict


def test_memory_may_grow_with_what_is_said() -> None:
    target = memory_target("15 MB", 10 << 20)
    assert (target.goal, target.stretch) == (94, 52)


def test_memory_may_grow_with_a_line_that_is_most_of_a_session() -> None:
    assert memory_target("one line", 0, 100 << 20).goal == 120
    assert memory_target("a short line", 0, 1 << 20).goal == 64


def test_the_table_names_every_goal(capsys: pytest.CaptureFixture[str]) -> None:
    print_goals([judged(id_, None, note=f"why {id_}") for id_ in TARGETS])
    printed = capsys.readouterr().out
    assert all(f"why {id_}" in printed and TARGETS[id_].what in printed for id_ in TARGETS)


def test_every_profile_has_goals() -> None:
    profiles = [profile for profile in generate.PROFILES if profile != "codex-paginated"]
    assert all(f"{family} {profile}" in TARGETS for family in ("P1", "P2") for profile in profiles)
    assert all(
        f"P4 {profile} {peer}" in TARGETS for profile in ("classic", "chat", "images") for peer in PEERS
    )
    assert {id_.split()[0] for id_ in TARGETS} | {"P5"} == {f"P{number}" for number in range(1, 11)}
    assert set(FAMILIES) < {id_.split()[0] for id_ in TARGETS}


def test_a_goal_of_thousands_is_said_in_full() -> None:
    goal = judged("P7 small", 16_000.0)
    assert (goal.goal, goal.stretch, goal.verdict) == ("≥ 15,000", "", "met")


# ---------------------------------------------------------------- sides


def a_side(name: str, rounds: list[tuple[float, float]]) -> Side:
    return Side(
        name, lambda: Took(1, 1), [seconds for seconds, _ in rounds], [working for _, working in rounds]
    )


def test_a_side_is_kept_by_the_wall_and_by_processors() -> None:
    side = a_side("core", [(0.1, 0.18), (0.2, 0.15)])
    wall, cpu = speeds("core, classic 10 MB", 10_000_000, side, "parse")
    assert (wall.name, wall.unit, wall.value) == ("core, classic 10 MB / throughput", "MB/s", 100.0)
    assert (cpu.name, cpu.unit, cpu.better) == (
        "core, classic 10 MB / processor time",
        "CPU ms/MB",
        "smaller",
    )
    assert cpu.value == pytest.approx(15.0)
    assert [(row.unit, row.value) for row in waits("start", "ms", side, "parse")] == [
        ("ms", 100),
        ("CPU ms", 150),
    ]
    assert milliseconds(side) == {"core ms": 100, "core CPU ms": 150}


def test_where_nobody_counts_the_work_of_processors_none_is_told() -> None:
    side = a_side("core", [(0.1, 0.0)])
    assert [row.unit for row in speeds("core", 10_000_000, side, "parse")] == ["MB/s"]
    assert milliseconds(side) == {"core ms": 100}
    assert ratio(side, side) == (1.0, "by medians 1.00")


def test_a_ratio_also_tells_that_of_the_work() -> None:
    ours, counted = a_side("core", [(0.3, 0.5)]), a_side("wc -l", [(0.2, 0.1)])
    start = a_side("start", [(0.1, 0.1)])
    measured, said = ratio(ours, counted, start)
    assert measured == pytest.approx(1.0)
    assert said == "by medians 1.00, by processor time 4.00"


def test_what_the_first_try_took_does_not_count() -> None:
    tries = iter([Took(1, 1), Took(3, 2), Took(4, 5)])
    timed = interleave([Side("core", lambda: next(tries))], 2)["core"]
    assert (timed.best, timed.median, timed.work) == (3, 3.5, 2)


@pytest.mark.parametrize("piece", [SMALL, 8 << 20])
def test_a_corpus_is_written_again_and_stays_the_same(tmp_path: Path, piece: int) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"a line\n" * 3000)
    os.utime(path, ns=(1, 2))
    before = path.stat()
    write_in_pieces(path, path, piece)
    after = path.stat()
    assert path.read_bytes() == b"a line\n" * 3000
    assert after.st_mtime_ns == before.st_mtime_ns
    assert after.st_ino != before.st_ino, "a fresh file"
    copy = write_in_pieces(path, tmp_path / "copy.jsonl", piece)
    assert copy.read_bytes() == path.read_bytes()
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["copy.jsonl", "session.jsonl"]


def test_a_folder_without_a_package_is_no_build(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="make build"):
        builds.base(tmp_path)
    assert builds.HEAD.python == sys.executable
    assert (builds.HEAD.side("core"), builds.Build(tmp_path, "base").side("core")) == ("core", "base core")


@pytest.mark.parametrize("wrong", [["--profiles", "jazz"], ["--only", "P11"], ["--against", "nowhere"]])
def test_the_goals_of_nothing_are_an_error(wrong: list[str]) -> None:
    command = [sys.executable, "-m", "benches.goals", *wrong]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert wrong[-1] in done.stderr
