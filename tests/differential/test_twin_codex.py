"""The slow twin alone: it gives what stands beside the made-up rollouts, which were checked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.test_corpus import SESSIONS, part, read
from tests.strategies.claude_entries import Draw
from tests.strategies.codex import as_codex_writes
from tests.strategies.codex_words import E, I, R, text_part
from tests.twin import parser
from tests.twin.codex_tree import others_of
from tests.twin.lines import Json

CODEX = [session for session in SESSIONS if "codex" in session.parts]
CLAUDE_CODE = [session for session in SESSIONS if "claude-code" in session.parts]


def twin(session: Path, *, include_subagents: bool = True) -> tuple[list[Json], Json]:
    return parser.parse(session.read_bytes(), others=others_of(session), include_subagents=include_subagents)


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
    assert parser.recognise(session.read_bytes()) == expected


def said(events: list[Json]) -> list[Any]:
    return [(event["role"], event["says"], event.get("thinks"), event.get("tools")) for event in events]


def test_one_conversation_is_the_same_in_every_form() -> None:
    forms = {session.stem: said(twin(session)[0]) for session in CODEX}
    assert forms["paginated"] == forms["flattened"] == forms["document"]
    assert len(forms["paginated"]) == 8


def test_the_document_may_stand_on_one_line_and_be_cut() -> None:
    document = next(session for session in CODEX if session.suffix == ".json")
    compact = json.dumps(read(document)).encode()
    assert said(parser.parse(compact)[0]) == said(twin(document)[0])
    for end in range(len(compact)):
        events, manifest = parser.parse(compact[:end], agent="codex")
        assert said(events) == said(twin(document)[0])[: len(events)]
        if end > 20:
            assert manifest["incomplete_tail"] is not None


@st.composite
def half_lost(draw: Draw) -> tuple[bytes, list[tuple[str, str]]]:
    """A rollout of which every message has lost one record at most, and what is said in it."""
    lines: list[bytes] = [as_codex_writes({"type": "session_meta", "payload": {"id": "t-1"}})]
    told: list[tuple[str, str]] = []
    paginated = draw(st.booleans())
    for number in range(draw(st.integers(1, 8))):
        lines.append(as_codex_writes(E("task_started", turn_id="t")))
        asked = draw(st.sampled_from(["yes", "yes", "go on"]))  # often the same as before
        told += [("user", asked), ("assistant", f"answer {number}")]
        prompt, mirror = ("UserMessage", "user_message"), ("AgentMessage", "agent_message")
        for role, text in told[-2:]:
            item, event = prompt if role == "user" else mirror
            record = I(item, content=[text_part(text)]) if paginated else E(event, message=text)
            both = [R("message", role=role, content=[text_part(text)]), record]
            written = [as_codex_writes(one) for one in both]
            which = draw(st.sampled_from([None, 0, 1]))
            if which is not None:
                line = written[which]
                cut = draw(st.integers(0, len(line) - 1))
                written[which] = draw(st.sampled_from([b"", b"\0" * len(line), line[:cut]]))
            lines += written if role == "user" else written[::-1]
    return b"\n".join(lines) + b"\n", told


@given(half_lost())
def test_property_a_message_is_there_once_with_one_of_its_records_lost(
    rollout: tuple[bytes, list[tuple[str, str]]],
) -> None:
    data, told = rollout
    assert [(event["role"], event["says"]) for event in parser.parse(data, agent="codex")[0]] == told
