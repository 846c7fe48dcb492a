"""A made-up session of an agent that looks at the screen: mostly screenshots, each there twice."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from benches.corpus.claude_session import classic_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benches.corpus.claude_lines import Profile
    from benches.corpus.vocabulary import Dice

SCREENSHOT_SHARE = 0.8
"""What of the bytes is base64."""

# One screenshot for each million bytes of the file: it fills its share of them with two copies.
_BYTES_EACH = 1_000_000
_BYTES_EACH_PICTURE = int(_BYTES_EACH * SCREENSHOT_SHARE / 2 * 3 / 4)
_HEADER = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x05\xa0\0\0\x03\x84\x08\x06\0\0\0"


def screenshot(dice: Dice, size: int = _BYTES_EACH_PICTURE) -> bytes:
    """A picture that begins like a PNG and goes on with chance, as compressed pixels look."""
    size = dice.between(size - size // 4, size + size // 4)
    seed = dice.uuid().encode()
    return _HEADER + hashlib.shake_256(seed).digest(size - len(_HEADER))


def image_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a session of about `size` bytes: an ordinary one, with a screenshot for each megabyte."""
    between = _BYTES_EACH * (1 - SCREENSHOT_SHARE)
    rest = classic_session(profile, dice, size * (1 - SCREENSHOT_SHARE))
    passed = 0.0
    for line in rest:
        yield line
        passed += len(line)
        while passed >= between:
            passed -= between
            yield with_screenshot(dice)


def with_screenshot(dice: Dice, size: int = _BYTES_EACH_PICTURE) -> bytes:
    """The line of a tool's result: once for the model, and once for the program."""
    data = base64.b64encode(screenshot(dice, size)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data}
    block = {"type": "tool_result", "content": [{"type": "image", "source": source}]}
    entry = {
        "type": "user",
        "message": {"role": "user", "content": [{"tool_use_id": f"toolu_{dice.letters(24)}", **block}]},
        "uuid": dice.uuid(),
        "toolUseResult": {"type": "image", "file": {"base64": data, "type": "image/png"}},
    }
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
