"""The words, thoughts, tools and images of one Codex record."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests import naive_images
from tests.naive_codex_types import body_of, item_of, topic_of
from tests.naive_lines import Json, Record, clean, decode_or_none, mapping, string_of, trim
from tests.naive_words import ASCII_LOWER, content_blocks

# ---------------------------------------------------------------- the words of messages

MARKERS = (
    "<environment_context>", "<user_instructions>", "# agents.md instructions for ", "<skill>",
    "<user_shell_command>", "<turn_aborted>", "<subagent_notification>", "<plugins>", "<subagents>",
    "<recommended_plugins>", "<app-context>", "<apps_instructions>", "<multi_agent_role>",
    "<multi_agent_mode>", "<permissions instructions>", "<model_switch>", "<collaboration_mode>",
    "<personality_spec>", "<hook_prompt", "you are `/root`, the primary agent",
    "warning: apply_patch was requested via", "warning: the maximum number of unified exec processes",
    "warning: your account was flagged",
)  # fmt: skip
HUMAN_KINDS = ("", "unknown", "images.preparation_error", "images.unsupported", "audio.unsupported")
IMAGE_MARKUP = re.compile(r"</?(?:local_)?image[^<>]*>")
BROWSER_CONTEXT = re.compile("<in-app-browser-context>.*?</in-app-browser-context>", re.DOTALL)
REQUEST = re.compile("^## My request(?: for Codex)?:", re.MULTILINE)


@dataclass
class Message:
    """The words of one message: as they are said, and as they were written."""

    role: str
    says: str = ""
    written: str = ""
    images: list[Json] = field(default_factory=list)  # as image blocks
    aborts: bool = False  # whether the client says in it that the turn was aborted
    cwd: str = ""  # from the environment that the client describes in it

    @property
    def has_words(self) -> bool:
        """Whether it tells that the words of its role are recorded so; of the human's any record does."""
        return self.role == "user" or self.written != ""


def message_of(record: Record) -> Message | None:
    """The message that a record is, if it is one of the human's or of the assistant's."""
    body, content = body_of(record.entry), item_of(record.entry).get("content")
    recording, topic = topic_of(record)
    if topic == "message":
        topic = f"message of {string_of(body, 'role')}"
    readers: dict[tuple[str, str], Callable[[], Message | None]] = {
        ("E", "user_message"): lambda: user_event(body),
        ("E", "agent_message"): lambda: agent_message([string_of(body, "message")]),
        ("I", "UserMessage"): lambda: user_item(content_blocks(content)),
        ("I", "AgentMessage"): lambda: agent_message(texts_of(content)),
        ("R", "message of user"): lambda: user_message(body),
        ("O", "message of user"): lambda: user_message(body),
        ("R", "message of assistant"): lambda: agent_message(texts_of(body.get("content"))),
        ("O", "message of assistant"): lambda: agent_message(texts_of(body.get("content"))),
    }
    reader = readers.get((recording, topic))
    return reader() if reader else None


def agent_message(texts: list[str]) -> Message:
    """What the assistant says: all of it, as it was written."""
    written = joined(texts)
    return Message("assistant", written, written)


def user_event(body: Json) -> Message | None:
    """What an event says that the human said; kinds other than plain are not the human's."""
    if string_of(body, "kind") not in ("", "plain"):
        return None
    written, images = string_of(body, "message"), body.get("images")
    data = map(inline_image, images if isinstance(images, list) else [])
    return Message("user", request_of(written), written, [image for image in data if image])


def user_item(parts: list[Any]) -> Message:
    """The message of a completed item: nothing is injected there."""
    written = joined(texts_of(parts))
    return Message("user", request_of(written), written, images_of_parts(parts))


def user_message(body: Json) -> Message:
    """The message of an item with role user, without what the client injected into it."""
    parts = content_blocks(body.get("content"))
    kinds = mapping(body.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    told = kinds if isinstance(kinds, list) and len(kinds) == len(parts) else []
    message = Message("user", images=images_of_parts(parts))
    pieces = []
    for number, part in enumerate(parts):
        text = next(iter(texts_of([part])), "")
        begin = trim(text).translate(ASCII_LOWER)
        human = is_human_kind(told[number]) if told else not begin.startswith(MARKERS)
        if begin.startswith("<environment_context>"):
            cwd = re.search("<cwd>(.*?)</cwd>", text, re.DOTALL)
            message.cwd = message.cwd or (trim(cwd.group(1)) if cwd else "")
        if not human and begin.startswith("<turn_aborted>"):
            message.aborts = True
        if human and not IMAGE_MARKUP.fullmatch(trim(text)):
            pieces.append(text)
    message.written = joined(pieces)
    message.says = request_of(message.written)
    return message


def is_human_kind(kind: object) -> bool:
    """Whether a part of this kind is the human's."""
    if not isinstance(kind, str):
        return True
    return kind in HUMAN_KINDS or kind.startswith("user.")


def request_of(text: str) -> str:
    """What the human asked for, without what an editor wrapped around it."""
    text = BROWSER_CONTEXT.sub("", trim(text))
    found = REQUEST.search(text)
    return trim(text[found.end() :] if found else text)


def texts_of(content: object) -> list[str]:
    """The texts of the parts of a content; a bare string is a part of text."""
    texts = (part if isinstance(part, str) else mapping(part).get("text") for part in content_blocks(content))
    return [clean(text) for text in texts if isinstance(text, str)]


def joined(texts: list[str]) -> str:
    """The texts that are not blank, one to a line."""
    return "\n".join(text for text in texts if trim(text))


def squeezed(text: str) -> str:
    """The text without white space: by this the two recordings of one message are known."""
    return "".join(sign for sign in text if trim(sign))


# ---------------------------------------------------------------- thoughts


def thoughts_of(record: Record) -> str:
    """What a record of reasoning thinks in plain text."""
    recording, _ = topic_of(record)
    body, item = body_of(record.entry), item_of(record.entry)
    if recording == "E":
        return joined([string_of(body, "text")])
    if recording == "I":
        return joined(texts_of(item.get("summary_text"))) or joined(texts_of(item.get("raw_content")))
    return joined(texts_of(body.get("summary"))) or joined(texts_of(body.get("content")))


# ---------------------------------------------------------------- tools

TOOLS = {
    "local_shell_call": "local_shell",
    "web_search_call": "web_search",
    "tool_search_call": "tool_search",
    "image_generation_call": "image_generation",
}


@dataclass
class Tool:
    """A call of a tool."""

    id: str
    name: str  # with its namespace; "" when the call has no name
    plain_name: str
    arguments: Json  # of a function call
    is_function: bool = False


def tool_of(record: Record) -> Tool:
    """The tool that an item calls."""
    body, (_, topic) = body_of(record.entry), topic_of(record)
    name = TOOLS.get(topic) or string_of(body, "name")
    arguments = body.get("arguments")
    if isinstance(arguments, str):
        arguments = decode_or_none(trim(clean(arguments)), 0)
    is_function = topic in ("function_call", "custom_tool_call")
    namespace = string_of(body, "namespace") if is_function and name else ""
    full = f"{namespace.rstrip('_')}__{name.lstrip('_')}" if namespace else name
    asked = mapping(arguments) if topic == "function_call" else {}
    return Tool(call_id(body), full, name, asked, topic == "function_call")


def mcp_tool_of(record: Record) -> Tool:
    """The tool of a server that a record of its end names."""
    recording, _ = topic_of(record)
    body, item = body_of(record.entry), item_of(record.entry)
    named = item if recording == "I" else mapping(body.get("invocation"))
    server, tool = string_of(named, "server"), string_of(named, "tool")
    name = f"mcp__{server}__{tool}" if tool else ""
    return Tool(string_of(item, "id") if recording == "I" else string_of(body, "call_id"), name, tool, {})


def call_id(body: Json) -> str:
    """The id of a call, which its result names as well."""
    return string_of(body, "call_id") or string_of(body, "id")


# ---------------------------------------------------------------- images


def block(characters: str) -> Json:
    """Base64 as the image block that the story keeps."""
    return {"type": "image", "source": {"type": "base64", "data": characters}}


def inline_image(address: object) -> Json | None:
    """The image that stands in an address; other addresses only say where one is."""
    if not isinstance(address, str) or address[:5].translate(ASCII_LOWER) != "data:":
        return None
    mark = address.translate(ASCII_LOWER).find(";base64,")
    return block(address[mark + len(";base64,") :]) if mark >= 0 else None


def images_of_parts(parts: object) -> list[Json]:
    """The images under `image_url` of the parts."""
    addresses = [mapping(part).get("image_url") for part in parts] if isinstance(parts, list) else []
    found = map(inline_image, addresses)
    return [image for image in found if image]


def images_of_output(output: object) -> list[Json]:
    """The images in what a tool gave back: in parts, or in the text that it printed."""
    if isinstance(output, dict):
        output = output.get("content")
    if isinstance(output, str):
        return images_in_text(output)
    found: list[Json] = []
    for part in output if isinstance(output, list) else []:
        found += images_of_parts([part]) + bare_images([part])
    return found


def bare_images(parts: object) -> list[Json]:
    """The images of parts that hold nothing but their base64."""
    parts = map(mapping, parts if isinstance(parts, list) else [])
    return [block(part["data"]) for part in parts if part.get("type") == "image" and string_of(part, "data")]


PRINTED = re.compile(r"(?<=;base64,)[A-Za-z0-9+/]{126,}={0,2}", re.IGNORECASE | re.ASCII)


def images_in_text(text: str) -> list[Json]:
    """The runs of base64 behind `;base64,` that are long enough for an image, and begin like one."""
    runs = [run for run in PRINTED.findall(text) if len(run) >= naive_images.SHORTEST]
    return [block(run) for run in runs if naive_images.media_type(base64.b64decode(run[:64])) is not None]


def images_of_result(record: Record) -> list[Json]:
    """The image that was generated: nothing but its base64."""
    recording, topic = topic_of(record)
    if topic not in ("image_generation_call", "image_generation_end", "ImageGeneration", "Extension"):
        return []
    result = (item_of(record.entry) if recording == "I" else body_of(record.entry)).get("result")
    return [block(result)] if isinstance(result, str) and result else []


def images_of_mcp(record: Record) -> list[Json]:
    """The images that the tool of a server gave back."""
    recording, _ = topic_of(record)
    result = mapping((item_of(record.entry) if recording == "I" else body_of(record.entry)).get("result"))
    result = mapping(result.get("Ok")) if isinstance(result.get("Ok"), dict) else result
    return images_of_output(result.get("content")) if isinstance(result.get("content"), list) else []
