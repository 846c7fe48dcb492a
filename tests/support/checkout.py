"""Where things lie in the checkout that the tests are run from."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
DEMO = DATA / "claude-code" / "demo.jsonl"

# Real transcripts, which some developers have beside their checkout.
SAMPLES = ROOT.parent / "shared" / "samples"
