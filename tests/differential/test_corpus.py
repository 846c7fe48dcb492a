"""The sessions in `tests/data`, and what must come out of each; `rust/core/tests/corpus.rs` reads them too.

`NAME.events.json` is all of events.json; `NAME.manifest.json` holds those keys of manifest.json that the
session is about. Subagents are put under the calls that started them.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.support.checkout import DATA

import retell_fast


def session_of(expected: Path) -> Path:
    """The session that stands beside what must come out of it."""
    line_by_line = expected.with_suffix("").with_suffix(".jsonl")
    return line_by_line if line_by_line.exists() else line_by_line.with_suffix(".json")


SESSIONS = [session_of(path) for path in sorted(DATA.rglob("*.events.json"))]

each_session = pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)


def written(session: Path, folder: Path, *, include_subagents: bool) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        # Two of the sessions are about what is warned of.
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        conversation = retell_fast.parse(session, include_subagents=include_subagents)
    conversation.write(folder)
    return read(folder / "events.json"), read(folder / "manifest.json")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def part(expected: Any, found: Any) -> Any:
    """`found` without the keys that nothing is expected of."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {key: part(value, found[key]) for key, value in expected.items() if key in found}
    return found


@each_session
def test_a_session_gives_the_events_beside_it(session: Path, tmp_path: Path) -> None:
    events, manifest = written(session, tmp_path / "out", include_subagents=True)
    assert events == read(session.with_suffix(".events.json"))
    beside = session.with_suffix(".manifest.json")
    if beside.exists():
        expected = read(beside)
        assert part(expected, manifest) == expected


@each_session
def test_without_subagents_only_their_events_are_left_out(session: Path, tmp_path: Path) -> None:
    events, _ = written(session, tmp_path / "out", include_subagents=False)
    expected = read(session.with_suffix(".events.json"))
    for event in expected:
        for reference in event.get("subagent_refs", ()):
            reference.pop("events", None)
    assert events == expected
