"""Folders with transcripts in them, to take images out of and to put them back into."""

from __future__ import annotations

import base64
import json
import os
import random
from pathlib import Path

import pytest
from tests.strategies.images import encode, image
from tests.twin import images as twin

import retell_fast

NOT_ON_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")
WINDOW = 1 << 20
"""How much of a file is read at a time."""

LONG_AGO = 1_770_000_000


class Place:
    """A folder with a transcript, and names for what is written from it."""

    def __init__(self, folder: Path) -> None:
        self.full, self.slim = folder / "full.jsonl", folder / "slim.jsonl"
        self.back, self.store = folder / "back.jsonl", folder / "store"

    def write(self, transcript: bytes) -> bytes:
        self.full.write_bytes(transcript)
        os.utime(self.full, (LONG_AGO, LONG_AGO))
        return transcript

    def extract(self, *, max_image_bytes: int = twin.CAP) -> retell_fast.ImageReport:
        return retell_fast.externalize(self.full, self.slim, self.store, max_image_bytes=max_image_bytes)

    def restore(self, *, allow_missing: bool = False) -> retell_fast.ImageReport:
        return retell_fast.restore(self.slim, self.back, self.store, allow_missing=allow_missing)

    def assets(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.store.iterdir()} if self.store.exists() else {}


def line(*raws: bytes) -> bytes:
    """One line with these images in it."""
    blocks = [
        {"type": "image", "source": {"type": "base64", "data": base64.b64encode(raw).decode()}}
        for raw in raws
    ]
    return (
        json.dumps({"type": "user", "message": {"content": blocks}}, separators=(",", ":")).encode() + b"\n"
    )


def below(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if "partial" in path.name or path.name.startswith(".")]


SHARED = [image("png", 2000 + number, number) for number in range(10)]


def sessions(folder: Path, count: int = 60) -> dict[str, bytes]:
    """A tree of sessions that share screenshots."""
    rng = random.Random(7)
    for number in range(count):
        path = (
            folder / f"project-{number % 5}" / ("subagents" if number % 7 == 0 else ".") / f"{number}.jsonl"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [line(*rng.sample(SHARED, rng.randrange(3))) for _ in range(rng.randrange(5))]
        lines.append(line(image("jpg", 300, number)) if number % 2 else b'{"text":"retell-asset:"}\n')
        path.write_bytes(b"".join(lines))
        os.utime(path, (LONG_AGO, LONG_AGO))
    (folder / "project-0" / "notes.txt").write_bytes(b"no session\n")
    (folder / "project-0" / "empty.jsonl").write_bytes(b"")
    (folder / "project-1" / "whole.json").write_bytes(
        b'[{"inlineData":{"data":"' + encode(SHARED[0]) + b'"}}]'
    )
    for path in folder.rglob("*.*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return below(folder)


def expected_assets(tree: dict[str, bytes]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for transcript in tree.values():
        found |= {name: raw for name, (_, raw) in twin.extract(transcript).assets.items()}
    return found
