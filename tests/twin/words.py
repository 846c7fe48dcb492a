"""The words of the slow twin: what the human said in a text, the event made of it, the images beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.twin import images as codec
from tests.twin.lines import Json, Record, clean, mapping, publish, string_of, trim
from tests.twin.markers import (
    COMMAND_ELEMENTS,
    COMMAND_STARTS,
    CONTINUATION,
    CONTINUATION_START,
    INTERRUPTION,
    MACHINE_ELEMENTS,
    is_machine,
    is_only,
    strip_context,
    without_context,
    without_context_around,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# ---------------------------------------------------------------- words


@dataclass
class Words:
    """What is left of a human's text: the words, where they came from, or that nothing is left."""

    says: str = ""
    source: str | None = None
    dropped: bool = False
    machine: bool = False  # dropped because the client wrote it
    interruption: bool = False
    summary: str = ""  # of a conversation that this one continues, or words that speak of such a one
    continuation: bool = False
    command: str | None = None


ASCII_LOWER = {ord(upper): ord(upper) + 32 for upper in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def inside(text: str, tag: str) -> str:
    """What stands between the first such tag and its last end, trimmed; nothing when it is not closed."""
    match = re.search(f"<{tag}>(.*)</{tag}>", text, re.DOTALL)
    return trim(match.group(1)) if match else ""


def human_words(texts: list[str], *, is_summary: bool = False, is_typed: bool = False) -> Words:
    """What the human said in the texts of an entry: each is looked at on its own.

    What was injected beside the human's words costs none of them. The tags of one command may be spread over
    several texts. Of what is known to be typed, only what is markup from end to end is taken for markup.
    """
    pieces: list[str] = []
    for text in map(trim, texts):
        if pieces and is_command(pieces[-1], is_typed=is_typed) and is_command(text, is_typed=is_typed):
            pieces[-1] += f"\n{text}"
        elif text:
            pieces.append(text)
    if is_summary:
        return Words(summary="\n".join(filter(None, map(without_context, pieces))), continuation=pieces != [])
    found = [typed_words(piece) if is_typed else words_of(piece) for piece in pieces]
    words = Words("\n".join(one.says for one in found if one.says))
    words.source = next((one.source for one in found if one.source), None)
    commands = {one.command for one in found}
    words.command = next((name for name in ("/compact", "/clear") if name in commands), None)
    words.interruption = any(one.interruption for one in found)
    words.dropped = found != [] and all(one.dropped for one in found)
    words.machine = found != [] and all(one.machine for one in found)
    words.summary = "\n".join(one.summary for one in found if one.summary)
    words.continuation = words.summary != ""
    plain = [one.says.translate(ASCII_LOWER) for one in found if one.source is None]
    if not words.continuation and any(CONTINUATION in says for says in plain):
        words.summary = words.says
    return words


def is_command(text: str, *, is_typed: bool) -> bool:
    """Whether a text holds tags of a slash command."""
    return is_only(text, COMMAND_ELEMENTS) if is_typed else text.startswith(COMMAND_STARTS)


def typed_words(text: str) -> Words:
    """What the human said in a text that is known to be theirs: all of it, unless all of it is markup."""
    text = without_context_around(text)
    if re.fullmatch(r"\[Request interrupted by user[^\]]*\]", text):
        return Words(interruption=True)
    if is_only(text, COMMAND_ELEMENTS):
        return command_words(text, Words(), is_typed=True)
    for name, source, sign in (("bash-input", "bash", "! "), ("user-memory-input", "memory", "# ")):
        if is_only(text, {name}) and text.count(f"<{name}>") == 1:
            return tagged_words(Words(), source, sign, inside(text, name))
    is_machine_only = is_only(text, MACHINE_ELEMENTS)
    return Words("" if is_machine_only else text, dropped=is_machine_only, machine=is_machine_only)


def words_of(text: str) -> Words:
    """What the human said in one text: tags, markers and client context taken away until none is left."""
    words = Words()
    while True:
        text = trim(text)
        if text.startswith(COMMAND_STARTS):
            return command_words(text, words)
        if text.startswith("<bash-input>"):
            return tagged_words(words, "bash", "! ", inside(text, "bash-input"))
        if text.startswith("<user-memory-input>"):
            return tagged_words(words, "memory", "# ", inside(text, "user-memory-input"))
        if is_machine(text):
            words.dropped = words.machine = True
            return words
        if text.startswith(INTERRUPTION) and "]" in text[len(INTERRUPTION) :]:
            words.interruption = True
            text = text[len(INTERRUPTION) :].partition("]")[2]
            continue
        stripped = strip_context(text)
        if stripped == text:
            is_summary = text.startswith(CONTINUATION_START)
            words.says, words.summary = ("", text) if is_summary else (text, "")
            return words
        text = stripped


def command_words(text: str, words: Words, *, is_typed: bool = False) -> Words:
    """A slash command says its name and its arguments; one without arguments says nothing."""
    name = inside(text, "command-name") or inside(text, "command-message")
    words.command = name if name.startswith("/") else f"/{name}"
    arguments = inside(text, "command-args")
    arguments = without_context_around(arguments) if is_typed else trim(strip_context(arguments))
    return tagged_words(words, "command", f"{words.command} ", arguments)


def tagged_words(words: Words, source: str, prefix: str, text: str) -> Words:
    """Words from a tag, with the sign that stands for it; nothing when the tag is empty."""
    if text:
        words.source, words.says = source, prefix + text
    words.dropped = text == ""
    return words


def content_blocks(content: object) -> list[Any]:
    """The blocks of a content; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def blocks_of(blocks: Iterable[object], *types: str) -> Iterator[Json]:
    """The blocks that have one of the types."""
    for block in blocks:
        if isinstance(block, dict) and block.get("type") in types:
            yield block


def texts_of(blocks: list[Any]) -> list[str]:
    """The text blocks and bare strings that are not blank, each without outer white space."""
    texts = []
    for block in blocks:
        if isinstance(block, str):
            texts.append(clean(block))
        elif mapping(block).get("type") == "text":
            texts.append(string_of(block, "text"))
    return [trim(text) for text in texts if trim(text)]


def text_of(blocks: list[Any]) -> str:
    """The texts, one to a line."""
    return "\n".join(texts_of(blocks))


def images_of(blocks: list[Any]) -> list[Json]:
    """The images among the blocks that a human may have made."""
    others = [block for block in blocks if mapping(block).get("type") not in ("text", "tool_result")]
    return images_within(others)


# ---------------------------------------------------------------- events


BARE_COMMAND = re.compile(r"/[A-Za-z][A-Za-z0-9_:.-]*")


def session_of(entry: Json) -> str:
    """The session that an entry names; streams of the command line spell it otherwise."""
    return string_of(entry, "sessionId") or string_of(entry, "session_id")


Picture = tuple[bytes, str, str]  # the bytes, the ending of the file's name, the media type


@dataclass
class Event:
    """One thing said."""

    index: int
    role: str
    record: Record
    says: str
    thinks: str = ""
    tools: list[str] = field(default_factory=list)
    source: str | None = None
    uuid: str = ""
    message_id: str = ""
    continuation_summary: str = ""
    boundary: list[str] = field(default_factory=list)
    duration_ms: int | None = None
    interrupted: bool = False
    rejected: bool = False
    rolled_back: bool = False
    live: bool = True
    plan: str = ""
    questions: list[str] = field(default_factory=list)
    place: Record | None = None  # where the words also stand, when that tells more than the record
    pictures: list[tuple[Picture, str]] = field(default_factory=list)  # each with its description
    screenshots: list[Json] = field(default_factory=list)
    subagent_refs: list[Json] = field(default_factory=list)
    decoded: str = ""  # all text that the event was made of, before anything was taken off

    @property
    def session_id(self) -> str:
        """The session that the entry of the event names."""
        return session_of(self.record.entry)

    @property
    def stands_at(self) -> Record:
        """The record that the event is found at."""
        return self.place or self.record

    def signal_bytes(self) -> int:
        """UTF-8 bytes of what was said and thought."""
        return len(publish(self.says + self.thinks).encode())

    def to_dict(self) -> Json:
        """The event as it stands in events.json: optional fields only when there is something in them."""
        user, broken = self.role == "user", bool(self.boundary)
        fields: list[tuple[str, object, bool]] = [
            ("index", self.index, True),
            ("timestamp", publish(string_of(self.record.entry, "timestamp")), True),
            ("role", self.role, True),
            ("says", publish(self.says), True),
            ("thinks", publish(self.thinks), self.thinks != ""),
            ("tools", [publish(tool) for tool in self.tools], self.tools != []),
            ("session_break", broken, user or broken),
            ("boundary", self.boundary, broken),
            ("continuation_summary", publish(self.continuation_summary), user),
            ("duration_ms", self.duration_ms, self.duration_ms is not None),
            ("screenshots", self.screenshots, self.screenshots != []),
            ("subagent_refs", self.subagent_refs, self.subagent_refs != []),
            ("interrupted", True, self.interrupted),
            ("rejected", True, self.rejected),
            ("rolled_back", True, self.rolled_back),
            ("source", self.source, self.source is not None),
            ("plan", publish(self.plan), self.plan != ""),
            ("questions", [publish(question) for question in self.questions], self.questions != []),
            ("live", False, not self.live),
            ("uuid", publish(self.uuid), True),
            ("message_id", publish(self.message_id), not user),
            ("line", self.stands_at.line, True),
            ("offset", self.stands_at.offset, True),
            ("length", self.stands_at.length, True),
        ]
        return {name: value for name, value, present in fields if present}


# ---------------------------------------------------------------- images


def is_image(value: object) -> bool:
    """Whether the value is an image block that holds its bytes as base64."""
    block = mapping(value)
    return block.get("type") == "image" and isinstance(base64_of(block), str)


def base64_of(block: Json) -> object:
    """What an image block holds: as the model is sent it, or as a tool that reads files has read it."""
    source = mapping(block.get("source"))
    if source.get("type") == "base64" and isinstance(source.get("data"), str):
        return source["data"]
    return mapping(block.get("file")).get("base64")


def images_within(value: object) -> list[Json]:
    """All image blocks in a value, at any depth, in the order of the text."""
    found, waiting = [], [value]
    while waiting:
        here = waiting.pop()
        if is_image(here):
            found.append(mapping(here))
        elif isinstance(here, dict):
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))
    return found


def picture_of(block: Json) -> Picture | str:
    """The image of a block, or the reason why there is none."""
    found = codec.decode(str(base64_of(block)).encode(errors="replace"), codec.CAP)
    if isinstance(found, str):
        return found
    media_type = codec.media_type(found) or ""
    return found, codec.EXTENSIONS[media_type], media_type


def name_pictures(events: Iterable[Event], owner: str, filenames: dict[bytes, str]) -> None:
    """Lists on every event its pictures; one seen before keeps its first name."""
    for event in events:
        new = 0
        for (data, ext, media_type), description in event.pictures:
            if data not in filenames:
                filenames[data] = f"screenshot-{owner}{event.index:03d}-{new}.{ext}"
                new += 1
            shot = {"filename": filenames[data], "description": publish(description)}
            event.screenshots.append({**shot, "media_type": media_type})
