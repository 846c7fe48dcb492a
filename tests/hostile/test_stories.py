"""Hard places of the story: copies, the queue, inline agents, evidence, pictures, for both readers."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.hostile.test_lines import READERS, Json, Reading, entry
from tests.strategies.claude_entries import image_block, png, text_block

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURE = image_block(base64.b64encode(png(0)).decode())
NO_PICTURE = image_block("@@@")
SUMMARY = "This session is being continued from a previous conversation that ran out of context."
SPOKEN = entry(type="assistant", uuid="spoken", message={"content": "first"})


def user(content: Any, uuid: str = "", **members: Any) -> bytes:
    return entry(type="user", uuid=uuid, message={"role": "user", "content": content}, **members)


def assistant(content: Any, uuid: str = "", **members: Any) -> bytes:
    return entry(type="assistant", uuid=uuid, message={"content": content}, **members)


def enqueue(content: Any) -> bytes:
    return entry(type="queue-operation", operation="enqueue", content=content)


def attached(prompt: Any) -> bytes:
    return entry(type="attachment", attachment={"type": "queued_command", "prompt": prompt})


DEQUEUE = entry(type="queue-operation", operation="dequeue")
REMOVE = entry(type="queue-operation", operation="remove")
SLASH = "<command-name>/reef</command-name><command-args></command-args>"


@dataclass
class Case:
    """Some entries behind one of the assistant, and what comes of them."""

    name: str
    lines: list[bytes]
    says: list[str] = field(default_factory=list)
    manifest: Json = field(default_factory=dict)


CASES = [
    # -- copies
    Case("an empty copy costs no words", [user("", "u"), user("hi", "u")], ["hi"], {"duplicates_dropped": 0}),
    Case(
        "an empty answer costs no words",
        [assistant([], "a"), assistant("hi", "a")],
        ["hi"],
        {"duplicates_dropped": 0},
    ),
    Case(
        "a result is something",
        [user([{"type": "tool_result"}], "u"), user("hi", "u")],
        [],
        {"duplicates_dropped": 1},
    ),
    Case(
        "a picture is something, whole or not",
        [user([NO_PICTURE], "u"), user("hi", "u")],
        [],
        {"duplicates_dropped": 1},
    ),
    # -- pictures that are none
    Case("only a picture that is none", [user([NO_PICTURE])], [], {"images_not_extracted": 1}),
    Case(
        "only a queued picture that is none", [enqueue([NO_PICTURE]), REMOVE], [], {"images_not_extracted": 1}
    ),
    Case(
        "a picture that is none and a picture",
        [user([NO_PICTURE, PICTURE])],
        [""],
        {"images_not_extracted": 1},
    ),
    # -- the queue
    Case(
        "a user line closes several dequeued",
        [*map(enqueue, ["one", "two", "three"]), DEQUEUE, DEQUEUE, user("one\ntwo"), user("later")],
        ["one\ntwo", "later"],
        {"queued_undelivered": 1},
    ),
    Case(
        "with nothing open no dequeue is left",
        [enqueue("one"), DEQUEUE, DEQUEUE, user("one"), enqueue("two"), user("later")],
        ["one", "later"],
        {"queued_undelivered": 1},
    ),
    Case(
        "a summary never was in the queue",
        [enqueue("one"), DEQUEUE, user(SUMMARY), user("one, and more")],
        ["", "one, and more"],
        {"queued_undelivered": 0},
    ),
    Case("markup closes no words", [enqueue("one"), DEQUEUE, user(SLASH)], [], {"queued_undelivered": 1}),
    Case(
        "words close no command",
        [enqueue("/reef"), enqueue("one"), DEQUEUE, user("rewritten")],
        ["rewritten"],
        {"queued_undelivered": 0},
    ),
    Case(
        "context around words that were delivered",
        [enqueue("one"), REMOVE, user("<system-reminder>tide</system-reminder>\none")],
        ["one"],
        {"queued_undelivered": 0},
    ),
    Case(
        "several texts delivered as one",
        [enqueue("one"), enqueue("two"), attached("one\ntwo"), REMOVE, REMOVE],
        ["one\ntwo"],
        {"queued_undelivered": 0},
    ),
    # -- several blocks of text
    Case(
        "a notification beside words",
        [user([text_block("<task-notification>done</task-notification>"), text_block("hi")])],
        ["hi"],
    ),
    Case(
        "a command over several blocks",
        [
            user(
                [
                    text_block("<command-name>/reef</command-name>"),
                    text_block("<command-args>two</command-args>"),
                ]
            )
        ],
        ["/reef two"],
    ),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_entries_behind_an_answer(case: Case, read: Callable[[bytes], Reading]) -> None:
    events, manifest = read(b"\n".join([SPOKEN, *case.lines]) + b"\n")
    assert [event["says"] for event in events] == ["first", *case.says]
    found = {key: manifest[key] for key in case.manifest}
    counted = {key: len(value) if isinstance(value, list) else value for key, value in found.items()}
    assert counted == case.manifest


# ---------------------------------------------------------------- inline agents


def inline(uuid: str, parent: str | None, agent: str | None = None) -> bytes:
    named = {"agentId": agent} if agent else {}
    return user(f"words of {uuid}", uuid, parentUuid=parent, isSidechain=True, **named)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([inline("a", None), inline("b", "a"), inline("c", None)], [("a", 2), ("c", 1)]),
        ([inline("a", None), inline("b", "dropped"), inline("c", "a")], [("a", 3)]),
        ([inline("a", "dropped"), inline("b", None), inline("c", "dropped")], [("a", 1), ("b", 2)]),
        ([inline("a", None, "k"), inline("b", "a"), inline("c", "b", "k")], [("k", 3)]),
        ([inline("a", None, "k"), inline("b", None, "m"), inline("c", "a")], [("k", 2), ("m", 1)]),
    ],
    ids=["roots", "an unknown parent", "nothing to go on", "an agent and its lines", "two agents"],
)
def test_groups_of_inline_lines(
    lines: list[bytes], expected: list[tuple[str, int]], read: Callable[[bytes], Reading]
) -> None:
    _, manifest = read(b"\n".join([SPOKEN, *lines]) + b"\n")
    assert sorted((agent["id"], agent["events"]) for agent in manifest["subagents"]) == expected


# ---------------------------------------------------------------- evidence

CALL = assistant([{"type": "tool_use", "id": "t", "name": "Agent", "input": {"prompt": "count"}}])
RESULT = user([{"type": "tool_result", "tool_use_id": "t", "content": "counted"}])
PROGRESS = entry(type="progress", parentToolUseID="t", data={"type": "agent_progress", "agentId": "k"})


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("lines", "linked_by"),
    [
        ([CALL, PROGRESS, RESULT], "progress"),
        ([CALL, PROGRESS], "progress"),
        ([CALL, RESULT, PROGRESS], None),
        ([PROGRESS, CALL, RESULT], None),
    ],
    ids=["before the result", "without a result", "behind the result", "before the call"],
)
def test_progress_tells_the_agent_of_an_open_call(
    lines: list[bytes], linked_by: str | None, read: Callable[[bytes], Reading]
) -> None:
    events, _ = read(b"\n".join([SPOKEN, *lines]) + b"\n")
    assert [ref["linked_by"] for event in events for ref in event.get("subagent_refs", [])] == [linked_by]


# ---------------------------------------------------------------- what is alive


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("client", [{"isApiErrorMessage": True}, {}], ids=["the client's", "the assistant's"])
def test_all_lines_of_an_answer_are_alive(client: Json, read: Callable[[bytes], Reading]) -> None:
    calls = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "mended", "is_error": True}]
    shared = {"id": "m", "content": [text_block("it is torn"), *calls]}
    lines = [
        user("mend it", "u", parentUuid=None),
        entry(type="assistant", uuid="left", parentUuid="u", message={"id": "m", "content": "at once"}),
        user([*result, text_block("thanks")], "answer", parentUuid="left"),
        user("or not", "v", parentUuid="u"),
        entry(type="assistant", uuid="last", parentUuid="v", message=shared, **client),
    ]
    events, _ = read(b"\n".join(lines) + b"\n")
    assert {event["uuid"]: event.get("live", True) for event in events}["left"]
    assert all(event.get("live", True) for event in events)
