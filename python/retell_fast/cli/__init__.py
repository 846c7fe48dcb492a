"""The command `retell-fast`: a thin layer that says what the package finds.

It uses nothing but the public names of `retell_fast`, so whatever the command does, a program can do too.

    arguments     the command line; `plain` is the shortcut for the most frequent, `slips` what was meant
    parse         the command that reads a session; `closing` is what it says at the end
    preview       the command that lists sessions; `cards` is how it shows one
    images        the command that moves images out and back; `pictures` is how it tells of them
    census        the command that counts entry types
    progress      the bar
    failures      how a run ends that could not be brought to its end
    messages      lines for a person, and `measures` numbers for a person
    exit_status   numbers for scripts

A short session is read in less time than Python takes to import `typing` or `pathlib`. So each command
imports what it needs when it needs it, and the linter refuses the slow modules at the top of a file.
"""

from __future__ import annotations

import sys

import retell_fast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives the exit status.

    Args:
        arguments: the words behind the program's name; those of this process if None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _run(words)
        if sys.stdout is not None:  # it is None when it was closed before Python began
            sys.stdout.flush()
    except (retell_fast.RetellError, KeyboardInterrupt, OSError, ValueError) as error:
        from .failures import say_why

        return say_why(error)
    return status


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]) and sys.stdout is not None:
        # Answered before anything is imported: scripts ask for it often.
        sys.stdout.write(f"retell-fast {retell_fast.__version__}\n")
        return 0

    from .messages import prepare_streams
    from .plain import read_plain

    prepare_streams()
    given = read_plain(words) or _read_arguments(words)
    command = given.pop("command")
    if command == "parse":
        from . import parse

        return parse.run(**given)
    if command == "images":
        from . import images

        return images.run(given.pop("action"), given)
    if command == "types":
        from . import census

        return census.run(**given)
    from . import preview

    return preview.run(**given)


def _read_arguments(words: list[str]) -> dict[str, Any]:
    from .arguments import read_arguments

    return read_arguments(words)
