"""The tree of a transcript in the slow twin: which entries are on a branch that was left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.twin.lines import Json, Record, mapping, string_of
from tests.twin.words import Event, blocks_of, content_blocks

IN_THE_TREE = {"user", "assistant", "progress", "system", "attachment"}
Entries = dict[str, Json]  # by uuid


def entries_of(records: Iterable[Record]) -> Entries:
    """The entries that take part, by their uuid; of equal ones the first counts."""
    entries: Entries = {}
    for record in records:
        uuid = string_of(record.entry, "uuid")
        if uuid and record.type in IN_THE_TREE:
            entries.setdefault(uuid, record.entry)
    return entries


def parent_of(uuid: str, entries: Entries) -> str | None:
    """The parent, when it is in the file."""
    parent = string_of(entries[uuid], "parentUuid")
    return parent if parent in entries else None


def path_up(uuid: str, entries: Entries) -> list[str]:
    """An entry and what is above it, up to the root, or once around a circle."""
    path: dict[str, None] = {}
    at: str | None = uuid
    while at is not None and at not in path:
        path[at] = None
        at = parent_of(at, entries)
    return list(path)


def roots_of(entries: Entries) -> dict[str, str]:
    """For every entry the root of its tree; in a circle the smallest uuid stands for one."""
    roots: dict[str, str] = {}
    for uuid in entries:
        path: dict[str, None] = {}
        at: str | None = uuid
        while at is not None and at not in path and at not in roots:
            path[at] = None
            at = parent_of(at, entries)
        if at is None:
            root = list(path)[-1]
        elif at in roots:
            root = roots[at]
        else:
            circle = list(path)
            root = min(circle[circle.index(at) :])
        roots.update(dict.fromkeys(path, root))
    return roots


def is_said(entry: Json) -> bool:
    """Whether an entry is one that a chain may end with."""
    return entry.get("type") in ("user", "assistant")


def chain_of(ends: list[str], entries: Entries) -> set[str] | None:
    """What is alive of the tree with these ends, `None` when nobody says anything in it."""
    order = {uuid: position for position, uuid in enumerate(entries)}
    leaf_of: dict[str, str] = {}
    for end in ends:
        said = (uuid for uuid in path_up(end, entries) if is_said(entries[uuid]))
        leaf = next(said, None)
        if leaf is not None:
            leaf_of[end] = leaf
    if not leaf_of:
        return None
    main = [
        leaf
        for leaf in leaf_of.values()
        if entries[leaf].get("isSidechain") is not True and entries[leaf].get("isMeta") is not True
    ]
    chosen = max(main or leaf_of.values(), key=order.__getitem__)
    alive: set[str] = set()
    for end in ends:
        if leaf_of.get(end) == chosen:
            alive.update(path_up(end, entries))
    return alive


def message_id(entry: Json) -> str:
    """The id that the lines of one answer share."""
    is_assistant = entry.get("type") == "assistant"
    return string_of(mapping(entry.get("message")), "id") if is_assistant else ""


def ids_in(entry: Json, type_: str, key: str) -> set[str]:
    """The ids of the blocks of a type in an entry."""
    return {string_of(block, key) for block in blocks_of(blocks_in(entry), type_)} - {""}


def blocks_in(entry: Json) -> list[Any]:
    """The blocks that an entry's message holds."""
    return content_blocks(mapping(entry.get("message")).get("content"))


def with_parallel_work(alive: set[str], entries: Entries) -> set[str]:
    """The chains with all lines of the answers on them, and the results of the tools those called."""
    answers = {message_id(entries[uuid]) for uuid in alive} - {""}
    lines = {uuid for uuid, entry in entries.items() if message_id(entry) in answers}
    calls = {id_ for uuid in lines for id_ in ids_in(entries[uuid], "tool_use", "id")}
    results = set()
    for uuid, entry in entries.items():
        answered = ids_in(entry, "tool_result", "tool_use_id")
        has_results = any(blocks_of(blocks_in(entry), "tool_result"))
        answers_one = parent_of(uuid, entries) in lines or answered & calls
        if entry.get("type") == "user" and has_results and answers_one:
            results.add(uuid)
    return alive | lines | results


def dead_uuids(records: Iterable[Record]) -> set[str]:
    """The uuids of the entries that are on branches that were left."""
    entries = entries_of(records)
    roots = roots_of(entries)
    parents = {parent_of(uuid, entries) for uuid in entries}
    ends: dict[str, list[str]] = {root: [] for root in roots.values()}
    for uuid in entries:
        if uuid not in parents:
            ends[roots[uuid]].append(uuid)
    chains = {root: chain_of(found, entries) for root, found in ends.items()}
    alive: set[str] = set()
    for uuid, root in roots.items():
        chain = chains[root]
        if chain is None or uuid in chain:
            alive.add(uuid)
    return set(entries) - with_parallel_work(alive, entries)


def mark_dead(events: Iterable[Event], records: Iterable[Record]) -> None:
    """Tells the events on branches that were left; one without uuid is as alive as the one before it."""
    dead = dead_uuids(records)
    live = True
    for event in events:
        live = event.uuid not in dead if event.uuid else live
        event.live = live
