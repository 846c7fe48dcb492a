"""Homes of both agents in a folder of their own, with made-up sessions to put there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.command import ended

import retell_fast

NOT_ON_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")

IDS = ("4b1d7a90-0000-4000-8000-000000000000", "4b1d7aff-0000-4000-8000-000000000000")


def record(session_id: str, role: str, text: str, number: int) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "cwd": "/home/you/lamps",
        "sessionId": session_id,
        "type": role,
        "message": {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]},
        "uuid": f"{session_id[:8]}-{number}",
        "timestamp": f"2026-03-04T05:06:{number:02}.000Z",
    }


def session(session_id: str = IDS[0], asks: str = "why is the lamp dark") -> bytes:
    records = record(session_id, "user", asks, 1), record(session_id, "assistant", "no oil", 2)
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def says(source: Any) -> list[str]:
    return [event.says for event in retell_fast.parse(source).events]


WORDS = ["why is the lamp dark", "no oil"]


class Homes:
    """A home of each agent, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {"CLAUDE_CONFIG_DIR": str(folder / "claude"), "CODEX_HOME": str(folder / "codex")}
        self.projects = folder / "claude" / "projects"

    def enter(self, monkeypatch: pytest.MonkeyPatch) -> Homes:
        """Makes these the homes in which this process looks."""
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)
        return self

    def put(self, path: str | Path, content: bytes) -> Path:
        whole = self.folder / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(content)
        return whole

    def put_session(self, session_id: str = IDS[0], project: str = "-home-you-lamps", **options: str) -> Path:
        return self.put(self.projects / project / f"{session_id}.jsonl", session(session_id, **options))

    def run(self, *words: str | Path) -> tuple[int, str, str]:
        return ended(*words, cwd=self.folder, env=self.variables)

    def listed(self) -> list[str]:
        status, out, err = self.run("preview", "--json")
        assert status == 0, err
        return sorted(each["session_id"] for each in json.loads(out))
