"""The command line: which words there are, and what they ask for."""

from __future__ import annotations

import argparse
import sys

import retell_fast

from .exit_status import ExitStatus
from .messages import HOMES, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

SORT_ORDERS = ("score", "date", "size")
PLACEHOLDER_FORMATS = ("retell", "entire")


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains the way the rest of the program does, and sees what was meant.

    Options are not completed from their beginnings (`allow_abbrev`): a script that says `--inc` would break
    when another option begins so. What they may have been meant to be is said instead.
    """

    words: Sequence[str] = ()

    def parse_known_args(  # as argparse has it, where it is overloaded
        self,
        args: Any = None,  # noqa: ANN401
        namespace: Any = None,  # noqa: ANN401
    ) -> tuple[Any, list[str]]:
        # Each command complains of its own options: only it knows what is near them.
        self.words = list(args or ())
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others

    def error(self, message: str) -> NoReturn:
        from .slips import meant

        there_is = f"{self.prog} --help shows what there is"
        options = [option for action in self._actions for option in action.option_strings]
        choices = [str(choice) for action in self._actions for choice in action.choices or ()]
        fitting = meant(message, self.words, options=options, choices=choices)
        fail(message, f"did you mean {fitting}? ({there_is})" if fitting else there_is)
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
    _add_images(commands)
    _add_types(commands)
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
        help="a session file (.zst and .gz too), - for standard input, or a session id or its beginning",
    )
    parser.add_argument(
        "-o",
        "--output-dir",
        metavar="DIR",
        type=_folder,
        help="where to write (default: retell-<beginning of the id>)",
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
    _add_threads(parser)
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
    parser.add_argument("--agent", metavar="NAME", help="only sessions of this agent, such as codex")
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


def _add_images(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "images",
        help="move the images of transcripts into files, and back, byte for byte",
        description="Moves the images of transcripts into files, and puts them back, byte for byte.",
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_images_list(actions)
    _add_images_extract(actions)
    _add_images_restore(actions)


def _add_images_list(actions: argparse._SubParsersAction[_Parser]) -> None:
    parser = actions.add_parser(
        "list",
        help="count images, their bytes, and duplicates; only reads",
        description="Counts the images in transcripts, their bytes and duplicates. Only reads.",
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument("paths", metavar="FILE|DIR", nargs="+", help="transcripts, and folders of them")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print a JSON object")
    _add_threads(parser)


def _add_images_extract(actions: argparse._SubParsersAction[_Parser]) -> None:
    parser = actions.add_parser(
        "extract",
        help="move images into files, and leave placeholders",
        description="Moves images into files, and leaves placeholders that `restore` turns back.",
        epilog=EXIT_STATUSES,
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="FILE|DIR", help="a transcript, or a folder of them")
    _add_places(parser, "where the images go; one folder can serve many transcripts")
    parser.add_argument(
        "--max-image-bytes",
        metavar="N",
        type=_positive_bytes,
        help="leave larger images where they are (default: 67108864)",
    )
    _add_manner(parser)


def _add_images_restore(actions: argparse._SubParsersAction[_Parser]) -> None:
    parser = actions.add_parser(
        "restore",
        help="put the images back",
        description="Puts the images back: the result has the bytes that were there before `extract`.",
        epilog=EXIT_STATUSES,
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="SLIM|DIR", help="what `extract` wrote")
    _add_places(parser, "where the images are")
    parser.add_argument(
        "--allow-missing",
        action="store_true",
        help="leave the placeholders of images that are not there (exit status 3)",
    )
    parser.add_argument(
        "--format",
        choices=PLACEHOLDER_FORMATS,
        default="retell",
        help="whose placeholders to read (default: retell)",
    )
    _add_manner(parser)


def _add_types(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = commands.add_parser(
        "types",
        help="count the entry types of transcripts, and tell which are unknown to this release",
        description=(
            "Counts the entry types of transcripts, and tells which are unknown to this release.\n"
            "The report can go into a public bug report as it is: it holds names of types,\n"
            "versions and numbers, and no words, paths or project names."
        ),
        epilog=EXIT_STATUSES,
        formatter_class=_Layout,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths",
        metavar="FILE|DIR",
        nargs="*",
        help="transcripts, and folders of them (default: all sessions)",
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="print a JSON object")
    parser.add_argument(
        "--agent", metavar="NAME", help="who wrote the transcripts (default: seen from their records)"
    )
    _add_threads(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but warnings and errors")


def _add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads",
        metavar="N",
        type=_positive_threads,
        help="how many threads may work (default: $RETELL_THREADS, or as many as there are cores)",
    )


def _add_places(parser: argparse.ArgumentParser, assets: str) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument("-o", "--output", dest="out", metavar="OUT", help="the file or folder to write")
    place.add_argument("--in-place", action="store_true", help="write over the original")
    parser.add_argument("--assets", dest="assets_dir", metavar="DIR", required=True, help=assets)


def _add_manner(parser: argparse.ArgumentParser) -> None:
    _add_threads(parser)
    parser.add_argument("--dry-run", action="store_true", help="write nothing, say what would be done")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print the report as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but warnings and errors")


def _positive(word: str) -> int:
    import os

    if not word.isdecimal() and os.path.exists(word):
        msg = f"{word!r} is not a number of sessions; they are looked for below {HOMES}"
        raise argparse.ArgumentTypeError(msg)
    return _number(word, "a number of sessions")


def _positive_bytes(word: str) -> int:
    return _number(word, "a number of bytes")


def _positive_threads(word: str) -> int:
    return _number(word, "a number of threads")


def _number(word: str, of_what: str) -> int:
    try:
        number = int(word)
    except ValueError:
        number = 0
    if number < 1:
        msg = f"{word!r} is not {of_what}"
        raise argparse.ArgumentTypeError(msg)
    return number
