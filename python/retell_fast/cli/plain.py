"""`retell-fast parse` in plain words, read without argparse: importing that takes longer than a session."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_SWITCHES = {
    "--include-subagents": "include_subagents",
    "--strict": "strict",
    "--allow-unknown": "allow_unknown",
    "--quiet": "quiet",
    "-q": "quiet",
}
_WITH_VALUE = {"--output-dir": "output_dir", "-o": "output_dir", "--agent": "agent"}


def read_plain(words: Sequence[str]) -> dict[str, Any] | None:
    """Gives what the words ask for, as `read_arguments` does, without what they leave at its default.

    None stands for all that is not plain: other commands, --help, mistakes, `-oDIR`, `--agent=NAME`, `-o ""`.
    `read_arguments` knows all of it, and the options above too: both are changed together.
    """
    if not words or words[0] != "parse":
        return None
    given: dict[str, Any] = {"command": "parse"}
    rest = iter(words[1:])
    for word in rest:
        if word in _SWITCHES:
            given[_SWITCHES[word]] = True
        elif word in _WITH_VALUE:
            value = next(rest, "-")
            if not value or value.startswith("-"):
                return None
            given[_WITH_VALUE[word]] = value
        elif "session" not in given and (word == "-" or not word.startswith("-")):
            given["session"] = word
        else:
            return None
    return given if "session" in given and not ("strict" in given and "allow_unknown" in given) else None
