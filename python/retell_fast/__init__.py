"""Reads coding-agent session transcripts fast and gives back the conversation.

    import retell_fast

    conversation = retell_fast.parse("8c439a20")      # a session id, its beginning, or a path
    conversation.events[12].says                      # what was said
    conversation.manifest["sessions"]                 # what the whole file holds
    conversation.write("out/")                        # events.json, manifest.json, assets/

    for preview in retell_fast.discover(limit=20):    # recent sessions, newest first
        print(preview.title, preview.score)

Nothing here opens a network connection or changes a session file.
"""

from ._native import (
    AmbiguousSessionError,
    Conversation,
    DamagedInputWarning,
    Event,
    Events,
    InvalidInputError,
    NoConversationError,
    Preview,
    RetellError,
    RetellWarning,
    Screenshot,
    SessionNotFoundError,
    SubagentRef,
    UnknownEntryTypeError,
    UnknownEntryTypeWarning,
    __version__,
    discover,
    parse,
)
from .schema import schema

__all__ = [
    "AmbiguousSessionError",
    "Conversation",
    "DamagedInputWarning",
    "Event",
    "Events",
    "InvalidInputError",
    "NoConversationError",
    "Preview",
    "RetellError",
    "RetellWarning",
    "Screenshot",
    "SessionNotFoundError",
    "SubagentRef",
    "UnknownEntryTypeError",
    "UnknownEntryTypeWarning",
    "__version__",
    "discover",
    "parse",
    "schema",
]
