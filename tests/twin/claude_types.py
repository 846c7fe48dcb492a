"""The entry types of Claude Code, and which class each is of."""

from __future__ import annotations

import re

from tests.twin.lines import Json, Types, mapping, string_of

SIGNAL = {"user", "assistant", "queue-operation"}
FACTS = {"summary", "ai-title", "custom-title", "pr-link", "last-prompt", "continued-in"}
NOISE = {
    "progress", "file-history-snapshot", "file-history-delta", "agent-name", "agent-color", "agent-setting",
    "tag", "mode", "permission-mode", "bridge-session", "relocated", "worktree-state", "fork-context-ref",
    "content-replacement", "atis-latch", "cost-state", "frame-link", "history-suppression",
    "ended-by-model", "isolation-latch", "dev-mods", "memory-mode", "observer-ref", "attribution-snapshot",
    "artifact-comment-monitor", "artifact-autoreact-ledger", "api-request-blob", "api-request-shape",
    "api-request", "saved_hook_context", "speculation-accept", "task-summary", "started", "result",
    "failed", "launched", "agent_metadata",
}  # fmt: skip
NOISE_PREFIX = "marble-origami-"
NO_TYPE = "(none)"


def kind_of(type_: str, detail: object) -> str:
    """The class of an entry; `detail` is the subtype of a system entry, the inner type of an attachment."""
    if type_ == "system":
        return {"turn_duration": "signal", "compact_boundary": "fact"}.get(str(detail), "noise")
    if type_ == "attachment":
        return "signal" if detail in ("queued_command", "file") else "noise"
    if type_ in NOISE or type_.startswith(NOISE_PREFIX):
        return "noise"
    if type_ in SIGNAL:
        return "signal"
    return "fact" if type_ in FACTS else "unknown"


def detail_of(type_: str, entry: Json) -> object:
    """The second key that decides the class of a system or attachment entry."""
    if type_ == "attachment":
        attachment = mapping(entry.get("attachment"))
        content = attachment.get("content")
        # The text of a file that was mentioned says nothing more.
        is_text = not isinstance(content, dict | list) or mapping(content).get("type") == "text"
        if attachment.get("type") == "file" and is_text:
            return "file of text"
        return attachment.get("type")
    return entry.get("subtype")


def type_of(entry: Json) -> str:
    """The type as it is counted."""
    return string_of(entry, "type") if isinstance(entry.get("type"), str) else NO_TYPE


def is_known(entry: Json) -> bool:
    """Whether the type is in the table."""
    return class_of(entry) != "unknown"


def class_of(entry: Json) -> str:
    """The class of an entry."""
    type_ = type_of(entry)
    return kind_of(type_, detail_of(type_, entry))


def is_decided(seen: Json) -> bool:
    """Whether the type is known, and what it depends on."""
    decided_by = {"system": "subtype", "attachment": "attachment"}.get(str(seen.get("type")), "type")
    return "type" in seen and (seen["type"] is None or decided_by in seen)


def is_record(entry: Json) -> bool:
    """Whether a nested object is a record: of a known type, and a turn names its session."""
    is_turn = type_of(entry) in ("user", "assistant")
    return is_known(entry) and (not is_turn or "sessionId" in entry or "session_id" in entry)


CLAUDE_CODE = Types(
    record_start=re.compile(r'\{"(?:parentUuid|type)"'),
    deciding=("type", "subtype", "attachment"),
    drops_whole_noise=False,
    opened={"attachment": "attachment"},
    marks={},
    is_decided=is_decided,
    name_of=type_of,
    kind_of=class_of,
    is_record=is_record,
)
