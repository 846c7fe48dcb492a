"""What the exit status of the program says. Scripts rely on these numbers."""

from __future__ import annotations


class ExitStatus:
    """How it went, in one number. No enum: the module for that takes a millisecond to import."""

    ALL_WELL = 0
    COULD_NOT = 1
    WRONG_USAGE = 2
    NEEDS_A_LOOK = 3
    """Done, but something in the input was unknown or damaged."""
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of the signal, as shells have it."""
