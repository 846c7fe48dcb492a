"""What is said after a parse: how much there was, and what in the input needs a look."""

from __future__ import annotations

from .measures import counted, seconds, share, size
from .messages import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from retell_fast import Conversation

_ORIGINS = {
    "subagent": "a subagent's",
    "script": "a script's",
    "guardian": "a check of what a command may do",
    "review": "a review",
    "compaction": "a summary for a compaction",
    "memory": "the agent's upkeep of its memory",
}
"""What a session is when it is no conversation with a human, by the manifest's word for it."""

MOST_WARNINGS = 10
"""How many warnings are printed; a file can have thousands of damaged lines, and the manifest lists them."""


def summary(conversation: Conversation, *, warnings: int, duration: float) -> str:
    """Gives the conversation in one line: events, signal, sessions, subagents, screenshots, warnings, time.

    Args:
        conversation: what was parsed.
        warnings: how many warnings were said.
        duration: seconds the whole took.
    """
    manifest = conversation.manifest
    human = summaries = 0
    for event in conversation.events:
        if event.role == "user":
            if event.continuation_summary:
                summaries += 1
            else:
                human += 1
    assistant = len(conversation.events) - human - summaries
    voices = [f"human {human:,}", f"assistant {assistant:,}"]
    if summaries:
        voices.append(f"summaries {summaries:,}")
    parts = [
        f"{counted(manifest['total_events'], 'event')} ({', '.join(voices)})",
        f"signal {share(manifest['signal_ratio'])} of {size(manifest['source']['bytes'])}",
        counted(manifest["sessions"], "session"),
    ]
    rest = {
        "subagent": len(manifest["subagents"]),
        "screenshot": manifest["screenshots_extracted"],
        "warning": warnings,
    }
    parts += [counted(count, noun) for noun, count in rest.items() if count]
    return " · ".join([*parts, seconds(duration)])


def notes(manifest: dict[str, Any]) -> list[str]:
    """Gives what is good to know and needs no action."""
    said = []
    tail = manifest["incomplete_tail"]
    if tail:
        said.append(
            f"the last line is not complete yet (line {tail['line']}): the session is still being written"
        )
    turn = manifest["incomplete_turn"]
    if turn:
        said.append(f"the last turn, which begins on line {turn['line']}, has no end")
    if manifest["origin"]:
        said.append(f"this is no conversation with a human: it is {_ORIGINS[manifest['origin']]}")
    if manifest["inherited_records"]:
        copied = counted(manifest["inherited_records"], "record")
        said.append(f"{copied} copied from another session passed over")
    if manifest["queued_undelivered"]:
        said.append(f"{counted(manifest['queued_undelivered'], 'queued prompt')} never reached the assistant")
    return said


def findings(manifest: dict[str, Any], *, allow_unknown: bool = False) -> list[str]:
    """Gives what needs a look, one line each, the most important first.

    Args:
        manifest: the manifest of the conversation.
        allow_unknown: say nothing about unknown entry types.
    """
    found = [] if allow_unknown else _unknown(manifest)
    return found + _secrets(manifest) + _unreadable(manifest) + _images(manifest) + _damaged(manifest)


def shortened(found: Sequence[str]) -> list[str]:
    """Gives the first of the lines, and how many more there are, in not more than `MOST_WARNINGS` lines."""
    if len(found) <= MOST_WARNINGS:
        return list(found)
    shown = found[: MOST_WARNINGS - 1]
    return [*shown, f"and {len(found) - len(shown):,} more, all of them in manifest.json"]


def _unknown(manifest: dict[str, Any]) -> list[str]:
    by_count = sorted(manifest["unknown_entries"].items(), key=lambda each: (-each[1]["count"], each[0]))
    return [
        f"{_in_file(seen)}unknown entry type {shown_name(name)} "
        f"({counted(seen['count'], 'entry', 'entries')}, first on line {seen['first_line']}) was passed over"
        for name, seen in by_count
    ]


def _secrets(manifest: dict[str, Any]) -> list[str]:
    secrets = manifest["pii_warnings"]
    if not secrets:
        return []
    first = secrets[0]
    of_event = "" if first["event"] is None else f" of event {first['event']}"
    place = f"{first['field']}{of_event}: {first['preview']}"
    return [f"{counted(len(secrets), 'possible secret')} in the text, see pii_warnings; the first in {place}"]


def _unreadable(manifest: dict[str, Any]) -> list[str]:
    return [f"{each['file']} could not be read: {each['error']}" for each in manifest["unreadable_files"]]


def _images(manifest: dict[str, Any]) -> list[str]:
    reasons = {
        "not_canonical": "its base64 is damaged",
        "not_an_image": "its bytes are no image of a known kind",
        "too_large": "it has more than 64 MiB",
        "no_event": "no event is there to attach it to",
    }
    return [
        f"an image on line {lost['line']} (offset {lost['offset']}) was not extracted: "
        f"{reasons.get(lost['reason'], lost['reason'])}"
        for lost in manifest["images_not_extracted"]
    ]


def _damaged(manifest: dict[str, Any]) -> list[str]:
    reasons = {
        "nul_bytes": "NUL bytes",
        "truncated_record": "a record that was cut off",
        "joined_records": "two records without a line end between them",
        "trailing_bytes": "bytes behind the record",
        "invalid_json": "no valid JSON",
        "not_an_object": "JSON, but no object",
        "invalid_utf8": "text that is not UTF-8",
        "line_too_long": "longer than the limit",
    }
    lines = [
        f"{_in_file(piece)}damaged line {piece['line']} "
        f"(offset {piece['offset']}, {counted(piece['length'], 'byte')}): "
        f"{reasons.get(piece['reason'], piece['reason'])}"
        + ("; the rest of the line was read" if piece["recovered"] else "")
        for piece in manifest["damaged_lines"]
    ]
    # The manifest lists only the first thousand, and counts them all.
    unlisted = manifest["damaged_lines_total"] - len(lines)
    return [*lines, f"and {counted(unlisted, 'damaged line')} more"] if unlisted > 0 else lines


def _in_file(piece: dict[str, Any]) -> str:
    """Names the subagent file that a damaged piece stands in; nothing for the session file itself."""
    return f"{piece['file']}: " if "file" in piece else ""
