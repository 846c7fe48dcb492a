"""`retell_fast.types` and `retell-fast types`: which types there are, and that nothing else comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import command
from tests.support.checkout import DATA

import retell_fast
from retell_fast.cli.census import report, versions

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKER = "zebrafish"
"""Stands in everything that somebody said, and in every path; it must never come out."""

NOT_ON_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")


AS_NOBODY = f"""
import json, os, sys
import retell_fast
{command.AS_NOBODY}
print(json.dumps(retell_fast.types(sys.argv[1])))
"""


def lines(*entries: dict[str, Any] | str) -> bytes:
    texts = [each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each in entries]
    return "".join(f"{text}\n" for text in texts).encode()


def claude(kind: str, **members: Any) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "cwd": f"/home/{MARKER}",
        "sessionId": f"s-{MARKER}",
        "version": "2.1.39",
        **members,
        "type": kind,
        "uuid": f"u-{MARKER}",
        "timestamp": "2026-02-10T09:14:03.000Z",
    }


def codex(kind: str, inner: str | None = None, **payload: Any) -> dict[str, Any]:
    payload = {**({} if inner is None else {"type": inner}), **payload}
    return {"timestamp": "2026-02-10T09:14:03.000Z", "type": kind, "payload": payload}


CLAUDE = lines(
    claude("user", message={"role": "user", "content": f"where is the {MARKER}"}),
    claude("assistant", message={"content": [{"type": "text", "text": MARKER}]}, version="2.1.40"),
    {"parentUuid": None, "attachment": {"type": "file", "content": MARKER}, "type": "attachment"},
    {"parentUuid": None, "attachment": {"type": "skill_listing", "content": MARKER}, "type": "attachment"},
    claude("system", subtype="api_error", content=MARKER),
    claude("system", content=MARKER),
    claude("progress", data={"type": "bash_progress", "output": MARKER}),
    {"type": "dream", "about": MARKER},
    {"type": f"the {MARKER} swims", "about": MARKER},
    {"type": "user", "version": f"1 {MARKER}", "sessionId": "s", "message": {"content": MARKER}},
)
CLAUDE_TYPES = {
    "user": 2,
    "assistant": 1,
    "attachment/file": 1,
    "attachment/skill_listing": 1,
    "system/api_error": 1,
    "system": 1,
    "progress": 1,
    "dream": 1,
    "(other)": 1,
}
CODEX = lines(
    codex("session_meta", id=MARKER, cwd=f"/home/{MARKER}", cli_version="0.99.0", originator=MARKER),
    codex("event_msg", "user_message", message=f"where is the {MARKER}"),
    codex("event_msg", "token_count", info=MARKER),
    codex("event_msg", "item_completed", item={"type": "AgentMessage", "content": MARKER}),
    codex("event_msg", "dream", about=MARKER),
    codex("response_item", "function_call_output", output=MARKER),
    codex("reverie", about=MARKER),
)
CODEX_TYPES = {
    "session_meta": 1,
    "event_msg/user_message": 1,
    "event_msg/token_count": 1,
    "event_msg/item_completed/AgentMessage": 1,
    "event_msg/dream": 1,
    "response_item/function_call_output": 1,
    "reverie": 1,
}
UNKNOWN = {"claude-code": {"dream", "(other)"}, "codex": {"event_msg/dream", "reverie"}}


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of each agent with one session and one subagent in it."""
    project = tmp_path / "claude" / "projects" / f"-home-{MARKER}"
    write(project / f"{MARKER}.jsonl", CLAUDE)
    write(project / MARKER / "subagents" / f"agent-{MARKER}.jsonl", CLAUDE)
    write(project / MARKER / "tool-results" / "leak.jsonl", b'{"type":"leak"}\n')
    write(project / MARKER / "notes.txt", b"no transcript")
    day = tmp_path / "codex" / "sessions" / "2026" / "02" / "10"
    write(day / f"rollout-2026-02-10T09-14-03-{MARKER}.jsonl", CODEX)
    write(tmp_path / "codex" / "archived_sessions" / f"rollout-2026-02-10T09-14-04-{MARKER}.jsonl", CODEX)
    write(tmp_path / "codex" / "history.jsonl", b'{"type":"leak"}\n')
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path


def counts(found: dict[str, Any], agent: str) -> dict[str, int]:
    return {name: row["count"] for name, row in found["agents"][agent]["types"].items()}


run = partial(command.run, "types")


# ---------------------------------------------------------------- what is counted


def test_all_homes_with_their_subagents(homes: Path) -> None:
    found = retell_fast.types()
    assert found["release"] == retell_fast.__version__
    assert set(found["agents"]) == {"claude-code", "codex"}
    for agent, content, expected in (("claude-code", CLAUDE, CLAUDE_TYPES), ("codex", CODEX, CODEX_TYPES)):
        of_agent = found["agents"][agent]
        assert (of_agent["files"], of_agent["bytes"]) == (2, 2 * len(content))
        assert of_agent["lines"] == 2 * content.count(b"\n")
        assert counts(found, agent) == {name: 2 * count for name, count in expected.items()}
        assert {name for name, row in of_agent["types"].items() if row["unknown"]} == UNKNOWN[agent]
        assert {row["files"] for row in of_agent["types"].values()} == {2}
    assert found["agents"]["claude-code"]["versions"] == ["2.1.39", "2.1.40"]
    assert found["agents"]["codex"]["types"]["reverie"]["versions"] == ["0.99.0"]
    assert (found["files"], found["bytes"]) == (4, 2 * len(CLAUDE + CODEX))
    assert (found["damage"], found["incomplete_tails"], found["unreadable"]) == ({}, 0, {})
    assert retell_fast.types([homes / "claude", homes / "codex"]) == found
    assert set(retell_fast.types(agent="codex")["agents"]) == {"codex"}


def test_any_folder_is_looked_into_however_deep(tmp_path: Path) -> None:
    for name in ("a.jsonl", "1/2/3/4/5/6/b.jsonl", "agent-x.jsonl"):
        write(tmp_path / name, CLAUDE)
    for name in (".c.jsonl", "d.json", "e.txt", "tool-results/f.jsonl"):
        write(tmp_path / name, CLAUDE)
    write(tmp_path / "rollout-2026-01-02T03-04-05-x.jsonl", CODEX)
    found = retell_fast.types(tmp_path)
    assert {agent: row["files"] for agent, row in found["agents"].items()} == {"claude-code": 3, "codex": 1}
    twice = retell_fast.types([tmp_path, str(tmp_path / "a.jsonl")])
    assert twice == found


def test_a_document_of_2025(tmp_path: Path) -> None:
    document = {
        "session": {"id": "x", "timestamp": "2025-06-01T00:00:00Z", "instructions": MARKER},
        "items": [{"type": "message", "role": "user", "content": []}, {"type": "dream"}],
    }
    path = write(tmp_path / "rollout-2025-06-01-x.json", json.dumps(document, indent=1).encode())
    found = retell_fast.types(tmp_path)
    assert counts(found, "codex") == {"(session)": 1, "message": 1, "dream": 1}
    assert found["agents"]["codex"]["types"]["dream"]["unknown"] is True
    assert (found["bytes"], found["lines"]) == (path.stat().st_size, len(path.read_text().splitlines()))


def test_damage_and_what_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "damaged.jsonl", CLAUDE + b'no json\n[1]\n{"type":"user","mess')
    write(tmp_path / "binary.jsonl", bytes(2_000_000))
    write(tmp_path / "broken.jsonl.zst", b"\x28\xb5\x2f\xfdno zstd data")
    write(tmp_path / "empty.jsonl", b"")
    (tmp_path / "folder.jsonl").mkdir()
    found = retell_fast.types(tmp_path)
    assert found["damage"] == {"invalid_json": 1, "not_an_object": 1}
    assert found["incomplete_tails"] == 1
    assert found["unreadable"] == {"damaged_zstd": 1, "not_a_transcript": 1}
    assert found["files"] == 2
    assert counts(found, "claude-code") == CLAUDE_TYPES


@NOT_ON_WINDOWS
def test_permission_denied_is_counted() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        write(folder / "open.jsonl", CLAUDE).chmod(0o644)
        write(folder / "locked.jsonl", CLAUDE).chmod(0)
        (folder / "closed").mkdir(mode=0)
        found = json.loads(subprocess.check_output([sys.executable, "-c", AS_NOBODY, name], timeout=60))
        (folder / "closed").chmod(0o700)
    assert found["unreadable"] == {"permission_denied": 2}
    assert found["files"] == 1


def test_files_of_nobody_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", b'{"type":"Feature"}\n{"no":"type"}\n')
    found = retell_fast.types(path)
    assert counts(found, "(unrecognised)") == {"Feature": 1, "(none)": 1}
    assert counts(retell_fast.types(path, agent="codex"), "codex") == {"Feature": 1, "(none)": 1}


def test_a_large_file_is_counted_as_a_small_one_is(tmp_path: Path) -> None:
    times = 12_000_000 // len(CLAUDE)
    path = write(tmp_path / "large.jsonl", CLAUDE * times + b'{"type":"user"')
    told: list[tuple[int, int]] = []
    found = [
        retell_fast.types(path, threads=threads, progress=lambda *so_far: told.append(so_far))
        for threads in (1, 2, 7)
    ]
    assert found[0] == found[1] == found[2]
    assert counts(found[0], "claude-code") == {name: times * n for name, n in CLAUDE_TYPES.items()}
    assert (found[0]["lines"], found[0]["incomplete_tails"]) == (times * 10 + 1, 1)
    assert all(0 <= done <= total == path.stat().st_size for done, total in told)


def test_what_progress_raises_ends_it(tmp_path: Path) -> None:
    path = write(tmp_path / "large.jsonl", CLAUDE * (100_000_000 // len(CLAUDE)))

    def stop(_done: int, _total: int) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        retell_fast.types(path, threads=1, progress=stop)


# ---------------------------------------------------------------- the twin


def obvious_counts(paths: Sequence[Path]) -> Counter[str]:
    """The types of whole lines, read with `json.loads`."""
    found: Counter[str] = Counter()
    for path in paths:
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line.decode("utf-8-sig", errors="replace"))
            except ValueError:
                continue
            if isinstance(entry, dict):
                found[obvious_name(entry)] += 1
    return found


def obvious_name(entry: dict[str, Any]) -> str:
    kind = entry.get("type")
    if not isinstance(kind, str):
        return "(none)"
    nested = entry.get("attachment") if kind == "attachment" else None
    inner = nested.get("type") if isinstance(nested, dict) else None
    inner = entry.get("subtype") if kind == "system" else inner
    name = f"{kind}/{inner}" if isinstance(inner, str) else kind
    return name[:100] if re.fullmatch(r"[\w./:()-]*", name, re.ASCII) else "(other)"


WHOLE = [path for path in sorted((DATA / "claude-code").rglob("*.jsonl")) if "damage" not in path.name]


def test_the_twin_counts_the_same_on_the_test_data() -> None:
    found = retell_fast.types(WHOLE)
    assert counts(found, "claude-code") == obvious_counts(WHOLE)
    assert found["damage"] == {}


@pytest.mark.parametrize("path", sorted((DATA / "claude-code").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_manifest_counts_the_same(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.DamagedInputWarning)
        manifest = retell_fast.parse(path.read_bytes(), allow_unknown=True).manifest
    found = retell_fast.types(path)["agents"]["claude-code"]["types"]
    outer: dict[str, dict[str, int]] = {}
    for name, row in found.items():
        known = outer.setdefault(name.split("/")[0], {"count": 0, "bytes": 0})
        for number in known:
            known[number] += row[number]
    # A manifest gives every name as it is.
    assert outer == manifest["entries"]
    unknown = set(manifest["unknown_entries"])
    assert {name for name, row in found.items() if row["unknown"]} == unknown


# ---------------------------------------------------------------- what comes out


def test_nothing_that_was_said_comes_out(homes: Path) -> None:
    write(homes / "claude" / "projects" / MARKER / "d.jsonl", f'{MARKER}\n{{"type":"user","{MARKER}'.encode())
    write(homes / "claude" / "projects" / MARKER / "e.jsonl.zst", b"\x28\xb5\x2f\xfd" + MARKER.encode())
    for words in ([], ["--json"], [homes / "claude", "--json"]):
        out, err = run(*words, status=3)
        assert "dream" in out
        assert MARKER not in out + err
        assert "zebra" not in out + err
        assert str(homes) not in out + err


@pytest.mark.usefixtures("homes")
def test_the_table_says_what_is_unknown_first() -> None:
    out, err = run(status=3)
    first, *rest = out.splitlines()
    assert first == f"retell-fast {retell_fast.__version__}"
    assert re.match(r"claude-code: 2 files · \d\.\d kB · 20 lines · 2\.1\.39, 2\.1\.40$", rest[0])
    assert re.match(r"codex: 2 files · \d\.\d kB · 14 lines · 0\.99\.0$", rest[1])
    assert rest[3].split() == ["agent", "type", "records", "bytes", "share", "files", "versions"]
    assert [line.startswith("unknown  ") for line in rest[4:]] == [True] * 4 + [False] * 12
    assert not any(line.endswith(" ") for line in rest)
    assert "warning: 4 types are unknown to this release\n" in err
    assert run("--quiet", status=3)[1] == "warning: 4 types are unknown to this release\n"
    assert json.loads(run("--json", status=3)[0]) == retell_fast.types()


def test_the_exit_status(tmp_path: Path) -> None:
    known = write(tmp_path / "known.jsonl", lines(claude("user", message={"content": "hello"})))
    assert run(known)[1].startswith("1 file · ")
    write(tmp_path / "damaged.jsonl", known.read_bytes() + b"no json\n")
    out, _ = run(tmp_path, status=3)
    assert out.splitlines()[-1] == "damaged: 1 invalid json"
    (tmp_path / "nothing").mkdir()
    out, _ = run(tmp_path / "nothing")
    assert out == f"retell-fast {retell_fast.__version__}\n"
    out, err = run(tmp_path / "gone", status=1)
    assert out == ""
    assert err.startswith("error: there is no file ")
    run("--agent", "sailor", status=2)
    run("--threads", "0", status=2)


def test_no_sessions_at_all(tmp_path: Path) -> None:
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "a"), "CODEX_HOME": str(tmp_path / "b")}
    out, err = run("--json", env=environment)
    assert json.loads(out)["agents"] == {}
    assert "note: no transcript found below $CLAUDE_CONFIG_DIR or ~/.claude, $CODEX_HOME" in err


def test_versions_are_in_their_order() -> None:
    assert versions(["2.1.10", "2.1.9"]) == "2.1.9, 2.1.10"
    assert versions(["0.2.0", "0.2.0-alpha.1", "0.10.0", "0.1.0"]) == "0.1.0 … 0.10.0 (4)"
    assert versions(["0.2.0", "0.2.0-alpha.1"]) == "0.2.0-alpha.1, 0.2.0"
    assert versions([]) == ""


def test_a_report_of_nothing_is_one_line() -> None:
    nothing = {"release": "1", "agents": {}, "damage": {}, "unreadable": {}, "incomplete_tails": 0}
    assert report(nothing) == ["retell-fast 1"]


@NOT_ON_WINDOWS
def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    import signal  # noqa: PLC0415  # Windows has none of it

    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "retell_fast", "types", str(pipe)]
    # To open the pipe for writing waits until it is read from; and then nothing more comes.
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        pipe.open("wb") as other_side,
    ):
        other_side.write(CLAUDE)
        other_side.flush()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.splitlines()[-1]) == (130, b"", b"interrupted")
