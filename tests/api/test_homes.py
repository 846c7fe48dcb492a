"""Both agents' sessions side by side: what is listed, found by its id, recognised and read."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support import command

import retell_fast

CLAUDE_ID = "aaaabbbb-0000-4000-8000-000000000000"
CODEX_ID = "aaaacccc-0000-7000-8000-000000000001"


def lines(*entries: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(entry, separators=(',', ':'))}\n" for entry in entries).encode()


def claude(role: str, text: str, number: int) -> dict[str, Any]:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": None,
        "cwd": "/home/you/boats",
        "sessionId": CLAUDE_ID,
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": f"u-{number}",
        "timestamp": f"2026-02-10T09:14:{number:02}.000Z",
    }


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-02-10T09:15:00.000Z", "type": kind, "payload": payload}


def rollout(id_: str = CODEX_ID, **meta: Any) -> bytes:
    """A session that calls two plain tools and one that is not."""

    def call(name: str, number: int) -> dict[str, Any]:
        return codex("response_item", type="function_call", name=name, arguments="{}", call_id=f"c{number}")

    return lines(
        codex("session_meta", id=id_, cwd="/home/you/kites", originator="codex_cli_rs", **meta),
        codex("event_msg", type="user_message", message="why does the kite fall"),
        *(call(name, number) for number, name in enumerate(("exec_command", "apply_patch", "fly"))),
        codex("event_msg", type="agent_message", message="no wind"),
        codex("event_msg", type="thread_name_updated", thread_name="Kites"),
    )


CLAUDE = lines(claude("user", "why does the boat leak", 1), claude("assistant", "a hole", 2))


class Homes:
    """A home of each agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {"CLAUDE_CONFIG_DIR": str(folder / "claude"), "CODEX_HOME": str(folder / "codex")}
        self.put_claude(CLAUDE_ID, CLAUDE)
        self.put_codex(CODEX_ID, rollout())

    def put_claude(self, id_: str, content: bytes) -> Path:
        return self._put(self.folder / "claude" / "projects" / "-home-you-boats" / f"{id_}.jsonl", content)

    def put_codex(self, id_: str, content: bytes) -> Path:
        day = self.folder / "codex" / "sessions" / "2026" / "02" / "10"
        return self._put(day / f"rollout-2026-02-10T09-15-00-{id_}.jsonl", content)

    def _put(self, path: Path, content: bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        return path

    def run(self, *words: str, status: int = 0, **variables: str) -> tuple[str, str]:
        return command.run(*words, status=status, cwd=self.folder, env={**self.variables, **variables})


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homes:
    homes = Homes(tmp_path)
    for name, value in homes.variables.items():
        monkeypatch.setenv(name, value)
    return homes


# ---------------------------------------------------------------- what is listed


def test_both_agents_sessions_are_listed(homes: Homes) -> None:
    listed = {preview.agent: preview for preview in retell_fast.discover()}
    assert {agent: preview.session_id for agent, preview in listed.items()} == {
        "claude-code": CLAUDE_ID,
        "codex": CODEX_ID,
    }
    kites = listed["codex"]
    assert (kites.title, kites.project_path) == ("Kites", "/home/you/kites")
    assert kites.first_words == kites.last_words == "why does the kite fall"
    assert kites.tools == {"apply_patch": 1, "exec_command": 1, "fly": 1}
    assert "+1 tools beyond plain editing: fly" in kites.reasons
    assert (kites.human_messages, kites.sessions) == (1, 1)
    out, _ = homes.run("preview", "--json")
    assert {each["agent"] for each in json.loads(out)} == {"claude-code", "codex"}
    out, _ = homes.run("preview")
    assert "     agent    codex\n     project  /home/you/kites\n" in out
    assert "     agent    claude-code\n" in out


def test_one_agent_s_sessions(homes: Homes) -> None:
    for agent in ("claude-code", "codex"):
        assert [preview.agent for preview in retell_fast.discover(agent=agent)] == [agent]
        home = homes.folder / agent.removesuffix("-code")
        assert [preview.agent for preview in retell_fast.discover(home, agent=agent)] == [agent]
        out, _ = homes.run("preview", "--json", "--agent", agent)
        assert [each["agent"] for each in json.loads(out)] == [agent]
    with pytest.raises(ValueError, match="known agents: claude-code, codex"):
        retell_fast.discover(agent="sailor")
    assert "known agents: claude-code, codex" in homes.run("preview", "--agent", "sailor", status=2)[1]
    # The folder of a day is no project.
    assert retell_fast.discover(agent="codex", project="sessions") == []
    assert [preview.agent for preview in retell_fast.discover(project="KITES")] == ["codex"]
    nothing = homes.run("preview", "--agent", "codex", "--project", "boats")[1]
    assert "$CODEX_HOME or ~/.codex that fits --agent codex --project boats" in nothing


def test_sessions_of_one_minute_are_told_apart(homes: Homes) -> None:
    others = [f"aaaacccc-000{number}-7000-8000-000000000001" for number in (1, 2)]
    for other in others:
        homes.put_codex(other, rollout(other))
    out, _ = homes.run("preview")
    for session_id in (CODEX_ID, *others):
        assert f"({session_id[:13]}, " in out
        assert retell_fast.parse(session_id[:13]).manifest["conversation_id"] == session_id
    assert f"({CLAUDE_ID[:8]}, " in out


def test_a_session_without_a_name_has_no_title(homes: Homes) -> None:
    homes.put_codex(CODEX_ID, b"".join(rollout().splitlines(keepends=True)[:-1]))
    (preview,) = retell_fast.discover(agent="codex")
    assert preview.title is None
    assert "(no title)" in homes.run("preview", "--agent", "codex")[0]


@pytest.mark.parametrize(
    ("meta", "listed"),
    [
        ({"source": "cli"}, True),
        ({"source": "exec"}, True),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": CODEX_ID}}}}, False),
        ({"source": {"subagent": "review"}}, False),
        ({"source": {"subagent": {"other": "guardian"}}}, False),
        ({"source": {"subagent": "memory_consolidation"}}, False),
        ({"thread_source": "guardian_review"}, False),
    ],
)
def test_what_is_no_conversation_with_the_human_is_not_listed(
    homes: Homes, meta: dict[str, Any], *, listed: bool
) -> None:
    other = CODEX_ID.replace("c", "d")
    path = homes.put_codex(other, rollout(other, **meta))
    for found in (retell_fast.discover(agent="codex"), retell_fast.discover(path.parent)):
        assert (other in [preview.session_id for preview in found]) is listed
    # Asked for by its id, it is read.
    assert retell_fast.parse(other[:10]).manifest["conversation_id"] == other


# ---------------------------------------------------------------- what is found and recognised


def test_ids_are_looked_up_in_both_homes(homes: Homes) -> None:
    for beginning, agent in (("aaaab", "claude-code"), ("aaaac", "codex"), (CODEX_ID, "codex")):
        assert retell_fast.parse(beginning).manifest["agent"] == agent
    _, err = homes.run("parse", "aaaa", status=1)
    assert "2 sessions begin with" in err
    assert CLAUDE_ID in err
    assert CODEX_ID in err
    _, err = homes.run("parse", "ffff", status=1)
    assert homes.variables["CLAUDE_CONFIG_DIR"] in err
    assert homes.variables["CODEX_HOME"] in err


def test_homes_that_are_not_there_are_named_with_their_variables(homes: Homes) -> None:
    nowhere = {name: str(homes.folder / "nowhere") for name in homes.variables}
    _, err = homes.run("parse", "aaaa", status=1, **nowhere)
    assert "CLAUDE_CONFIG_DIR or CODEX_HOME" in err
    _, err = homes.run("preview", status=0, **nowhere)
    assert "no session found below $CLAUDE_CONFIG_DIR or ~/.claude, $CODEX_HOME or ~/.codex" in err


def test_the_default_homes_are_in_the_user_s_own_folder(homes: Homes) -> None:
    if os.name == "nt":
        pytest.skip("Windows has another variable")
    (homes.folder / "claude").rename(homes.folder / ".claude")
    (homes.folder / "codex").rename(homes.folder / ".codex")
    out, _ = homes.run("preview", "--json", HOME=str(homes.folder), CLAUDE_CONFIG_DIR="", CODEX_HOME="")
    assert {each["agent"] for each in json.loads(out)} == {"claude-code", "codex"}


@pytest.mark.parametrize(("content", "agent"), [(CLAUDE, "claude-code"), (rollout(), "codex")])
def test_whose_it_is_is_seen_from_the_records(tmp_path: Path, content: bytes, agent: str) -> None:
    renamed = tmp_path / "notes"
    renamed.write_bytes(content)
    for source in (renamed, content, io.BytesIO(content)):
        conversation = retell_fast.parse(source)
        assert conversation.manifest["agent"] == agent
        assert len(conversation.events) >= 2
    _, err = command.run("parse", "-", "-o", tmp_path / "out", "-q", given=content)
    assert err == ""
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["agent"] == agent


def test_the_agent_can_be_said(homes: Homes) -> None:
    path = homes.put_codex(CODEX_ID, rollout())
    homes.run("parse", str(path), "--agent", "codex", "-o", "out")
    assert json.loads((homes.folder / "out" / "manifest.json").read_text())["agent"] == "codex"


# ---------------------------------------------------------------- what is read


def test_children_are_found_where_the_folder_of_sessions_is_a_link(homes: Homes) -> None:
    child = rollout(
        "aaaacccc-0000-7000-8000-000000000002",
        source={"subagent": {"thread_spawn": {"parent_thread_id": CODEX_ID, "depth": 1}}},
    )
    other_day = homes.folder / "codex" / "sessions" / "2026" / "02" / "11"
    other_day.mkdir()
    spawn = {"type": "function_call", "name": "spawn_agent", "call_id": "c1", "arguments": "{}"}
    call = {"timestamp": "2026-02-10T00:00:02.000Z", "type": "response_item", "payload": spawn}
    homes.put_codex(CODEX_ID, rollout() + json.dumps(call).encode() + b"\n")
    (other_day / "rollout-2026-02-11T00-00-01-aaaacccc-0000-7000-8000-000000000002.jsonl").write_bytes(child)
    (homes.folder / "codex" / "sessions").rename(homes.folder / "elsewhere")
    try:
        (homes.folder / "codex" / "sessions").symlink_to(homes.folder / "elsewhere", target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    conversation = retell_fast.parse(CODEX_ID)
    assert [agent["id"] for agent in conversation.manifest["subagents"]] == [
        "aaaacccc-0000-7000-8000-000000000002"
    ]
