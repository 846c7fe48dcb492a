"""What the product makes of a session, and whether it is what the slow twin makes of it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tests.twin.lines import Json

retell_fast = pytest.importorskip("retell_fast", exc_type=ImportError)

# What of the manifest depends on neither clock nor path nor file system.
COMPARED = [
    "agent",
    "client_messages_dropped",
    "compactions",
    "continued_in",
    "dead_events",
    "duplicates_dropped",
    "entries",
    "images_not_extracted",
    "incomplete_turn",
    "incomplete_tail",
    "inherited_records",
    "last_prompt",
    "leaf_uuid",
    "main_signal_bytes",
    "main_signal_tokens_estimate",
    "origin",
    "pr_links",
    "project_path",
    "queued_undelivered",
    "screenshots_extracted",
    "session_ids",
    "sessions",
    "summaries",
    "title",
    "total_events",
    "total_signal_tokens_if_all_subagents",
    "versions",
]
SOURCE_COMPARED = ["bytes", "lines", "first_timestamp", "last_timestamp"]


def parse(
    source: Any, *, agent: str | None = None, include_subagents: bool = False
) -> tuple[list[Json], Json] | None:
    """What the product makes of a source; `None` when it says that nobody says anything in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        try:
            conversation = retell_fast.parse(
                source, agent=agent, include_subagents=include_subagents, allow_unknown=True
            )
        except (retell_fast.NoConversationError, retell_fast.InvalidInputError):
            return None
    return [event.to_dict() for event in conversation.events], conversation.manifest


def assert_equal(product: tuple[list[Json], Json] | None, twin: tuple[list[Json], Json]) -> None:
    """Fails at the first thing that differs, the events first."""
    expected_events, expected = twin
    if not expected_events:
        # An error, or the words of the sidechains when there are no others: shown by a test of its own.
        assert product is None or any(agent["events"] for agent in expected["subagents"])
        return
    assert product is not None
    events, manifest = product
    for event, expected_event in zip(events, expected_events, strict=False):
        assert event == expected_event
    assert len(events) == len(expected_events)
    for key in COMPARED:
        assert (key, manifest[key]) == (key, expected[key])
    # Those in the files of agents are listed as well; of a type that both have, the session's line is told.
    told, expected_told = manifest["unknown_entries"], expected["unknown_entries"]
    own_lines = {type_: seen["first_line"] for type_, seen in told.items() if "file" not in seen}
    assert own_lines == {type_: seen["first_line"] for type_, seen in expected_told.items()}
    if not expected["subagents"]:
        assert told == expected_told
    for key in SOURCE_COMPARED:
        assert (key, manifest["source"][key]) == (key, expected["source"][key])
    # Damage in the files of agents is listed there as well, with the file.
    damage = [damaged for damaged in manifest["damaged_lines"] if "file" not in damaged]
    assert damage == expected["damaged_lines"]
    if len(damage) == len(manifest["damaged_lines"]):
        assert manifest["damaged_lines_total"] == expected["damaged_lines_total"]
    agents = [
        {key: value for key, value in agent.items() if key != "file"} for agent in manifest["subagents"]
    ]
    assert agents == expected["subagents"]
    # Without their events they are not listed apart.
    if manifest["unlinked_subagents"]:
        assert [agent["id"] for agent in manifest["unlinked_subagents"]] == expected["unlinked_subagents"]
