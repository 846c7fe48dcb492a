"""events.json and manifest.json are what their schemas say, and the schemas refuse anything else."""

from __future__ import annotations

import copy
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.support.checkout import DEMO, SAMPLES

import retell_fast

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS = jsonschema.Draft202012Validator(retell_fast.schema("events"))
MANIFEST = jsonschema.Draft202012Validator(
    retell_fast.schema("manifest"), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)


def sessions() -> Iterator[Any]:
    yield pytest.param(DEMO, id="demo")
    for path in sorted((DEMO.parent).glob("*.jsonl")):
        if path != DEMO:
            yield pytest.param(path, id=path.stem)
    for path in sorted((SAMPLES / "claude-code").rglob("*.jsonl")):
        if "subagents" not in path.parts and "records" not in path.parts:
            yield pytest.param(path, id=f"sample-{path.stem}")


def written(session: Path, folder: Path, *, include_subagents: bool) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        try:
            conversation = retell_fast.parse(session, include_subagents=include_subagents)
        except retell_fast.NoConversationError as error:
            pytest.skip(f"no conversation: {error}")
    conversation.write(folder)
    return tuple(
        json.loads((folder / name).read_text(encoding="utf-8")) for name in ("events.json", "manifest.json")
    )


@pytest.mark.parametrize("include_subagents", [False, True], ids=["alone", "with-subagents"])
@pytest.mark.parametrize("session", list(sessions()))
def test_what_is_written_fits_the_schemas(session: Path, include_subagents: bool, tmp_path: Path) -> None:  # noqa: FBT001
    events, manifest = written(session, tmp_path / "out", include_subagents=include_subagents)
    EVENTS.validate(events)
    MANIFEST.validate(manifest)
    assert manifest["total_events"] == len(events)
    assert [event["index"] for event in events] == list(range(len(events)))


def test_what_python_gives_fits_the_schemas() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        conversation = retell_fast.parse(DEMO, include_subagents=True)
    EVENTS.validate([event.to_dict() for event in conversation.events])
    MANIFEST.validate(conversation.manifest)


@pytest.mark.parametrize("name", ["events", "manifest"])
def test_the_schemas_are_schemas(name: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(retell_fast.schema(name))


def test_there_are_two_schemas() -> None:
    assert retell_fast.schema() == retell_fast.schema("events")
    with pytest.raises(ValueError, match="drawings"):
        retell_fast.schema("drawings")  # type: ignore[arg-type]


def test_the_caller_may_change_a_schema() -> None:
    retell_fast.schema("events").clear()
    assert retell_fast.schema("events")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object within a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("name", ["events", "manifest"])
def test_every_object_is_closed_and_every_field_described(name: Any) -> None:
    for described in objects(retell_fast.schema(name)):
        assert "additionalProperties" in described
        assert described["additionalProperties"] is not True
        assert described["description"]
        for field, meaning in described.get("properties", {}).items():
            assert meaning.get("description"), field


USER: dict[str, Any] = {
    "index": 0,
    "timestamp": "2026-02-10T09:14:03.120Z",
    "role": "user",
    "says": "why",
    "session_break": False,
    "continuation_summary": "",
    "uuid": "u",
    "line": 1,
    "offset": 0,
    "length": 10,
}
ASSISTANT: dict[str, Any] = {
    "index": 1,
    "timestamp": "",
    "role": "assistant",
    "says": "so",
    "thinks": "hm",
    "tools": ["Bash"],
    "uuid": "a",
    "message_id": "m",
    "line": 2,
    "offset": 11,
    "length": 10,
}
REF: dict[str, Any] = {
    "tool_use_id": "t",
    "id": None,
    "description": "look",
    "prompt": "look",
    "total_tokens": None,
    "tool_uses": None,
    "duration_ms": None,
    "signal_tokens_estimate": None,
    "linked_by": None,
}


@pytest.mark.parametrize(
    "event",
    [
        USER,
        ASSISTANT,
        {**USER, "session_break": True, "boundary": ["session_change", "compaction"]},
        {
            **ASSISTANT,
            "session_break": True,
            "boundary": ["compaction"],
            "duration_ms": 3,
            "interrupted": True,
        },
        {**ASSISTANT, "subagent_refs": [{**REF, "events": [USER, {**ASSISTANT, "subagent_refs": [REF]}]}]},
    ],
)
def test_events_as_they_should_be(event: dict[str, Any]) -> None:
    EVENTS.validate([event])


@pytest.mark.parametrize(
    "event",
    [
        {**USER, "mood": "good"},
        {**USER, "role": "system"},
        {**USER, "message_id": "m"},
        {**USER, "thinks": "hm"},
        {**USER, "session_break": True},
        {**USER, "boundary": ["compaction"]},
        {**USER, "source": "spoken"},
        {**USER, "line": 0},
        {**ASSISTANT, "session_break": False},
        {**ASSISTANT, "continuation_summary": ""},
        {**ASSISTANT, "tools": []},
        {**ASSISTANT, "interrupted": False},
        {**ASSISTANT, "subagent_refs": [{**REF, "events": [{**USER, "mood": "good"}]}]},
        {key: value for key, value in USER.items() if key != "session_break"},
        {key: value for key, value in ASSISTANT.items() if key != "message_id"},
    ],
)
def test_events_as_they_should_not_be(event: dict[str, Any]) -> None:
    assert not EVENTS.is_valid([event])


def test_secrets_are_found_in_every_field(tmp_path: Path) -> None:
    def secret(number: int) -> str:
        return f"ghp_{number:02}" + "a1B2c3D4" * 5

    call = {"description": secret(3), "prompt": secret(4), "subagent_type": "Explore"}
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": secret(1)}},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "id": "m",
                "content": [
                    {"type": "thinking", "thinking": secret(2)},
                    {"type": "tool_use", "id": "t", "name": "Task", "input": call},
                    {"type": "tool_use", "id": "p", "name": "ExitPlanMode", "input": {"plan": secret(9)}},
                ],
            },
        },
        {"type": "custom-title", "customTitle": secret(5)},
        {"type": "last-prompt", "lastPrompt": secret(6)},
        {"type": "summary", "summary": secret(7), "leafUuid": "u"},
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "q", "content": ""}],
            },
            "toolUseResult": {"answers": {secret(10): "the first"}},
        },
    ]
    for number, line in enumerate(lines):
        line |= {"uuid": f"u{number}", "sessionId": "s", "timestamp": f"2026-02-10T09:14:0{number}.000Z"}
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    agents = tmp_path / "s" / "subagents"
    agents.mkdir(parents=True)
    said = {"role": "assistant", "id": "n", "content": [{"type": "text", "text": secret(8)}]}
    bridge = {**lines[1], "isSidechain": True, "agentId": "acompact-1", "message": said, "uuid": "v"}
    (agents / "agent-acompact-1.jsonl").write_text(f"{json.dumps(bridge)}\n", encoding="utf-8")

    _, manifest = written(path, tmp_path / "out", include_subagents=False)
    MANIFEST.validate(manifest)
    found = {(each["field"], each["event"], each["line"]) for each in manifest["pii_warnings"]}
    assert found == {
        ("says", 0, 1),
        ("thinks", 1, 2),
        ("plan", 1, 2),
        ("questions", 2, 6),
        ("subagent_refs.description", 1, 2),
        ("subagent_refs.prompt", 1, 2),
        ("title", None, None),
        ("last_prompt", None, None),
        ("summaries", None, None),
        ("chapter_bridges", None, None),
    }
    assert {each["preview"] for each in manifest["pii_warnings"]} == {"ghp_… (46 characters)"}


def test_the_manifest_refuses_what_it_does_not_describe() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        manifest = retell_fast.parse(DEMO).manifest
    MANIFEST.validate(manifest)
    assert not MANIFEST.is_valid({**manifest, "mood": "good"})
    for field in manifest:
        without = copy.deepcopy(manifest)
        del without[field]
        assert not MANIFEST.is_valid(without), field
    misplaced = {"id": "a", "file": None, "events": [{**USER, "mood": "good"}]}
    assert not MANIFEST.is_valid({**manifest, "unlinked_subagents": [misplaced]})
