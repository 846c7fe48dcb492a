"""`retell-fast parse`: one session in, events.json, manifest.json and assets/ out."""

from __future__ import annotations

import errno
import os
import sys
import time
import warnings

import retell_fast

from .closing import shortened, summary
from .exit_status import ExitStatus
from .measures import beginning
from .messages import note, say, tell_of_waiting, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .progress import Bar

# What `Conversation.findings` says again, with names and places.
_SAID_AS_FINDINGS = (retell_fast.UnknownEntryTypeWarning, retell_fast.DamagedInputWarning)


def run(  # noqa: PLR0913 - one for each option
    session: str,
    *,
    output_dir: str | None = None,
    include_subagents: bool = False,
    strict: bool = False,
    allow_unknown: bool = False,
    agent: str | None = None,
    threads: int | None = None,
    quiet: bool = False,
) -> int:
    """Parses, writes, says how it went, and gives the exit status.

    Args:
        session: a path, an id or its beginning, or - for standard input.
        output_dir: where to write; None for `default_directory`.
        include_subagents: as for `retell_fast.parse`.
        strict: as for `retell_fast.parse`.
        allow_unknown: as for `retell_fast.parse`.
        agent: as for `retell_fast.parse`.
        threads: as for `retell_fast.parse`.
        quiet: say nothing but warnings.
    """
    began = time.monotonic()
    if output_dir is not None and os.path.exists(output_dir) and not os.path.isdir(output_dir):
        # Said before the work rather than after it.
        raise _while_writing(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), output_dir))
    if not quiet:
        tell_of_waiting(session)
    bar = _bar(session) if sys.stderr.isatty() and not quiet else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            conversation = retell_fast.parse(
                session,
                agent=agent,
                include_subagents=include_subagents,
                strict=strict,
                allow_unknown=allow_unknown,
                threads=threads,
                progress=bar,
            )
        finally:
            if bar is not None:
                bar.close()
    directory = output_dir or default_directory(conversation.manifest["conversation_id"])
    try:
        conversation.write(directory)
    except OSError as error:
        raise _while_writing(error) from error

    found = [str(each.message) for each in caught if not issubclass(each.category, _SAID_AS_FINDINGS)]
    found += conversation.findings
    for text in shortened(found):
        warn(text)
    if not quiet:
        for text in conversation.notes:
            note(text)
        say(summary(conversation, warnings=len(found), duration=time.monotonic() - began))
        say(f"wrote {os.path.join(directory, '')}")
    return ExitStatus.NEEDS_A_LOOK if conversation.attention else ExitStatus.ALL_WELL


def default_directory(conversation_id: str) -> str:
    """Names the output folder after the beginning of the id.

    The id may come from the transcript itself, so whatever could lead out of the current folder is replaced.
    """
    harmless = (
        letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_"
        for letter in beginning(conversation_id)
    )
    return f"retell-{''.join(harmless) or 'session'}"


def _while_writing(error: OSError) -> OSError:
    from .failures import WritingError

    return WritingError(error.errno, error.strerror, error.filename)


def _bar(session: str) -> Bar:
    from .progress import Bar

    return Bar("reading" if session == "-" else f"reading {os.path.basename(session)}")
