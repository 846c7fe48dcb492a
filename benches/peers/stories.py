"""The rules that all peers share: which entries of a generated session say something, and what."""

from __future__ import annotations

import hashlib
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Told = tuple[str, str, str, tuple[str, ...]]
"""Role, what was said, what was thought, names of the tools called."""

_NOT_TYPED = ("<local-command-", "<task-notification>", "[Request interrupted by user")


def digest(story: list[Told]) -> str:
    """A sum by which stories are compared between processes."""
    return hashlib.sha256(repr(story).encode("utf-8", "surrogatepass")).hexdigest()


class Story:
    """The rules for Claude Code; an entry may be a dict or a lazy view of one.

    The frequent types stand first and nothing is looked up before it is needed: a lazy view pays for each.
    """

    def __init__(self) -> None:
        self.told: list[Told] = []
        self._typed_ahead: list[str] = []

    def take(self, entry: Any) -> None:
        """Add what the entry says, if it says something."""
        kind = entry["type"]
        if kind == "progress":
            return
        if kind == "assistant":
            if not entry["isSidechain"]:
                self._assistant(entry["message"])
        elif kind == "user":
            if not entry.get("isSidechain") and not entry.get("isMeta"):
                self._user(entry)
        elif kind == "attachment":
            attachment = entry["attachment"]
            if attachment["type"] == "queued_command" and attachment["commandMode"] == "prompt":
                self.interjected(attachment["prompt"])
        elif kind == "queue-operation":
            self.queue(entry["operation"], entry.get("content"))

    def _user(self, entry: Any) -> None:
        content = entry["message"]["content"]
        if not isinstance(content, str):
            content = "\n".join([block["text"] for block in content if block["type"] == "text"])
        if content:
            self.user(content, is_summary=bool(entry.get("isCompactSummary")))

    def _assistant(self, message: Any) -> None:
        if message["model"] == "<synthetic>":
            return
        says: list[str] = []
        thinks: list[str] = []
        tools: list[str] = []
        for block in message["content"]:
            kind = block["type"]
            if kind == "tool_use":
                tools.append(block["name"])
            elif kind == "text":
                says.append(block["text"])
            elif kind == "thinking":
                thinks.append(block["thinking"])
        self.answered(says, thinks, tools)

    def answered(self, says: Iterable[str], thinks: Iterable[str], tools: Iterable[str]) -> None:
        """What the model said, unless it is nothing: of newer sessions the thoughts are not kept."""
        told = ("assistant", "\n".join(says), "\n".join(thinks), tuple(tools))
        if told[1] or told[2] or told[3]:
            self.told.append(told)

    def user(self, content: str, *, is_summary: bool) -> None:
        """What stands in the human's name."""
        text = content.strip()
        if not text or text.startswith(_NOT_TYPED):
            return
        if is_summary:
            text = ""
        elif text.startswith("<command-"):
            arguments = _inside(text, "command-args")
            if not arguments:
                return
            text = f"{_inside(text, 'command-name')} {arguments}"
        elif text in self._typed_ahead:
            self._typed_ahead.remove(text)
        self.told.append(("user", text, "", ()))

    def interjected(self, prompt: str) -> None:
        """Newer sessions: words typed while the model worked, as an attachment; the queue repeats them."""
        if prompt in self._typed_ahead:
            self._typed_ahead.remove(prompt)
        self.told.append(("user", prompt.strip(), "", ()))

    def queue(self, operation: str, content: str | None) -> None:
        """Words typed while the model works stand only here when they are removed and not dequeued."""
        if operation == "enqueue" and content and not content.startswith(_NOT_TYPED):
            self._typed_ahead.append(content)
        elif operation == "remove" and self._typed_ahead:
            self.told.append(("user", self._typed_ahead.pop(0), "", ()))


def _inside(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


class TypedStory(Story):
    """The same rules for the structs that `decoder` makes of lines."""

    def decoder(self) -> Any:
        """A decoder of lines; a message is decoded only when it is wanted."""
        msgspec = importlib.import_module("msgspec")
        text, raw, flag = (str, ""), (msgspec.Raw, msgspec.Raw()), (bool, False)
        block = msgspec.defstruct("Block", [("type", str), *_fields(("text", "thinking", "name"), *text)])
        blocks = list[block] | str  # type: ignore[valid-type]
        message = msgspec.defstruct("Message", [("model", *text), ("content", blocks, "")])
        prompt = msgspec.defstruct("Attachment", [("type", str), *_fields(("commandMode", "prompt"), *text)])
        flags = ("isSidechain", "isMeta", "isCompactSummary")
        entry = msgspec.defstruct(
            "Entry",
            [
                ("type", str),
                *_fields(flags, *flag),
                *_fields(("message", "attachment", "content"), *raw),
                ("operation", *text),
            ],
        )
        self._message = msgspec.json.Decoder(message).decode
        self._attachment = msgspec.json.Decoder(prompt).decode
        self._text = msgspec.json.Decoder(str).decode
        return msgspec.json.Decoder(entry)

    def take(self, entry: Any) -> None:
        """Add what the entry says, if it says something."""
        kind = entry.type
        if kind == "progress":
            return
        if kind == "assistant":
            if not entry.isSidechain:
                self._assistant(self._message(entry.message))
        elif kind == "user":
            if not entry.isSidechain and not entry.isMeta:
                self._user(entry)
        elif kind == "attachment":
            attachment = self._attachment(entry.attachment)
            if attachment.type == "queued_command" and attachment.commandMode == "prompt":
                self.interjected(attachment.prompt)
        elif kind == "queue-operation":
            self.queue(entry.operation, self._text(entry.content) if entry.content else None)

    def _user(self, entry: Any) -> None:
        content = self._message(entry.message).content
        if not isinstance(content, str):
            content = "\n".join([block.text for block in content if block.type == "text"])
        if content:
            self.user(content, is_summary=entry.isCompactSummary)

    def _assistant(self, message: Any) -> None:
        if message.model != "<synthetic>":
            blocks = message.content
            self.answered(
                [block.text for block in blocks if block.type == "text"],
                [block.thinking for block in blocks if block.type == "thinking"],
                [block.name for block in blocks if block.type == "tool_use"],
            )


def _fields(names: Iterable[str], kind: Any, default: Any) -> list[tuple[str, Any, Any]]:
    return [(name, kind, default) for name in names]


class CodexStory:
    """The rules for rollouts of both forms: the words of human and model, from the records that show them."""

    def __init__(self) -> None:
        self.told: list[Told] = []

    def take(self, entry: Any) -> None:
        """Add what the record says, if it says something."""
        if entry["type"] != "event_msg":
            return
        payload = entry["payload"]
        kind = payload["type"]
        if kind == "user_message":
            self._say("user", payload["message"])
        elif kind == "agent_message":
            self._say("assistant", payload["message"])
        elif kind == "item_completed":
            item = payload["item"]
            roles = {"UserMessage": "user", "AgentMessage": "assistant"}
            if item["type"] in roles:
                texts = [part["text"] for part in item["content"] if "text" in part]
                self._say(roles[item["type"]], "\n".join(texts))

    def _say(self, role: str, words: str) -> None:
        if words.strip():
            self.told.append((role, words.strip() if role == "user" else words, "", ()))
