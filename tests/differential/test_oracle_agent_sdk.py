"""The vendor's own reader as the oracle of what is alive: on a session of one tree all agree, entry by entry.

It keeps the last tree of a file only, so sessions with a compaction say nothing about the others.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import agreement
from tests.twin import claude
from tests.twin.claude_types import CLAUDE_CODE
from tests.twin.lines import Json, read_file
from tests.twin.tree import dead_uuids, entries_of, roots_of

sdk = pytest.importorskip(
    "claude_agent_sdk", reason="claude-agent-sdk is in the dependency group bench-tools"
)

SESSION = "0c0ffee0-1111-4222-8333-444444444444"
STEPS = ["prompt", "prompt", "answer", "answer", "call", "parallel", "parallel", "meta", "progress", "queued"]

parse = partial(agreement.parse, agent="claude-code")


class Tree:
    """A session that grows entry by entry."""

    def __init__(self) -> None:
        self.entries: list[Json] = []
        self.at: str | None = None

    def add(self, type_: str, **members: object) -> str:
        """Adds an entry behind the current one."""
        uuid = f"u-{len(self.entries)}"
        time = f"2026-02-10T09:00:{len(self.entries):02d}.000Z"
        shared = {"uuid": uuid, "timestamp": time, "sessionId": SESSION, "isSidechain": False}
        self.entries.append({"parentUuid": self.at, "type": type_, **members, **shared})
        self.at = uuid
        return uuid

    def say(self, id_: str, block: Json) -> str:
        """Adds a line of the assistant."""
        return self.add("assistant", message={"id": id_, "role": "assistant", "content": [block]})

    def answer_calls(self, id_: str, calls: list[str], order: list[int]) -> None:
        """Adds an answer that calls tools, a line for each, and their results behind their own lines."""
        blocks = [{"type": "tool_use", "id": call, "name": "Bash", "input": {}} for call in calls]
        lines = [self.say(id_, block) for block in blocks]
        for place in order:
            self.at = lines[place]
            result = {"type": "tool_result", "tool_use_id": calls[place], "content": "done"}
            self.add("user", message={"role": "user", "content": [result]})

    def step(self, kind: str, number: int, order: list[int]) -> None:
        """Adds what one step of a session writes."""
        if kind in ("prompt", "meta"):
            flags = {"isMeta": True} if kind == "meta" else {}
            self.add("user", message={"role": "user", "content": f"mend net {number}"}, **flags)
        elif kind == "answer":
            self.say(f"msg_{number}", {"type": "text", "text": f"net {number} is mended"})
        elif kind == "progress":
            self.add("progress", data={"type": "bash_progress"})
        elif kind == "queued":
            self.add("attachment", attachment={"type": "queued_command", "prompt": f"and net {number}"})
        else:
            calls = [f"toolu_{number}_{call}" for call in range(2 if kind == "parallel" else 1)]
            self.answer_calls(f"msg_{number}", calls, order if kind == "parallel" else [0])


@st.composite
def trees(draw: st.DrawFn) -> list[Json]:
    """The entries of a session with rewinds and parallel calls."""
    tree = Tree()
    tree.step("prompt", 0, [])
    for number in range(1, draw(st.integers(2, 14))):
        if draw(st.integers(0, 5)) == 3:
            tree.at = draw(st.sampled_from(tree.entries))["uuid"]
        tree.step(draw(st.sampled_from(STEPS)), number, draw(st.permutations([0, 1])))
    return tree.entries


def read_by_the_vendor(folder: Path, name: str, data: bytes) -> set[str]:
    """The uuids of the entries that the vendor's reader gives of a session."""
    project = folder / "projects" / "-reef"
    project.mkdir(parents=True, exist_ok=True)
    (project / f"{name}.jsonl").write_bytes(data)
    with mock.patch.dict(os.environ, {"CLAUDE_CONFIG_DIR": str(folder)}):
        return {message.uuid for message in sdk.get_session_messages(name)}


def said(entry: Json) -> bool:
    """Whether an entry is one that the vendor's reader may give."""
    hidden = any(entry.get(flag) for flag in ("isMeta", "isSidechain", "teamName"))
    return entry.get("type") in ("user", "assistant") and not hidden


def assert_alive(events: list[Json], alive: set[str], entries: dict[str, Json]) -> None:
    """The events of entries that the vendor's reader may give are alive when it gives them."""
    judged = [event for event in events if said(entries.get(event["uuid"], {}))]
    assert {event["uuid"] for event in judged if event.get("live", True)} == {
        event["uuid"] for event in judged if event["uuid"] in alive
    }


def assert_twin_agrees(folder: Path, name: str, data: bytes) -> None:
    """The vendor's reader and the twin say the same of every entry."""
    records = read_file(data, CLAUDE_CODE).records
    entries, dead = entries_of(records), dead_uuids(records)
    alive = read_by_the_vendor(folder, name, data)
    assert {uuid for uuid, entry in entries.items() if said(entry) and uuid not in dead} == alive
    assert_alive(claude.parse(data)[0], alive, entries)


def assert_product_agrees(folder: Path, name: str, data: bytes) -> None:
    """The vendor's reader and the product say the same of every entry that became an event."""
    product = parse(data)
    assert product is not None
    entries = entries_of(read_file(data, CLAUDE_CODE).records)
    assert_alive(product[0], read_by_the_vendor(folder, name, data), entries)


def written(entries: list[Json]) -> bytes:
    """The entries as a file."""
    return b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)


@given(trees())
def test_property_the_vendor_and_the_twin_agree(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Json]
) -> None:
    assert_twin_agrees(tmp_path_factory.getbasetemp() / "vendor", SESSION, written(entries))


@given(trees())
def test_property_the_vendor_and_the_product_agree(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Json]
) -> None:
    assert_product_agrees(tmp_path_factory.getbasetemp() / "vendor", SESSION, written(entries))


def sessions_of_one_tree(paths: list[Path]) -> list[Path]:
    """The sessions among real files that were neither compacted nor have agents inline."""
    found = []
    for path in paths:
        records = read_file(path.read_bytes(), CLAUDE_CODE).records
        roots = set(roots_of(entries_of(records)).values())
        inline = any(record.entry.get("isSidechain") for record in records)
        if len(path.stem) == len(SESSION) and len(roots) == 1 and not inline:
            found.append(path)
    return found


def test_the_vendor_agrees_on_real_sessions(samples: list[Path], tmp_path: Path) -> None:
    sessions = sessions_of_one_tree(samples)
    assert len(sessions) > 3
    for path in sessions:
        assert_twin_agrees(tmp_path, path.stem, path.read_bytes())
        assert_product_agrees(tmp_path, path.stem, path.read_bytes())
