"""The product equals its slow, obvious twin: on drawn sessions, on real ones, and on damaged real ones."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import random
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.strategies import claude as strategies
from tests.support import agreement
from tests.support.agreement import assert_equal
from tests.twin import claude, parser

retell_fast = pytest.importorskip("retell_fast", exc_type=ImportError)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.strategies.claude import Family, Json

parse = partial(agreement.parse, agent="claude-code")


@given(strategies.sessions())
@example(b"")
@example(b"\n")
@example(b"\xef\xbb\xbf")
def test_property_drawn_sessions(data: bytes) -> None:
    assert_equal(parse(data), parser.parse(data))


@given(strategies.sessions(), st.booleans())
def test_property_sessions_with_inline_agents(data: bytes, include_subagents: bool) -> None:  # noqa: FBT001
    product = parse(data, include_subagents=include_subagents)
    assert_equal(product, parser.parse(data, include_subagents=include_subagents))


@given(strategies.families(), st.booleans(), st.booleans())
def test_property_agents_in_files(
    tmp_path_factory: pytest.TempPathFactory,
    family: Family,
    include_subagents: bool,  # noqa: FBT001
    flat: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path_factory.mktemp("family")
    session = folder / "s-1.jsonl"
    session.write_bytes(family.session)
    agents = folder if flat else folder / "s-1" / "subagents"
    agents.mkdir(parents=True, exist_ok=True)
    places = dict.fromkeys(family.folders, agents)
    if not flat:
        places = {id_: agents / "workflows" / run if run else agents for id_, run in family.folders.items()}
    for id_, data in family.agent_files.items():
        places[id_].mkdir(parents=True, exist_ok=True)
        (places[id_] / f"agent-{id_}.jsonl").write_bytes(data)
    for id_, meta in family.meta_files.items():
        (places[id_] / f"agent-{id_}.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    twin = claude.parse(
        family.session,
        agent_files=family.agent_files,
        meta_files=family.meta_files,
        agent_folders={} if flat else family.folders,
        include_subagents=include_subagents,
    )
    assert_equal(parse(session, include_subagents=include_subagents), twin)


# ---------------------------------------------------------------- where the bytes come from

CLOCK_AND_NAME = ("parsed_at", "conversation_id")


def without_name(product: tuple[list[Json], Json] | None) -> tuple[list[Json], Json] | None:
    """A result without what depends on the clock and on the name of the file."""
    if product is None:
        return None
    events, manifest = product
    manifest = {key: value for key, value in manifest.items() if key not in CLOCK_AND_NAME}
    source = {key: value for key, value in manifest["source"].items() if key != "name"}
    return events, {**manifest, "source": source}


@given(strategies.sessions())
def test_property_the_source_makes_no_difference(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "drawn.jsonl"
    path.write_bytes(data)
    expected = without_name(parse(data))
    assert without_name(parse(io.BytesIO(data))) == expected
    assert without_name(parse(path)) == expected


# More than twice what is worth a stretch of its own, so that the file is read in several.
LARGE = 9 * 1024 * 1024


def large_session(sessions: list[bytes], padding: int) -> bytes:
    """The sessions again and again, their ids made distinct, with long lines of noise between them."""
    pieces: list[bytes] = []
    size = 0
    for number, session in enumerate(itertools.cycle(sessions)):
        body = session.removeprefix(b"\xef\xbb\xbf")
        for name in (b'"u-', b'"side-', b'"toolu_agent_'):
            body = body.replace(name, name + b"%d-" % number)
        noise = strategies.as_the_client_writes({"type": NOISES[number % len(NOISES)], "data": "x" * padding})
        pieces += [body, noise]
        size += len(body) + len(noise) + 2
        if size > LARGE:
            return b"\n".join(pieces) + b"\n"
    return b""


NOISES = ["file-history-snapshot", "progress", "mode"]


@settings(max_examples=8)
@given(st.lists(strategies.sessions(), min_size=3, max_size=8), st.integers(60_000, 300_000), st.booleans())
def test_property_large_files_read_in_stretches(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[bytes],
    padding: int,
    include_subagents: bool,  # noqa: FBT001
) -> None:
    data = large_session(drawn, padding)
    path = tmp_path_factory.getbasetemp() / "large.jsonl"
    path.write_bytes(data)
    product = parse(path, include_subagents=include_subagents)
    assert_equal(product, parser.parse(data, include_subagents=include_subagents))
    assert without_name(product) == without_name(parse(data, include_subagents=include_subagents))


# ---------------------------------------------------------------- real transcripts


def agent_files_of(session: Path) -> dict[str, bytes]:
    """The files of the agents of a session, by id."""
    files = (session.parent / session.stem / "subagents").rglob("agent-*.jsonl")
    return {path.stem.removeprefix("agent-"): path.read_bytes() for path in files}


@pytest.mark.parametrize("include_subagents", [False, True], ids=["alone", "with-subagents"])
def test_real_transcripts(samples: list[Path], include_subagents: bool) -> None:  # noqa: FBT001
    for path in samples:
        twin = parser.parse(
            path.read_bytes(),
            agent_files=agent_files_of(path),
            include_subagents=include_subagents,
            name=path.name,
        )
        assert_equal(parse(path, include_subagents=include_subagents), twin)


def test_what_is_known_of_the_real_transcripts(samples: list[Path]) -> None:
    by_name = {path.name[:8]: path for path in samples}

    events, manifest = parser.parse(
        (path := by_name["258c7280"]).read_bytes(), agent_files=agent_files_of(path), name=path.name
    )
    for words, line in [("check again", 505), ("new beads for the epic were added. tackle them", 604)]:
        said = [event for event in events if words in event["says"] and event["role"] == "user"]
        assert [(event["line"], event["source"]) for event in said] == [(line, "queued")]

    events, manifest = parser.parse(
        (path := by_name["fa812bfe"]).read_bytes(), agent_files=agent_files_of(path), name=path.name
    )
    assert [(agent["id"], agent["linked_by"]) for agent in manifest["subagents"]] == [
        ("a93ccab", "result"),
        ("aa84377", "result"),
    ]

    data = by_name["fe5e1c67"].read_bytes()
    events, manifest = parser.parse(data)
    sidechain = {number for number, line in enumerate(data.split(b"\n"), 1) if b'"isSidechain":true' in line}
    assert len(sidechain) == 405
    assert not sidechain & {event["line"] for event in events}
    assert [agent["linked_by"] for agent in manifest["subagents"]] == ["prompt"] * 5
    assert sum(agent["events"] for agent in manifest["subagents"]) > 200
    refs = [reference for event in events for reference in event.get("subagent_refs", [])]
    assert [reference["linked_by"] for reference in refs] == ["prompt"] * 5


def shuffled(line: bytes, seed: int) -> bytes:
    """The line with the members of its root in another order."""
    entry = json.loads(line)
    if not isinstance(entry, dict):
        return line
    members = list(entry.items())
    random.Random(seed).shuffle(members)
    return json.dumps(dict(members), separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def mutated(lines: list[bytes], at: int, kind: str, cut: int, seed: int) -> list[bytes]:
    """The lines with one of them damaged or rewritten."""
    line, other = lines[at], lines[seed % len(lines)]
    piece = line[: 1 + cut % len(line)]
    changed = {
        "cut": [piece],
        "glued": [piece + other],
        "glued after a record": [line + piece + other],
        "joined": [line + other],
        "joined with NULs": [line + b"\0\0" + other],
        "NULs before": [b"\0" * (1 + seed % 9) + line],
        "NULs after": [line + b"\0" * (1 + seed % 9)],
        "twice": [line, line],
        "keys": [shuffled(line, seed)],
        "gone": [],
    }
    return [*lines[:at], *changed[kind], *lines[at + 1 :]]


KINDS = [
    "cut", "glued", "glued", "glued", "glued after a record", "joined", "joined with NULs", "NULs before",
    "NULs after", "twice", "keys", "gone",
]  # fmt: skip
# Enough lines around the damaged one that queue, calls and results still meet.
NEIGHBOURS = 20


@given(data=st.data())
def test_property_mutated_real_lines(samples: list[Path], data: st.DataObject) -> None:
    lines = data.draw(st.sampled_from(samples)).read_bytes().rstrip(b"\n").split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    near = lines[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
    kind = data.draw(st.sampled_from(KINDS))
    cut, seed = data.draw(st.integers(0, 200_000)), data.draw(st.integers(0, 1000))
    changed = mutated(near, min(at, NEIGHBOURS), kind, cut, seed)
    session = b"\n".join(changed) + data.draw(st.sampled_from([b"\n", b""]))
    assert_equal(parse(session), parser.parse(session))


# ---------------------------------------------------------------- anything at all

BEFORE = b'{"type":"user","uuid":"u-before","message":{"content":"the line before"}}\n'
BEHIND = b'\n{"type":"user","uuid":"u-behind","message":{"content":"the line behind"}}\n'


def assert_neighbours_are_kept(middle: bytes) -> None:
    """Whatever stands in a line, the lines around it are read, and nothing but a `RetellError` comes out."""
    product = parse(BEFORE + middle + BEHIND)
    assert product is not None
    said = [event["says"] for event in product[0]]
    assert "the line before" in said
    assert "the line behind" in said
    assert product[1]["source"]["lines"] == 3 + middle.count(b"\n")


@given(st.binary(max_size=300))
def test_property_any_bytes_cost_no_neighbour(middle: bytes) -> None:
    assert_neighbours_are_kept(middle)


@given(st.text(alphabet='{}[]":,\\ \0tnu1-"type"parentUuid\n', max_size=80).map(str.encode))
def test_property_any_brackets_cost_no_neighbour(middle: bytes) -> None:
    assert_neighbours_are_kept(b'{"type":"' + middle)
    assert_neighbours_are_kept(middle)


# Ids of their own: a drawn entry that flips into a neighbour's id would rightly be the one that is dropped.
@given(strategies.entry_lists(max_scenes=2), st.data())
def test_property_flipped_bytes_cost_no_neighbour(entries: list[Json], data: st.DataObject) -> None:
    line = bytearray(b"\n".join(strategies.as_the_client_writes(entry) for entry in entries))
    for _ in range(data.draw(st.integers(1, 4))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    assert_neighbours_are_kept(bytes(line))


@given(st.binary(max_size=200))
def test_property_any_bytes_alone_are_an_answer_or_a_retell_error(data: bytes) -> None:
    with contextlib.suppress(retell_fast.RetellError):
        parse(data)
