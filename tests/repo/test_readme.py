"""What README.md shows is run: its Python blocks in order, and the shell blocks marked for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.support.checkout import ROOT

import retell_fast

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"(?P<mark><!-- run -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(language: str, *, marked: bool = False) -> list[str]:
    """The texts of the fenced blocks of a language; with `marked`, of those below `<!-- run -->`."""
    found = (match for match in BLOCK.finditer(README) if match["language"] == language)
    return [match["text"] for match in found if match["mark"] or not marked]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where the paths in the README lead to the project's own test data."""
    (tmp_path / "tests").mkdir()
    try:
        (tmp_path / "tests" / "data").symlink_to(ROOT / "tests" / "data", target_is_directory=True)
    except OSError:
        pytest.skip("this user may not make symbolic links")
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "claude"
    shutil.copytree(ROOT / "tests" / "data" / "claude-code", home / "projects" / "-home-you-demo")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    return tmp_path


def test_the_python_blocks_run(workplace: Path) -> None:
    names: dict[str, Any] = {}
    assert blocks("python")
    for text in blocks("python"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", retell_fast.RetellWarning)
            exec(compile(text, "README.md", "exec"), names)  # noqa: S102  # that it runs is the test
    assert (workplace / "out" / "events.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="the blocks are for a POSIX shell")
@pytest.mark.parametrize("text", blocks("sh", marked=True))
def test_the_marked_shell_blocks_run(workplace: Path, text: str) -> None:
    scripts = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent)])
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-e", "-c", text], cwd=workplace, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 3), done.stderr


def test_there_are_marked_shell_blocks() -> None:
    assert blocks("sh", marked=True)


def test_the_first_screen_shows_the_two_commands() -> None:
    first_screen = "\n".join(README.splitlines()[:30])
    assert "make demo" in first_screen
    assert "make test" in first_screen
