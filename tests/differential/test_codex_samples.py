"""Real rollouts: what was said stands in the result once, and nothing that the client said for somebody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.test_claude import KINDS, NEIGHBOURS, mutated
from tests.support.agreement import assert_equal, parse
from tests.twin import parser
from tests.twin.codex_tree import others_of
from tests.twin.lines import Json

ROLES = {"user_message": "user", "agent_message": "assistant"}


def payloads_of(path: Path) -> list[Json]:
    """The payloads that are objects."""
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [record["payload"] for record in records if isinstance(record.get("payload"), dict)]


def rollouts(codex_samples: list[Path]) -> list[Path]:
    """Those that Codex itself wrote."""
    return [path for path in codex_samples if path.name.startswith("rollout-")]


def assert_said(events: list[Json], expected: list[tuple[str, str]]) -> None:
    """Fails when the events say something else, apart from the header that an editor puts in front."""
    found = [(event["role"], event["says"]) for event in events if event["says"]]
    assert [role for role, _ in found] == [role for role, _ in expected]
    for (_, says), (_, message) in zip(found, expected, strict=True):
        header = message.strip().removesuffix(says)
        assert header == "" or (header.startswith("# ") and "\n## My request" in header)


def test_every_message_is_there_once_and_in_order(codex_samples: list[Path]) -> None:
    assert len(rollouts(codex_samples)) >= 4
    for path in rollouts(codex_samples):
        expected = [
            (ROLES[payload["type"]], payload["message"])
            for payload in payloads_of(path)
            if payload.get("type") in ROLES
        ]
        assert expected
        product = parse(path)
        assert product is not None
        assert_said(product[0], expected)
        assert_said(parser.parse(path.read_bytes())[0], expected)


def texts_within(value: Any) -> list[str]:
    """The texts of the parts of a message."""
    return [part["text"] for part in value if isinstance(part.get("text"), str)]


def test_nothing_is_there_that_was_said_by_nobody(codex_samples: list[Path]) -> None:
    for path in rollouts(codex_samples):
        payloads = payloads_of(path)
        items = [payload for payload in payloads if payload.get("type") == "message"]
        injected = [item for item in items if item["role"] in ("developer", "user")]
        asked = "\n".join(payload["message"] for payload in payloads if payload.get("type") == "user_message")
        texts = {text for item in injected for text in texts_within(item["content"]) if text not in asked}
        assert texts
        product = parse(path)
        assert product is not None
        told = "\n".join(event["says"] + event.get("thinks", "") for event in product[0])
        assert not [text for text in texts if text in told]


def test_only_the_rollout_that_is_cut_off_has_an_incomplete_turn(codex_samples: list[Path]) -> None:
    for path in (path for path in rollouts(codex_samples) if "home" in path.parts):
        product = parse(path)
        assert product is not None
        turn = product[1]["incomplete_turn"]
        if "T13-19-38" not in path.name:
            assert turn is None
            continue
        line = path.read_bytes()[turn["offset"] :][: turn["length"]]
        assert json.loads(line)["payload"]["type"] == "task_started"
        assert turn["line"] == 8


@pytest.mark.parametrize("include_subagents", [False, True], ids=["alone", "with-subagents"])
def test_the_twin_agrees(codex_samples: list[Path], include_subagents: bool) -> None:  # noqa: FBT001
    for path in codex_samples:
        twin = parser.parse(path.read_bytes(), others=others_of(path), include_subagents=include_subagents)
        assert twin[1]["agent"] == "codex"
        assert_equal(parse(path, include_subagents=include_subagents), twin)


@given(data=st.data())
def test_property_mutated_real_lines(codex_samples: list[Path], data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(codex_samples)).read_bytes().rstrip(b"\n").split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    near = lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
    kind = data.draw(st.sampled_from(KINDS))
    cut, seed = data.draw(st.integers(0, 200_000)), data.draw(st.integers(0, 1000))
    try:
        changed = mutated(near, min(at, NEIGHBOURS), kind, cut, seed)
    except json.JSONDecodeError:  # one sample ends in a line that is no JSON
        changed = near
    session = b"\n".join(changed) + data.draw(st.sampled_from([b"\n", b""]))
    assert_equal(parse(session, agent="codex"), parser.parse(session, agent="codex"))
