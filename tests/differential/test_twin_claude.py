"""The slow twin of the Claude Code parser alone: it gives what stands beside the made-up sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.differential.test_corpus import SESSIONS, part, read
from tests.twin import claude
from tests.twin.lines import Json

CLAUDE_CODE = [session for session in SESSIONS if "claude-code" in session.parts]


def twin(session: Path) -> tuple[list[Json], Json]:
    """What the twin makes of a session with the files of agents beside it."""
    files = sorted((session.parent / session.stem / "subagents").rglob("agent-*.jsonl"))
    ids = {path: path.stem.removeprefix("agent-") for path in files}
    metas = {ids[path]: path.with_suffix(".meta.json") for path in files}
    return claude.parse(
        session.read_bytes(),
        agent_files={ids[path]: path.read_bytes() for path in files},
        meta_files={id_: read(meta) for id_, meta in metas.items() if meta.exists()},
        agent_folders={ids[path]: path.parent.name for path in files},
        include_subagents=True,
        name=session.name,
    )


def comparable(expected: Json) -> Json:
    """What of an expected manifest the twin has its say about."""
    files_and_disk = ("assets", "conversation_id", "project_encoded", "pii_warnings", "signal_ratio")
    kept = {key: value for key, value in expected.items() if key not in files_and_disk}
    for agent in kept.get("subagents", ()):
        agent.pop("file", None)
    if "source" in kept:
        kept["source"].pop("in_progress", None)
    if "chapter_bridges" in kept:
        kept["chapter_bridges"] = [bridge["text"] for bridge in kept["chapter_bridges"]]
    if "unlinked_subagents" in kept:
        kept["unlinked_subagents"] = [agent["id"] for agent in kept["unlinked_subagents"]]
    return kept


@pytest.mark.parametrize("session", CLAUDE_CODE, ids=lambda path: path.stem)
def test_the_twin_gives_the_events_beside_a_session(session: Path) -> None:
    events, manifest = twin(session)
    assert events == read(session.with_suffix(".events.json"))
    beside = session.with_suffix(".manifest.json")
    if beside.exists():
        expected = comparable(read(beside))
        assert part(expected, manifest) == expected


def entry(uuid: str, parent: str | None, type_: str = "user", **members: Any) -> bytes:
    message = {"role": type_, "content": f"words of {uuid}"}
    line = {"parentUuid": parent, "type": type_, "uuid": uuid, "message": message, **members}
    return json.dumps(line).encode() + b"\n"


def dead_in(*lines: bytes) -> list[str]:
    events, manifest = claude.parse(b"".join(lines))
    dead = [event["uuid"] for event in events if not event.get("live", True)]
    assert manifest["dead_events"] == len(dead)
    return dead


QUEUED = b'{"type":"queue-operation","operation":"remove","content":"a queued %s"}\n'


def test_of_equal_uuids_the_first_has_its_parent() -> None:
    assert dead_in(entry("a", None), entry("b", "a"), entry("c", "a"), entry("b", "c")) == ["b"]


def test_a_circle_without_an_end_is_alive() -> None:
    assert dead_in(entry("a", "b"), entry("b", "a"), entry("c", "c")) == []


def test_of_a_circle_with_ends_the_last_is_alive() -> None:
    assert dead_in(entry("a", "b"), entry("b", "a"), entry("c", "a"), entry("d", "b")) == ["c"]


def test_a_branch_that_ends_in_a_meta_entry_is_left_for_one_that_does_not() -> None:
    lines = [entry("a", None), entry("b", "a"), entry("c", "a"), entry("d", "c", isMeta=True)]
    assert dead_in(*lines) == ["c"]
    assert dead_in(lines[0], lines[2], lines[3]) == []


def test_words_without_a_uuid_are_as_alive_as_those_before_them() -> None:
    lines = [QUEUED % b"first", entry("a", None), entry("b", "a"), QUEUED % b"dead", entry("c", "a")]
    events = claude.parse(b"".join([*lines, QUEUED % b"last"]))[0]
    assert [event.get("live", True) for event in events] == [True, True, False, False, True, True]


def test_every_tree_keeps_its_last_branch() -> None:
    lines = [entry("a", None), entry("b", "a"), entry("c", "lost"), entry("d", "c"), entry("e", "c")]
    assert dead_in(*lines) == ["d"]
