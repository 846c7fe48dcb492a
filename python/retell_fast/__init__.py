"""Reads coding-agent session transcripts fast and gives back the conversation.

    import retell_fast

    conversation = retell_fast.parse("8c439a20")      # a session id, its beginning, or a path
    conversation.events[12].says                      # what was said
    conversation.manifest["sessions"]                 # what the whole file holds
    conversation.write("out/")                        # events.json, manifest.json, assets/

    for preview in retell_fast.discover(limit=20):    # recent sessions, newest first
        print(preview.title, preview.score)

    retell_fast.types("long.jsonl")["agents"]         # which entry types there are, and which are unknown

    retell_fast.externalize("long.jsonl", "slim.jsonl", "store/")    # images into files, placeholders instead
    retell_fast.restore("slim.jsonl", "long.jsonl", "store/")        # and back, the same bytes

Nothing here opens a network connection, or changes a session file unless `in_place` asks for it.
"""

from ._native import (
    AmbiguousSessionError,
    Asset,
    Conversation,
    DamagedInputWarning,
    Event,
    Events,
    ImageCodec,
    ImageReport,
    ImageVerificationError,
    InvalidInputError,
    MissingAssetError,
    MissingAssetWarning,
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
    codec_for,
    discover,
    externalize,
    list_images,
    parse,
    restore,
    types,
)
from .schema import schema

__all__ = [
    "AmbiguousSessionError",
    "Asset",
    "Conversation",
    "DamagedInputWarning",
    "Event",
    "Events",
    "ImageCodec",
    "ImageReport",
    "ImageVerificationError",
    "InvalidInputError",
    "MissingAssetError",
    "MissingAssetWarning",
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
    "codec_for",
    "discover",
    "externalize",
    "list_images",
    "parse",
    "restore",
    "schema",
    "types",
]
