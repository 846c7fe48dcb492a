"""The manifest of the slow twin: what is counted and gathered in the same way for every agent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tests.twin.agents import (
    Agent,
    describe_agent,
    fill_usage,
    hangs_on_nothing,
    include,
    link,
    signal_bytes,
)
from tests.twin.lines import INVALID, File, Json, Record, piece
from tests.twin.story import Story
from tests.twin.words import name_pictures


def count_entries(records: Iterable[Record]) -> dict[str, Json]:
    """Per type: how many records and how many bytes."""
    counts: dict[str, Json] = {}
    for record in records:
        count = counts.setdefault(record.type, {"count": 0, "bytes": 0})
        count["count"] += 1
        count["bytes"] += record.length
    return counts


def count_unknown(records: Iterable[Record]) -> dict[str, Json]:
    """Per unknown type: how many records, and the line of the first."""
    counts: dict[str, Json] = {}
    for record in records:
        if record.kind == "unknown":
            counts.setdefault(record.type, {"count": 0, "first_line": record.line})["count"] += 1
    return counts


def distinct(values: Iterable[Any]) -> list[Any]:
    """The values that say something, each once, in the order of their first coming."""
    found: list[Any] = []
    for value in values:
        if value and value not in found:
            found.append(value)
    return found


def invalid_utf8(story: Story) -> list[Json]:
    """The records whose words held bytes that are no UTF-8: read, and reported."""
    found = []
    for event in story.events:
        if INVALID in event.decoded:
            here = event.stands_at
            damaged = piece(here.line, here.offset, here.length)
            found.append({**damaged, "reason": "invalid_utf8", "recovered": True})
    return found


def assemble(
    story: Story, agents: list[Agent], file: File, *, include_subagents: bool
) -> tuple[list[Json], Json]:
    """The events, with the agents linked to their calls, and what of the manifest follows from the stories.

    Lines of the session's own file are those of its story and of the agents that stand inline.
    """
    filenames: dict[bytes, str] = {}
    agents = sorted(agents, key=lambda agent: (agent.story.first_timestamp, agent.id))
    stories = [story, *(agent.story for agent in agents)]
    calls = [call for teller in stories for call in teller.agent_calls]
    fill_usage(calls, stories)
    link(agents, calls, [run for teller in stories for run in teller.workflow_runs])
    name_pictures(story.events, "", filenames)
    for agent in agents if include_subagents else []:
        name_pictures(agent.story.events, f"{re.sub('[^A-Za-z0-9_@-]', '_', agent.id)}-", filenames)
    own_stories = [story, *(agent.story for agent in agents if agent.inline)]
    events = include(agents, story) if include_subagents else [event.to_dict() for event in story.events]
    damage = file.damage + [damaged for told in own_stories for damaged in invalid_utf8(told)]
    lost = [image for told in own_stories for image in told.images_not_extracted]
    bytes_ = signal_bytes(story)
    manifest = {
        "total_events": len(events),
        "dead_events": sum(not event.live for event in story.events),
        "main_signal_bytes": bytes_,
        "main_signal_tokens_estimate": bytes_ // 4,
        "total_signal_tokens_if_all_subagents": bytes_ // 4 + sum(agent.signal_tokens() for agent in agents),
        "subagents": [describe_agent(agent) for agent in agents],
        "unlinked_subagents": [agent.id for agent in agents if hangs_on_nothing(agent, agents, story)],
        "screenshots_extracted": len(filenames),
        "images_not_extracted": sorted(lost, key=lambda image: image["offset"]),
        "entries": count_entries(file.records),
        "unknown_entries": count_unknown(file.records),
        "damaged_lines": sorted(damage, key=lambda damaged: damaged["offset"])[:1000],
        "damaged_lines_total": len(damage),
        "incomplete_tail": file.incomplete_tail,
        "compactions": story.compactions,
    }
    return events, manifest
