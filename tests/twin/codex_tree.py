"""The rollouts that lie in the same tree as another one: among them are its children."""

from __future__ import annotations

from pathlib import Path

TREES = ("sessions", "archived_sessions")


def root_of(session: Path) -> Path:
    """The folder that the paths of a tree are told from."""
    return next((folder for folder in session.parents if folder.name in TREES), session.parent)


def others_of(session: Path) -> dict[str, bytes]:
    """The other rollouts of the tree, or of the folder where there is no tree, by their path in it."""
    root = root_of(session)
    pattern = "**/rollout-*.jsonl" if root.name in TREES else "rollout-*.jsonl"
    files = sorted(path for path in root.glob(pattern) if path != session)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
