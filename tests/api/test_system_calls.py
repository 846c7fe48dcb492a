"""What a session costs the file system does not depend on its neighbours: calls are counted, not timed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.support import system_calls

pytestmark = pytest.mark.skipif(not system_calls.KNOWN, reason="the numbers of the calls are not known here")

FEW, MANY = 50, 200

READ_EACH = """
import sys, retell_fast
for path in sys.argv[1:]:
    assert retell_fast.parse(path, include_subagents=True).events
"""


def counted(*command: str) -> Counter[str]:
    try:
        return system_calls.count(command)
    except system_calls.ForbiddenError as error:
        pytest.skip(str(error))


def write(path: Path, *entries: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


def claude_session(home: Path, number: int) -> Path:
    """A session in the one project of a home; it called a subagent, whose file stands where such files do."""
    session = f"{number:08x}-0000-4000-8000-000000000000"
    project = home / "projects" / "-home-robin-pier"
    told = {"sessionId": session, "isSidechain": False, "timestamp": "2026-02-10T09:00:00.000Z"}
    call = {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "Task",
        "input": {"description": "Look", "prompt": "Count the gulls", "subagent_type": "Explore"},
    }
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "Seven gulls"}
    agent = {"sessionId": session, "isSidechain": True, "agentId": f"a{number:06x}"}
    write(
        project / session / "subagents" / f"agent-a{number:06x}.jsonl",
        {**agent, "type": "user", "uuid": "u1", "message": {"role": "user", "content": "Count the gulls"}},
    )
    return write(
        project / f"{session}.jsonl",
        {**told, "type": "user", "uuid": "m1", "message": {"role": "user", "content": "How many gulls?"}},
        {
            **told,
            "type": "assistant",
            "uuid": "m2",
            "message": {"id": "msg_1", "model": "claude-x", "role": "assistant", "content": [call]},
        },
        {
            **told,
            "type": "user",
            "uuid": "m3",
            "message": {"role": "user", "content": [result]},
            "toolUseResult": {"status": "completed", "agentId": f"a{number:06x}"},
        },
    )


def codex_session(home: Path, number: int) -> Path:
    """A rollout, in a folder of one day."""
    session = f"{number:08x}-0000-7000-8000-000000000000"
    when = "2026-02-10T09:00:00.000Z"
    meta = {"id": session, "timestamp": when, "cwd": "/home/robin", "originator": "codex_cli_rs"}
    return write(
        home / "sessions" / "2026" / "02" / "10" / f"rollout-2026-02-10T09-00-00-{session}.jsonl",
        {"timestamp": when, "type": "session_meta", "payload": {**meta, "cli_version": "0.90.0"}},
        {
            "timestamp": when,
            "type": "event_msg",
            "payload": {"type": "user_message", "message": "How many gulls?"},
        },
        {
            "timestamp": when,
            "type": "event_msg",
            "payload": {"type": "agent_message", "message": "Seven gulls."},
        },
    )


def for_each_session(home: Path, session: Callable[[Path, int], Path], number: int) -> dict[str, float]:
    """The calls of a process that reads every session of a home of so many, without those of its start."""
    paths = [str(session(home, each)) for each in range(number)]
    start = counted(sys.executable, "-c", READ_EACH)
    calls = counted(sys.executable, "-c", READ_EACH, *paths)
    return {kind: (calls[kind] - start[kind]) / number for kind in calls}


def test_what_is_counted_is_what_was_called(tmp_path: Path) -> None:
    script = """
import os, sys, threading
def look(times):
    for _ in range(times):
        os.stat(sys.argv[1]); os.lstat(sys.argv[1]); os.close(os.open(sys.argv[1], os.O_RDONLY))
for times in map(int, sys.argv[2:]):
    thread = threading.Thread(target=look, args=[times]); thread.start(); thread.join()
"""
    before = counted(sys.executable, "-c", script, str(tmp_path))
    after = counted(sys.executable, "-c", script, str(tmp_path), "30", "12")
    assert {kind: after[kind] - before[kind] for kind in after} == {"opens": 42, "stats": 84, "lists": 0}


def test_a_program_that_fails_is_noticed() -> None:
    with pytest.raises(AssertionError):
        counted(sys.executable, "-c", "raise SystemExit(3)")


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], dict[str, float]]:
    """What a session costs, by agent and number of neighbours; counted once for all tests."""
    sessions = {"claude-code": claude_session, "codex": codex_session}

    @cache
    def cost(agent: str, number: int) -> dict[str, float]:
        return for_each_session(tmp_path_factory.mktemp(agent), sessions[agent], number)

    return cost


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("kind", ["opens", "stats", "lists"])
def test_a_session_costs_the_same_beside_many_neighbours(
    costs: Callable[[str, int], dict[str, float]], agent: str, kind: str
) -> None:
    few, many = costs(agent, FEW)[kind], costs(agent, MANY)[kind]
    # What is called once for a folder weighs less beside many sessions, and never more.
    assert many <= few + 0.5, f"{kind} of a session: {few:.1f} beside {FEW}, {many:.1f} beside {MANY}"


def test_images_list_opens_each_file_once(tmp_path: Path) -> None:
    def opens(number: int) -> int:
        folder = tmp_path / str(number)
        for each in range(number):
            write(folder / f"{each}.jsonl", {"type": "user"})
        return counted(sys.executable, "-m", "retell_fast", "images", "list", str(folder))["opens"]

    assert opens(MANY) - opens(FEW) == MANY - FEW
