"""Made-up session transcripts: the same profile, size and seed give the same bytes on every machine.

    python -m benches.corpus.generate --profile classic --megabytes 150 --seed 1 OUT.jsonl
    python -m benches.corpus.generate --megabytes 160 --one-line-megabytes 150 OUT.jsonl
    python -m benches.corpus.generate tree DIR --sessions 2000 --megabytes 1000

A profile is a row of `PROFILES`: which writer makes the lines, and what share of the bytes each part takes.
The parts are nudged while writing (see `Ledger`), so the shares hold for every seed and from about 5 MB on.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

from benches.corpus.claude_chat import ChatSession, chat_session
from benches.corpus.claude_lines import Profile
from benches.corpus.claude_modern import modern_session
from benches.corpus.claude_session import ClaudeSession, classic_session
from benches.corpus.claude_tree import SmallSession, tree
from benches.corpus.codex_session import codex_session, paginated_session
from benches.corpus.image_session import image_session
from benches.corpus.mixed_session import mixed_session
from benches.corpus.vocabulary import SHELL, Dice, Tape, filled

CORPUS = Path(__file__).resolve().parents[2] / "target" / "bench-corpus"

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

# Claude Code 2.1.233: attachments are 82 %, and of those the list of skills 64, of agents 15, of tools 8 %.
_MODERN = Profile(
    write=modern_session,
    mean_line=8000,
    shares={
        "skills": 0.525,
        "agents": 0.123,
        "tools": 0.066,
        "reminders": 0.106,
        "mirrored": 0.06,
        "toolUseResult": 0.05,
        "assistant": 0.05,
        "snapshot": 0.005,
        "signal": 0.012,
    },
    typical={
        "skills": 28_000,
        "agents": 12_000,
        "tools": 9000,
        "reminders": 1500,
        "mirrored": 2500,
        "toolUseResult": 6000,
        "assistant": 2000,
        "snapshot": 2000,
        "signal": 700,
    },
)

# The same lines as `classic`, where human and model mostly talk.
_CHAT = Profile(
    write=chat_session,
    mean_line=1500,
    shares={
        "mirrored": 0.16,
        "toolUseResult": 0.13,
        "progress": 0.18,
        "assistant": 0.49,
        "snapshot": 0.01,
        "signal": 0.30,
    },
    typical={
        "mirrored": 1800,
        "toolUseResult": 3000,
        "progress": 2000,
        "assistant": 800,
        "snapshot": 500,
        "signal": 1600,
    },
)

# A subagent's file: user lines are 56 %, assistant 28 %, progress 16 %.
_AGENT = replace(
    _CLASSIC,
    shares={**_CLASSIC.shares, "mirrored": 0.56, "assistant": 0.28, "progress": 0.16},
)

# A rollout; everything said stands in it twice, and `signal` counts it once.
_CODEX = Profile(
    write=codex_session,
    mean_line=2600,
    shares={
        "images": 0.55,
        "output": 0.17,
        "reasoning": 0.10,
        "call": 0.06,
        "state": 0.12,
        "signal": 0.02,
        "compacted": 0.0,
    },
    typical={
        "images": 400_000,
        "output": 6000,
        "reasoning": 2500,
        "call": 1500,
        "state": 500,
        "signal": 700,
        "compacted": 0,
    },
)

PROFILES: Mapping[str, Profile] = {
    "classic": _CLASSIC,
    "modern": _MODERN,
    # As `classic`, and for each million bytes a screenshot that fills 80 % of them, with a copy of itself.
    "images": replace(_CLASSIC, write=image_session),
    "chat": _CHAT,
    # A third of `classic`; pictures and results of calls that are not in the file make up the rest.
    "mixed": replace(_CLASSIC, write=mixed_session),
    "codex": _CODEX,
    "codex-paginated": replace(_CODEX, write=paginated_session),
}

# What the sessions of a tree may be; tiny ones have to be `chat`, others need a hundred kilobytes a turn.
TREES: Mapping[str, type[ClaudeSession]] = {"classic": SmallSession, "chat": ChatSession}


def lines(profile: str, megabytes: float, seed: int, one_line_megabytes: float = 0) -> Iterator[bytes]:
    """The lines of a corpus, each with its line end.

    Args:
        profile: a row of `PROFILES`.
        megabytes: millions of bytes; the last turn is finished, so it will be a little more.
        seed: any whole number.
        one_line_megabytes: millions of bytes of a single line in the middle, which are part of `megabytes`.
    """
    row = PROFILES[profile]
    rest = (megabytes - one_line_megabytes) * 1_000_000
    ordinary = row.write(row, Dice(seed), max(1, rest))
    if not one_line_megabytes:
        yield from ordinary
        return
    passed = 0
    due = True
    for line in ordinary:
        yield line
        passed += len(line)
        if due and passed * 2 >= rest:
            due = False
            yield _one_line(Dice(seed), int(one_line_megabytes * 1_000_000))


def _one_line(dice: Dice, size: int) -> bytes:
    """A tool result of the size, half for the model and half for the program."""
    output = Tape(filled(dice, SHELL, 6000)).text((0, 6000))
    output = "\\n".join([output] * (size // (2 * len(output.encode())) + 1))
    block = f'{{"tool_use_id":"toolu_01{dice.letters(22)}","type":"tool_result","content":"{output}"}}'
    return (
        f'{{"parentUuid":"{dice.uuid()}","isSidechain":false,"sessionId":"{dice.uuid()}","type":"user",'
        f'"message":{{"role":"user","content":[{block}]}},"uuid":"{dice.uuid()}",'
        f'"timestamp":"2026-02-10T10:00:00.000Z","toolUseResult":{{"stdout":"{output}","stderr":""}}}}\n'
    ).encode()


def classic(megabytes: float, seed: int) -> Iterator[bytes]:
    """The lines of a Claude Code 2.1.39 session."""
    return lines("classic", megabytes, seed)


def write(path: Path, profile: str, megabytes: float, seed: int, one_line_megabytes: float = 0) -> str:
    """Write a corpus and give its sha256; a half-written one is never left under its name."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        for line in lines(profile, megabytes, seed, one_line_megabytes):
            digest.update(line)
            file.write(line)
    beside.replace(path)
    return digest.hexdigest()


def write_tree(folder: Path, sessions: int, megabytes: float, seed: int, profile: str = "classic") -> str:
    """Write `folder/projects/…`, and give the sha256 over the paths and contents of all files."""
    digest = hashlib.sha256()
    for name, data in tree(TREES[profile], PROFILES[profile], _AGENT, megabytes * 1_000_000, sessions, seed):
        path = folder / "projects" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        digest.update(f"{name} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()


def corpus(profile: str, megabytes: float, seed: int = 1, one_line_megabytes: float = 0) -> Path:
    """A corpus in `target/bench-corpus`, made once, and again if it is not what the generator makes now."""
    one_line = f"-line{one_line_megabytes:g}mb" if one_line_megabytes else ""
    path = CORPUS / f"{profile}-{megabytes:g}mb{one_line}-seed{seed}.jsonl"
    sum_file = path.with_suffix(".sha256")
    if not (path.exists() and _is_fresh(sum_file, [path])):
        sha256 = write(path, profile, megabytes, seed, one_line_megabytes)
        sum_file.write_text(f"{sha256} {_generator()} {_stamp([path])}\n", encoding="utf-8")
    return path


def corpus_tree(sessions: int, megabytes: float, seed: int = 1, profile: str = "classic") -> Path:
    """The same for a tree: a folder that holds `projects`."""
    folder = CORPUS / f"tree-{profile}-{sessions}-{megabytes:g}mb-seed{seed}"
    sum_file = folder.with_suffix(".sha256")
    if not (folder.exists() and _is_fresh(sum_file, sorted(folder.rglob("*.jsonl")))):
        shutil.rmtree(folder, ignore_errors=True)
        sha256 = write_tree(folder, sessions, megabytes, seed, profile)
        files = sorted(folder.rglob("*.jsonl"))
        sum_file.write_text(f"{sha256} {_generator()} {_stamp(files)}\n", encoding="utf-8")
    return folder


def sha256_of(path: Path) -> str:
    """What `corpus` or `corpus_tree` noted beside what it made."""
    return path.with_suffix(".sha256").read_text(encoding="utf-8").split()[0]


def _generator() -> str:
    """What a corpus depends on: the code of the modules that made it."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _stamp(files: list[Path]) -> str:
    """Sizes and times: reading gigabytes again just to compare a sum would take as long as making them."""
    seen = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def _is_fresh(sum_file: Path, files: list[Path]) -> bool:
    try:
        _, generator, stamp = sum_file.read_text(encoding="utf-8").split()
    except (FileNotFoundError, ValueError):
        return False
    return generator == _generator() and stamp == _stamp(files)


def main() -> None:
    """The command line."""
    if sys.argv[1:2] == ["tree"]:
        _main_tree(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description="Write a made-up session transcript for benchmarks.",
        epilog="A folder of many small sessions: tree DIR --sessions 2000 --megabytes 1000",
    )
    parser.add_argument("--profile", choices=sorted(PROFILES), default="classic")
    parser.add_argument("--megabytes", type=float, default=15)
    parser.add_argument("--one-line-megabytes", type=float, default=0, help="so much of it is a single line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    asked = parser.parse_args()
    digest = write(asked.out, asked.profile, asked.megabytes, asked.seed, asked.one_line_megabytes)
    print(f"sha256 {digest}  {asked.out.stat().st_size} bytes", file=sys.stderr)


def _main_tree(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.corpus.generate tree",
        description="Write a made-up folder of many small sessions with subagents.",
    )
    parser.add_argument("--profile", choices=sorted(TREES), default="classic")
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out", type=Path, metavar="DIR")
    asked = parser.parse_args(arguments)
    if (asked.out / "projects").exists():
        parser.error(f"{asked.out / 'projects'} is there already, choose another folder")
    digest = write_tree(asked.out, asked.sessions, asked.megabytes, asked.seed, asked.profile)
    files = list(asked.out.rglob("*.jsonl"))
    print(
        f"sha256 {digest}  {sum(f.stat().st_size for f in files)} bytes in {len(files)} files",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
