"""The words, thoughts, tools and images of one Codex record."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.twin import images as codec
from tests.twin.codex_requests import lines_of, reply_of, request_of, spoken_of, texts_of
from tests.twin.codex_types import body_of, item_of, topic_of
from tests.twin.lines import Json, Record, clean, decode_or_none, mapping, string_of, trim
from tests.twin.words import ASCII_LOWER, content_blocks

# ---------------------------------------------------------------- the words of messages

MARKERS = (
    "<environment_context>", "<user_instructions>", "<skill>", "<user_shell_command>", "<user_action>",
    "<turn_aborted>", "<subagent_notification>", "<plugins>", "<subagents>", "<recommended_plugins>",
    "<app-context>", "<apps_instructions>", "<multi_agent_role>", "<multi_agent_mode>",
    "<permissions instructions>", "<model_switch>", "<collaboration_mode>", "<personality_spec>",
    "<hook_prompt", "<codex_internal_context", "you are `/root`, the primary agent",
    "warning: apply_patch was requested via", "warning: the maximum number of unified exec processes",
    "warning: your account was flagged",
)  # fmt: skip
# Whoever writes about the file goes on in the line.
INSTRUCTIONS = re.compile(r"# agents\.md instructions(?: for |[ \t\r]*(?:\n|$|<instructions>))")
HUMAN_KINDS = ("images.preparation_error", "images.unsupported", "audio.unsupported")
KINDS_THAT_TELL_NOTHING = ("", "unknown")
# The program numbers images in another way in events, and who shares a rollout may have blackened it.
IMAGE_NUMBER = re.compile(r"\[Image#[0-9]+\]")
BLACKENED = re.compile(r"\[REDACTED_[A-Z_]*")
IMAGE_MARKUP = re.compile(r"</?(?:local_)?image[^<>]*>")


@dataclass
class Message:
    """The words of one message: as they are said, and as they were written."""

    role: str
    says: str = ""
    written: str = ""
    words: str = ""  # by these the two recordings of one message are known
    images: list[Json] = field(default_factory=list)  # as image blocks
    aborts: bool = False  # whether the client says in it that the turn was aborted
    cwd: str = ""  # from the environment that the client describes in it
    plan: str = ""
    source: str | None = None
    questions: list[str] = field(default_factory=list)
    is_bare: bool = False  # whether it is images and nothing else, not even the markup of pasted ones

    @property
    def key(self) -> str:
        """What it says, whatever its white space and its placeholders are."""
        key = IMAGE_NUMBER.sub("", squeezed(self.words))
        return BLACKENED.sub("[REDACTED", key)

    @property
    def counts(self) -> bool:
        """Whether there is anything in it that somebody said or showed."""
        return trim(self.words) != "" or self.plan != "" or self.images != []

    def tells_the_same(self, other: Message) -> bool:
        """Whether both say the same; or plan, or else show the same where they say nothing."""
        if self.role != other.role or self.key != other.key:
            return False
        if self.key or self.plan or other.plan:
            return self.key != "" or squeezed(self.plan) == squeezed(other.plan)
        return self.images == other.images or not self.images or not other.images


def message_of(record: Record) -> Message | None:
    """The message that a record is, if it is one of the human's or of the assistant's."""
    body, content = body_of(record.entry), item_of(record.entry).get("content")
    recording, topic = topic_of(record)
    if topic == "message":
        topic = f"message of {string_of(body, 'role')}"
    readers: dict[tuple[str, str], Callable[[], Message | None]] = {
        ("E", "user_message"): lambda: user_event(body),
        ("E", "agent_message"): lambda: agent_message([string_of(body, "message")]),
        ("I", "UserMessage"): lambda: said_by_user(
            texts_of(content), images_of_parts(content_blocks(content))
        ),
        ("I", "AgentMessage"): lambda: agent_message(texts_of(content)),
        ("R", "message of user"): lambda: user_message(body),
        ("O", "message of user"): lambda: user_message(body),
        ("R", "message of assistant"): lambda: agent_message(texts_of(body.get("content"))),
        ("O", "message of assistant"): lambda: agent_message(texts_of(body.get("content"))),
    }
    reader = readers.get((recording, topic))
    return reader() if reader else None


def agent_message(texts: list[str]) -> Message:
    """What the assistant says, and the plan that it proposes in it."""
    written = "".join(texts)
    words, plan = spoken_of(written)
    return Message("assistant", trim(words), written, words, plan=plan)


def said_by_user(texts: list[str], images: list[Json]) -> Message:
    """What the human says in the texts: nothing is injected there."""
    written = "".join(texts)
    message = Message("user", request_of(written), written, written, images)
    answers = reply_of(message.says)
    if answers is not None:
        message.says, message.source = "\n".join(answers.lines), "answer"
        message.questions = answers.questions
    return message


def user_event(body: Json) -> Message | None:
    """What an event says that the human said; kinds other than plain are not the human's."""
    if string_of(body, "kind") not in ("", "plain"):
        return None
    images = body.get("images")
    data = map(inline_image, images if isinstance(images, list) else [])
    return said_by_user([string_of(body, "message")], [image for image in data if image])


def user_message(body: Json) -> Message:
    """The message of an item with role user, without what the client injected into it."""
    parts = content_blocks(body.get("content"))
    kinds = mapping(body.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    told = kinds if isinstance(kinds, list) and len(kinds) == len(parts) else [None] * len(parts)
    pieces, cwd, aborts = [], "", False
    for kind, part in zip(told, parts, strict=True):
        text = next(iter(texts_of([part])), "")
        begin = trim(text).translate(ASCII_LOWER)
        human = is_human(kind, begin)
        if begin.startswith("<environment_context>"):
            found = re.search("<cwd>(.*?)</cwd>", text, re.DOTALL)
            cwd = cwd or (trim(found.group(1)) if found else "")
        aborts |= not human and begin.startswith("<turn_aborted>")
        if human and not IMAGE_MARKUP.fullmatch(trim(text)):
            pieces.append(text)
    message = said_by_user(pieces, images_of_parts(parts))
    message.cwd, message.aborts = cwd, aborts
    message.is_bare = message.images != [] and texts_of(parts) == []
    return message


def is_human(kind: object, begin: str) -> bool:
    """Whether a part is the human's: its kind says so, or else how its text begins."""
    if isinstance(kind, str) and kind not in KINDS_THAT_TELL_NOTHING:
        return kind in HUMAN_KINDS or kind.startswith("user.")
    return not begin.startswith(MARKERS) and not INSTRUCTIONS.match(begin)


def squeezed(text: str) -> str:
    """The text without white space: by this the two recordings of one message are known."""
    return "".join(sign for sign in text if trim(sign))


# ---------------------------------------------------------------- thoughts


def thoughts_of(record: Record) -> str:
    """What a record of reasoning thinks in plain text."""
    recording, _ = topic_of(record)
    body, item = body_of(record.entry), item_of(record.entry)
    if recording == "E":
        return lines_of([string_of(body, "text")])
    if recording == "I":
        return lines_of(texts_of(item.get("summary_text"))) or lines_of(texts_of(item.get("raw_content")))
    return lines_of(texts_of(body.get("summary"))) or lines_of(texts_of(body.get("content")))


def all_thoughts_of(record: Record) -> str:
    """All that an item of reasoning holds: events tell the summary, the whole or both."""
    body = body_of(record.entry)
    return squeezed("".join(texts_of(body.get("summary")) + texts_of(body.get("content"))))


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

    @property
    def questions(self) -> list[Json]:
        """What it asks the human."""
        asked = self.arguments.get("questions")
        return [mapping(question) for question in asked] if isinstance(asked, list) else []


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
    runs = [run for run in PRINTED.findall(text) if len(run) >= codec.SHORTEST]
    return [block(run) for run in runs if codec.media_type(base64.b64decode(run[:64])) is not None]


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
