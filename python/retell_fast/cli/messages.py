"""What the program says to a person: one clear line each, on standard error, never on standard output."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

# Characters that move the cursor, colour the terminal, or turn the reading direction. Transcripts and file
# names may hold them; printed as they are, they could rewrite what the terminal shows.
_UNPRINTABLE = {
    code: "�"
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\t\n"
}


HOMES = "$CLAUDE_CONFIG_DIR or ~/.claude, $CODEX_HOME or ~/.codex"
"""Where sessions are looked for."""


def harmless(text: str) -> str:
    """Gives the text without the characters that steer a terminal. Tabs and line ends stay."""
    return text.translate(_UNPRINTABLE)


def one_line(text: str) -> str:
    """Gives the text on one line, each run of blanks as one space, without what steers a terminal."""
    return harmless(" ".join(text.split()))


SHOWN = 60
"""Characters of a name out of a transcript that are shown."""


def shown_name(name: str) -> str:
    """Gives a name out of a transcript as messages of the core show it: so that it can be seen.

    It stands between quotes unless it looks like a name, and is cut short.
    """
    shown = name[:SHOWN]
    rest = "…" if len(name) > SHOWN else ""
    if shown and all(letter.isalnum() or letter in "-_./:()" for letter in shown):
        return shown + rest
    escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
    seen = (letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in escaped)
    return f'"{"".join(seen)}"{rest}'


def tell_of_waiting(path: str) -> None:
    """Says that somebody else has to write first, where that is so: it would look as if the program hung."""
    import stat

    if path == "-":
        if sys.stdin is not None and sys.stdin.isatty():
            note("reading what is typed, up to Ctrl-D")
        return
    try:
        is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # it will be said where it is opened
        return
    # A shell that writes <(command) gives such a path, and there the writer is at hand.
    if is_pipe and not path.startswith(("/dev/", "/proc/")):
        note(f"{path} is a pipe: waiting for what is written to it")


def prepare_streams() -> None:
    """Sees to it that there is somewhere to print to, and that no character can fail to be printed.

    A pipe gets UTF-8 whatever the locale says, for it carries data; a terminal keeps its own encoding.
    """
    # A stream that was closed before Python began is None.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        _accept_every_character(stream)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _accept_every_character(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)  # a stream that a test put there may not have it
    if reconfigure is None:
        return
    if stream.isatty():
        reconfigure(errors="replace")
    else:
        reconfigure(encoding="utf-8", errors="replace")


def say(text: str) -> None:
    """Prints one line for a person."""
    sys.stderr.write(f"{one_line(text)}\n")
    sys.stderr.flush()


def note(text: str) -> None:
    """Says something good to know."""
    say(f"note: {text}")


def warn(text: str) -> None:
    """Says that something needs a look."""
    say(f"warning: {text}")


def fail(text: str, hint: str | None = None) -> None:
    """Says that it could not be done, and what to do about it. A hint may be a list of several lines."""
    say(f"error: {text}")
    if hint:
        first, *rest = hint.rstrip().splitlines()
        sys.stderr.write(f"hint: {harmless(first)}\n")
        sys.stderr.writelines(f"  {harmless(line.strip())}\n" for line in rest)
        sys.stderr.flush()
