"""Who wrote an entry: the human, the client in somebody's name, or somebody else."""

from __future__ import annotations

from tests.twin.lines import Json, Record, mapping, string_of, trim
from tests.twin.markers import FEEDBACK, PLAN_START, is_announcement, is_machine, without_context_around
from tests.twin.words import Words, human_words


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
    return not (foreign_origin(entry) or string_of(entry, "sourceToolUseID") or is_synthetic(entry))


def is_synthetic(entry: Json) -> bool:
    """Whether saved output says that nobody typed an entry; it says so of summaries too."""
    return entry.get("isSynthetic") is True


def feedback_on_plan(entry: Json, text: str) -> str:
    """What the human said to a plan, at the end of the prompt with which the client goes on by itself."""
    plan = trim(string_of(entry, "planContent"))
    goes_on = mapping(entry.get("origin")).get("kind") == "auto-continuation"
    if not (plan and goes_on and is_from_human({**entry, "origin": None, "isCompactSummary": None})):
        return ""
    behind = trim(text.removeprefix(PLAN_START)) if text.startswith(PLAN_START) else ""
    return without_context_around(
        behind.removeprefix(plan).partition(FEEDBACK)[2] if behind.startswith(plan) else ""
    )


def is_from_client(entry: Json) -> bool:
    """Whether the client wrote an entry in the assistant's name."""
    return (
        entry.get("isApiErrorMessage") is True or mapping(entry.get("message")).get("model") == "<synthetic>"
    )


def words_of_user(entry: Json, texts: list[str]) -> Words | None:
    """The human's words, `None` where none of them are; what is synthetic may still be a summary."""
    feedback = feedback_on_plan(entry, "\n".join(texts))
    if feedback:
        return Words(feedback, "plan")
    is_summary, is_typed = entry.get("isCompactSummary") is True, is_typed_by_human(entry)
    if not is_from_human({**entry, "isSynthetic": False}):
        return None
    words = human_words(texts, is_summary=is_summary, is_typed=is_typed)
    return None if is_synthetic(entry) and not words.continuation else words
