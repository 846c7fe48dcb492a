"""Hypothesis profiles, and the real transcripts that some developers have beside their checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.checkout import SAMPLES
from tests.support.image_folders import Place

# A drawn session is large for Hypothesis, and the twin is slow on purpose.
SLOW_ON_PURPOSE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

# The same examples on every run of CI: a change is judged by what it changes. Everywhere else new ones.
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=SLOW_ON_PURPOSE,
)
settings.register_profile("long", parent=settings.get_profile("ci"), max_examples=20_000)
settings.load_profile(os.environ.get("RETELL_HYPOTHESIS", "ci"))


@pytest.fixture(scope="session")
def samples() -> list[Path]:
    """The real Claude Code transcripts; the test is skipped where there are none."""
    paths = sorted((SAMPLES / "claude-code").rglob("*.jsonl"))
    if not paths:
        pytest.skip("no sample transcripts beside this checkout")
    return paths


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder to take images out of, and to put them back into."""
    return Place(tmp_path)


@pytest.fixture(scope="session")
def codex_samples() -> list[Path]:
    """The real Codex rollouts; the test is skipped where there are none."""
    paths = sorted((SAMPLES / "codex").rglob("*.jsonl"))
    if not paths:
        pytest.skip("no sample rollouts beside this checkout")
    return paths
