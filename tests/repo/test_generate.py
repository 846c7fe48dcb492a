"""The made-up sessions of the benches: always the same bytes, with the shares they claim, and readable."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from benches.corpus import generate
from tests.support.checkout import ROOT

import retell_fast

CLAUDE = ["chat", "classic", "images", "mixed", "modern"]
CODEX = ["codex", "codex-paginated"]
# The first half of the sha256 of half a megabyte, seed 1.
SUMS = {
    "chat": "b6160d9c2c20d36b",
    "classic": "91c5f904365f5b04",
    "codex": "0dc380f5c2c0d8af",
    "codex-paginated": "072659381b5a97b4",
    "images": "71413b7e9d0af607",
    "mixed": "945597e07875f2d7",
    "modern": "9b8e1986ad6c2500",
}


def sha256(profile: str, megabytes: float, seed: int) -> str:
    return hashlib.sha256(b"".join(generate.lines(profile, megabytes, seed))).hexdigest()


@pytest.mark.parametrize("profile", generate.PROFILES)
def test_same_seed_same_bytes(profile: str) -> None:
    assert sha256(profile, 0.5, 1) == sha256(profile, 0.5, 1)
    assert sha256(profile, 0.5, 1) != sha256(profile, 0.5, 2)


@pytest.mark.parametrize(("profile", "known"), SUMS.items())
def test_the_bytes_are_those_of_the_recorded_benchmarks(profile: str, known: str) -> None:
    """A change here makes the records in `benches/record` incomparable with what is measured from now on."""
    assert sha256(profile, 0.5, 1)[:16] == known


def test_another_process_makes_the_same_bytes(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "benches.corpus.generate", "--profile", "modern", "--megabytes", "0.5"]
    said = subprocess.run([*command, str(out)], cwd=ROOT, check=True, capture_output=True, text=True).stderr
    assert said.split()[1] == sha256("modern", 0.5, 1) == hashlib.sha256(out.read_bytes()).hexdigest()


@pytest.mark.parametrize("profile", [*CLAUDE, *CODEX])
def test_a_longer_session_begins_as_the_shorter_one(profile: str) -> None:
    short = list(generate.lines(profile, 0.5, 3))
    assert list(islice(generate.lines(profile, 2, 3), len(short))) == short


@pytest.mark.parametrize("profile", generate.PROFILES)
def test_lines_are_compact_json(profile: str) -> None:
    size = 0
    for line in generate.lines(profile, 1, 1):
        size += len(line)
        entry = json.loads(line)
        assert line == (json.dumps(entry, separators=(",", ":"), ensure_ascii=False) + "\n").encode()
    assert 1_000_000 <= size < 4_500_000


@pytest.mark.parametrize("profile", CLAUDE)
@pytest.mark.filterwarnings("error")
def test_nothing_in_them_is_unknown_or_damaged(profile: str) -> None:
    conversation = retell_fast.parse(b"".join(generate.lines(profile, 2, 1)), include_subagents=True)
    assert len(conversation.events) > 10
    assert not conversation.attention


def test_modern_is_mostly_attachments_and_chat_is_mostly_words() -> None:
    size = attachments = 0
    for line in generate.lines("modern", 5, 1):
        size += len(line)
        attachments += len(line) * (json.loads(line)["type"] == "attachment")
    assert 0.80 < attachments / size < 0.84
    chat = retell_fast.parse(b"".join(generate.lines("chat", 5, 1)))
    assert 0.25 < chat.manifest["signal_ratio"] < 0.35


@pytest.mark.parametrize("seed", [1, 2])
def test_mixed_has_its_pictures_and_the_results_of_calls_that_are_elsewhere(seed: int) -> None:
    size = pictures = stray = 0
    calls: set[str] = set()
    agents: set[str] = set()
    for line in generate.lines("mixed", 8, seed):
        size += len(line)
        message = json.loads(line).get("message", {})
        blocks = message.get("content", ()) if isinstance(message.get("content"), list) else ()
        calls |= {block["id"] for block in blocks if block["type"] == "tool_use"}
        results = [block for block in blocks if block["type"] == "tool_result"]
        if b'"media_type":"image/png"' in line:
            pictures += len(line)
        elif any(block["tool_use_id"] not in calls for block in results):
            stray += len(line)
            copy = json.loads(line)["toolUseResult"]
            agents |= {copy["agentId"]} if "agentId" in copy else set()
    assert 0.18 < pictures / size < 0.22
    assert 0.43 < stray / size < 0.47
    assert len(agents) > 3
    conversation = retell_fast.parse(b"".join(generate.lines("mixed", 8, seed)))
    called = {ref.id for event in conversation.events for ref in event.subagent_refs}
    assert called
    assert not called & agents


@pytest.mark.parametrize("profile", CODEX)
def test_a_rollout_says_everything_twice(profile: str) -> None:
    shown: list[str] = []
    sent: list[str] = []
    for line in generate.lines(profile, 2, 1):
        payload = json.loads(line)["payload"]
        if payload.get("type") in ("user_message", "agent_message"):
            shown.append(payload["message"])
        elif payload.get("type") == "item_completed":
            shown += [part["text"] for part in payload["item"]["content"] if "text" in part]
        elif payload.get("type") == "message" and payload["role"] in ("user", "assistant"):
            sent += [part["text"] for part in payload["content"] if "text" in part]
    injected = ("# AGENTS.md instructions", "<environment_context>")
    assert sorted(shown) == sorted(text for text in sent if not text.startswith(injected))


def test_a_long_rollout_was_compacted_into_one_line() -> None:
    longest = max(generate.lines("codex", 60, 1), key=len)
    assert longest[:100].partition(b'"type":"')[2].startswith(b"compacted")
    assert len(longest) > 50_000_000


def test_one_line_may_be_most_of_the_file() -> None:
    lines = list(generate.lines("classic", 3, 1, 2))
    longest = max(lines, key=len)
    assert 2_000_000 < len(longest) < 3_500_000
    assert json.loads(longest)["toolUseResult"]["stdout"]
    assert [line for line in lines if line is not longest] == list(generate.lines("classic", 1, 1))


def test_a_tree_has_sessions_of_its_own_size_and_their_subagents(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert generate.write_tree(first, 12, 6, 1) == generate.write_tree(second, 12, 6, 1)
    assert len(retell_fast.discover(first)) == 12
    agents = list(first.rglob("agent-*.jsonl"))
    assert agents
    for agent in agents:
        session = agent.parents[1].with_suffix(".jsonl")
        conversation = retell_fast.parse(session, include_subagents=True)
        ids = [ref.id for event in conversation.events for ref in event.subagent_refs]
        assert agent.stem.removeprefix("agent-") in ids
    size = sum(file.stat().st_size for file in first.rglob("*.jsonl"))
    assert 5_000_000 < size < 9_000_000
