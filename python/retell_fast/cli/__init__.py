"""The command `retell-fast`: a thin layer that says what the package finds.

It uses nothing but the public names of `retell_fast`, so whatever the command does, a program can do too.

    arguments     the command line
    parse         the command that reads a session; `closing` is what it says at the end
    preview       the command that lists sessions; `cards` is how it shows one
    progress      the bar
    messages      lines for a person, and `measures` numbers for a person
    exit_status   numbers for scripts
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import retell_fast

from .exit_status import ExitStatus
from .messages import explain, fail, prepare_streams, say

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives the exit status.

    Args:
        arguments: the words behind the program's name; those of this process if None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough, as with `| head`: that is no failure.
        _let_go_of_output()
        return ExitStatus.ALL_WELL
    except KeyboardInterrupt:
        _let_go_of_output()
        say("interrupted")
        return ExitStatus.INTERRUPTED
    except ValueError as error:
        fail(*explain(error))
        return ExitStatus.WRONG_USAGE
    except (retell_fast.RetellError, OSError) as error:
        _let_go_of_output()
        fail(*explain(error))
        return ExitStatus.COULD_NOT
    return status


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):  # answered before argparse is imported: scripts ask for it often
        sys.stdout.write(f"retell-fast {retell_fast.__version__}\n")
        return ExitStatus.ALL_WELL

    from .arguments import read_arguments  # noqa: PLC0415

    return read_arguments(words).run()


def _let_go_of_output() -> None:
    """Points standard output at nothing, or Python would try again to write what is left, and complain."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # standard output is closed, or is no file
        pass
