"""simdjson as a second opinion: types and words of whole lines are those that an independent parser reads."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import claude as strategies
from tests.twin.lines import trim

simdjson = pytest.importorskip("simdjson")
retell_fast = pytest.importorskip("retell_fast", exc_type=ImportError)

if TYPE_CHECKING:
    from pathlib import Path


def conversation_of(data: bytes) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        return retell_fast.parse(data, agent="claude-code", allow_unknown=True)


def read_by_simdjson(line: bytes) -> Any:
    """The root of a line, `None` when simdjson refuses it (lone surrogates, for one) or it is no object."""
    try:
        root = simdjson.Parser().parse(line.strip(b" \t\r"), recursive=True)
    except (ValueError, RuntimeError):
        return None
    return root if isinstance(root, dict) else None


def type_of(root: dict[str, Any]) -> str:
    kind = root.get("type")
    return kind[:100] if isinstance(kind, str) else "(none)"


def test_real_lines_are_of_the_type_that_simdjson_reads(samples: list[Path]) -> None:
    for path in samples:
        lines = [line for line in path.read_bytes().split(b"\n") if read_by_simdjson(line) is not None]
        expected = Counter(type_of(read_by_simdjson(line)) for line in lines)
        if not {"user", "assistant"} & set(expected):
            continue
        try:
            manifest = conversation_of(b"\n".join(lines) + b"\n").manifest
        except retell_fast.NoConversationError:
            continue
        assert {kind: entry["count"] for kind, entry in manifest["entries"].items()} == expected
        assert sum(entry["bytes"] for entry in manifest["entries"].values()) == sum(map(len, lines))


ANCHOR = b'{"type":"user","uuid":"anchor","message":{"content":"somebody speaks"}}\n'


@given(strategies.sessions(with_damage=False))
def test_property_drawn_lines_are_of_the_type_that_simdjson_reads(data: bytes) -> None:
    # A byte-order mark is one only at the beginning of a file.
    lines = [
        line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if read_by_simdjson(line) is not None
    ]
    expected = Counter(type_of(read_by_simdjson(line)) for line in lines) + Counter(["user"])
    manifest = conversation_of(ANCHOR + b"\n".join(lines) + b"\n").manifest
    assert {kind: entry["count"] for kind, entry in manifest["entries"].items()} == expected
    assert manifest["damaged_lines"] == []
    assert manifest["incomplete_tail"] is None


# Nothing in these texts is taken off by the rules for human words, so that they come out as they went in.
said = st.text(
    alphabet=st.characters(exclude_characters="<[", exclude_categories=["Cs"]), min_size=1, max_size=60
)


@given(st.lists(said.filter(trim), min_size=1, max_size=6), st.data())
def test_property_words_are_those_that_simdjson_reads(texts: list[str], data: st.DataObject) -> None:
    texts = [text.replace(strategies.NOT_UTF8, "x") for text in texts]
    lines = [
        strategies.encode(
            {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}},
            data.draw(strategies.styles),
        )
        for text in texts
    ]
    roots = [read_by_simdjson(line) for line in lines]
    assert None not in roots
    events = conversation_of(b"\n".join(lines) + b"\n").events
    assert [event.says for event in events] == [trim(root["message"]["content"][0]["text"]) for root in roots]
