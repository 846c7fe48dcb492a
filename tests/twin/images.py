"""The image codec once more, slow and obvious: bytes in, bytes out, with `re` and `base64`.

What the fast one gives is compared with this. A change of behaviour is a change in both.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

SHORTEST = 128
CAP = 64 << 20

PREFIX = b"retell-asset:"
EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/avif": "avif",
    "image/heic": "heic",
}

# A run of `SHORTEST` characters has two less that are no padding.
_RUN = re.compile(rb"[A-Za-z0-9+/]{126,}={0,2}")
# Some writers put a backslash before each slash; what is put back would not have it.
_ESCAPED = re.compile(rb"(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{0,127})\\/")
_WITH_ESCAPES = re.compile(rb"(?:[A-Za-z0-9+/]|\\/)*")
_BEGINS_VALUE = re.compile(rb'[:\[,][ \t\r\n]{0,16}"\Z')
_FOLLOWS_MARK = re.compile(rb";base64,\Z", re.IGNORECASE)
_LOOK_BACK = 18
_NAME = rb"img-[0-9a-f]{64}\.(?:png|jpg|gif|webp|bmp|avif|heic)"
_PLACEHOLDER = re.compile(rb"retell-asset:assets/(" + _NAME + rb");")
_TO_RESTORE = re.compile(rb"retell-asset:(?:~|assets/(" + _NAME + rb");)")

_SIGNATURES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n.{4}IHDR", re.DOTALL)),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    # Reserved bytes are zero, and the pixels begin behind the headers.
    ("image/bmp", re.compile(rb"BM.{4}\0{4}[\x1a-\xff].{16}", re.DOTALL)),
    ("image/avif", re.compile(rb".{4}ftypavi[fs]", re.DOTALL)),
    ("image/heic", re.compile(rb".{4}ftyp(?:hei[cxms]|hevc|mif1|msf1)", re.DOTALL)),
)


@dataclass
class Extracted:
    """What extracting gives."""

    rewritten: bytes
    assets: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """By name, the media type and the bytes, in the order of first appearance."""
    images: int = 0
    left_inline: Counter[str] = field(default_factory=Counter)


def media_type(image: bytes) -> str | None:
    """What the bytes are, or None if they are no image."""
    return next((kind for kind, signature in _SIGNATURES if signature.match(image)), None)


def name_of(image: bytes) -> str:
    """The file name of an image."""
    return f"img-{hashlib.sha256(image).hexdigest()}.{EXTENSIONS[media_type(image) or '']}"


def placeholder(name: str) -> bytes:
    """What stands in the transcript instead of the image."""
    return PREFIX + b"assets/" + name.encode() + b";"


def escape(text: bytes) -> bytes:
    """Text in which nothing looks like a placeholder any more."""
    return text.replace(PREFIX, PREFIX + b"~")


def stands_where_images_do(transcript: bytes, start: int) -> bool:
    """Whether a run that begins there begins a string value, or follows `;base64,`."""
    before = transcript[max(0, start - _LOOK_BACK) : start]
    return bool(_BEGINS_VALUE.search(before) or _FOLLOWS_MARK.search(before))


def most_characters(cap: int) -> int:
    """More than an image takes that is not past the cap."""
    return (cap // 3 + 2) * 4


def begins_image(characters: bytes) -> bool:
    """Whether the first characters are those of an image."""
    head = characters[: min(64, len(characters) // 4 * 4)]
    try:
        begins = base64.b64decode(head, validate=True)
    except binascii.Error:
        return False
    return base64.b64encode(begins) == head and media_type(begins) is not None


def decode(characters: bytes, cap: int) -> bytes | str:
    """The image that the characters of a string stand for, or why they stay."""
    plain = characters.replace(b"\\/", b"/")
    if not begins_image(plain):
        return "not_an_image"
    if len(characters) > most_characters(cap):
        return "too_large"
    if plain != characters:
        return "not_canonical"
    try:
        image = base64.b64decode(characters, validate=True)
    except binascii.Error:
        return "not_canonical"
    if base64.b64encode(image) != characters:
        return "not_canonical"
    return "too_large" if len(image) > cap else image


def extract(transcript: bytes, cap: int = CAP) -> Extracted:
    """Swaps each image for a placeholder."""
    found = Extracted(b"")
    pieces, written = [], 0
    for run in _RUN.finditer(transcript):
        if len(run[0]) < SHORTEST or not stands_where_images_do(transcript, run.start()):
            continue
        image = decode(run[0], cap)
        goes_on = transcript[run.end() :].startswith(b"\\/") and not run[0].endswith(b"=")
        if goes_on and begins_image(run[0]) and len(run[0]) <= most_characters(cap):
            image = "not_canonical"
        if isinstance(image, str):
            found.left_inline[image] += 1
            continue
        name = name_of(image)
        found.assets.setdefault(name, (media_type(image) or "", image))
        found.images += 1
        pieces += [escape(transcript[written : run.start()]), placeholder(name)]
        written = run.end()
    for run in _ESCAPED.finditer(transcript):
        characters = _WITH_ESCAPES.match(transcript, run.start())
        plain = characters[0].replace(b"\\/", b"/") if characters else b""
        if len(plain) >= SHORTEST and stands_where_images_do(transcript, run.start()):
            found.left_inline["not_canonical" if begins_image(plain) else "not_an_image"] += 1
    found.rewritten = b"".join([*pieces, escape(transcript[written:])])
    return found


def restore(transcript: bytes, lookup: Callable[[str], bytes | None]) -> bytes:
    """Swaps each placeholder for its image; one whose image is not there stays."""

    def swapped(found: re.Match[bytes]) -> bytes:
        if found[1] is None:
            return PREFIX
        image = lookup(found[1].decode())
        return found[0] if image is None else base64.b64encode(image)

    return _TO_RESTORE.sub(swapped, transcript)


def has_placeholders(transcript: bytes) -> bool:
    """Whether there is a whole placeholder."""
    return _PLACEHOLDER.search(transcript) is not None
