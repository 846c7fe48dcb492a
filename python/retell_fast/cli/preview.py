"""`retell-fast preview`: which sessions there are, and which promise a story."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import retell_fast

from .exit_status import ExitStatus
from .messages import note, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from retell_fast import Preview

SORT_ORDERS = ("score", "date", "size")

_MOST_FIRST: dict[str, Callable[[Preview], tuple[float, ...]]] = {
    "score": lambda preview: (preview.score, preview.modified),
    "date": lambda preview: (preview.modified,),
    "size": lambda preview: (preview.size, preview.modified),
}


@dataclass(frozen=True, kw_only=True)
class PreviewCommand:
    """What the command line asked for."""

    count: int = 10
    as_json: bool = False
    project: str | None = None
    since: str | None = None
    sort: str = "date"

    def run(self) -> int:
        """Lists the sessions and gives the exit status."""
        previews = self._find()
        if self.as_json:
            _print_json(previews)
        elif previews:
            _print_cards(previews)
        if not previews:
            note("no session found below $CLAUDE_CONFIG_DIR or ~/.claude" + self._narrowed())
        return ExitStatus.ALL_WELL

    def _find(self) -> list[Preview]:
        # The newest are found without opening the others; the best or largest are not.
        limit = self.count if self.sort == "date" else None
        previews = retell_fast.discover(limit=limit, project=self.project, since=self.since)
        return sorted(previews, key=_MOST_FIRST[self.sort], reverse=True)[: self.count]

    def _narrowed(self) -> str:
        asked = [f"--project {self.project}"] if self.project else []
        asked += [f"--since {self.since}"] if self.since else []
        return f" that fits {' '.join(asked)}" if asked else ""


def described(preview: Preview) -> dict[str, Any]:
    """Gives a session as --json prints it: all its fields, and the date in ISO 8601."""
    moment = datetime.fromtimestamp(preview.modified, timezone.utc)
    return {**preview.to_dict(), "date": moment.isoformat(timespec="seconds").replace("+00:00", "Z")}


def _print_json(previews: list[Preview]) -> None:
    import json  # noqa: PLC0415

    json.dump([described(preview) for preview in previews], sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def _print_cards(previews: list[Preview]) -> None:
    from .cards import card, print_coloured, print_plain  # noqa: PLC0415

    cards = [card(preview) for preview in previews]
    if sys.stdout.isatty():
        print_coloured(cards)
        sys.stdout.flush()
        say(f"parse one of them with: retell-fast parse {cards[0].session}")
    else:
        print_plain(cards)
