"""Made-up session transcripts: the same profile, size and seed give the same bytes on every machine.

    python benches/generate.py --profile classic --megabytes 150 --seed 1 OUT.jsonl

A profile is a row of `PROFILES`: which writer makes the lines, and what share of the bytes each part takes.
The parts are nudged while writing (see `Ledger`), so the shares hold for every seed and from about 5 MB on.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Run as a script, `benches` is not on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches.claude_lines import Profile
from benches.claude_session import classic_session
from benches.image_session import image_session
from benches.vocabulary import Dice

OUT = Path(__file__).resolve().parent / "out"

_WRITTEN_BY = ("generate", "claude_session", "claude_lines", "image_session", "vocabulary")

# Claude Code 2.1.39, as measured on real sessions. User lines are 47 %: `mirrored` is what of them stands
# outside of `toolUseResult`. The rest, under 1 %, is system lines and queue operations.
_CLASSIC = Profile(
    write=classic_session,
    mean_line=5000,
    shares={
        "mirrored": 0.17,
        "toolUseResult": 0.30,
        "progress": 0.37,
        "assistant": 0.14,
        "snapshot": 0.01,
        "signal": 0.016,
    },
    typical={
        "mirrored": 8000,
        "toolUseResult": 20_000,
        "progress": 19_000,
        "assistant": 5000,
        "snapshot": 4000,
        "signal": 1000,
    },
)

PROFILES: Mapping[str, Profile] = {
    "classic": _CLASSIC,
    # The same, and for each million bytes a screenshot that fills 80 % of them, with a copy of itself.
    "images": replace(_CLASSIC, write=image_session),
}


def lines(profile: str, megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a corpus, each with its line end.

    Args:
        profile: a row of `PROFILES`.
        megabytes: millions of bytes; the last turn is finished, so it will be a little more.
        seed: any whole number.
    """
    row = PROFILES[profile]
    return row.write(row, Dice(seed), megabytes * 1_000_000)


def classic(megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a Claude Code 2.1.39 session."""
    return lines("classic", megabytes, seed)


def write(path: Path, profile: str, megabytes: float, seed: int) -> str:
    """Write a corpus and give its sha256; a half-written one is never left under its name."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        for line in lines(profile, megabytes, seed):
            digest.update(line)
            file.write(line)
    beside.replace(path)
    return digest.hexdigest()


def corpus(profile: str, megabytes: float, seed: int = 1) -> Path:
    """A corpus in `benches/out`, made once; one that an older version of the generator made is replaced."""
    code = b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in _WRITTEN_BY)
    version = hashlib.sha256(code).hexdigest()[:8]
    stem = f"{profile}-{megabytes:g}mb-seed{seed}-"
    path = OUT / f"{stem}{version}.jsonl"
    if not path.exists():
        for old in OUT.glob(f"{stem}*.jsonl"):
            old.unlink()
        OUT.mkdir(exist_ok=True)
        (OUT / ".gitignore").write_text("*\n", encoding="utf-8")  # large, and anyone can make it again
        write(path, profile, megabytes, seed)
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Write a made-up session transcript for benchmarks.")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="classic")
    parser.add_argument("--megabytes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    asked = parser.parse_args()
    digest = write(asked.out, asked.profile, asked.megabytes, asked.seed)
    print(f"sha256 {digest}  {asked.out.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
