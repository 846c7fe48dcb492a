"""Entries of Claude Code with everything that a real one has and these tests need."""

from __future__ import annotations

from typing import Any


def entry(role: str, content: Any, number: int, **fields: Any) -> dict[str, Any]:
    """What somebody says, in a session of which every entry has a number."""
    message = {"role": role, "content": content, **({"id": f"msg_{number}"} if role == "assistant" else {})}
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/home/you/boats",
        "sessionId": "11112222-aaaa",
        "version": "2.1.39",
        "type": role,
        "message": message,
        "uuid": f"uuid-{number}",
        "timestamp": f"2026-02-10T09:14:{number:02}.000Z",
        **fields,
    }
