"""What is said after a parse: how much there was, and of what needs a look not too much."""

from __future__ import annotations

from .measures import counted, seconds, share, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from retell_fast import Conversation

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


def shortened(found: Sequence[str]) -> list[str]:
    """Gives the first of the lines, and how many more there are, in not more than `MOST_WARNINGS` lines."""
    if len(found) <= MOST_WARNINGS:
        return list(found)
    shown = found[: MOST_WARNINGS - 1]
    return [*shown, f"and {len(found) - len(shown):,} more, all of them in manifest.json"]
