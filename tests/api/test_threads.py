"""How many threads read changes nothing but the time; and what is no number of threads is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.checkout import DATA
from tests.support.command import ended

import retell_fast

CLAUDE_CODE = DATA / "claude-code"
NESTED = CLAUDE_CODE / "subagents_nested.jsonl"
NO_NUMBERS = ["0", "-1", "two", "1.5", " "]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session that is worth several threads."""
    folder = tmp_path_factory.mktemp("large")
    lines = []
    for number in range(2_000):
        role = "assistant" if number % 2 else "user"
        text = f"{number} {'why does the boat leak ' * 300}"
        lines.append(
            json.dumps(
                {
                    "parentUuid": None,
                    "sessionId": f"s-{number // 700}",
                    "type": role,
                    "message": {"role": role, "content": [{"type": "text", "text": text}]},
                    "uuid": f"u-{number}",
                    "timestamp": "2026-02-10T09:14:03.000Z",
                }
            )
        )
    path = folder / "large.jsonl"
    path.write_text("\n".join(lines) + "\n")
    assert path.stat().st_size > 12_000_000
    return path


def told(source: Path, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    conversation = retell_fast.parse(source, include_subagents=True, **options)
    manifest = dict(conversation.manifest)
    del manifest["parsed_at"]
    return [event.to_dict() for event in conversation.events], manifest


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 1_000_000])
def test_the_result_is_the_same(large: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RETELL_THREADS", raising=False)
    for path in (large, NESTED):
        expected = told(path)
        assert told(path, threads=threads) == expected
        monkeypatch.setenv("RETELL_THREADS", str(threads))
        assert told(path) == expected
        monkeypatch.delenv("RETELL_THREADS")


def test_the_command_takes_them(large: Path, tmp_path: Path) -> None:
    for threads in ("1", "3"):
        run("parse", str(large), "--threads", threads, "-o", str(tmp_path / threads))
    one, three = ((tmp_path / threads / "events.json").read_bytes() for threads in ("1", "3"))
    assert one == three


def test_images_take_them(tmp_path: Path) -> None:
    shutil.copytree(CLAUDE_CODE, tmp_path / "tree")
    reports = []
    for threads in (None, 1, 3):
        slim, full = tmp_path / f"slim{threads}", tmp_path / f"full{threads}"
        report = retell_fast.externalize(tmp_path / "tree", slim, tmp_path / "store", threads=threads)
        reports.append(report.to_dict())
        retell_fast.restore(slim, full, tmp_path / "store", threads=threads)
        assert (full / "demo.jsonl").read_bytes() == (CLAUDE_CODE / "demo.jsonl").read_bytes()
        assert retell_fast.list_images(tmp_path / "tree", threads=threads).images == report.images
    assert reports[0] == reports[1] == reports[2]
    run("images", "list", str(tmp_path / "tree"), "--threads", "2")
    run("images", "extract", str(CLAUDE_CODE / "demo.jsonl"), "--dry-run", "--assets", "s", "--threads", "2")


def run(*words: str) -> None:
    status, _, err = ended(*words)
    assert status in (0, 3), err


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_of_threads_is_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETELL_THREADS", value)
    says = rf"RETELL_THREADS is \"{value}\", which is no number of threads"
    session = CLAUDE_CODE / "demo.jsonl"
    calls = (
        lambda: retell_fast.parse(session),
        lambda: retell_fast.discover(CLAUDE_CODE),
        lambda: retell_fast.types(session),
        lambda: retell_fast.list_images(session),
        lambda: retell_fast.externalize(session, None, tmp_path / "store", dry_run=True),
        lambda: retell_fast.restore(session, None, CLAUDE_CODE, dry_run=True),
    )
    for call in calls:
        with pytest.raises(ValueError, match=says):
            call()
    # Who says how many does not need the variable.
    assert retell_fast.types(session, threads=1)["files"] == 1
    status, out, err = ended("parse", session, "-o", tmp_path / "out")
    assert (status, out) == (2, "")
    assert err.startswith(f'error: RETELL_THREADS is "{value}", ')
    assert not (tmp_path / "out").exists()
    status, _, err = ended("parse", session, "--threads", value)
    assert status == 2
    assert "number of threads" in err


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETELL_THREADS", "")
    assert retell_fast.types(CLAUDE_CODE / "demo.jsonl")["files"] == 1


@pytest.mark.parametrize("threads", [0, -1])
def test_a_caller_s_number_is_one_from_1_on(threads: int) -> None:
    session = CLAUDE_CODE / "demo.jsonl"
    for call in (retell_fast.parse, retell_fast.types, retell_fast.list_images):
        with pytest.raises(ValueError, match="threads must be a number from 1 on"):
            call(session, threads=threads)
