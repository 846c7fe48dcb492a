"""The record types of Codex rollouts, and which class each is of."""

from __future__ import annotations

import re

from tests.twin.lines import Json, Record, Types, mapping, string_of

ENVELOPES = ("response_item", "event_msg")
TOP_SIGNAL = {"session_meta", "compacted"}
TOP_NOISE = {
    "turn_context", "world_state", "inter_agent_communication", "inter_agent_communication_metadata",
    "token_usage_record",
}  # fmt: skip
ITEM_SIGNAL = {
    "message", "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call",
    "tool_search_call", "image_generation_call",
}  # fmt: skip
# Looked into for images and for the agent that was started, but read like noise: most tell neither.
OUTPUTS = {"function_call_output", "custom_tool_call_output"}
ITEM_NOISE = {
    *OUTPUTS,
    "agent_message", "local_shell_call_output", "tool_search_output", "compaction", "compaction_summary",
    "context_compaction", "configuration_update", "ghost_snapshot", "additional_tools",
    "compaction_trigger", "other",
}  # fmt: skip
EVENT_SIGNAL = {
    "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "task_started",
    "turn_started", "task_complete", "turn_complete", "turn_aborted", "thread_rolled_back",
    "context_compacted", "mcp_tool_call_end", "image_generation_end", "collab_agent_spawn_end",
    "sub_agent_activity", "thread_name_updated",
}  # fmt: skip
EVENT_NOISE = {
    "token_count", "thread_goal_updated", "thread_settings_applied", "patch_apply_end", "web_search_end",
    "exec_command_end", "entered_review_mode", "exited_review_mode", "error", "warning", "guardian_warning",
    "guardian_assessment", "view_image_tool_call", "collab_agent_interaction_end", "collab_waiting_end",
    "collab_close_end", "collab_resume_end", "dynamic_tool_call_request", "dynamic_tool_call_response",
    "stream_error", "background_event", "plan_update", "shutdown_complete", "turn_diff",
    "session_configured", "deprecation_notice", "model_reroute", "hook_started", "hook_completed",
    "item_started", "turn_moderation_metadata", "undo_completed",
}  # fmt: skip
COMPLETED_SIGNAL = {
    "UserMessage", "AgentMessage", "Reasoning", "McpToolCall", "ImageGeneration", "Extension",
    "ContextCompaction", "CollabAgentToolCall", "SubAgentActivity", "Plan",
}  # fmt: skip
COMPLETED_NOISE = {
    "CommandExecution", "FileChange", "WebSearch", "ImageView", "Sleep", "HookPrompt",
    "DynamicToolCall",
}  # fmt: skip
SESSION, STATE, NO_TYPE = "(session)", "(state)", "(none)"


def body_of(entry: Json) -> Json:
    """What a record is about: its payload, or itself when it has none."""
    payload = entry.get("payload")
    return payload if isinstance(payload, dict) else entry


def item_of(entry: Json) -> Json:
    """The item that was completed."""
    return mapping(body_of(entry).get("item"))


def item_type(written: str) -> str:
    """The type of a completed item, as most versions write it."""
    return written[:1].upper() + written[1:]


def type_of(entry: Json) -> str:
    """The name under which a record is counted."""
    if not isinstance(entry.get("type"), str):
        return NO_TYPE if "type" in entry else untyped_name(entry)
    type_, payload = string_of(entry, "type"), entry.get("payload")
    if type_ not in ENVELOPES or not isinstance(payload, dict):
        return type_
    inner = payload.get("type")
    if not isinstance(inner, str):
        is_message = type_ == "response_item" and "role" in payload
        return f"{type_}/message" if is_message else type_
    parts = [type_, string_of(payload, "type")]
    if parts == ["event_msg", "item_completed"] and isinstance(item_of(entry).get("type"), str):
        parts.append(string_of(item_of(entry), "type"))
    return "/".join(parts)


def untyped_name(entry: Json) -> str:
    """The name of a record without a type: a state, the first line of the bare era, or nothing known."""
    if isinstance(entry.get("record_type"), str):
        return f"({string_of(entry, 'record_type')})"
    is_session = "id" in entry and ("instructions" in entry or "timestamp" in entry)
    return SESSION if is_session else NO_TYPE


def class_of(entry: Json) -> str:
    """The class of a record."""
    if not isinstance(entry.get("type"), str):
        return {SESSION: "signal", NO_TYPE: "unknown"}.get(type_of(entry), "noise")
    outer, _, inner = type_of(entry).partition("/")
    if outer == "event_msg":
        completed = inner.startswith("item_completed/")
        name = item_type(inner.removeprefix("item_completed/")) if completed else inner
        signal, noise = (COMPLETED_SIGNAL, COMPLETED_NOISE) if completed else (EVENT_SIGNAL, EVENT_NOISE)
        return among(name, signal, noise)
    if outer == "response_item":
        return among(inner, ITEM_SIGNAL, ITEM_NOISE)
    if outer in ("user_message", "agent_message") and isinstance(body_of(entry).get("message"), str):
        return "signal"
    return among(outer, TOP_SIGNAL | ITEM_SIGNAL | {"user_message"}, TOP_NOISE | ITEM_NOISE)


def among(name: str, signal: set[str], noise: set[str]) -> str:
    """The class of a name by its table."""
    return "signal" if name in signal else "noise" if name in noise else "unknown"


def is_known_type(type_: str) -> bool:
    """Whether records of a type stand at the top level, in an envelope or flattened."""
    return type_ in TOP_SIGNAL | TOP_NOISE | ITEM_SIGNAL | ITEM_NOISE | {*ENVELOPES, "user_message"}


def is_record(entry: Json) -> bool:
    """Whether a nested object may be a record."""
    return is_known_type(string_of(entry, "type"))


def is_decided(seen: Json) -> bool:
    """Whether the type is known, and what it depends on."""
    if "type" not in seen:
        return False
    if seen["type"] in ENVELOPES:
        return "payload" in seen
    return seen["type"] is not None and seen["type"] not in ("user_message", "agent_message")


CODEX = Types(
    record_start=re.compile(r'\{"timestamp"'),
    deciding=("type", "payload", "message", "record_type", "id", "instructions", "timestamp"),
    opened=dict.fromkeys(ENVELOPES, "payload"),
    marks={"compacted": "payload"},
    drops_whole_noise=True,
    is_decided=is_decided,
    name_of=type_of,
    kind_of=class_of,
    is_record=is_record,
)


def topic_of(record: Record) -> tuple[str, str]:
    """How a record was recorded and what it is about.

    E is an event, I a completed item, R an item in an envelope, O one that stands bare or flattened.
    Flattened events are events.
    """
    outer, _, inner = record.type.partition("/")
    if outer == "event_msg":
        completed = inner.startswith("item_completed/")
        return ("I", item_type(inner.removeprefix("item_completed/"))) if completed else ("E", inner)
    if outer == "response_item":
        return "R", inner
    return ("E" if outer in ("user_message", "agent_message") else "O"), outer
