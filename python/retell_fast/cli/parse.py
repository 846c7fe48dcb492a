"""`retell-fast parse`: one session in, events.json, manifest.json and assets/ out."""

from __future__ import annotations

import errno
import os
import re
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import retell_fast

from .closing import findings, notes, shortened, summary
from .exit_status import ExitStatus
from .messages import note, say, warn
from .progress import progress_bar

# What `findings` says again, with names and places, from the manifest.
_SAID_FROM_MANIFEST = (retell_fast.UnknownEntryTypeWarning, retell_fast.DamagedInputWarning)


@dataclass(frozen=True, kw_only=True)
class ParseCommand:
    """What the command line asked for."""

    session: str
    output_dir: str | None = None
    include_subagents: bool = False
    strict: bool = False
    allow_unknown: bool = False
    agent: str | None = None
    quiet: bool = False

    def run(self) -> int:
        """Parses, writes, says how it went, and gives the exit status."""
        began = time.monotonic()
        if self.output_dir is not None:
            _refuse_file(Path(self.output_dir))  # before the work rather than after it
        conversation, other_warnings = self._parse()
        directory = Path(self.output_dir or default_directory(conversation.manifest["conversation_id"]))
        conversation.write(directory)

        found = other_warnings + findings(conversation.manifest, allow_unknown=self.allow_unknown)
        for text in shortened(found):
            warn(text)
        if not self.quiet:
            for text in notes(conversation.manifest):
                note(text)
            say(summary(conversation, warnings=len(found), duration=time.monotonic() - began))
            say(f"wrote {directory}{os.sep}")
        return ExitStatus.NEEDS_A_LOOK if conversation.attention else ExitStatus.ALL_WELL

    def _parse(self) -> tuple[retell_fast.Conversation, list[str]]:
        label = "reading" if self.session == "-" else f"reading {Path(self.session).name}"
        with warnings.catch_warnings(record=True) as caught, progress_bar(label, quiet=self.quiet) as report:
            warnings.simplefilter("always")
            conversation = retell_fast.parse(
                self.session,
                agent=self.agent,
                include_subagents=self.include_subagents,
                strict=self.strict,
                allow_unknown=self.allow_unknown,
                progress=report,
            )
        others = [str(each.message) for each in caught if not issubclass(each.category, _SAID_FROM_MANIFEST)]
        return conversation, others


def default_directory(conversation_id: str) -> str:
    """Names the output folder after the first 8 characters of the id.

    The id may come from the transcript itself, so whatever could lead out of the current folder is replaced.
    """
    return f"retell-{re.sub(r'[^A-Za-z0-9_-]', '_', conversation_id[:8]) or 'session'}"


def _refuse_file(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))
