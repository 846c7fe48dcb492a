"""What is no transcript is told by what it is, and no transcript is ever taken for something else."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.support.checkout import DATA
from tests.support.homes import WORDS, says, session

import retell_fast

TEXT = session().decode()


def lines(*records: Any) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def compact(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def laid_out(document: Any) -> bytes:
    return json.dumps(document, indent=2).encode() + b"\n"


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.jsonl", TEXT * 100)
    return packed.getvalue()


def tarred(content: bytes = b"notes\n" * 100) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("notes.jsonl")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


GEMINI = {
    "sessionId": "5f0e",
    "projectHash": "77aa",
    "startTime": "2026-01-02T03:04:05.000Z",
    "lastUpdated": "2026-01-02T03:05:05.000Z",
    "messages": [
        {"id": "1", "timestamp": "t", "type": "user", "content": "why does the kettle whistle"},
        {"id": "2", "timestamp": "t", "type": "gemini", "content": "steam", "thoughts": [], "model": "g"},
    ],
}
QWEN = [
    {
        "uuid": f"q{number}",
        "parentUuid": None,
        "sessionId": "5f0e",
        "timestamp": "t",
        "type": kind,
        "cwd": "/home/you/kettles",
        "version": "0.5.0",
        "message": {"role": role, "parts": [{"text": "steam"}]},
    }
    for number, (kind, role) in enumerate([("user", "user"), ("assistant", "model"), ("tool_result", "user")])
]
COPILOT = [
    {"type": kind, "data": data, "id": f"e{number}", "timestamp": "t", "parentId": None}
    for number, (kind, data) in enumerate(
        [
            ("session.start", {"sessionId": "5f0e", "version": 1, "producer": "copilot-agent"}),
            ("user.message", {"content": "why does the kettle whistle"}),
            ("assistant.message", {"messageId": "m", "content": "steam", "toolRequests": []}),
        ]
    )
]
COPILOT_CHAT = {
    "version": 3,
    "responderUsername": "GitHub Copilot",
    "initialLocation": "panel",
    "requests": [],
}
CURSOR = [
    {"role": role, "message": {"content": [{"type": "text", "text": f"<user_query>{text}</user_query>"}]}}
    for role, text in (("user", "why"), ("assistant", "steam"))
]
DROID = [
    {
        "type": "session_start",
        "id": "5f0e",
        "title": "Kettles",
        "owner": "you",
        "version": 2,
        "cwd": "/kettles",
    },
    {
        "type": "message",
        "id": "m1",
        "timestamp": "t",
        "message": {"role": "user", "content": [{"type": "text"}]},
    },
]
AMP = {
    "v": 9,
    "id": "T-5f0e",
    "created": 1767865803494,
    "messages": [{"role": "user", "messageId": 0, "content": [{"type": "text", "text": "why"}]}],
    "env": {"initial": {"trees": []}},
}
CODEX_EXEC = [
    {"type": "thread.started", "thread_id": "019c"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "steam"}},
    {"type": "turn.completed", "usage": {"input_tokens": 1}},
]
CHATGPT = {
    "title": "Kettles",
    "create_time": 1.5,
    "update_time": 2.5,
    "mapping": {"a": {"id": "a", "message": None, "parent": None, "children": []}},
    "current_node": "a",
}
CLAUDE_AI = {
    "uuid": "5f0e",
    "name": "Kettles",
    "created_at": "t",
    "updated_at": "t",
    "account": {"uuid": "you"},
    "chat_messages": [{"uuid": "m", "text": "why", "sender": "human", "created_at": "t"}],
}
OTHERS = "`retell-fast preview` lists them"

STRANGERS: dict[str, tuple[bytes, str, str]] = {
    "UTF-16": (TEXT.encode("utf-16"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 BE": (b"\xfe\xff" + TEXT.encode("utf-16-be"), "UTF-16 text", "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 LE without mark": (TEXT.encode("utf-16-le"), "UTF-16 text without", "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 BE without mark": (TEXT.encode("utf-16-be"), "UTF-16 text without", "iconv -f UTF-16 -t UTF-8"),
    "UTF-32": (TEXT.encode("utf-32"), "UTF-32 text", "iconv -f UTF-32 -t UTF-8"),
    "zip": (zipped(), "a zip archive", "unpack it"),
    "tar": (tarred(), "a tar archive", "unpack it"),
    "tar.gz": (gzip.compress(tarred()), "a tar archive", "unpack it"),
    "tar of a session": (tarred(session()), "a tar archive", "unpack it"),
    "compressed twice": (gzip.compress(gzip.compress(session())), "compressed twice", "gzip -dc"),
    "xz": (b"\xfd7zXZ\x00\x00\x04" + bytes(range(256)), "compressed with xz", "xz -dc"),
    "bzip2": (b"BZh91AY&SY" + bytes(range(256)), "compressed with bzip2", "bzip2 -dc"),
    "SQLite": (b"SQLite format 3\x00" + bytes(5000), "an SQLite database", OTHERS),
    "HTML": (b"<!DOCTYPE html>\n<html><body>{}</body></html>\n", "an HTML page", OTHERS),
    "PDF": (b"%PDF-1.7\n" + bytes(range(256)), "a PDF document", OTHERS),
    "Gemini CLI": (laid_out(GEMINI), "a session of Gemini CLI", OTHERS),
    "Gemini CLI, compact": (compact(GEMINI), "a session of Gemini CLI", OTHERS),
    "Gemini CLI, lines": (
        lines(
            {"sessionId": "5f0e", "projectHash": "77aa", "startTime": "t", "kind": "main"},
            {"id": "u1", "timestamp": "t", "type": "user", "content": [{"text": "why"}]},
            {"$set": {"lastUpdated": "t"}},
            {"id": "a1", "timestamp": "t", "type": "gemini", "content": "steam"},
        ),
        "a session of Gemini CLI",
        OTHERS,
    ),
    "Gemini CLI, log": (
        laid_out([{"sessionId": "5f0e", "messageId": 0, "type": "user", "message": "why", "timestamp": "t"}]),
        "a session of Gemini CLI",
        OTHERS,
    ),
    "Qwen Code": (lines(*QWEN), "a session of Qwen Code", OTHERS),
    "Qwen Code, a system record first": (
        lines({**QWEN[0], "type": "system", "subtype": "ui_telemetry", "systemPayload": {}}, *QWEN),
        "a session of Qwen Code",
        OTHERS,
    ),
    "Copilot CLI": (lines(*COPILOT), "a session of Copilot CLI", OTHERS),
    "Copilot in VS Code": (laid_out(COPILOT_CHAT), "a session of Copilot in VS Code", OTHERS),
    "Cursor": (lines(*CURSOR), "a session of Cursor", OTHERS),
    "Cursor, text": (
        b"user:\n<user_query>\nwhy\n</user_query>\n\nassistant:\nsteam\n",
        "a session of Cursor",
        OTHERS,
    ),
    "Droid": (lines(*DROID), "a session of Droid", OTHERS),
    "Droid, without a title": (
        lines({"type": "session_start", "id": "5f0e", "cwd": "/kettles"}, DROID[1]),
        "a session of Droid",
        OTHERS,
    ),
    "Amp": (laid_out(AMP), "a thread of Amp", OTHERS),
    "Amp, compact": (compact(AMP), "a thread of Amp", OTHERS),
    "codex exec --json": (lines(*CODEX_EXEC), "what `codex exec --json` printed", "retell-fast parse"),
    "codex exec --json, early": (
        lines({"model": "g"}, {"id": "0", "msg": {"type": "agent_message", "message": "steam"}}),
        "what `codex exec --json` printed",
        "retell-fast parse",
    ),
    "ChatGPT": (compact([CHATGPT]), "an export of chats from ChatGPT", OTHERS),
    "ChatGPT, one chat": (laid_out(CHATGPT), "an export of chats from ChatGPT", OTHERS),
    "Claude.ai": (compact([CLAUDE_AI]), "an export of chats from Claude.ai", OTHERS),
    "Claude.ai, laid out": (laid_out([CLAUDE_AI]), "an export of chats from Claude.ai", OTHERS),
    "array": (compact([json.loads(line) for line in TEXT.splitlines()]), "one JSON array", "jq -c '.[]'"),
    "array, laid out": (laid_out([{"a": 1}, {"b": 2}]), "one JSON array", "jq -c '.[]'"),
    "empty array": (b"[]\n", "one JSON array", "jq -c '.[]'"),
    "objects, laid out": (
        b"".join(laid_out(json.loads(line)) for line in TEXT.splitlines()),
        "JSON laid out over several lines",
        "jq -c . ",
    ),
    "one object, laid out": (laid_out({"a": {"b": [1]}}), "JSON laid out over several lines", "jq -c . "),
    "string": (json.dumps(TEXT).encode(), "one JSON string", "jq -r . "),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_it_is_told_by_what_it_is(tmp_path: Path, name: str) -> None:
    content, what, hint = STRANGERS[name]
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    packed = content if content.startswith(b"\x1f\x8b") else gzip.compress(content)
    for source in (path, content, io.BytesIO(content), packed):
        with pytest.raises(retell_fast.InvalidInputError) as told:
            retell_fast.parse(source)
        assert re.search(rf"not a transcript: it is {re.escape(what)}", str(told.value))
        assert hint in (told.value.hint or "")
    for options in ({"strict": True}, {"agent": "codex"}, {"agent": "claude-code"}):
        with pytest.raises(retell_fast.InvalidInputError, match=re.escape(what)):
            retell_fast.parse(path, **options)


JSON = [name for name, (content, *_) in STRANGERS.items() if content[:1] in b"{[" and b"\0" not in content]


@pytest.mark.parametrize("name", JSON)
def test_byte_order_mark_and_blank_lines_hide_nothing(name: str) -> None:
    content, what, _ = STRANGERS[name]
    with pytest.raises(retell_fast.InvalidInputError, match=re.escape(what)):
        retell_fast.parse(b"\xef\xbb\xbf\n  \n" + content)


@pytest.mark.parametrize("name", STRANGERS)
def test_types_count_it_as_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "strange.jsonl").write_bytes(STRANGERS[name][0])
    (tmp_path / "session.jsonl").write_bytes(session())
    found = retell_fast.types(tmp_path)
    assert found["files"] == 1
    assert sum(found["unreadable"].values()) == 1, found
    assert set(found["agents"]) == {"claude-code"}
    assert not [row for row in found["agents"]["claude-code"]["types"].values() if row["unknown"]]


@pytest.mark.parametrize("size", [1 << 10, 1 << 16, 600_000])
def test_a_long_export_is_told_too(size: int) -> None:
    chats = [{**CHATGPT, "title": "Kettles " * (size // 8)}]
    with pytest.raises(retell_fast.InvalidInputError, match=r"an export of chats from ChatGPT"):
        retell_fast.parse(compact(chats))
    long = laid_out({**GEMINI, "messages": GEMINI["messages"] * (size // 200)})  # type: ignore[operator]
    with pytest.raises(retell_fast.InvalidInputError, match="a session of Gemini CLI"):
        retell_fast.parse(long)


def test_a_session_may_hold_what_others_files_begin_with() -> None:
    for content, _, _ in STRANGERS.values():
        text = content.decode("utf-8", "replace")
        assert says(session(asks=text) + session()) != []
        assert says(lines({"type": "progress", "data": text}) + session()) == WORDS
        # A session that somebody appended to something else is read, and the rest is damage or unknown.
        if b"\0" not in content and content.startswith((b"{", b"user")) and content.endswith(b"\n"):
            with pytest.warns(retell_fast.RetellWarning):
                assert set(WORDS) <= set(says(content + session()))


def test_the_document_of_2025_is_read_as_ever() -> None:
    document = DATA / "codex" / "document.json"
    assert retell_fast.parse(document).manifest["agent"] == "codex"
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    whole = {"session": {"timestamp": "t", "id": "019c", "instructions": ""}, "items": [asked]}
    assert says(laid_out(whole)) == says(compact(whole)) == ["hello"]
    with pytest.raises(retell_fast.NoConversationError):
        retell_fast.parse(laid_out({**whole, "items": []}))


def test_what_holds_no_conversation_is_still_said_to_be_a_transcript() -> None:
    for content in (
        lines({"type": "file-history-snapshot", "messageId": "x"}, {"type": "mode"}),
        lines({"timestamp": "t", "type": "session_meta", "payload": {"id": "019c"}}),
        b'{"type":"user","mess',
    ):
        with pytest.raises(retell_fast.NoConversationError):
            retell_fast.parse(content)


@pytest.mark.filterwarnings("ignore")
def test_no_real_session_is_taken_for_something_else(samples: list[Path], codex_samples: list[Path]) -> None:
    for path in [*samples, *codex_samples]:
        assert retell_fast.types(path)["unreadable"] == {}, path
        # Some samples are single records, of which nothing is said.
        with contextlib.suppress(retell_fast.NoConversationError):
            retell_fast.parse(path)
