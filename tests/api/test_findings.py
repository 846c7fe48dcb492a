"""What is said of a conversation in words: warnings for programs, findings and notes for people, refusals."""

from __future__ import annotations

import datetime
import json
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import retell_fast

if TYPE_CHECKING:
    from collections.abc import Callable


def line(number: int, **fields: Any) -> bytes:
    entry = {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": "s",
        "timestamp": f"2026-02-10T09:14:{number:02}.000Z",
        "message": {"role": "user", "content": f"say {number}"},
        **fields,
    }
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


WHOLE = line(1) + line(2)


def parsed(data: bytes, **options: Any) -> tuple[retell_fast.Conversation, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        conversation = retell_fast.parse(data, **options)
    return conversation, [f"{each.category.__name__}: {each.message}" for each in caught]


def test_of_a_whole_session_there_is_nothing_to_say() -> None:
    conversation, warned = parsed(WHOLE)
    assert (conversation.findings, conversation.notes, warned) == ([], [], [])
    assert not conversation.attention


def test_unknown_types_are_told_the_most_frequent_first() -> None:
    data = WHOLE + b'{"type":"dream"}\n' + b'{"type":"sleep"}\n' * 1_200
    conversation, warned = parsed(data)
    listed = "dream (1, first on line 3); sleep (1200, first on line 4)"
    assert conversation.findings == [
        "unknown entry type sleep (1,200 entries, first on line 4) was passed over",
        "unknown entry type dream (1 entry, first on line 3) was passed over",
    ]
    assert warned == [
        f"UnknownEntryTypeWarning: unknown entry types were passed over: {listed}",
    ]
    allowed, warned = parsed(data, allow_unknown=True)
    assert (allowed.findings, warned, allowed.attention) == ([], [], False)


def test_damage_is_told_with_its_place() -> None:
    whole = line(3).rstrip()
    conversation, warned = parsed(WHOLE + b"no json\n" + whole + b" and more\n" + b"[1]\n" * 4)
    first = len(WHOLE)
    second = first + 8 + len(whole) + 1
    third = second + 9
    behind = (
        f"damaged line 4 (offset {second}, 8 bytes): bytes behind the record; the rest of the line was read"
    )
    assert conversation.findings == [
        f"damaged line 3 (offset {first}, 7 bytes): no valid JSON",
        behind,
        *(
            f"damaged line {5 + at} (offset {third + 4 * at}, 3 bytes): JSON, but no object"
            for at in range(4)
        ),
    ]
    listed = [
        f"line 3 at byte {first}: invalid json",
        f"line 4 at byte {second}: trailing bytes",
        *(f"line {5 + at} at byte {third + 4 * at}: not an object" for at in range(3)),
        "and 1 more",
    ]
    assert warned == [f"DamagedInputWarning: 6 damaged places: {'; '.join(listed)}"]


def test_damage_that_the_manifest_does_not_list_is_counted() -> None:
    conversation, _ = parsed(WHOLE + b"no json\n" * 1_003)
    assert len(conversation.findings) == 1_001
    assert conversation.findings[-1] == "and 3 damaged lines more"


def test_images_that_are_lost_and_secrets_are_told() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}
    token = "ghp_" + "a1B2c3D4" * 5
    content = [{"type": "text", "text": f"use {token}"}, {"type": "image", "source": source}]
    conversation, warned = parsed(WHOLE + line(3, message={"role": "user", "content": content}))
    preview = "ghp_… (44 characters)"
    assert conversation.findings == [
        f"1 possible secret in the text, see pii_warnings; the first in says of event 2: {preview}",
        f"an image on line 3 (offset {len(WHOLE)}) was not extracted: its bytes are no image of a known kind",
    ]
    assert warned == [
        f"DamagedInputWarning: images could not be extracted: line 3 at byte {len(WHOLE)}: not an image"
    ]


def test_a_session_that_is_still_written_is_worth_a_note() -> None:
    conversation, warned = parsed(WHOLE + line(3)[:20])
    assert conversation.notes == [
        "the last line is not complete yet (line 3): the session is still being written"
    ]
    assert (conversation.findings, warned, conversation.attention) == ([], [], False)


@pytest.mark.parametrize(
    ("refused", "kind", "words"),
    [
        (lambda: retell_fast.parse(WHOLE, threads=0), ValueError, "threads must be a number from 1 on"),
        (lambda: retell_fast.discover(limit=-1), ValueError, "limit is negative"),
        (lambda: retell_fast.types([]), ValueError, "paths is empty: give None for all sessions there are"),
        (lambda: retell_fast.restore("a", None, "b"), ValueError, "give out, or in_place=True"),
        (lambda: retell_fast.parse(WHOLE).events[2], IndexError, "event index out of range"),
        (lambda: retell_fast.parse(WHOLE).events.index(2), ValueError, "no such event"),
        (
            lambda: retell_fast.parse(WHOLE, strict=True, allow_unknown=True),
            ValueError,
            "strict and allow_unknown exclude each other",
        ),
        (
            lambda: retell_fast.externalize("a", "b", "c", in_place=True),
            ValueError,
            "give out or in_place, not both",
        ),
        (
            lambda: retell_fast.restore("a", "b", "c", format="odd"),  # type: ignore[arg-type]
            ValueError,
            'unknown placeholder format "odd": retell, entire',
        ),
        (
            lambda: retell_fast.discover(since=datetime.time(1)),  # type: ignore[arg-type]
            TypeError,
            "since must be a date, a time or the text of one, not time",
        ),
    ],
)
def test_refusals_are_worded(refused: Callable[[], object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        refused()
    assert str(caught.value) == words
