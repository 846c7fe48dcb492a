"""Made-up images, and transcripts around them: whatever can stand beside base64 and placeholders."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

from hypothesis import strategies as st
from tests.twin import images as twin

HEADERS = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x40\x08\x06\0\0\0",
    "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01",
    "gif": b"GIF89a\x40\0\x40\0",
    "gif87": b"GIF87a\x40\0\x40\0",
    "webp": b"RIFF\x24\x01\0\0WEBPVP8 ",
    "bmp": b"BM\x36\x10\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x20\0\0\0\x20\0\0\0",
    "avif": b"\0\0\0\x1cftypavif\0\0\0\0",
    "heic": b"\0\0\0\x18ftypheic\0\0\0\0",
}

NOT_IMAGES = {
    "pdf": b"%PDF-1.7\n",
    "png without its header chunk": b"\x89PNG\r\n\x1a\n\0\0\0\rIDAT",
    "gif of another year": b"GIF88a",
    "riff that is sound": b"RIFF\x24\x01\0\0WAVEfmt ",
    "text that begins with BM": b"BMW drivers, and other people who are in a hurry",
    "text": b"-----BEGIN SOMETHING-----",
    "mp4": b"\0\0\0\x18ftypisom\0\0\0\0",
}


def image(kind: str = "png", size: int = 96, seed: int = 0) -> bytes:
    """A made-up image: the right first bytes, then chance."""
    header = HEADERS[kind]
    return header + random.Random(f"{kind} {seed}").randbytes(max(0, size - len(header)))


def encode(raw: bytes) -> bytes:
    """In base64 as it should be."""
    return base64.b64encode(raw)


def ending_in(word: bytes, kind: str = "png") -> bytes:
    """An image whose base64 ends in these letters."""
    raw = image(kind, 96) + base64.b64decode(b"A" * (-len(word) % 4) + word)
    assert encode(raw).endswith(word)
    return raw


def nested() -> bytes:
    """An image that holds the base64 of another, as a JSON value of its own."""
    inner = b'{"data":"' + encode(image("jpg", 120)) + b'"}'
    return image("png", 60) + inner + b"data:image/gif;base64," + encode(encode(image("gif", 120)))


def not_canonical(characters: bytes) -> list[bytes]:
    """Writings of the same bytes that encoding them would not give."""
    assert characters.endswith(b"=")
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bare = characters.rstrip(b"=")
    trailing_bits = bare[:-1] + letters[letters.index(bare[-1]) + 1 :][:1]
    return [
        bare,
        trailing_bits + b"=" * (len(characters) - len(bare)),
        characters + b"=",
        characters.replace(b"/", b"\\/"),
        b"\\n".join([characters[:76], characters[76:]]),
        b"\n".join([characters[:76], characters[76:]]),
        characters.translate(bytes.maketrans(b"+/", b"-_")),
    ]


# Sizes around the shortest run (94 bytes are 128 characters), with every kind of padding.
SIZES = (64, 90, 93, 94, 95, 96, 97, 98, 192, 193, 194, 400)
IMAGES = [
    *[image(kind, 150 + number) for number, kind in enumerate(HEADERS)],
    *[image("png", size, size) for size in SIZES],
    nested(),
    ending_in(b"retell"),
    ending_in(b"data"),
]
OTHER_BYTES = [header + random.Random(kind).randbytes(120) for kind, header in NOT_IMAGES.items()]

BEFORE = [
    b'{"data":"', b'"data": "', b'"data" :\r\n\t"', b'["', b',"', b', "', b":" + b" " * 16 + b'"',
    b":" + b" " * 17 + b'"', b"data:image/png;base64,", b'"url":"data:image/jpeg;charset=utf-8;BASE64,',
    b'"data:;Base64,', b"base64,", b'\\"', b'"', b"", b"x", b'retell-asset:"', b"retell-asset:",
    b'\\":\\"', b";base64,;base64,", b": '",
]  # fmt: skip
BEHIND = [
    b'"', b'"}', b'"}\n', b'"}\r\n', b'"]', b"", b"=", b"==", b"done", b"A", b"\\n", b" and so on", b";",
    b")", b"-asset:", b'","', b"\xff", b"\0", b"~", b"\n",
]  # fmt: skip
PLANTED = [
    b"retell-asset:", b"retell-asset:~", b"retell-asset:~~", b"retell-asset:retell-asset:", b"retell-",
    b"-asset:", b"retell", b"asset:", b"retell-asset:assets/", b"retell-asset:assets/img-", b"retell-asset",
    b"entire-asset:assets/img-0123456789abcdef.png", b"RETELL-ASSET:", b";", b"~",
    *[twin.placeholder(twin.name_of(raw)) for raw in IMAGES[:3]],
    *[twin.placeholder(twin.name_of(raw))[:-1] for raw in IMAGES[:2]],
    twin.placeholder(f"img-{'0' * 64}.png"), twin.placeholder(f"img-{'0' * 63}.png"),
    twin.placeholder(f"img-{'A' * 64}.png"), twin.placeholder(f"img-{'0' * 64}.exe"),
]  # fmt: skip
AROUND = [
    b"\n", b"\r\n", b"{", b"}", b"[", b"]", b'{"type":"user","message":{"content":"hello"}}\n', b"\xff\xfe",
    b"\xe2\x82", b"\0", b"\\", b'"', b":", b",", b" ", b"=", b"==", b"A" * 200, b"aGVsbG8=", b"/" * 131,
    ("\u00e9\u4e16" * 9).encode(), b";base64,", b"data:image/png;base64,", b"[" * 30,
]  # fmt: skip
ENCODED = [
    *map(encode, IMAGES),
    *map(encode, OTHER_BYTES),
    *not_canonical(encode(image("png", 130, 5))),
    *not_canonical(encode(image("jpg", 131, 6))),
]

PIECES = [*ENCODED, *BEFORE, *BEHIND, *PLANTED, *AROUND]
"""What a transcript can be put together from, in any order: the law holds for all of it."""

jumbles = st.lists(st.sampled_from(PIECES), max_size=10).map(b"".join)
"""Pieces in any order: quick to draw."""

sizes = st.one_of(st.sampled_from(SIZES), st.integers(30, 700))
raw_images = st.one_of(
    st.sampled_from(IMAGES),
    st.builds(image, st.sampled_from(sorted(HEADERS)), sizes, st.integers(0, 5)),
)
encoded = st.one_of(
    raw_images.map(encode),
    raw_images.map(encode).map(lambda characters: characters.replace(b"/", b"\\/")),
    st.sampled_from(ENCODED),
    st.text("ABCDEFGHIJabcdefghij0189+/", min_size=100, max_size=300).map(str.encode),
)
placed = st.tuples(st.sampled_from(BEFORE), encoded, st.sampled_from(BEHIND)).map(b"".join)
pieces = st.one_of(
    placed, placed, placed, st.sampled_from(PLANTED), st.sampled_from(AROUND), st.binary(max_size=40)
)
whole = st.lists(pieces, max_size=12).map(b"".join)


@st.composite
def damaged(draw: Callable[[st.SearchStrategy[int]], int]) -> bytes:
    """A transcript that lost bytes, got others, has a stretch twice, or ends too early."""
    transcript = bytearray(draw(whole))  # type: ignore[arg-type]  # bytes rather than a number
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(transcript)))
        end = min(len(transcript), at + draw(st.integers(0, 200)))
        what = draw(st.integers(0, 4))
        if what == 0:
            del transcript[at:end]
        elif what == 1:
            transcript[at:at] = transcript[at:end]
        elif what == 2:
            del transcript[at:]
        elif what == 3:
            transcript[at : at + 1] = bytes([draw(st.integers(0, 255))])
        else:
            transcript[at:at] = bytes([draw(st.integers(0, 255))])
    return bytes(transcript)


transcripts = st.one_of(whole, whole, damaged(), st.binary(max_size=300))
"""Transcripts with images in them, whole and damaged, and bytes that are nothing at all."""
