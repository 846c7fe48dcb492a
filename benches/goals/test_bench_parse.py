"""Times from a session file to its conversation: retell_fast beside what JSON libraries need for the same.

    pytest benches --benchmark-only

Every side must give the right result before it is timed. RETELL_BENCH_MB sets the size of the session (15),
RETELL_BENCH_PROFILE what it consists of (classic).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benches.corpus import generate
from benches.peers import libraries

import retell_fast

if TYPE_CHECKING:
    from benches.peers.stories import Told
    from pytest_benchmark.fixture import BenchmarkFixture

_COMMAND = shutil.which("retell-fast", path=str(Path(sys.executable).parent)) or "retell-fast"

in_python = pytest.mark.benchmark(group="file to conversation, in Python")
as_command = pytest.mark.benchmark(group="file to events.json, as a command")


@pytest.fixture(scope="session")
def session_file() -> Path:
    """A generated session."""
    profile = os.environ.get("RETELL_BENCH_PROFILE", "classic")
    return generate.corpus(profile, float(os.environ.get("RETELL_BENCH_MB", "15")))


@pytest.fixture(scope="session")
def story(session_file: Path) -> list[Told]:
    """What the session says, by the plainest reader."""
    return libraries.read_json(session_file)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@in_python
def test_parse(benchmark: BenchmarkFixture, session_file: Path, story: list[Told]) -> None:
    """`retell_fast.parse`, events left where they are until somebody asks."""
    assert libraries.told(retell_fast.parse(session_file).events) == story
    benchmark.extra_info["bytes"] = session_file.stat().st_size
    benchmark(retell_fast.parse, session_file)


@in_python
def test_parse_to_list(benchmark: BenchmarkFixture, session_file: Path, story: list[Told]) -> None:
    """`retell_fast.parse`, and its events made into the list that the peers give."""
    benchmark.extra_info["bytes"] = session_file.stat().st_size
    result = benchmark(lambda: libraries.told(retell_fast.parse(session_file).events))
    assert result == story


@in_python
@pytest.mark.parametrize("library", libraries.READERS)
def test_peer(benchmark: BenchmarkFixture, session_file: Path, story: list[Told], library: str) -> None:
    """The same conversation with a JSON library."""
    reader = libraries.READERS[library]
    assert reader(session_file) == story
    benchmark.extra_info["bytes"] = session_file.stat().st_size
    benchmark(reader, session_file)


@as_command
def test_parse_command(
    benchmark: BenchmarkFixture, session_file: Path, story: list[Told], tmp_path: Path
) -> None:
    """`retell-fast parse`, with its interpreter start; compare with the two below."""
    command = (_COMMAND, "parse", session_file, "-o", tmp_path / "out")
    _run(*command)
    assert libraries.written(tmp_path / "out") == story
    benchmark.extra_info["bytes"] = session_file.stat().st_size
    benchmark(_run, *command)


@as_command
def test_interpreter_start(benchmark: BenchmarkFixture) -> None:
    """`python -c pass`: what every Python command pays before its first line."""
    benchmark(_run, sys.executable, "-c", "pass")


@as_command
def test_count_lines(benchmark: BenchmarkFixture, session_file: Path) -> None:
    """`wc -l`: the yardstick."""
    if shutil.which("wc") is None:
        pytest.skip("there is no wc here")
    benchmark.extra_info["bytes"] = session_file.stat().st_size
    benchmark(_run, "wc", "-l", session_file)
