"""Base against head: the table that a pull request gets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benches.goals import pairs
from benches.goals.measurements import Machine, Measurements, Series
from benches.report import ratio
from tests.support.checkout import ROOT

FAST = Series(
    "retell_fast.parse classic 150 MB / throughput", "MB/s", "bigger", 7500, 7000, 7250, 5, "± 250", "parse"
)
COUNTED = replace(FAST, name="wc -l classic 150 MB / throughput", group="peers")
READ = replace(FAST, name="json classic 150 MB / throughput", group="peers")
MEMORY = Series("peak memory, classic 150 MB", "MiB", "smaller", 38.2, 38.2, 38.2, 1, "± 0", "memory")
MACHINE = Machine(
    "Abacus 9", 4, "Linux", "3.13.1", "rustc", "0.1.0", "0123456789abcdef", "2026-03-04T05:06:07+00:00"
)


def timed(*seconds: float) -> dict[str, Any]:
    """What pytest-benchmark writes of one benchmark with the size of its input, and one without."""
    stats = {"min": min(seconds), "max": max(seconds), "median": min(seconds), "rounds": len(seconds)}
    rows = [("test_parse", {"bytes": 15_000_000}), ("test_start", {})]
    benchmarks = [{"group": None, "name": name, "extra_info": extra, "stats": stats} for name, extra in rows]
    return {"machine_info": {}, "benchmarks": benchmarks}


def saved(tmp_path: Path, name: str, *rows: Series) -> str:
    Measurements(MACHINE, series=list(rows)).save(tmp_path / name)
    return str(tmp_path / name)


def compared(capfdbinary: pytest.CaptureFixture[bytes], *arguments: str) -> str:
    assert ratio.main(list(arguments)) == 0
    return capfdbinary.readouterr().out.decode()


def test_the_best_of_all_runs_is_compared(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    ours, memory = FAST, MEMORY
    base = [
        saved(tmp_path, "base-1.json", replace(ours, value=3000.0), replace(memory, value=50.0)),
        saved(tmp_path, "base-2.json", replace(ours, value=4000.0), replace(memory, value=40.0)),
    ]
    head = [
        saved(tmp_path, "head-1.json", replace(ours, value=8000.0), replace(memory, value=80.0)),
        saved(tmp_path, "head-2.json", replace(ours, value=7000.0), replace(memory, value=90.0)),
    ]
    text = compared(capfdbinary, "--base", *base, "--head", *head)
    assert text.startswith(ratio.MARK)
    twice, half = (f"{times:.2f} {pairs.TIMES}" for times in (2, 0.5))
    assert f"| {ours.name} | MB/s | 4,000 | 8,000 | {twice} | 🟢 better |" in text
    assert f"| {memory.name} | MiB | 40 | 80 | {half} | 🔴 worse |" in text
    assert "2 of 2 series changed" in text


def test_a_change_that_one_run_contradicts_is_noise(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    base = [
        saved(tmp_path, f"base-{n}.json", replace(FAST, value=value)) for n, value in enumerate((3000, 4100))
    ]
    head = [
        saved(tmp_path, f"head-{n}.json", replace(FAST, value=value)) for n, value in enumerate((4000, 8000))
    ]
    text = compared(capfdbinary, "--base", *base, "--head", *head)
    assert "None of 1 series" in text
    assert f"| 4,100 | 8,000 | 1.95 {pairs.TIMES} |  |" in text


def test_noise_is_not_called_a_change(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    base = saved(tmp_path, "base.json", FAST)
    head = saved(tmp_path, "head.json", replace(FAST, value=FAST.value * 0.97))
    text = compared(capfdbinary, "--base", base, "--head", head)
    assert "None of 1 series" in text
    assert "worse" not in text


def test_two_builds_of_one_run_are_compared_by_their_best_and_middle_rounds() -> None:
    chat = replace(FAST, name="core, 1 thread, chat 150 MB / throughput", value=1000, median=900)
    work = replace(
        chat, name="core, 1 thread, chat 150 MB / processor time", unit="CPU ms/MB", better="smaller"
    )
    base = Measurements(MACHINE, series=[chat, replace(work, value=2.0, median=2.1)])
    faster, unsure = replace(chat, value=2000, median=1500), replace(work, value=1.5, median=2.05)
    text = pairs.in_turns(base, Measurements(MACHINE, series=[faster, unsure, READ]))
    assert f"| {chat.name} | MB/s | 1,000 | 2,000 | 2.00 {pairs.TIMES} | 🟢 better |" in text
    assert f"| {work.name} | CPU ms/MB | 2 | 1.5 | 1.33 {pairs.TIMES} |  |" in text
    assert READ.name not in text


def test_a_value_of_nothing_has_no_ratio(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = saved(tmp_path, "run.json", FAST, replace(MEMORY, value=0.0))
    assert "None of 1 series" in compared(capfdbinary, "--base", path, "--head", path)


def test_series_of_one_side_are_named(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    base = saved(tmp_path, "base.json", FAST, COUNTED)
    head = saved(tmp_path, "head.json", FAST, READ)
    text = compared(capfdbinary, "--base", base, "--head", head)
    assert "only in head: json classic 150 MB" in text
    assert "only in base: wc -l classic 150 MB" in text


def test_pytest_benchmarks_files_are_compared_once(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(timed(0.01, 0.03)))
    text = compared(capfdbinary, "--base", str(tmp_path / "run.json"), "--head", str(tmp_path / "run.json"))
    assert "None of 2 series" in text, "a time and its throughput are one series"


def test_a_side_that_cannot_be_read_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text("[1]")
    assert ratio.main(["--base", str(tmp_path / "bad.json"), "--head", str(tmp_path / "bad.json")]) == 1
    assert "bad.json" in capsys.readouterr().err


def test_the_workflow_finds_the_comment_of_the_run_before() -> None:
    workflow = (ROOT / ".github" / "workflows" / "bench.yml").read_text(encoding="utf-8")
    assert f'startswith("{ratio.MARK}")' in workflow
