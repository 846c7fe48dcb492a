"""`retell-fast preview`: which sessions there are, and which promise a story."""

from __future__ import annotations

import sys
import time

import retell_fast

from .exit_status import ExitStatus
from .messages import HOMES, note, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from retell_fast import Preview

_MOST_FIRST: dict[str, Callable[[Preview], tuple[float, ...]]] = {
    "score": lambda preview: (preview.score, preview.modified),
    "date": lambda preview: (preview.modified,),
    "size": lambda preview: (preview.size, preview.modified),
}


def run(
    count: int, *, as_json: bool, project: str | None, since: str | None, sort: str, agent: str | None
) -> int:
    """Lists the sessions and gives the exit status.

    Args:
        count: how many at most.
        as_json: print a JSON array instead of cards.
        project: as for `retell_fast.discover`.
        since: as for `retell_fast.discover`.
        agent: as for `retell_fast.discover`.
        sort: what comes first: one of `arguments.SORT_ORDERS`.
    """
    # The newest are found without opening the others; the best or largest are not.
    limit = count if sort == "date" else None
    previews = retell_fast.discover(limit=limit, project=project, since=since, agent=agent)
    previews = sorted(previews, key=_MOST_FIRST[sort], reverse=True)[:count]
    if as_json:
        _print_json(previews)
    elif previews:
        _print_cards(previews)
    if not previews:
        asked = [f"--agent {agent}"] if agent else []
        asked += [f"--project {project}"] if project else []
        asked += [f"--since {since}"] if since else []
        narrowed = f" that fits {' '.join(asked)}" if asked else ""
        note(f"no session found below {HOMES}{narrowed}")
    return ExitStatus.ALL_WELL


def described(preview: Preview) -> dict[str, Any]:
    """Gives a session as --json prints it: all its fields, and the date in ISO 8601."""
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(preview.modified))
    return {**preview.to_dict(), "date": date}


def _print_json(previews: list[Preview]) -> None:
    import json

    # A session on each line, written at once: laid out by the thousand, json takes longer than reading them.
    lines = ",\n".join(json.dumps(described(preview), ensure_ascii=False) for preview in previews)
    sys.stdout.write(f"[\n{lines}\n]\n" if lines else "[]\n")


def _print_cards(previews: list[Preview]) -> None:
    from .cards import Card, print_coloured, print_plain

    cards = [Card(preview) for preview in previews]
    if sys.stdout.isatty():
        print_coloured(cards)
        sys.stdout.flush()
        say(f"parse one of them with: retell-fast parse {cards[0].session}")
    else:
        print_plain(cards)
