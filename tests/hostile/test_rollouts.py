"""Hard places of Codex rollouts: records out of order, and more of them than any session has."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.strategies.claude_entries import png
from tests.strategies.codex_words import E, I, R
from tests.support import agreement
from tests.twin import parser

if TYPE_CHECKING:
    from collections.abc import Callable

retell_fast = pytest.importorskip("retell_fast", exc_type=ImportError)

Json = dict[str, Any]
Reading = tuple[list[Json], Json]

TIME = "2026-03-01T08:00:00.000Z"
META = {"type": "session_meta", "payload": {"id": "boat", "cwd": "/boats", "cli_version": "0.150.0"}}
PICTURE = base64.b64encode(png(1)).decode()


def rollout(*records: Json) -> bytes:
    return b"".join(json.dumps({"timestamp": TIME, **record}).encode() + b"\n" for record in [META, *records])


def read_with_product(data: bytes) -> Reading:
    product = agreement.parse(data, agent="codex")
    assert product is not None
    return product


def read_with_twin(data: bytes) -> Reading:
    return parser.parse(data, agent="codex")


READERS = [
    pytest.param(read_with_product, id="product"),
    pytest.param(read_with_twin, id="twin"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "end",
    [
        E("image_generation_end", call_id="ig", result=PICTURE),
        I("ImageGeneration", id="ig", result=PICTURE),
        I("extension", id="ig", result=PICTURE),
    ],
)
@pytest.mark.parametrize("spoken", [[], [E("agent_message", message="At once.")]])
def test_an_image_told_before_its_call_is_shown_once(
    end: Json, spoken: list[Json], read: Callable[[bytes], Reading]
) -> None:
    call = R("image_generation_call", id="ig", status="completed", result=PICTURE)
    asked = E("user_message", message="Draw a reef.")
    events, manifest = read(rollout(asked, *spoken, end, call, E("agent_message", message="Here.")))
    shown = [event.get("screenshots") for event in events]
    picture = {
        "filename": f"screenshot-00{1 + len(spoken)}-0.png",
        "description": "Screenshot from image_generation",
        "media_type": "image/png",
    }
    assert [screenshots for screenshots in shown if screenshots] == [[picture]]
    assert events[1 + len(spoken)]["screenshots"] == [picture]
    assert manifest["images_not_extracted"] == []


@pytest.mark.parametrize("read", READERS)
def test_a_server_s_call_told_before_its_item_is_one_call(read: Callable[[bytes], Reading]) -> None:
    result = {"Ok": {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}}
    end = E("mcp_tool_call_end", call_id="c", invocation={"server": "reef", "tool": "look"}, result=result)
    call = R("function_call", name="look", namespace="mcp__reef", call_id="c", arguments='{"url":"u"}')
    events, _ = read(rollout(E("user_message", message="Look."), end, call))
    assert [event.get("tools") for event in events] == [None, ["mcp__reef__look"]]
    shown = [picture["description"] for picture in events[1]["screenshots"]]
    assert shown == ["Screenshot from mcp__reef__look (u)"]


@pytest.mark.parametrize("read", READERS)
def test_turns_are_taken_back_over_those_taken_back_before(read: Callable[[bytes], Reading]) -> None:
    def said(*words: str) -> list[Json]:
        return [E("user_message", message=word) for word in words]

    one, two = (E("thread_rolled_back", num_turns=turns) for turns in (1, 2))
    data = rollout(
        *said("a", "b", "c"), one, *said("d"), one, *said("e"), two, *said("f", "g"), one, one, *said("h")
    )
    events, _ = read(data)
    back = [event["says"] for event in events if event.get("rolled_back")]
    assert (back, [event["says"] for event in events]) == (list("bcdefg"), list("abcdefgh"))


def test_many_turns_are_taken_back_one_by_one() -> None:
    count = 40_000
    records = [E("user_message", message="again")] * count + [E("thread_rolled_back", num_turns=1)] * (
        count - 1
    )
    events, _ = read_with_product(rollout(*records))
    assert [bool(event.get("rolled_back")) for event in events] == [False] + [True] * (count - 1)


def test_a_line_of_many_joined_records_is_read() -> None:
    noise = json.dumps({"timestamp": TIME, **E("token_count", info=None)}).encode()
    output = json.dumps({"timestamp": TIME, **R("function_call_output", call_id="c", output="x")}).encode()
    count = 60_000
    for record in (noise, output):
        data = rollout(E("user_message", message="before"))
        data += record * count + b"\n" + rollout(E("user_message", message="behind"))
        events, manifest = read_with_product(data)
        assert [event["says"] for event in events] == ["before", "behind"]
        name = next(name for name in manifest["entries"] if name.endswith(("token_count", "_output")))
        assert manifest["entries"][name]["count"] == count


def test_a_message_of_many_images_shows_each_once() -> None:
    count = 20_000
    images = [base64.b64encode(b"GIF89a%08d" % number).decode() for number in range(count)]
    addresses = [f"data:image/gif;base64,{image}" for image in [*images, *images]]
    events, _ = read_with_product(rollout(E("user_message", message="look", images=addresses)))
    assert len(events[0]["screenshots"]) == count


@pytest.mark.parametrize("read", READERS)
def test_a_fork_is_known_behind_long_instructions(read: Callable[[bytes], Reading]) -> None:
    meta = {"type": "session_meta", "payload": {"id": "boat", "base_instructions": "x" * 1_200_000}}
    meta["payload"] = {**meta["payload"], "forked_from_id": "ship"}  # type: ignore[dict-item]
    counts = [E("token_count", info=None)] * 2
    copied = [E("user_message", message="copied"), *counts]
    lines = [json.dumps({"timestamp": TIME, **record}) for record in [meta, *copied]]
    own = json.dumps({"timestamp": "2026-03-01T09:00:00.000Z", **E("user_message", message="own")})
    events, manifest = read("\n".join([*lines, own, ""]).encode())
    assert [event["says"] for event in events] == ["own"]
    assert manifest["inherited_records"] == len(copied)


@pytest.mark.parametrize("read", READERS)
def test_inherited_words_without_a_time_are_counted(read: Callable[[bytes], Reading]) -> None:
    words = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    bare = [
        {"id": "boat", "instructions": None},
        {**words, "metadata": {"inherited_user_message": True}},
        words,
    ]
    events, manifest = read("".join(json.dumps(record) + "\n" for record in bare).encode())
    assert [event["says"] for event in events] == ["hi"]
    assert manifest["inherited_records"] == 1


def test_a_wrong_agent_is_no_unknown_one() -> None:
    data = rollout(E("user_message", message="hi"))
    with pytest.raises(retell_fast.NoConversationError) as raised:
        retell_fast.parse(data, agent="claude-code")
    assert raised.value.hint == (
        "none of these types is known of claude-code: leave the agent out to have it recognised"
    )


def item(role: str, text: str, **body: Any) -> Json:
    kind = "input_text" if role == "user" else "output_text"
    return R("message", role=role, content=[{"type": kind, "text": text}], **body)


@pytest.mark.parametrize("read", READERS)
def test_what_was_said_before_events_were_written_is_kept(read: Callable[[bytes], Reading]) -> None:
    injected = item("user", "<environment_context>x</environment_context>")
    talk = [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]
    old = [injected, *(item(*said) for said in talk)]
    new = [
        item("user", "e"),
        E("user_message", message="e"),
        E("agent_message", message="f"),
        item("assistant", "f"),
    ]
    events, _ = read(rollout(*old, injected, *new))
    assert "".join(event["says"] for event in events) == "abcdef"


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("end", ["turn_aborted", "task_complete", "task_started"])
def test_an_image_of_one_turn_is_not_the_next_one_s(end: str, read: Callable[[bytes], Reading]) -> None:
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"}
    seen = R("message", role="user", content=[picture])
    call = R("function_call", name="view_image", call_id="v", arguments="{}")
    first = [E("user_message", message="Look."), call, seen, E(end)]
    events, _ = read(rollout(*first, item("user", "Next."), E("user_message", message="Next.")))
    assert [len(event.get("screenshots", [])) for event in events] == [0, 1, 0]


def test_a_document_with_a_character_too_many_is_read() -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    data = json.dumps(
        {"session": {"id": "boat", "timestamp": TIME}, "items": [item, 7, [1], item]}, indent=1
    ).encode()
    whole = read_with_product(data)
    assert [event["says"] for event in whole[0]] == ["hi", "hi"]
    for at in range(len(data)):
        for more in (b"{", b"}", b"[", b"]", b'"', b",", b"\\", b"\0"):
            read = agreement.parse(data[:at] + more + data[at:], agent="codex")
            assert read is None or read[1]["source"]["bytes"] == len(data) + 1


@pytest.mark.parametrize("read", READERS)
def test_an_answer_with_another_record_joined_to_it_is_told(read: Callable[[bytes], Reading]) -> None:
    asked = R("function_call", name="request_user_input", call_id="c", arguments="{}")
    answers = json.dumps({"answers": {"q": {"answers": ["the red one"]}}})
    answered = R("function_call_output", call_id="c", output=answers)
    data = rollout(
        E("user_message", message="Paint it."), asked, answered, E("agent_message", message="Red.")
    )
    lines = data.splitlines(keepends=True)
    lines[-2] = lines[-2].rstrip()
    events, manifest = read(b"".join(lines))
    assert [event["says"] for event in events] == ["Paint it.", "", "the red one", "Red."]
    assert [damage["reason"] for damage in manifest["damaged_lines"]] == ["joined_records"]
