"""The command `retell-fast`, run as its users run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "retell_fast"]

# Drops to a user who may nothing. The interpreter itself may stand in a private folder, so what is needed is
# imported before that.
AS_NOBODY = """
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""


def ended(
    *words: str | Path, given: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=given,
        capture_output=True,
        check=False,
        timeout=60,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in err, err
    return done.returncode, out, err


def run(*words: str | Path, status: int = 0, **options: Any) -> tuple[str, str]:
    """Standard output and standard error, where the command ended as it should."""
    was, out, err = ended(*words, **options)
    assert was == status, err
    return out, err
