"""Times of the image codec in memory: beside a copy of the bytes, and the plain twin with `re` and `base64`.

    pytest benches/goals/test_bench_images.py --benchmark-only

Every side must give the right result before it is timed. RETELL_BENCH_MB sets the size of the session (15).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from benches.corpus import generate
from tests.twin import images as twin

import retell_fast

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

extracting = pytest.mark.benchmark(group="images out of a transcript")
restoring = pytest.mark.benchmark(group="images back into a transcript")
in_files = pytest.mark.benchmark(group="images out of a file, proven, and back")

_codec = retell_fast.codec_for("claude-code")
assert _codec is not None
CODEC = _codec


@pytest.fixture(scope="session")
def transcript() -> bytes:
    """A generated `images` session."""
    return generate.corpus("images", float(os.environ.get("RETELL_BENCH_MB", "15"))).read_bytes()


@pytest.fixture(scope="session")
def extracted(transcript: bytes) -> twin.Extracted:
    """What comes out of it, by the twin."""
    return twin.extract(transcript)


@pytest.fixture(scope="session")
def store(extracted: twin.Extracted) -> dict[str, bytes]:
    """The images by name."""
    return {name: image for name, (_, image) in extracted.assets.items()}


@extracting
def test_extract(
    benchmark: BenchmarkFixture, transcript: bytes, extracted: twin.Extracted, store: dict[str, bytes]
) -> None:
    """`ImageCodec.extract_images`."""
    rewritten, assets = CODEC.extract_images(transcript)
    assert rewritten == extracted.rewritten
    assert {asset.name: asset.data for asset in assets} == store
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(CODEC.extract_images, transcript)


@restoring
def test_restore(
    benchmark: BenchmarkFixture, transcript: bytes, extracted: twin.Extracted, store: dict[str, bytes]
) -> None:
    """`ImageCodec.reinject_images`."""
    assert CODEC.reinject_images(extracted.rewritten, store) == transcript
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(CODEC.reinject_images, extracted.rewritten, store)


@extracting
def test_extract_twin(benchmark: BenchmarkFixture, transcript: bytes) -> None:
    """The plain Python twin."""
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(twin.extract, transcript)


@restoring
def test_restore_twin(
    benchmark: BenchmarkFixture, transcript: bytes, extracted: twin.Extracted, store: dict[str, bytes]
) -> None:
    """The plain Python twin."""
    assert twin.restore(extracted.rewritten, store.get) == transcript
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(twin.restore, extracted.rewritten, store.get)


@extracting
def test_extract_floor(benchmark: BenchmarkFixture, transcript: bytes) -> None:
    """A copy of the bytes."""
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(bytearray, transcript)


@restoring
def test_restore_floor(benchmark: BenchmarkFixture, transcript: bytes) -> None:
    """A copy of the bytes."""
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(bytearray, transcript)


@in_files
def test_externalize(benchmark: BenchmarkFixture, transcript: bytes, tmp_path: Path) -> None:
    """`retell_fast.externalize`, which restores what it wrote and compares."""
    full, slim, store = tmp_path / "full.jsonl", tmp_path / "slim.jsonl", tmp_path / "store"
    full.write_bytes(transcript)
    benchmark.extra_info["bytes"] = len(transcript)
    benchmark(retell_fast.externalize, full, slim, store)
    retell_fast.restore(slim, tmp_path / "back.jsonl", store)
    assert (tmp_path / "back.jsonl").read_bytes() == transcript
