"""How a run ends that could not be brought to its end: what is said, and with which exit status."""

from __future__ import annotations

import errno
import os
import sys

import retell_fast

from .exit_status import ExitStatus
from .messages import fail, prepare_streams, say

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) if os.name == "posix" else (errno.ENOSPC, errno.EFBIG)


class WritingError(OSError):
    """The system could not write the result; every other `OSError` is about what is read."""


def say_why(error: BaseException) -> int:
    """Says what ended the run and what to do about it, and gives the exit status."""
    _let_go_of_output()
    prepare_streams()  # the run may have ended before it came to that
    if isinstance(error, BrokenPipeError):
        return ExitStatus.ALL_WELL  # whoever read our output has enough, as with `| head`
    if isinstance(error, KeyboardInterrupt):
        say("interrupted")
        return ExitStatus.INTERRUPTED
    if isinstance(error, ValueError):
        fail(str(error), "retell-fast --help shows what there is")
        return ExitStatus.WRONG_USAGE
    if isinstance(error, retell_fast.RetellError):
        fail(str(error), error.hint)
    elif isinstance(error, WritingError):
        fail(*_explain_writing(error))
    elif isinstance(error, OSError):
        fail(*_explain_system(error))
    return ExitStatus.COULD_NOT


def _let_go_of_output() -> None:
    """Points standard output at nothing, or Python would try again to write what is left, and complain."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (AttributeError, OSError, ValueError):  # standard output is closed, or is no file
        pass


def _explain_system(error: OSError) -> tuple[str, str | None]:
    what = str(error.filename) if error.filename is not None else "standard output"
    if isinstance(
        error, IsADirectoryError
    ):  # also the temporary folder, which may be asked for like any other
        hint = "name a session file in it, or list the sessions there are: retell-fast preview"
        return f"{what} is a folder", getattr(error, "hint", None) or hint
    if error.filename is not None and what == os.environ.get("TMPDIR", "/tmp"):  # noqa: S108  # nothing is made there
        return f"the temporary folder {what} cannot be used: {_reason(error)}", "name another with TMPDIR=DIR"
    if error.errno in _NO_ROOM:
        return f"no room to write {what}", "free some space, or choose another place to write to"
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        look = "check the path, or list the sessions there are: retell-fast preview"
        from_stdin = "only parse reads standard input: save it to a file, and name that"
        return f"there is no file {what}", from_stdin if what == "-" else look
    if isinstance(error, PermissionError):
        return f"permission denied: {what}", "check who may use it: ls -ld, or choose another place"
    return f"{what}: {_reason(error)}", getattr(error, "hint", None)


def _explain_writing(error: WritingError) -> tuple[str, str]:
    another = "choose another folder with --output-dir DIR"
    if error.errno in _NO_ROOM:
        return f"no room to write {error.filename}", f"free some space, or {another}"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"there is a file in the way: {error.filename}", another
    return f"cannot write {error.filename}: {_reason(error)}", another


def _reason(error: OSError) -> str:
    """Says what went wrong without the number and the name of the file."""
    return (error.strerror or str(error)).lower()
