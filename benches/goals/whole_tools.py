"""Whole tools that read the same sessions, each as a user starts it; those that are missing are named."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benches.goals.builds import COMMAND
from benches.goals.stopwatch import PYTHON, Side, Took, WrongResultError, output, took_by

if TYPE_CHECKING:
    from collections.abc import Callable

_SESSION = "11111111-2222-4333-8444-555555555555"
_SDK = """
import sys, claude_agent_sdk
print(len(claude_agent_sdk.get_session_messages(sys.argv[1])))
"""


def sides(path: Path, folder: Path) -> list[Side]:
    """What can run here, on a session that is laid out as the tools expect it."""
    project = folder / "home" / "projects" / "-home-robin-projects-lanternfish"
    project.mkdir(parents=True)
    session = project / f"{_SESSION}.jsonl"
    try:
        os.link(path, session)
    except OSError:
        shutil.copy(path, session)
    env = {"CLAUDE_CONFIG_DIR": str(folder / "home")}
    out = folder / "out"
    found = [
        _side("retell-fast parse", [COMMAND, "parse", _SESSION, "-o", str(out)], env, out / "events.json")
    ]
    log = shutil.which("claude-code-log", path=str(Path(PYTHON).parent)) or shutil.which("claude-code-log")
    if log:
        json_file = folder / "log.json"
        command = [log, "convert", str(session), "-o", str(json_file), "--no-cache"]
        found.append(_side("claude-code-log, to JSON", command, env, json_file))
    else:
        print("left out: claude-code-log is not installed (pip install --group bench-tools)")
    if importlib.util.find_spec("claude_agent_sdk"):
        command = [PYTHON, "-c", _SDK, _SESSION]
        if int(output(command, env)) == 0:
            print("left out: claude-agent-sdk finds no messages", file=sys.stderr)
        else:
            found.append(Side("claude-agent-sdk, session messages", lambda: took_by(command, env)))
    else:
        print("left out: claude-agent-sdk is not installed (pip install --group bench-tools)")
    return found


def _side(name: str, command: list[str], env: dict[str, str], product: Path) -> Side:
    def remove() -> None:
        shutil.rmtree(product.parent) if product.name == "events.json" else product.unlink()

    return Side(name, _run(command, env, product, remove))


def _run(
    command: list[str], env: dict[str, str], product: Path, remove: Callable[[], None]
) -> Callable[[], Took]:
    def run() -> Took:
        if product.exists():
            remove()
        took = took_by(command, env)
        if not product.exists() or product.stat().st_size < 1000:
            raise WrongResultError(f"it wrote no {product.name}")
        return took

    return run
