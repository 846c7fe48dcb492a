"""Every hostile line that the events contract names, with the words and the damage expected of it."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.twin import parser

try:
    import retell_fast
except ImportError:  # the twin alone is tested until the module is built
    retell_fast = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
Reading = tuple[list[Json], Json]


def read_with_product(data: bytes) -> Reading:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", retell_fast.RetellWarning)
        conversation = retell_fast.parse(data, agent="claude-code", allow_unknown=True)
    return [event.to_dict() for event in conversation.events], conversation.manifest


READERS = [
    pytest.param(parser.parse, id="twin"),
    pytest.param(
        read_with_product,
        id="product",
        marks=pytest.mark.skipif(retell_fast is None, reason="the module is not built"),
    ),
]

# ---------------------------------------------------------------- lines as the client writes them


def entry(**members: Any) -> bytes:
    """One record in compact JSON, its members in the order they are given."""
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


def user(text: str, uuid: str = "u") -> bytes:
    """A user record in the order of the client: the type before the message."""
    message = {"role": "user", "content": text}
    return entry(
        parentUuid=None, isSidechain=False, sessionId="s", type="user", message=message, uuid=f"{uuid}-{text}"
    )


def assistant(text: str) -> bytes:
    """An assistant record in the order of the client: the message, which has a type too, before the type."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
    }
    return entry(
        parentUuid=None, isSidechain=False, sessionId="s", message=message, type="assistant", uuid=f"a-{text}"
    )


NOISE = entry(
    type="file-history-snapshot", messageId="m", snapshot={"trackedFileBackups": {"net.py": {"version": 1}}}
)
PR_LINK = entry(type="pr-link", prNumber=7, prUrl="https://example.invalid/7", sessionId="s")
PROGRESS = entry(
    parentUuid=None,
    type="progress",
    data={
        "message": {"type": "user", "message": {"role": "user", "content": "nested"}},
        "type": "agent_progress",
    },
    uuid="p",
)
DEPTH = 20_000
DEEP = b"[" * DEPTH + b"]" * DEPTH
DEEP_OBJECT = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH


@dataclass
class Case:
    """Some lines between two good ones, the words that come of them, and the damage reported."""

    name: str
    lines: bytes
    says: list[str] = field(default_factory=list)
    damage: list[tuple[str, bytes, bool]] = field(default_factory=list)  # reason, damaged piece, recovered
    unknown: list[str] = field(default_factory=list)


HI = user("hi")
HALF = user("never finished")[:-30]
HALF_NOISE = NOISE[:-25]

AT_A_MEMBER = HALF.rpartition(b",")[0]
IN_WORDS = HALF.partition(b"finished")[0] + b"so,"
IN_A_LIST = b'{"type":"user","message":{"content":['
AT_A_VALUE = b'{"type":"user","message":'
IN_NOISE = b'{"type":"mode","mode":'
AT_A_LISTING = b'{"type":"attachment","attachment":'
BEHIND_A_BLOCK = b'{"message":{"content":[{"type":"text","text":"x"}'
BEHIND_A_TURN = b'{"uuid":"u","data":{"message":{"type":"user","message":{"role":"user","content":"nested"}}'
BEHIND_BLOCKS = BEHIND_A_BLOCK + b'],"stop_reason":'
ENDLESS = b'{"type":"user","x":' + b"[" * DEPTH

CASES = [
    # -- NUL runs
    Case("NULs before a record", b"\0\0\0" + HI, ["hi"], [("nul_bytes", b"\0\0\0", True)]),
    Case("NULs after a record", HI + b"\0\0", ["hi"], [("nul_bytes", b"\0\0", True)]),
    Case(
        "NULs on both sides",
        b"\0" + HI + b"\0\0",
        ["hi"],
        [("nul_bytes", b"\0", True), ("nul_bytes", b"\0\0", True)],
    ),
    Case("only NULs", b"\0" * 9, [], [("nul_bytes", b"\0" * 9, False)]),
    Case("NULs before noise", b"\0\0" + NOISE, [], [("nul_bytes", b"\0\0", True)]),
    # -- joined records
    Case(
        "two records joined", HI + assistant("ho"), ["hi", "ho"], [("joined_records", assistant("ho"), True)]
    ),
    Case(
        "two records joined with blanks",
        HI + b"  " + user("ho"),
        ["hi", "ho"],
        [("joined_records", user("ho"), True)],
    ),
    Case(
        "two records joined with NULs",
        HI + b"\0\0" + user("ho"),
        ["hi", "ho"],
        [("joined_records", user("ho"), True)],
    ),
    Case("noise joined with words", NOISE + HI, ["hi"], [("joined_records", HI, True)]),
    Case("words joined with noise", HI + NOISE, ["hi"], [("joined_records", NOISE, True)]),
    Case("a fact joined with words", PR_LINK + HI, ["hi"], [("joined_records", HI, True)]),
    Case(
        "words joined with half a record",
        HI + HALF,
        ["hi"],
        [("joined_records", HALF, True), ("invalid_json", HALF, True)],
    ),
    # -- a truncated record glued to a whole one
    Case("cut in the words", HALF[:-10] + HI, ["hi"], [("truncated_record", HALF[:-10], True)]),
    Case("cut between members", AT_A_MEMBER + HI, ["hi"], [("truncated_record", AT_A_MEMBER, True)]),
    Case(
        "cut after a comma", AT_A_MEMBER + b"," + HI, ["hi"], [("truncated_record", AT_A_MEMBER + b",", True)]
    ),
    Case("cut after a colon", AT_A_VALUE + HI, ["hi"], [("truncated_record", AT_A_VALUE, True)]),
    Case("cut in a list", IN_A_LIST + HI, ["hi"], [("truncated_record", IN_A_LIST, True)]),
    Case("cut in words that end with a comma", IN_WORDS + HI, ["hi"], [("truncated_record", IN_WORDS, True)]),
    Case("cut after one letter of a key", b'{"p' + HI, ["hi"], [("truncated_record", b'{"p', True)]),
    Case("cut after the brace", b"{" + HI, ["hi"], [("truncated_record", b"{", True)]),
    Case("half a snapshot glued to words", HALF_NOISE + HI, ["hi"], [("truncated_record", HALF_NOISE, True)]),
    Case("half a link glued to words", PR_LINK[:40] + HI, ["hi"], [("truncated_record", PR_LINK[:40], True)]),
    Case("half a snapshot cut after a colon", IN_NOISE + HI, ["hi"], [("truncated_record", IN_NOISE, True)]),
    Case(
        "half a record glued to half a record glued to words",
        HALF + HALF_NOISE + HI,
        ["hi"],
        [("truncated_record", HALF, True), ("truncated_record", HALF_NOISE, True)],
    ),
    Case("rubbish glued to words", b"odd" + HI, ["hi"], [("truncated_record", b"odd", True)]),
    Case(
        "words, rubbish, words", HI + b"odd" + user("ho"), ["hi", "ho"], [("truncated_record", b"odd", True)]
    ),
    # The cut leaves an open string: the quotes of the glued record then close what they should open, and its
    # words look like structure.
    Case(
        "cut in a string, braces in the words glued to it",
        b'{"parentUuid":null,"message":{"content":"not' + user("}}}} done"),
        ["}}}} done"],
        [("truncated_record", b'{"parentUuid":null,"message":{"content":"not', True)],
    ),
    Case(
        "cut in noise, braces in the words glued to it",
        b'{"type":"progress","data":{"text":"not' + user("}}, {"),
        ["}}, {"],
        [("truncated_record", b'{"type":"progress","data":{"text":"not', True)],
    ),
    Case(
        "two records glued to one that was cut after a colon",
        AT_A_VALUE + HI + b"\0 " + user("ho"),
        ["hi", "ho"],
        [("truncated_record", AT_A_VALUE, True), ("joined_records", user("ho"), True)],
    ),
    Case(
        "two records glued to noise that was cut after a colon",
        IN_NOISE + HI + user("ho"),
        ["hi", "ho"],
        [("truncated_record", IN_NOISE, True), ("joined_records", user("ho"), True)],
    ),
    Case(
        "noise cut at its second type", AT_A_LISTING + HI, ["hi"], [("truncated_record", AT_A_LISTING, True)]
    ),
    Case(
        "NULs and half a record",
        b"\0" + HALF,
        [],
        [("nul_bytes", b"\0", False), ("invalid_json", HALF, False)],
    ),
    Case("half a record glued to noise", HALF + NOISE, [], [("truncated_record", HALF, True)]),
    Case(
        "a joined record that was cut, with words glued to it",
        HI + HALF + user("ho"),
        ["hi", "ho"],
        [("joined_records", HALF, True), ("truncated_record", HALF, True)],
    ),
    # -- no JSON, no object
    Case("cut behind a nested block", BEHIND_A_BLOCK, [], [("invalid_json", BEHIND_A_BLOCK, False)]),
    Case("cut behind a nested turn", BEHIND_A_TURN, [], [("invalid_json", BEHIND_A_TURN, False)]),
    Case("cut behind the blocks", BEHIND_BLOCKS, [], [("invalid_json", BEHIND_BLOCKS, False)]),
    Case("half a record on a line of its own", HALF, [], [("invalid_json", HALF, False)]),
    Case("half a snapshot is noise all the same", HALF_NOISE),
    Case("rubbish", b"odd", [], [("invalid_json", b"odd", False)]),
    Case("something behind a record", HI + b" odd", ["hi"], [("trailing_bytes", b"odd", True)]),
    Case("a brace too many", HI + b"}", ["hi"], [("trailing_bytes", b"}", True)]),
    Case("a number", b"42", [], [("not_an_object", b"42", False)]),
    Case("a string", b'"odd"', [], [("not_an_object", b'"odd"', False)]),
    Case("a list of entries", b"[" + HI + b"]", [], [("not_an_object", b"[" + HI + b"]", False)]),
    Case("null", b"null", [], [("not_an_object", b"null", False)]),
    # -- what is no damage
    Case("a record nested in noise", PROGRESS),
    Case(
        "a record nested in words",
        entry(type="user", message={"content": "out"}, x={"parentUuid": None, "type": "user"}),
        ["out"],
    ),
    Case(
        "a record nested last",
        b'{"type":"user","message":{"content":"out"},"x":{"type":"user","message":{"content":"in"}}}',
        ["out"],
    ),
    Case(
        "a record spelled out in words",
        user('{"parentUuid":null,"type":"user"}{"type":"user"}'),
        ['{"parentUuid":null,"type":"user"}{"type":"user"}'],
    ),
    Case("a blank line", b" \t\r\n\r\n" + HI, ["hi"]),
    Case("a carriage return", HI + b"\r", ["hi"]),
    Case("blanks around", b"\t " + HI + b"  ", ["hi"]),
    # -- types and keys
    Case(
        "the type before the message",
        b'{"type":"user","message":{"role":"assistant","content":"hi"}}',
        ["hi"],
    ),
    Case(
        "the type after the message",
        b'{"message":{"type":"assistant","role":"assistant","content":"hi"},"type":"user"}',
        ["hi"],
    ),
    Case("a role is no type", b'{"type":"api-request-blob","message":{"role":"user","content":"hi"}}'),
    Case("a nested type is no type", b'{"x":{"type":"user"},"message":{"content":"hi"}}', unknown=["(none)"]),
    Case("an escaped key", b'{"t\\u0079pe":"user","message":{"cont\\u0065nt":"hi"}}', ["hi"]),
    Case("an escaped type", b'{"type":"\\u0075ser","message":{"content":"hi"}}', ["hi"]),
    Case("an escaped type of noise", b'{"type":"\\u0070rogress","message":{"content":"hi"}}'),
    Case(
        "spaced JSON",
        b'{ "type" : "user" , "message" : { "content" : [ { "type" : "text" , "text" : "hi" } ] } }',
        ["hi"],
    ),
    Case("spaced noise", b'{ "data" : { "type" : "user" } , "type" : "progress" }'),
    Case(
        "the first of two types counts",
        b'{"type":"user","message":{"content":"hi"},"type":"progress"}',
        ["hi"],
    ),
    Case(
        "the first of two noise types counts", b'{"type":"progress","message":{"content":"hi"},"type":"user"}'
    ),
    Case(
        "the first of two messages counts",
        b'{"type":"user","message":{"content":"hi"},"message":{"content":"ho"}}',
        ["hi"],
    ),
    Case(
        "an unknown type", b'{"type":"kraken","message":{"role":"user","content":"hi"}}', unknown=["kraken"]
    ),
    Case("a type that is no string", b'{"type":["user"],"message":{"content":"hi"}}', unknown=["(none)"]),
    Case("a very long type", b'{"type":"' + b"k" * 5000 + b'"}', unknown=["k" * 100]),
    # -- strings
    Case("U+2028, U+2029 and U+0085", user("a\u2028b\u2029c\x85d"), ["a\u2028b\u2029c\x85d"]),
    Case("a lone high surrogate", b'{"type":"user","message":{"content":"a\\ud83d b"}}', ["a\ufffd b"]),
    Case("a lone low surrogate", b'{"type":"user","message":{"content":"a\\ude00b"}}', ["a\ufffdb"]),
    Case(
        "two high surrogates and a low one",
        b'{"type":"user","message":{"content":"\\ud83d\\ud83d\\ude00"}}',
        ["\ufffd\U0001f600"],
    ),
    Case("a surrogate at the end", b'{"type":"user","message":{"content":"a\\uD83D"}}', ["a\ufffd"]),
    Case("an escaped pair", b'{"type":"user","message":{"content":"\\uD83D\\uDE00"}}', ["\U0001f600"]),
    Case(
        "an escaped backslash before ud83d", b'{"type":"user","message":{"content":"\\\\ud83d"}}', ["\\ud83d"]
    ),
    Case("three backslashes", b'{"type":"user","message":{"content":"\\\\\\ud83d"}}', ["\\\ufffd"]),
    Case("an escaped NUL", b'{"type":"user","message":{"content":"a\\u0000b"}}', ["a\0b"]),
    Case("a raw tab in a string", b'{"type":"user","message":{"content":"a\tb"}}', ["a\tb"]),
    Case(
        "bytes that are no UTF-8",
        b'{"type":"user","message":{"content":"a\xff\xc0\xafb\xe2\x82"}}',
        ["a\ufffd\ufffd\ufffdb\ufffd"],
        [("invalid_utf8", b'{"type":"user","message":{"content":"a\xff\xc0\xafb\xe2\x82"}}', True)],
    ),
    Case(
        "bytes that are no UTF-8 where nobody looks",
        b'{"type":"user","message":{"content":"hi"},"x":"\xff"}',
        ["hi"],
    ),
    Case("bytes that are no UTF-8 in noise", b'{"type":"progress","x":"\xff"}'),
    # -- depth and size
    Case("deep nesting in noise", b'{"type":"progress","data":' + DEEP + b"}"),
    Case("deep nesting before the type of noise", b'{"data":' + DEEP_OBJECT + b',"type":"progress"}'),
    Case(
        "deep nesting in a tool result",
        b'{"type":"user","message":{"content":[{"type":"text","text":"hi"},{"type":"tool_result","content":'
        + DEEP
        + b"}]}}",
        ["hi"],
    ),
    Case(
        "deep objects in a tool result",
        b'{"type":"user","message":{"content":[{"type":"text","text":"hi"},{"type":"tool_result","content":['
        + DEEP_OBJECT
        + b"]}]}}",
        ["hi"],
    ),
    Case(
        "deep nesting in toolUseResult",
        b'{"type":"user","message":{"content":"hi"},"toolUseResult":' + DEEP + b"}",
        ["hi"],
    ),
    Case("deep nesting as the root", DEEP, [], [("not_an_object", DEEP, False)]),
    Case("deep nesting that never ends", ENDLESS, [], [("invalid_json", ENDLESS, False)]),
    Case("five megabytes of words", user("x" * 5_000_000), ["x" * 5_000_000]),
    Case("five megabytes of noise", b'{"type":"progress","data":"' + b"x" * 5_000_000 + b'"}'),
    Case("five megabytes of quotes", user('"' * 2_500_000), ['"' * 2_500_000]),
    # -- shapes
    Case("a message that is no object", b'{"type":"user","message":"hi"}'),
    Case("a content that is no list", b'{"type":"user","message":{"content":7}}'),
    Case("no message", b'{"type":"assistant"}'),
    Case("blocks that are no objects", b'{"type":"user","message":{"content":["hi",7,null,[],{}]}}', ["hi"]),
]

BEFORE, BEHIND = user("before", "n"), user("behind", "n")


def reported(data: bytes, manifest: Json) -> list[tuple[str, bytes, bool]]:
    """The damage, with the damaged bytes in place of their offset and length."""
    return [
        (damage["reason"], data[damage["offset"] : damage["offset"] + damage["length"]], damage["recovered"])
        for damage in manifest["damaged_lines"]
    ]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_hostile_line_between_good_ones(case: Case, read: Callable[[bytes], Reading]) -> None:
    data = b"\n".join([BEFORE, case.lines, BEHIND]) + b"\n"
    events, manifest = read(data)
    assert [event["says"] for event in events] == ["before", *case.says, "behind"]
    assert reported(data, manifest) == case.damage
    assert manifest["damaged_lines_total"] == len(case.damage)
    assert list(manifest["unknown_entries"]) == case.unknown
    assert manifest["incomplete_tail"] is None
    assert manifest["source"]["lines"] == data.count(b"\n")
    for event in events:
        assert data[event["offset"] : event["offset"] + event["length"]].startswith(b"{")
        assert data[: event["offset"]].count(b"\n") + 1 == event["line"]


@dataclass
class Ending:
    """What stands behind the last line end, and what comes of it."""

    name: str
    text: bytes
    says: list[str] = field(default_factory=list)
    tail: bytes | None = None
    damage: list[tuple[str, bytes, bool]] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)


ENDINGS = [
    Ending("a whole record", HI, ["hi"]),
    Ending("half a record", HALF, tail=HALF),
    Ending("half a snapshot", HALF_NOISE, tail=HALF_NOISE),
    Ending("a whole snapshot", NOISE, entries={"file-history-snapshot": 1}),
    Ending("a brace", b"{", tail=b"{"),
    Ending("no JSON", b"odd", damage=[("invalid_json", b"odd", False)]),
    Ending("a record and half a record", HI + HALF, ["hi"], HALF, [("joined_records", HALF, True)]),
    Ending("half a record and a record", HALF + HI, ["hi"], None, [("truncated_record", HALF, True)]),
    Ending(
        "half a snapshot and a record",
        HALF_NOISE + HI,
        ["hi"],
        damage=[("truncated_record", HALF_NOISE, True)],
        entries={"file-history-snapshot": 1},
    ),
    Ending(
        "a whole snapshot and half a record",
        NOISE + HALF,
        tail=HALF,
        damage=[("joined_records", HALF, True)],
        entries={"file-history-snapshot": 1},
    ),
    Ending(
        "a whole snapshot and the beginning of a record",
        NOISE + HALF[:5],
        tail=HALF[:5],
        damage=[("joined_records", HALF[:5], True)],
        entries={"file-history-snapshot": 1},
    ),
    Ending("NULs", b"\0\0\0", damage=[("nul_bytes", b"\0\0\0", False)]),
    Ending("a record and NULs", HI + b"\0", ["hi"], damage=[("nul_bytes", b"\0", True)]),
    Ending("blanks", b"  \r"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("ending", [pytest.param(ending, id=ending.name) for ending in ENDINGS])
def test_a_last_line_without_its_end(ending: Ending, read: Callable[[bytes], Reading]) -> None:
    data = BEFORE + b"\n" + ending.text
    events, manifest = read(data)
    assert [event["says"] for event in events] == ["before", *ending.says]
    assert reported(data, manifest) == ending.damage
    assert manifest["source"]["lines"] == 2
    tail = manifest["incomplete_tail"]
    assert (tail and data[tail["offset"] : tail["offset"] + tail["length"]]) == ending.tail
    counted = {kind: entry["count"] for kind, entry in manifest["entries"].items() if kind != "user"}
    assert counted == ending.entries


@pytest.mark.parametrize("read", READERS)
def test_a_byte_order_mark_and_carriage_returns(read: Callable[[bytes], Reading]) -> None:
    data = b"\xef\xbb\xbf" + b"\r\n".join([HI, NOISE, assistant("ho")]) + b"\r\n"
    events, manifest = read(data)
    assert [(event["says"], event["line"], event["offset"], event["length"]) for event in events] == [
        ("hi", 1, 3, len(HI)),
        ("ho", 3, data.index(assistant("ho")), len(assistant("ho"))),
    ]
    assert manifest["damaged_lines"] == []
    assert manifest["entries"]["file-history-snapshot"] == {"count": 1, "bytes": len(NOISE)}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "separator", ["\u2028".encode(), "\u2029".encode(), "\x85".encode(), b"\r", b"\x0b", b"\x0c", b"\x1c"]
)
def test_only_a_line_feed_ends_a_line(separator: bytes, read: Callable[[bytes], Reading]) -> None:
    data = HI + b"\n" + b'{"type":"user","message":{"content":"a' + separator + b'b"}}\n'
    events, manifest = read(data)
    assert [event["says"] for event in events] == ["hi", f"a{separator.decode()}b"]
    assert manifest["source"]["lines"] == 2


@pytest.mark.parametrize("read", READERS)
def test_many_damaged_lines_are_counted_and_the_first_thousand_listed(
    read: Callable[[bytes], Reading],
) -> None:
    _, manifest = read(HI + b"\n" + b"odd\n" * 1500)
    assert len(manifest["damaged_lines"]) == 1000
    assert manifest["damaged_lines"][-1]["line"] == 1001
    assert manifest["damaged_lines_total"] == 1500


@pytest.mark.parametrize("read", READERS)
def test_every_cut_of_a_record_glued_to_a_record_leaves_the_second(read: Callable[[bytes], Reading]) -> None:
    for first in (HI, NOISE, PROGRESS, PR_LINK, assistant("}] mend {\\")):
        for cut in range(1, len(first)):
            events, manifest = read(first[:cut] + user("so, } it {") + b"\n")
            assert [event["says"] for event in events] == ["so, } it {"], first[:cut]
            # Noise is not read to its end: one that was cut behind a brace looks whole.
            looks_whole = first in (NOISE, PROGRESS) and first[:cut].endswith(b"}")
            reason = "joined_records" if looks_whole else "truncated_record"
            assert [damage["reason"] for damage in manifest["damaged_lines"]] == [reason], first[:cut]
