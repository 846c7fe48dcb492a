"""The command line: which words there are, and what they ask for."""

from __future__ import annotations

import argparse
import sys

import retell_fast

from .exit_status import ExitStatus
from .messages import fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

SORT_ORDERS = ("score", "date", "size")


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains the way the rest of the program does."""

    def error(self, message: str) -> NoReturn:
        fail(message, f"{self.prog} --help shows what there is")
        sys.exit(ExitStatus.WRONG_USAGE)


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help as wide as 80 columns. To ask the terminal, argparse would import three compressors, each time."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


EXIT_STATUSES = """\
exit status:
    0  all well
    1  it could not be done
    2  wrong usage
    3  done, but something in the input needs a look (unknown types, damaged lines)
  130  interrupted with Ctrl-C
"""


def read_arguments(words: Sequence[str]) -> dict[str, Any]:
    """Gives what the words ask for: `command`, and by name what the `run` of that command takes.

    Leaves the program for --help, --version and wrong usage.
    """
    parser = _program()
    if not words:
        parser.print_help(sys.stderr)
        sys.exit(ExitStatus.WRONG_USAGE)
    return vars(parser.parse_args(words))


def _program() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="retell-fast",
        description="Reads coding-agent session transcripts and gives back the conversation.",
        epilog=EXIT_STATUSES,
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument(
        "-V",
        "--version",
        action="version",
        version=f"retell-fast {retell_fast.__version__}",
        help="show the version",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    _add_parse(commands)
    _add_preview(commands)
    return parser


def _add_parse(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "parse",
        help="write events.json, manifest.json and assets/ from one session",
        description="Reads one session and writes events.json, manifest.json and assets/.",
        epilog=EXIT_STATUSES,
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument(
        "session",
        metavar="SESSION",
        help="a session file (.zst too), - for standard input, or a session id or its beginning",
    )
    parser.add_argument(
        "-o",
        "--output-dir",
        metavar="DIR",
        type=_folder,
        help="where to write (default: retell-<first 8 of the id>)",
    )
    parser.add_argument(
        "--include-subagents",
        action="store_true",
        help="put what each subagent said under the call it answers",
    )
    unknown = parser.add_mutually_exclusive_group()
    unknown.add_argument(
        "--strict",
        action="store_true",
        help="an entry type that is not known is an error; nothing is written",
    )
    unknown.add_argument(
        "--allow-unknown", action="store_true", help="say nothing about entry types that are not known"
    )
    parser.add_argument(
        "--agent", metavar="NAME", help="who wrote the session (default: seen from its records)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but warnings and errors")


def _add_preview(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "preview",
        help="list recent sessions over all projects, to find the one worth telling",
        description="Lists recent sessions over all projects, with a score for the story each promises.",
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument(
        "count",
        metavar="N",
        nargs="?",
        type=_positive,
        default=10,
        help="how many sessions to list (default: 10)",
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="print a JSON array")
    parser.add_argument("--project", metavar="TEXT", help="only sessions whose project path contains TEXT")
    parser.add_argument(
        "--since",
        metavar="DATE",
        type=_date,
        help="only sessions changed on DATE or later, such as 2026-02-10",
    )
    parser.add_argument(
        "--sort",
        choices=SORT_ORDERS,
        default="date",
        help="which come first: the newest (default), or of all sessions the best or the largest",
    )


def _folder(word: str) -> str:
    if not word:
        msg = "the name of the folder is empty"
        raise argparse.ArgumentTypeError(msg)
    return word


def _date(word: str) -> str:
    from datetime import datetime

    try:
        # As `retell_fast.discover` reads it. Python 3.10 does not read the Z.
        datetime.fromisoformat(word.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        msg = f"not a date: {word!r} (say 2026-02-10 or 2026-02-10T09:00)"
        raise argparse.ArgumentTypeError(msg) from None
    return word


def _positive(word: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        msg = f"{word!r} is not a number of sessions"
        raise argparse.ArgumentTypeError(msg)
    return number
