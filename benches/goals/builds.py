"""The checkout that is measured, and maybe another one beside it: what was built in each, and where it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benches.goals.stopwatch import PYTHON, ROOT


@dataclass(frozen=True)
class Build:
    """A checkout with its `.venv`, into which `make build` put the package."""

    root: Path
    called: str = ""
    """Stands before the names of its sides."""

    def side(self, name: str) -> str:
        """What a side is called when it runs this build."""
        return f"{self.called} {name}" if self.called else name

    @property
    def python(self) -> str:
        """The interpreter that imports this build."""
        if self.root == ROOT:
            return PYTHON
        scripts = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
        return str(self.root / ".venv" / scripts)

    @property
    def command(self) -> str:
        """The program `retell-fast`."""
        return shutil.which("retell-fast", path=str(Path(self.python).parent)) or "retell-fast"

    def core_example(self) -> str | None:
        """The program that times the core without Python, or None where cargo cannot build it."""
        return _core_example(self.root)


HEAD = Build(ROOT)
COMMAND = HEAD.command


def base(root: Path) -> Build:
    """Another checkout.

    Raises:
        ValueError: nothing was built there.
    """
    build = Build(root.resolve(), "base")
    if not Path(build.python).exists() or build.command == "retell-fast":
        raise ValueError(f"{root}: holds no built package, run `make build` there first")
    return build


@cache
def _core_example(root: Path) -> str | None:
    command = ["cargo", "build", "--quiet", "--release", "-p", "retell-core", "--example", "time_parse"]
    # A shared target folder would hold the program of one checkout only.
    own = os.environ.get("CARGO_TARGET_DIR") if root == ROOT else None
    target = Path(own) if own else root / "target"
    try:
        subprocess.run(command, check=True, cwd=root, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the core of {root} is not timed: {error}")
        return None
    ending = ".exe" if sys.platform == "win32" else ""
    return str(target / "release" / "examples" / f"time_parse{ending}")
