"""How a session is shown by `preview`: a card of a few lines, the same on a terminal and in a pipe."""

from __future__ import annotations

import os
import sys
import time

from .measures import beginning, counted, size
from .messages import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from retell_fast import Preview

MOST_TOOLS = 4
"""How many tools a card names."""

GOOD_STORY, FAIR_STORY = 5, 2
"""Scores from which a card shows its score in green, or in yellow."""


class Card:
    """One session, ready to be laid out."""

    __slots__ = ("lines", "score", "session", "title", "when")

    def __init__(self, preview: Preview) -> None:
        self.score = preview.score
        self.session = one_line(beginning(preview.session_id))
        """The beginning of the id: enough for `parse`."""
        self.title = one_line(preview.title or "") or "(no title)"
        self.when = time.strftime("%Y-%m-%d %H:%M", time.localtime(preview.modified))
        voices = [
            f"{preview.human_messages:,} human",
            f"{preview.assistant_messages:,} assistant",
            counted(preview.sessions, "session"),
            counted(preview.subagents, "subagent"),
            size(preview.size),
        ]
        last_words = preview.last_words if preview.last_words != preview.first_words else ""
        lines = {
            "agent": one_line(preview.agent),
            "project": _project(preview),
            "holds": " · ".join(voices),
            "tools": _tools(preview.tools),
            "first": one_line(preview.first_words),
            "last": one_line(last_words),
            "score": one_line(", ".join(preview.reasons)),
        }
        self.lines = {label: text for label, text in lines.items() if text}
        """Label and text of the lines below the title."""


def print_plain(cards: Sequence[Card]) -> None:
    """Prints the cards without colours, each line whole however long: for pipes and files."""
    for number, each in enumerate(cards):
        gap = "\n" if number else ""
        sys.stdout.write(f"{gap}{each.score:>3}  {each.title}  ({each.session}, {each.when})\n")
        sys.stdout.writelines(f"     {label:<8} {text}\n" for label, text in each.lines.items())


def print_coloured(cards: Sequence[Card]) -> None:
    """Prints the cards for a terminal, each line cut to its width."""
    # rich takes a while to import: only a terminal pays for it.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for number, each in enumerate(cards):
        if number:
            console.print()
        head = Table.grid(padding=(0, 2, 0, 0), expand=True)
        head.add_column(width=3, justify="right")
        head.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        head.add_column(no_wrap=True)
        where = Text.assemble((each.session, "cyan"), "  ", (each.when, "dim"))
        head.add_row(Text(str(each.score), style=_colour(each.score)), Text(each.title, style="bold"), where)
        console.print(head)

        body = Table.grid(padding=(0, 2, 0, 0), expand=True)
        body.add_column(width=3)
        body.add_column(width=7, style="dim", no_wrap=True)
        body.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for label, text in each.lines.items():
            body.add_row("", label, Text(text))
        console.print(body)


def _colour(score: int) -> str:
    if score >= GOOD_STORY:
        return "bold green"
    return "bold yellow" if score >= FAIR_STORY else "bold"


def _project(preview: Preview) -> str:
    path = one_line(preview.project_path or "")
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path


def _tools(tools: dict[str, int]) -> str:
    most = sorted(tools.items(), key=lambda tool: (-tool[1], tool[0]))
    named = [f"{one_line(name)} {count:,}" for name, count in most[:MOST_TOOLS]]
    if len(most) > MOST_TOOLS:
        named.append(f"and {len(most) - MOST_TOOLS:,} more")
    return ", ".join(named)
