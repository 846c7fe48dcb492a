"""The product equals its slow, obvious twin on Codex rollouts, damaged ones, and trees of threads."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import codex
from tests.strategies.codex import Tree
from tests.support.agreement import assert_equal, parse
from tests.twin import parser


@given(codex.rollouts(), st.booleans())
def test_property_drawn_rollouts(data: bytes, include_subagents: bool) -> None:  # noqa: FBT001
    product = parse(data, agent="codex", include_subagents=include_subagents)
    assert_equal(product, parser.parse(data, agent="codex", include_subagents=include_subagents))


@given(codex.rollouts())
def test_property_the_agent_is_recognised(data: bytes) -> None:
    assert_equal(parse(data), parser.parse(data))


@given(codex.rollouts(with_damage=True))
def test_property_damaged_rollouts(data: bytes) -> None:
    assert_equal(parse(data, agent="codex"), parser.parse(data, agent="codex"))


@given(codex.rollouts(), st.data())
def test_property_rollouts_that_are_cut_off(data: bytes, draw: st.DataObject) -> None:
    cut = data[: draw.draw(st.integers(0, len(data)))]
    assert_equal(parse(cut, agent="codex"), parser.parse(cut, agent="codex"))


@given(codex.documents())
def test_property_documents(data: bytes) -> None:
    assert_equal(parse(data, agent="codex"), parser.parse(data, agent="codex"))


@given(codex.trees(), st.booleans())
def test_property_threads_and_their_children(tree: Tree, include_subagents: bool) -> None:  # noqa: FBT001
    with tempfile.TemporaryDirectory() as home:
        root = Path(home) / "sessions"
        for path, data in tree.stored.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        product = parse(root / tree.path, agent="codex", include_subagents=include_subagents)
    twin = parser.parse(tree.thread, agent="codex", others=tree.others, include_subagents=include_subagents)
    assert_equal(product, twin)
    if product is not None and twin[0]:
        files = {agent["id"]: agent["file"] for agent in product[1]["subagents"]}
        # A record that says nothing of its thread's id may have been drawn.
        assert all(f"-{id_}.jsonl" in files[id_] and files[id_] in tree.stored for id_ in files if id_)
