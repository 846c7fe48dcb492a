"""The JSON Schemas of the two files that `Conversation.write` makes."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all of this package
if TYPE_CHECKING:
    from typing import Any, Literal

__all__ = ["schema"]


def schema(name: Literal["events", "manifest"] = "events") -> dict[str, Any]:
    """Gives the JSON Schema (draft 2020-12) of events.json or manifest.json.

    Args:
        name: "events" for the list of events, "manifest" for what is known of the whole conversation.

    Raises:
        ValueError: there is no schema of that name.
    """
    # Imported here because `import retell_fast` runs this file, and few programs ask for a schema.
    import json
    from importlib.resources import files

    if name not in ("events", "manifest"):
        msg = f"there is no schema {name!r}: choose 'events' or 'manifest'"
        raise ValueError(msg)
    text = files(__name__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    if name == "manifest":
        # The manifest can hold events of subagents. The schema of events comes along inside, under its own
        # $id, so that the reference to it resolves wherever the schema is used.
        document["$defs"] = {"events": schema("events")}
    return document
