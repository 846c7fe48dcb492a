"""Where agents keep images, one row for each shape that is known: they come out, and go back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.images.test_codec import KNOWN, codec
from tests.strategies.images import encode, image

PNG, JPG = encode(image("png", 500)).decode(), encode(image("jpg", 501)).decode()
# The declared type is often wrong: every one here is.
SOURCE = {"type": "base64", "media_type": "image/gif", "data": PNG}
BLOCK = {"type": "image", "source": SOURCE}
URI = f"data:image/webp;base64,{JPG}"
MCP = {"type": "image", "data": PNG, "mimeType": "image/gif"}
INLINE = {"inlineData": {"mimeType": "image/gif", "data": PNG}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "x"}, BLOCK]}


def codex(kind: str, **payload: Any) -> Any:
    return {"timestamp": "2026-02-10T09:14:03.120Z", "type": kind, "payload": payload}


SHAPES: list[tuple[str, str, Any, int]] = [
    ("claude-code", "a pasted image", {"type": "user", "message": {"content": [BLOCK]}}, 1),
    ("claude-code", "a tool result", {"type": "user", "message": {"content": [RESULT]}}, 1),
    ("claude-code", "its mirror", {"toolUseResult": {"type": "image", "file": {"base64": PNG}}}, 1),
    ("claude-code", "a mirror that is a list", {"toolUseResult": [BLOCK]}, 1),
    ("claude-code", "a progress copy", {"type": "progress", "data": {"message": {"content": [RESULT]}}}, 1),
    ("claude-code", "a queued prompt", {"type": "queue-operation", "content": [BLOCK]}, 1),
    (
        "claude-code",
        "a queued command",
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": [BLOCK]}},
        1,
    ),
    ("claude-code", "a file", {"attachment": {"type": "file", "content": {"source": SOURCE}}}, 1),
    (
        "claude-code",
        "an attached file that is read like by the tool",
        {
            "attachment": {
                "type": "file",
                "content": {"type": "image", "file": {"base64": PNG, "type": "image/png"}},
            }
        },
        1,
    ),
    (
        "claude-code",
        "a subagent's progress",
        {
            "type": "progress",
            "data": {"type": "agent_progress", "message": {"message": {"content": [RESULT]}}},
        },
        1,
    ),
    ("claude-code", "an MCP tool's mirror", {"toolUseResult": {"content": [MCP]}}, 1),
    (
        "claude-code",
        "a document",
        {
            "message": {
                "content": [
                    {
                        "type": "document",
                        "source": {
                            "type": "base64",
                            "media_type": "application/pdf",
                            "data": encode(b"%PDF-1.7" + bytes(200)).decode(),
                        },
                    }
                ]
            }
        },
        0,
    ),
    (
        "claude-code",
        "a signature",
        {"message": {"content": [{"type": "thinking", "thinking": "", "signature": "EqQBCkYI" + "Q" * 200}]}},
        0,
    ),
    (
        "claude-code",
        "a picture by its address",
        {
            "message": {
                "content": [{"type": "image", "source": {"type": "url", "url": "https://example.invalid"}}]
            }
        },
        0,
    ),
    (
        "claude-code",
        "both",
        {"message": {"content": [RESULT]}, "toolUseResult": {"file": {"base64": PNG}}},
        2,
    ),
    (
        "codex",
        "a message",
        codex("response_item", type="message", content=[{"type": "input_image", "image_url": URI}]),
        1,
    ),
    ("codex", "a user message", codex("event_msg", type="user_message", images=[URI, URI]), 2),
    (
        "codex",
        "an item",
        codex("event_msg", type="item_completed", item={"content": [{"image_url": URI}]}),
        1,
    ),
    (
        "codex",
        "a tool's output",
        codex(
            "response_item",
            type="function_call_output",
            output=[{"type": "input_image", "image_url": URI, "detail": "high"}],
        ),
        1,
    ),
    (
        "codex",
        "a custom tool's output",
        codex("response_item", type="custom_tool_call_output", output=[{"image_url": URI}]),
        1,
    ),
    (
        "codex",
        "printed",
        codex("response_item", type="function_call_output", output=f"<img {URI}>\n{URI}"),
        2,
    ),
    (
        "codex",
        "JSON in a string",
        codex("response_item", type="function_call_output", output=json.dumps({"image_url": URI})),
        1,
    ),
    ("codex", "a made picture", codex("response_item", type="image_generation_call", result=PNG), 1),
    ("codex", "its end", codex("event_msg", type="image_generation_end", result=PNG, saved_path="/a.png"), 1),
    (
        "codex",
        "an MCP tool's result",
        codex("event_msg", type="mcp_tool_call_end", result={"Ok": {"content": [MCP]}}),
        1,
    ),
    (
        "codex",
        "a compaction",
        codex("compacted", message="", replacement_history=[{"content": [{"image_url": URI}]}] * 3),
        3,
    ),
    (
        "codex",
        "the item of a made picture",
        codex("event_msg", type="item_completed", item={"type": "ImageGeneration", "result": PNG}),
        1,
    ),
    (
        "codex",
        "the item of an extension that makes pictures",
        codex("event_msg", type="item_completed", item={"type": "Extension", "item": {"result": PNG}}),
        1,
    ),
    (
        "codex",
        "the item of an MCP tool",
        codex(
            "event_msg",
            type="item_completed",
            item={"type": "McpToolCall", "result": {"content": [MCP, MCP]}},
        ),
        2,
    ),
    (
        "codex",
        "a legacy MCP tool's result as text",
        codex("response_item", type="function_call_output", output=json.dumps([MCP])),
        0,
    ),
    (
        "codex",
        "a tool's output that is kept as an object",
        codex("response_item", type="function_call_output", output={"content": [{"image_url": URI}]}),
        1,
    ),
    (
        "codex",
        "a fork's copy of all that was before",
        [
            codex("session_meta", id="0", forked_from_id="1"),
            codex("response_item", type="message", content=[{"type": "input_image", "image_url": URI}]),
            codex("response_item", type="image_generation_call", result=PNG),
        ],
        2,
    ),
    (
        "codex",
        "a picture by its path",
        codex("event_msg", type="item_completed", item={"type": "ImageView", "path": "/home/you/a.png"}),
        0,
    ),
    (
        "codex",
        "sound",
        codex(
            "response_item",
            type="message",
            content=[{"type": "input_audio", "audio_url": "data:audio/wav;base64," + "UklGRiQA" * 40}],
        ),
        0,
    ),
    ("codex", "an MCP result cut into text", codex("event_msg", text=json.dumps(MCP)[:200]), 0),
    (
        "codex",
        "encrypted",
        codex("response_item", type="reasoning", encrypted_content="gAAAAAB" + "Q" * 200),
        0,
    ),
    ("pi", "a message", {"type": "message", "message": {"role": "user", "content": [MCP]}}, 1),
    ("pi", "a tool result", {"type": "message", "message": {"role": "toolResult", "content": [MCP]}}, 1),
    ("openclaw", "a message", {"type": "message", "message": {"role": "toolResult", "content": [MCP]}}, 1),
    (
        "openclaw",
        "broken by its redactor",
        {"message": {"content": [{**MCP, "data": f"{PNG[:90]}\u2026{PNG[-90:]}"}]}},
        0,
    ),
    ("factory-droid", "a message", {"type": "message", "message": {"role": "user", "content": [BLOCK]}}, 1),
    (
        "factory-droid",
        "a tool result",
        {"type": "message", "message": {"role": "user", "content": [RESULT]}},
        1,
    ),
    ("openclaw", "a user's message", {"type": "message", "message": {"role": "user", "content": [MCP]}}, 1),
    (
        "gemini-cli",
        "a whole session",
        {"sessionId": "0", "messages": [{"type": "user", "content": [INLINE]}]},
        1,
    ),
    (
        "gemini-cli",
        "a tool's answer",
        {"content": [{"functionResponse": {"name": "read_file", "response": {}, "parts": [INLINE]}}]},
        1,
    ),
    (
        "qwen-code",
        "a tool's answer",
        {"message": {"parts": [{"functionResponse": {"name": "read_file", "parts": [INLINE]}}]}},
        1,
    ),
    ("gemini-cli", "a part", {"type": "user", "content": [INLINE]}, 1),
    ("gemini-cli", "set at once", {"$set": {"messages": [{"content": [INLINE]}, {"content": [INLINE]}]}}, 2),
    ("qwen-code", "a part", {"type": "user", "message": {"parts": [INLINE]}}, 1),
]


@pytest.mark.parametrize(("agent", "shape", "entry", "count"), SHAPES, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("spaced", [False, True])
def test_every_known_shape(agent: str, shape: str, entry: Any, count: int, spaced: bool) -> None:  # noqa: FBT001
    layout: dict[str, Any] = {"indent": 2} if spaced else {"separators": (",", ":")}
    transcript = json.dumps(entry, ensure_ascii=False, **layout).encode() + b"\n"
    rewritten, assets = codec(agent).extract_images(transcript)
    assert rewritten.count(b"retell-asset:assets/img-") == count, shape
    assert {asset.data for asset in assets} <= {image("png", 500), image("jpg", 501)}
    assert all(asset.name.endswith((".png", ".jpg")) for asset in assets)
    assert codec(agent).reinject_images(rewritten, {each.name: each.data for each in assets}) == transcript
    json.loads(rewritten)
    if not count:
        assert rewritten == transcript


def test_there_is_a_shape_for_every_agent() -> None:
    assert {agent for agent, *_ in SHAPES} == set(KNOWN)
