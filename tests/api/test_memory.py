"""How the module takes memory: what can be told without measuring."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif("CFLAGS" in os.environ, reason="the module may have been built with these")
def test_the_allocator_takes_memory_as_it_is_used() -> None:
    """What .cargo/config.toml sets has reached the allocator: large pages would cost 30 MiB more."""
    done = subprocess.run(
        [sys.executable, "-c", "import retell_fast"],
        env={**os.environ, "MIMALLOC_VERBOSE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'arena_eager_commit': 0" in done.stderr
