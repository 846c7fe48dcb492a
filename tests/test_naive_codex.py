"""The slow twin alone: it gives what stands beside the made-up rollouts, which were checked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import naive
from tests.naive_codex_tree import others_of
from tests.naive_lines import Json
from tests.test_corpus import SESSIONS, part, read

CODEX = [session for session in SESSIONS if "codex" in session.parts]
CLAUDE_CODE = [session for session in SESSIONS if "claude-code" in session.parts]


def twin(session: Path, *, include_subagents: bool = True) -> tuple[list[Json], Json]:
    return naive.parse(session.read_bytes(), others=others_of(session), include_subagents=include_subagents)


@pytest.mark.parametrize("session", CODEX, ids=lambda path: path.stem)
def test_the_twin_gives_the_events_beside_a_rollout(session: Path) -> None:
    events, manifest = twin(session)
    assert events == read(session.with_suffix(".events.json"))
    expected = read(session.with_suffix(".manifest.json"))
    expected.pop("assets", None)  # what was written is not the twin's to say
    for agent in expected.get("subagents", ()):
        del agent["file"]
    assert part(expected, manifest) == expected


@pytest.mark.parametrize("session", CODEX + CLAUDE_CODE, ids=lambda path: path.stem)
def test_the_twin_recognises_the_agent(session: Path) -> None:
    expected = "codex" if session in CODEX else "claude-code"
    assert naive.recognise(session.read_bytes()) == expected


def said(events: list[Json]) -> list[Any]:
    return [(event["role"], event["says"], event.get("thinks"), event.get("tools")) for event in events]


def test_one_conversation_is_the_same_in_every_form() -> None:
    forms = {session.stem: said(twin(session)[0]) for session in CODEX}
    assert forms["paginated"] == forms["flattened"] == forms["document"]
    assert len(forms["paginated"]) == 8


def test_the_document_may_stand_on_one_line_and_be_cut() -> None:
    document = next(session for session in CODEX if session.suffix == ".json")
    compact = json.dumps(read(document)).encode()
    assert said(naive.parse(compact)[0]) == said(twin(document)[0])
    for end in range(len(compact)):
        events, manifest = naive.parse(compact[:end], agent="codex")
        assert said(events) == said(twin(document)[0])[: len(events)]
        if end > 20:
            assert manifest["incomplete_tail"] is not None
