"""Hypothesis strategies for whole Claude Code sessions that meet every rule.

A session is drawn as entries (dicts), each is written in a drawn style (spacing, key order, escapes), and the
lines are then damaged the ways that real files are.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from tests.strategies.claude_entries import (
    NOT_UTF8,
    Draw,
    Json,
    agent_call_ids,
    agent_work,
    assistants,
    rarely,
)
from tests.strategies.claude_results import scenes

__all__ = ["NOT_UTF8", "Json"]

# ---------------------------------------------------------------- entries to bytes


INVALID_BYTES = [
    b"\xff", b"\xc0\xaf", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\x80\x80",
]  # fmt: skip


@dataclass
class Style:
    """How a line is written. Everything off is what the client itself writes."""

    spaced: bool = False
    escape_all: bool = False
    escape_keys: bool = False
    shuffle: int = 0
    invalid: bytes = b"\xff"
    escape_slashes: bool = False


styles = st.one_of(
    st.just(Style()),
    st.builds(
        Style,
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.integers(0, 50),
        st.sampled_from(INVALID_BYTES),
        st.booleans(),
    ),
)


def encode_text(text: str, style: Style, *, escape: bool) -> bytes:
    """A JSON string; lone surrogates can only be escaped, everything else as the style wants."""
    written = json.dumps(text, ensure_ascii=style.escape_all)
    if escape and text:
        written = f'"\\u{ord(text[0]):04x}' + json.dumps(text[1:], ensure_ascii=style.escape_all)[1:]
    written = written.replace("/", "\\/") if style.escape_slashes else written
    written = "".join(f"\\u{ord(sign):04x}" if "\ud800" <= sign <= "\udfff" else sign for sign in written)
    return written.replace("\\ue000", NOT_UTF8).encode().replace(NOT_UTF8.encode(), style.invalid)


def encode(value: Any, style: Style, *, depth: int = 0) -> bytes:
    """A JSON value in a style."""
    comma, colon = (b", ", b" : ") if style.spaced else (b",", b":")
    if isinstance(value, str):
        return encode_text(value, style, escape=False)
    if isinstance(value, list):
        return b"[" + comma.join(encode(item, style, depth=depth + 1) for item in value) + b"]"
    if isinstance(value, dict):
        members = list(value.items())
        if style.shuffle:
            random.Random(style.shuffle + depth).shuffle(members)
        pairs = [
            encode_text(key, style, escape=style.escape_keys and key < "\ud800")
            + colon
            + encode(item, style, depth=depth + 1)
            for key, item in members
        ]
        return b"{" + comma.join(pairs) + b"}"
    return json.dumps(value).encode()


@st.composite
def entry_lists(draw: Draw, *, max_scenes: int = 14) -> list[Json]:
    """The entries of a session, with the envelope that entries share."""
    # A drawn count and not a drawn list: lists come out much shorter than their largest size.
    count = draw(st.integers(1, max_scenes))
    entries = [dict(entry) for number in range(count) for entry in draw(scenes(number))]
    session, uuids = "s-1", [""]
    for number, entry in enumerate(entries):
        if entry.get("type") in ("user", "assistant", "system", "attachment", "queue-operation", "progress"):
            odd = draw(st.integers(0, 60))
            session = draw(st.sampled_from(["s-1", "s-2", "s-3"])) if odd in (20, 21, 22) else session
            entry.setdefault("sessionId", "" if odd == 23 else session)
            entry.setdefault("timestamp", f"2026-02-10T09:{number:02d}:00.000Z")
            if entry["type"] != "queue-operation":
                entry.setdefault("uuid", f"u-{number - 1 if odd in (24, 25) else number}")
                entry.setdefault("parentUuid", draw(parents(uuids)))
                uuids.append(entry["uuid"])
                entry.setdefault("cwd", "/reef" if odd < 30 else "/reef/é")
                entry.setdefault("version", "2.1.39" if odd < 35 else "2.1.205")
            if odd in (26, 27):
                entry["session_id"] = entry.pop("sessionId")
    return entries


@st.composite
def parents(draw: Draw, uuids: list[str]) -> str | None:
    """The entry before, mostly; else an earlier one (a rewind), none (a compaction), or one that is lost."""
    odd = draw(st.integers(0, 20))
    if odd in (9, 10):
        return draw(st.sampled_from(uuids)) or None
    return (uuids[-1] or None) if odd not in (11, 12) else [None, "u-lost"][odd % 2]


@st.composite
def lines_of(draw: Draw, entries: list[Json]) -> list[bytes]:
    """The entries as lines, each in a style of its own."""
    return [encode(entry, draw(styles)) for entry in entries]


NULS = [b"\0", b"\0" * 9, b"\0\0 \0"]
CLIENT_ORDER = [
    "parentUuid",
    "type",
    "isSidechain",
    "sessionId",
    "subtype",
    "operation",
    "message",
    "data",
    "attachment",
    "uuid",
]


def as_the_client_writes(entry: Json) -> bytes:
    """An entry in compact JSON with the first key of the client, so that it is found when glued."""
    order = {key: position for position, key in enumerate(CLIENT_ORDER)}
    return encode(dict(sorted(entry.items(), key=lambda member: order.get(member[0], 99))), Style())


ODD_LINES = [b"", b"  ", b"\t\r", b"\0\0\0", b"7", b"[1]", b'"odd"', b"odd", b"{", b"null"]
DAMAGE = [
    "NULs", "joined", "glued", "glued", "glued twice", "odd line", "twice", "cut", "return", "blanks",
    "in a list", "brace",
]  # fmt: skip


def cut_place(draw: Draw, line: bytes) -> int:
    """Where a line is cut: anywhere, or right behind a sign that may be read in several ways."""
    signs = [at + 1 for at, sign in enumerate(line) if sign in b':,[]{}"\\']
    return draw(st.one_of(st.integers(1, len(line)), st.sampled_from(signs)))


def damaged_line(draw: Draw, kind: str, line: bytes, glued: bytes) -> list[bytes]:
    """One line with one kind of damage; some kinds make two lines of it."""
    cut = cut_place(draw, line)
    nuls = draw(st.sampled_from(NULS))
    damage = {
        "NULs": [nuls + line] if cut % 2 else [line + nuls],
        "joined": [line + nuls[: cut % 3] + glued],
        "glued": [line[:cut] + glued],
        "glued twice": [line[:cut] + glued[: cut_place(draw, glued)] + nuls[: cut % 2] + line],
        "in a list": [b"[" + glued + b"]"],
        "brace": [line + b"}" + glued[: cut % 2 * len(glued)]],
        "odd line": [line, draw(st.sampled_from(ODD_LINES))],
        "twice": [line, line],
        "cut": [line[:cut]],
        "return": [line + b"\r"],
        "blanks": [b" \t" + line + b"  "],
    }
    return damage[kind]


@st.composite
def damaged(
    draw: Draw,
    lines: list[bytes],
    entries: list[Json],
    write: Callable[[Json], bytes] = as_the_client_writes,
) -> list[bytes]:
    """The lines with some of the damage that real files show; what is glued to a line is another entry."""
    result: list[bytes] = []
    for line, entry in zip(lines, [*entries[1:], entries[0]], strict=True):
        kind = draw(st.integers(0, 30)) - 12
        is_damaged = 0 <= kind < len(DAMAGE)
        result += damaged_line(draw, DAMAGE[kind], line, write(entry)) if is_damaged else [line]
    return result


@st.composite
def whole_files(draw: Draw, lines: list[bytes], *, with_damage: bool) -> bytes:
    """The lines as a file, with one of the ends that files have."""
    data = (b"\xef\xbb\xbf" if rarely(draw, 10) else b"") + b"\n".join(lines)
    ending = draw(st.sampled_from([b"\n", b"\n", b"\n", b"\n\n", b"", b"\0\0\n"] if with_damage else [b"\n"]))
    if with_damage and rarely(draw, 10):
        return data[: draw(st.integers(0, len(data)))]
    return data + ending


@st.composite
def sessions(draw: Draw, *, with_damage: bool = True) -> bytes:
    """The bytes of a session's file."""
    entries = draw(entry_lists())
    lines = draw(lines_of(entries))
    if with_damage and draw(st.booleans()):
        lines = draw(damaged(lines, entries))
    return draw(whole_files(lines, with_damage=with_damage))


@dataclass
class Family:
    """A session's file with the files of its agents and what is known of them."""

    session: bytes
    agent_files: dict[str, bytes]
    meta_files: dict[str, Json]
    folders: dict[str, str]


@st.composite
def agent_sessions(draw: Draw, id_: str) -> bytes:
    """The file of an agent: all lines are sidechain, the first is its prompt."""
    prompt = draw(
        st.sampled_from(["count all nets", "sort the buoys by colour", "mend " * 90, "another prompt"])
    )
    first = {
        "type": "user",
        "message": {"role": "user", "content": prompt},
        "parentUuid": None,
        "uuid": f"{id_}-0",
    }
    number = int(id_[1:]) if id_[1:].isdigit() else 99
    entries: list[Json] = [first, *draw(st.lists(assistants(), max_size=2)), *draw(agent_work(number))]
    for number, entry in enumerate(entries):
        entry.update({"isSidechain": True, "agentId": id_, "sessionId": "s-1", "uuid": f"{id_}-{number}"})
        entry["timestamp"] = f"2026-02-10T10:{number:02d}:00.000Z"
        entry.setdefault("parentUuid", f"{id_}-{number - 1}" if draw(st.integers(0, 9)) != 5 else f"{id_}-0")
        if id_ == "a3":
            entry["agentName"] = "mate"
    return b"\n".join(encode(entry, Style()) for entry in entries) + b"\n"


@st.composite
def families(draw: Draw) -> Family:
    """A session with agents in files of their own, some of them claimed by nobody."""
    ids = draw(
        st.lists(
            st.sampled_from(["a1", "a2", "a3", "acompact-7", "aprompt_suggestion-7"]), unique=True, max_size=4
        )
    )
    metas = draw(st.sets(st.sampled_from(ids))) if ids else set()
    session = draw(sessions(with_damage=False))
    files = {id_: draw(agent_sessions(id_)) for id_ in ids}
    meta = {
        id_: {
            "toolUseId": draw(agent_call_ids),
            "agentType": "diver",
            "description": "from meta",
            "name": "eel",
        }
        for id_ in metas
    }
    folders = {id_: draw(st.sampled_from(["", "", "wf_1", "wf_2"])) for id_ in ids}
    return Family(session, files, meta, folders)
