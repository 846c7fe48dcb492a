"""What a mistyped word was meant to be."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NEAR = 0.6
"""How much of two words has to be the same, from 0 to 1."""


def meant(
    message: str, words: Iterable[str], *, options: Sequence[str], choices: Sequence[str]
) -> str | None:
    """Gives what was probably meant, or None.

    Args:
        message: what argparse complains of.
        words: what was typed.
        options: the options there are.
        choices: the words that arguments can be, commands too.
    """
    import re

    wrong = re.search(r"invalid choice: '(.*?)' \(", message)
    if wrong:
        word = wrong[1]
        return _nearest(word, choices) or (f"retell-fast parse {word}" if os.path.isfile(word) else None)
    for word in words:
        if word == "--":
            break
        option = word.partition("=")[0]
        if option.startswith("--") and option not in options:
            return _nearest(option, options)
    return None


def _nearest(word: str, there_are: Sequence[str]) -> str | None:
    """Of those that begin so the first, or the one that is most like it."""
    import difflib

    lower = word.lower()
    begun = [each for each in there_are if len(lower.strip("-")) > 1 and each.startswith(lower)]
    return next(iter(begun or difflib.get_close_matches(lower, there_are, n=1, cutoff=NEAR)), None)
