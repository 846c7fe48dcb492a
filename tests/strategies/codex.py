"""Hypothesis strategies for whole Codex rollouts of every era that meet every rule.

A rollout is drawn as records (dicts) of scenes; the same words may be recorded in several ways. Some records
are then bent out of shape, lines are written in drawn styles, and files are damaged in many ways.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from tests.strategies.claude import Style, damaged, encode, styles, whole_files
from tests.strategies.claude_entries import Draw, Json
from tests.strategies.codex_records import bare_records, bent, lists_of_scenes, metas, noises
from tests.strategies.codex_words import rarely
from tests.twin.lines import mapping

# ---------------------------------------------------------------- records to files


def as_codex_writes(record: Json) -> bytes:
    """A record in compact JSON with the time first, by which it is found when glued."""
    order = {"timestamp": 0, "ordinal": 1, "type": 2}
    return encode(dict(sorted(record.items(), key=lambda member: order.get(member[0], 9))), Style())


def stamped(draw: Draw, records: list[Json], *, ordinals: bool) -> list[Json]:
    """The records with time and place in the order; history is copied within one second."""
    second = 0
    numbered = []
    for number, record in enumerate(records):
        second += draw(st.sampled_from([0, 0, 1]))
        odd = draw(st.integers(0, 40))
        envelope: Json = {"timestamp": f"2026-02-02T10:00:{second % 60:02d}.{number:03d}Z"}
        if odd in (20, 21):
            envelope = {"timestamp": "" if odd == 20 else number}
        if ordinals and odd != 22:
            envelope["ordinal"] = number if odd != 23 else draw(st.sampled_from(["1", 2.0, None, -1, True]))
        numbered.append({**envelope, **record} if odd != 24 else {**record, **envelope})
    return numbered


@st.composite
def lines_of_record(draw: Draw, record: Json) -> bytes:
    """A record in a style; keys that an output is searched for are spelled as every writer does."""
    style = draw(styles)
    is_output = "output" in record or "output" in str(mapping(record.get("payload")).get("type"))
    return encode(record, replace(style, escape_keys=False) if is_output else style)


@st.composite
def record_lists(draw: Draw, *, max_scenes: int = 10, meta: Json | None = None) -> list[Json]:
    """The records of a rollout."""
    scenes = draw(lists_of_scenes(max_scenes, spawning=meta is not None))
    copied = rarely(draw, 5)  # what is copied of another thread's history is mostly noise
    if copied:
        scenes = [
            record for noise in draw(st.lists(noises, min_size=1, max_size=4)) for record in noise
        ] + scenes
    first = draw(metas(copied=copied)) if meta is None else {"type": "session_meta", "payload": meta}
    records = [first, *scenes] if meta is not None or not rarely(draw, 8) else scenes
    if rarely(draw, 5):  # a fork holds the meta of the thread that it was forked from
        records.insert(draw(st.integers(0, len(records))), draw(metas()))
    if rarely(draw, 5):  # a thread that was resumed repeats its own
        places = draw(st.lists(st.integers(1, len(records)), min_size=1, max_size=2)) if records else []
        for place in places:
            records.insert(place, copy.deepcopy(first))
    records = [draw(bent(record)) if rarely(draw, 12) else record for record in records]
    return stamped(draw, records, ordinals=copied or draw(st.booleans())) or [{"type": "compacted"}]


def lost(draw: Draw, line: bytes) -> bytes:
    """What is left of a line whose writing was broken off, or that never reached the disk."""
    return b"\0" * len(line) if draw(st.booleans()) else line[: draw(st.integers(0, len(line)))]


@st.composite
def rollouts(draw: Draw, *, with_damage: bool = False) -> bytes:
    """The bytes of a rollout."""
    records = draw(record_lists())
    lines = [draw(lines_of_record(record)) for record in records]
    if with_damage:
        lines = draw(damaged(lines, records, as_codex_writes))
        lines = [lost(draw, line) if rarely(draw, 12) else line for line in lines]
    return draw(whole_files(lines, with_damage=with_damage))


@st.composite
def documents(draw: Draw) -> bytes:
    """A document of the first era, whole or cut, on one line or on many."""
    session: Json = {"timestamp": "2025-06-20T08:00:00.000Z", "id": "t-doc", "instructions": None}
    items = [draw(bent(item)) if rarely(draw, 12) else item for item in draw(bare_records)]
    members: Json = {"session": session, "items": items}
    if rarely(draw, 3):
        members = {"items": items, "session": session, **draw(st.sampled_from([{}, {"more": [1]}]))}
    indent = draw(st.sampled_from([None, None, 2]))
    data = json.dumps(members, indent=indent, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")
    data = draw(st.sampled_from([b"", b"", b"", b"\n ", b"\xef\xbb\xbf"])) + data
    if rarely(draw, 3):
        return data[: draw(st.integers(0, len(data)))]
    return data + draw(st.sampled_from([b"", b"\n", b"\n\n", b" x", b"\n{}"]))


# ---------------------------------------------------------------- threads with children

THREADS = ["t-1", "t-2", "t-3", "t-4"]


@dataclass
class Tree:
    """A thread and what else lies in its tree."""

    path: str
    thread: bytes
    others: dict[str, bytes]
    stored: dict[str, bytes]  # what lies there: some of it compressed, some beside an older compressed form


def compressed(data: bytes) -> bytes:
    """The bytes in a zstd frame of raw blocks (RFC 8878), small enough for one window."""
    blocks = [data[at : at + 100_000] for at in range(0, len(data), 100_000)] or [b""]
    headers = [(len(block) << 3 | (block is blocks[-1])).to_bytes(3, "little") for block in blocks]
    frame = b"\x28\xb5\x2f\xfd\x00\x58"
    return frame + b"".join(header + block for header, block in zip(headers, blocks, strict=True))


@st.composite
def child_metas(draw: Draw, id_: str) -> Json:
    """The meta of a thread that another one started, said in one of the ways there are."""
    parent = draw(st.sampled_from(THREADS))
    about = {"agent_nickname": "Tern", "agent_role": "diver", "agent_path": f"/root/{id_}"}
    meta: Json = {"id": id_, "cwd": "/reef", "cli_version": "0.153.1"}
    spawn = {"parent_thread_id": parent, "depth": 1, **about}
    ways: list[Json] = [
        {"source": {"subagent": {"thread_spawn": spawn}}},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}, **about},
        {"thread_source": "subagent", "parent_thread_id": parent, **about},
        {"thread_source": "user", "parent_thread_id": parent},
        {"source": "cli"},
    ]
    meta.update(draw(st.sampled_from([*ways[:3], *ways])))
    if rarely(draw, 3):
        meta["subagent_history_start_ordinal"] = draw(st.integers(0, 5))
    return meta


@st.composite
def trees(draw: Draw) -> Tree:
    """A thread with others in its tree, some of them its children."""
    files = {}
    for id_ in THREADS[: draw(st.integers(2, 4))]:
        meta: Json = {"id": id_, "cwd": "/reef"} if id_ == "t-1" else draw(child_metas(id_))
        records = draw(record_lists(max_scenes=4, meta=meta))
        day = draw(st.sampled_from(["2026/02/02", "2026/02/03", ""]))
        name = f"rollout-2026-02-02T10-00-00-{id_}.jsonl"
        lines = [draw(lines_of_record(record)) for record in records]
        files[f"{day}/{name}".lstrip("/")] = draw(whole_files(lines, with_damage=False))
    path = next(iter(files))
    thread = files.pop(path)
    stored = {path: thread}
    for name, data in files.items():
        form = draw(st.sampled_from(["plain", "plain", "compressed", "both"]))
        if form != "compressed":
            stored[name] = data
        if form != "plain":
            stored[f"{name}.zst"] = compressed(data if form == "compressed" else thread)
    return Tree(path, thread, files, stored)
