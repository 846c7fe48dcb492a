"""The same bytes give the same files, however they come, on any number of threads, with vectors or not."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.differential.test_claude import large_session
from tests.strategies import claude as strategies
from tests.strategies import codex
from tests.strategies.codex import compressed
from tests.support.checkout import DATA

# A file of this name says no more about a session than bytes do.
NAME = "unknown.jsonl"
SETTINGS = [
    {"RETELL_THREADS": threads, "RETELL_SIMD": simd} for threads in ("1", "2", "5") for simd in ("", "off")
]

# Each session is the only one in its folder. What the variables say is read once in a process.
ALL_WAYS = """
import io, pathlib, sys, warnings
import retell_fast

def parse(source, target):
    try:
        conversation = retell_fast.parse(source, include_subagents=True)
    except retell_fast.RetellError as error:
        target.mkdir(parents=True)
        (target / "error").write_text(type(error).__name__)
    else:
        conversation.write(target)

warnings.simplefilter("ignore")
sources, out = map(pathlib.Path, sys.argv[1:])
for path in sorted(sources.glob("plain/*/*")):
    target = out / path.parent.name
    data = path.read_bytes()
    parse(path, target / "path")
    parse(data, target / "bytes")
    parse(io.BytesIO(data), target / "file object in memory")
    with path.open("rb") as file:
        parse(file, target / "file object")
    parse(sources / "packed" / path.parent.name / (path.name + ".zst"), target / "compressed")
    parse(sources / "gzipped" / path.parent.name / (path.name + ".gz"), target / "compressed with gzip")
"""

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    """What was written, without the source's name."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if "manifest.json" in files:
        manifest = json.loads(files["manifest.json"])
        manifest["source"]["name"] = None
        files["manifest.json"] = json.dumps(manifest).encode()
    return files


def run(words: list[str], variables: dict[str, str], given_bytes: bytes = b"") -> int:
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "SOURCE_DATE_EPOCH": "1770714843", **variables},
        input=given_bytes,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode


def stored(sessions: list[bytes], folder: Path) -> None:
    """Stores the sessions, each in a folder of its own, plain and compressed."""
    for number, data in enumerate(sessions):
        for form, name, content in (
            ("plain", NAME, data),
            ("packed", f"{NAME}.zst", compressed(data)),
            ("gzipped", f"{NAME}.gz", gzip.compress(data, 1)),
        ):
            path = folder / form / str(number) / name
            path.parent.mkdir(parents=True)
            path.write_bytes(content)


def all_ways(sessions: list[bytes], folder: Path, variables: dict[str, str]) -> list[Files]:
    """The files of each session, which are the same in all ways."""
    assert run(["-c", ALL_WAYS, str(folder / "in"), str(folder / "out")], variables) == 0
    results = []
    for number in range(len(sessions)):
        ways = sorted((folder / "out" / str(number)).iterdir())
        assert len(ways) == 6
        first, *others = [files_of(way) for way in ways]
        for way, other in zip(ways[1:], others, strict=True):
            assert other == first, (number, way.name)
        results.append(first)
    return results


def assert_settings_change_nothing(sessions: list[bytes], settings: list[dict[str, str]]) -> list[Files]:
    expected = None
    for variables in settings:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            stored(sessions, folder / "in")
            results = all_ways(sessions, folder, variables)
        expected = expected or results
        assert results == expected, variables
    assert expected
    return expected


def bundled() -> list[Path]:
    paths = [path for path in sorted(DATA.rglob("*.jsonl")) if "subagents" not in path.parts]
    return [*paths, DATA / "codex" / "document.json"]


def test_the_bundled_sessions() -> None:
    results = assert_settings_change_nothing(
        [path.read_bytes() for path in bundled()], [SETTINGS[0], SETTINGS[-1]]
    )
    assert sum("events.json" in files for files in results) > 20
    assert any(name.startswith("assets") for files in results for name in files)


@pytest.mark.parametrize("session", [DATA / "claude-code" / "demo.jsonl", DATA / "codex" / "images.jsonl"])
@pytest.mark.parametrize("variables", [SETTINGS[0], SETTINGS[-1]], ids=["one-thread", "plainly"])
def test_standard_input(session: Path, variables: dict[str, str], tmp_path: Path) -> None:
    data = session.read_bytes()
    stored([data], tmp_path / "in")
    [expected] = all_ways([data], tmp_path, SETTINGS[2])
    out = tmp_path / "stdin"
    command = ["-m", "retell_fast", "parse", "-", "--include-subagents", "--output-dir", str(out)]
    for name, given_bytes in (("plain", data), ("compressed", compressed(data))):
        assert run(command, variables, given_bytes) in (0, 3), name
        assert files_of(out) == expected, name


@settings(max_examples=3)
@given(
    st.lists(strategies.sessions(), min_size=4, max_size=8),
    st.lists(codex.rollouts(with_damage=True), min_size=4, max_size=8),
    st.lists(codex.documents(), min_size=1, max_size=3),
)
def test_property_drawn_sessions(
    sessions: list[bytes], rollouts: list[bytes], documents: list[bytes]
) -> None:
    assert_settings_change_nothing([*sessions, *rollouts, *documents], [SETTINGS[0], SETTINGS[-1]])


@settings(max_examples=2)
@given(
    st.lists(strategies.sessions(), min_size=3, max_size=6),
    st.lists(codex.rollouts(), min_size=3, max_size=6),
    st.integers(60_000, 300_000),
)
def test_property_large_sessions(sessions: list[bytes], rollouts: list[bytes], padding: int) -> None:
    large = [large_session(drawn, padding) for drawn in (sessions, rollouts)]
    assert_settings_change_nothing(large, SETTINGS)
