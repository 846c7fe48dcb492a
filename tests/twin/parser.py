"""The slow, obvious twin of the parser: recognises the agent, and hands over to the twin of that agent.

`claude` and `codex` know the records of one agent each. Shared are `lines` (bytes to records, damage),
`story` and `words` (records to events), `agents` and `manifest`.
"""

from __future__ import annotations

from tests.twin import claude, codex
from tests.twin.claude_types import is_known
from tests.twin.codex_types import is_known_type
from tests.twin.lines import Json, string_of, whole_members


def recognise(data: bytes) -> str:
    """The agent that wrote a file: what the first record says that tells."""
    if codex.is_document(data):
        return "codex"
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.lstrip(b" \t\r\0").decode("latin-1")
        agent = agent_of(whole_members(text, 0)) if text.startswith("{") else None
        if agent is not None:
            return agent
    return "claude-code"


def agent_of(entry: Json) -> str | None:
    """The agent that writes records like this one."""
    if not isinstance(entry.get("type"), str):
        is_bare = "record_type" in entry or {"id", "timestamp", "instructions"} <= entry.keys()
        return "codex" if is_bare else None
    if is_known_type(string_of(entry, "type")):
        # Other agents have messages too, whose role stands deeper.
        return "codex" if entry["type"] != "message" or "role" in entry else None
    return "claude-code" if is_known(entry) else None


def parse(
    data: bytes,
    *,
    agent_files: dict[str, bytes] | None = None,
    meta_files: dict[str, Json] | None = None,
    others: dict[str, bytes] | None = None,
    include_subagents: bool = False,
    name: str = "",
    agent: str | None = None,
) -> tuple[list[Json], Json]:
    """The events and the manifest of a session.

    What lies beside it is given by name: the files of Claude Code's agents by their id, the other rollouts of
    a Codex tree by their path in it.
    """
    if (agent or recognise(data)) == "codex":
        return codex.parse(data, others=others, include_subagents=include_subagents)
    return claude.parse(
        data,
        agent_files=agent_files,
        meta_files=meta_files,
        include_subagents=include_subagents,
        name=name,
    )
