"""Who wrote an entry: the human, the client in somebody's name, or somebody else."""

from __future__ import annotations

from tests.twin.lines import Json, Record, mapping, string_of, trim
from tests.twin.markers import PLAN_START, is_announcement, is_machine


def foreign_origin(holder: Json) -> bool:
    """Whether the origin says that somebody else than the human wrote it."""
    kind = mapping(holder.get("origin")).get("kind")
    return isinstance(kind, str) and kind != "human"


def is_typed_by_human(holder: Json) -> bool:
    """Whether an entry says that its words are the human's."""
    kind = mapping(holder.get("origin")).get("kind")
    return kind == "human" or holder.get("promptSource") in ("typed", "queued", "suggestion_accepted")


def is_notice(text: str) -> bool:
    """Whether the client tells of something, in a text that nobody is known to have typed."""
    said_by_tools = ("<local-command-", "<bash-stdout>", "<bash-stderr>")
    return is_announcement(text) or (is_machine(text) and not text.startswith(said_by_tools))


def is_plan(entry: Json, says: str, *, is_typed: bool) -> bool:
    """Whether the client wrote a prompt for the human, from a plan."""
    by_its_words = says.startswith(PLAN_START) and not is_typed
    return says != "" and (by_its_words or trim(string_of(entry, "planContent")) != "")


def clears(record: Record) -> bool:
    """Whether a new tree begins here because the session was cleared."""
    entry, holder = record.entry, {"progress": "data", "attachment": "attachment"}.get(record.type, "")
    is_root = entry.get("parentUuid") is None and entry.get("isSidechain") is not True
    return is_root and mapping(entry.get(holder)).get("hookName") == "SessionStart:clear"


def is_from_human(entry: Json) -> bool:
    """Whether the flags of a user entry leave it to the human."""
    if entry.get("isMeta") is True:
        return False
    if entry.get("isVisibleInTranscriptOnly") is True and entry.get("isCompactSummary") is not True:
        return False
    return not (foreign_origin(entry) or string_of(entry, "sourceToolUseID"))


def is_from_client(entry: Json) -> bool:
    """Whether the client wrote an entry in the assistant's name."""
    return (
        entry.get("isApiErrorMessage") is True or mapping(entry.get("message")).get("model") == "<synthetic>"
    )
