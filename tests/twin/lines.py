"""The lines of the slow twin: bytes to records, whole or broken, and what is counted of them."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# ---------------------------------------------------------------- the entry types of an agent


@dataclass(frozen=True)
class Types:
    """What reading lines has to know about an agent: which types there are, and how its records begin.

    The functions take an entry, or the members of it that were seen so far; only those in `deciding` count.
    """

    record_start: re.Pattern[str]
    deciding: tuple[str, ...]  # the keys of the members that a class depends on
    drops_whole_noise: bool  # whether what stands behind noise is only searched, also when its end is known
    opened: dict[str, str]  # by type, the member whose first members tell, whether or not it is whole
    marks: dict[str, str]  # by type that says all by standing there, the member from which nothing is read
    is_decided: Callable[[Json], bool]  # whether what was seen settles name and class, whatever follows
    name_of: Callable[[Json], str]
    kind_of: Callable[[Json], str]
    is_record: Callable[[Json], bool]  # whether an object nested in a line may be a record of its own


# ---------------------------------------------------------------- text

# What Unicode calls White_Space. `str.strip()` takes U+001C to U+001F as well, which are not.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
# Stands for a run of invalid bytes until an event is published: a noncharacter that no test writes.
INVALID = "\U0010fffe"


def _mark_invalid(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return INVALID, error.end


codecs.register_error("mark-invalid", _mark_invalid)


def trim(text: str) -> str:
    """The text without white space at its ends."""
    return text.strip(WHITE_SPACE)


def publish(text: str) -> str:
    """The text as it is written: U+FFFD for what could not be decoded."""
    return text.replace(INVALID, "\ufffd")


def clean(text: str) -> str:
    """The text with U+FFFD for every surrogate that stands alone."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def string_of(entry: Json, key: str) -> str:
    """The string under `key`, or "" when there is none."""
    value = entry.get(key)
    return clean(value) if isinstance(value, str) else ""


def mapping(value: object) -> Json:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


# ---------------------------------------------------------------- JSON


def first_wins(pairs: list[tuple[str, Any]]) -> Json:
    """Of two equal keys the first counts."""
    found: Json = {}
    for key, value in pairs:
        found.setdefault(clean(key), value)
    return found


def whole_number(digits: str) -> float | int:
    """An integer; one too long for `int` (a limit of Python, not of JSON) as a float."""
    return int(digits) if len(digits) < 400 else float(digits)


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=first_wins, parse_int=whole_number)
PRIMITIVE = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?'
    r"|true|false|null|NaN|-?Infinity",
    re.DOTALL,
)
BLANK = re.compile(r"[ \t\r\n]*")


def decode_value(text: str, start: int) -> tuple[Any, int]:
    """The JSON value at `start` and where it ends; `ValueError` when there is none."""
    try:
        return DECODER.raw_decode(text, start)
    except RecursionError:
        return decode_deep_value(text, start)


def skip_blank(text: str, at: int) -> int:
    """The first place from `at` that is not JSON white space."""
    match = BLANK.match(text, at)
    assert match
    return match.end()


def decode_deep_value(text: str, start: int) -> tuple[Any, int]:
    """`decode_value` for nesting deeper than the interpreter's stack: a list of open containers instead."""
    open_containers: list[tuple[str, list[Any]]] = []
    value: Any
    at = start
    while True:
        at = skip_blank(text, at)
        if text[at : at + 1] in ("{", "["):
            bracket, at = text[at], skip_blank(text, at + 1)
            if text[at : at + 1] != "]}"[bracket == "{"]:
                open_containers.append((bracket, []))
                at = decode_key(text, at, open_containers[-1])
                continue
            value, at = ({} if bracket == "{" else []), at + 1
        else:
            match = PRIMITIVE.match(text, at)
            if not match:
                raise ValueError(f"no value at {at}")
            value, at = DECODER.decode(match.group()), match.end()
        while open_containers:
            bracket, members = open_containers[-1]
            members.append(value)
            at = skip_blank(text, at)
            if text[at : at + 1] == ",":
                at = decode_key(text, skip_blank(text, at + 1), open_containers[-1])
                break
            if text[at : at + 1] != "]}"[bracket == "{"]:
                raise ValueError(f"container not closed at {at}")
            open_containers.pop()
            value = (
                members if bracket == "[" else first_wins(list(zip(members[::2], members[1::2], strict=True)))
            )
            at += 1
        else:
            return value, at


def decode_key(text: str, at: int, container: tuple[str, list[Any]]) -> int:
    """In an object: appends the key at `at` to its members. Gives the place of the value."""
    bracket, members = container
    if bracket == "[":
        return at
    match = PRIMITIVE.match(text, at)
    if not match or text[at] != '"' or text[(colon := skip_blank(text, match.end())) :][:1] != ":":
        raise ValueError(f"no key at {at}")
    members.append(DECODER.decode(match.group()))
    return colon + 1


def whole_object_end(text: str, start: int) -> int | None:
    """Where the object at `start` ends, when all of it is there and is JSON."""
    try:
        return decode_value(text, start)[1] if text[start : start + 1] == "{" else None
    except ValueError:
        return None


# ---------------------------------------------------------------- broken lines, character by character


BEHIND_STRING = frozenset(",:]} \t\r\n")


def nested_end(text: str, start: int) -> int | None:
    """Where the value at `start` ends by its brackets and quotes alone.

    A string in it with anything behind it that no JSON has there was cut: its last quote is the first of a
    record glued to it, and what follows would look like structure.
    """
    if text[start : start + 1] not in ("{", "["):
        match = PRIMITIVE.match(text, start)
        return match.end() if match else None
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"':
            match = PRIMITIVE.match(text, at)
            if not match or text[match.end() : match.end() + 1] not in BEHIND_STRING:
                return None
            at = match.end()
            continue
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
        if depth == 0:
            return at
    return None


def members_before_break(text: str, start: int) -> tuple[list[tuple[str, int, int | None]], int | None]:
    """The members (key, start of value, end of value) of an object up to its end or its first broken place.

    The second result is where the object ends, `None` when it is broken first.
    """
    members: list[tuple[str, int, int | None]] = []
    at = skip_blank(text, start + 1)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        container: tuple[str, list[Any]] = ("{", [])
        try:
            value_start = skip_blank(text, decode_key(text, at, container))
        except ValueError:
            return members, None
        value_end = nested_end(text, value_start)
        members.append((container[1][0], value_start, value_end))
        if value_end is None:
            return members, None
        at = skip_blank(text, value_end)
        if text[at : at + 1] == "}":
            return members, at + 1
        if text[at : at + 1] != ",":
            return members, None
        at = skip_blank(text, at + 1)


def string_at(text: str, start: int, end: int) -> str | None:
    """The string between the two places, `None` for any other value."""
    if text[start] != '"':
        return None
    try:
        value = DECODER.decode(text[start:end].encode("latin-1").decode("utf-8", "replace"))
    except ValueError:
        return None
    return clean(value) if isinstance(value, str) else None


def decode_or_none(text: str, start: int) -> object:
    """The JSON value at `start`, `None` when there is none."""
    try:
        return decode_value(text, start)[0]
    except ValueError:
        return None


def noise_before_break(text: str, start: int, types: Types) -> tuple[str, int] | None:
    """The type of a noise record and the place where it was known, if it is not broken before that."""
    members, end = members_before_break(text, start)
    seen: Json = {}
    for key, value_start, value_end in members:
        is_object = text[value_start : value_start + 1] == "{"
        if key == types.opened.get(str(seen.get("type"))) and key not in seen and is_object:
            opened = {**seen, key: whole_members(text, value_start)}
            if types.kind_of(opened) == "noise":
                return types.name_of(opened), value_start
        if value_end is None:
            return None
        if key == "type":
            seen.setdefault(key, string_at(text, value_start, value_end))
        elif key in types.deciding:
            seen.setdefault(key, decode_or_none(text, value_start))
        if types.is_decided(seen):
            # Behind what is whole: a value that ends the line may be the record that was glued.
            whole = text[value_start] != '"' and value_end < len(text)
            return noise_known(seen, value_end if whole else value_start, types)
    # A system entry without subtype, an attachment entry without attachment: known when all was seen.
    return noise_known(seen, end, types) if end is not None else None


def mark_before_break(text: str, start: int, types: Types) -> tuple[Json, int] | None:
    """The members of a mark that are read, and the place where it was known to be one."""
    seen: Json = {}
    for key, value_start, value_end in members_before_break(text, start)[0]:
        opens = types.marks.get(str(seen.get("type")))
        if key == opens and text[value_start] == "{":
            return seen, value_start
        if value_end is None:
            return None
        if key == "type":
            seen.setdefault(key, string_at(text, value_start, value_end))
        else:
            value = text[value_start:value_end].encode("latin-1").decode("utf-8", "mark-invalid")
            seen.setdefault(key, decode_or_none(value, 0))
        if types.marks.get(str(seen.get("type"))) in seen:
            whole = text[value_start] != '"' and value_end < len(text)
            return seen, value_end if whole else value_start
    return None


def whole_members(text: str, start: int) -> Json:
    """The members of an object that are whole, up to its end or its first broken place."""
    found: Json = {}
    for key, value_start, value_end in members_before_break(text, start)[0]:
        if value_end is not None:
            found.setdefault(key, decode_or_none(text, value_start))
    return found


def noise_known(seen: Json, at: int, types: Types) -> tuple[str, int] | None:
    """The type and the place where it was known, when it is one of noise."""
    return (types.name_of(seen), at) if types.kind_of(seen) == "noise" else None


PADDING = " \t\r\0"


def glued_start(text: str, after: int, types: Types) -> int | None:
    """Where a record starts that was written onto an unfinished one.

    Inside a valid record an object can only follow `:`, `[` or `,`, and neither the end of the line nor
    another record ever follows it.
    """
    for match in types.record_start.finditer(text, after):
        start = match.start()
        if text[:start].rstrip(PADDING)[-1:] not in (":", "[", ","):
            return start
        end = whole_object_end(text, start)
        if end is not None and types.is_record(decode_value(text, start)[0]):
            behind = text[end:].lstrip(PADDING)
            if not behind or types.record_start.match(behind):
                return start
    return None


def is_other_json(text: str) -> bool:
    """Whether the text is JSON with a root that is no object."""
    try:
        value, end = decode_value(text, 0)
    except (ValueError, StopIteration):
        return False
    return end == len(text) and not isinstance(value, dict)


@dataclass
class LineReading:
    """What one line holds: the records, the damage and an unfinished end, as places in the line."""

    # Start, end, and the type when it is noise, or the members that are read when it is a mark.
    records: list[tuple[int, int, str | Json | None]] = field(default_factory=list)
    damage: list[tuple[int, int, str]] = field(default_factory=list)
    tail: int | None = None

    def place_joined(self, start: int, end: int) -> None:
        """A joined record is reported when it is met; where it ends is known when it was read."""
        if self.damage and self.damage[-1] == (start, self.damage[-1][1], "joined_records"):
            self.damage[-1] = (start, end, "joined_records")


def read_line(text: str, types: Types, *, terminated: bool) -> LineReading:
    """The records of a trimmed line, whole ones between and behind broken ones included."""
    reading = LineReading()
    at: int | None = 0
    while at is not None:
        at = read_record(text, at, reading, types, terminated=terminated)
    return reading


def read_record(text: str, start: int, reading: LineReading, types: Types, *, terminated: bool) -> int | None:
    """Reads what stands at `start`; gives where to go on."""
    mark = mark_before_break(text, start, types) if terminated and text[start] == "{" else None
    if mark is not None:
        glued = glued_start(text, mark[1], types)
        end = len(text[:glued].rstrip(PADDING))
        if text[end - 1] == "}":
            # It ends as it should: what stands in it is not looked at.
            reading.records.append((start, end, mark[0]))
            reading.place_joined(start, end)
            if glued is not None:
                reading.damage.append((glued, len(text), "joined_records"))
            return glued
    return read_other(text, start, reading, types, terminated=terminated)


def read_other(text: str, start: int, reading: LineReading, types: Types, *, terminated: bool) -> int | None:
    """The same for what is no mark."""
    end = whole_object_end(text, start)
    noise = noise_before_break(text, start, types) if text[start] == "{" else None
    if noise is not None and end != len(text):
        # One whose class only its end tells is read like any other, and so is one that must be whole.
        end = members_before_break(text, start)[1]
        if end is None or (terminated and (types.drops_whole_noise or noise[1] != end)):
            return read_noise(text, (start, *noise), reading, types, terminated=terminated)
    if end is not None:
        broken = whole_object_end(text, start) is None
        reading.records.append((start, end, noise[0] if noise and broken else None))
        reading.place_joined(start, end)
        return read_behind(text, end, reading, types)
    glued = glued_start(text, start + 1, types)
    reading.place_joined(start, len(text) if glued is None else glued)
    if glued is not None:
        reading.damage.append((start, glued, "truncated_record"))
    elif not terminated and text[start] == "{":
        reading.tail = start
    else:
        reason = "not_an_object" if is_other_json(text[start:]) else "invalid_json"
        reading.damage.append((start, len(text), reason))
    return glued


def read_behind(text: str, end: int, reading: LineReading, types: Types) -> int | None:
    """What stands behind a whole record: nothing, another record, or something odd."""
    rest = len(text) - len(text[end:].lstrip(PADDING))
    if rest == len(text):
        return None
    if text[rest] == "{":
        reading.damage.append((rest, len(text), "joined_records"))
        return rest
    glued = glued_start(text, rest, types)
    if glued is None:
        reading.damage.append((rest, len(text), "trailing_bytes"))
    else:
        reading.damage.append((rest, glued, "truncated_record"))
    return glued


def read_noise(
    text: str, noise: tuple[int, str, int], reading: LineReading, types: Types, *, terminated: bool
) -> int | None:
    """A noise record is never called broken; behind the place of its type only a glued one counts.

    An unfinished line may still become whole: of it noise counts only when another record follows.
    """
    start, type_, known_at = noise
    glued = glued_start(text, known_at, types)
    if glued is None and not terminated:
        reading.place_joined(start, len(text))
        reading.tail = start
        return None
    end = len(text[:glued].rstrip(PADDING))
    # Where a record begins in the middle of it, it tells nothing.
    whole = whole_object_end(text, start)
    broken = whole is None or whole > end
    reading.records.append((start, end, type_ if broken else None))
    reading.place_joined(start, end)
    if glued is not None and text[end - 1] == "}":
        reading.damage.append((glued, len(text), "joined_records"))
    elif glued is not None:
        reading.damage.append((start, glued, "truncated_record"))
    return glued


# ---------------------------------------------------------------- the file: lines, records, counts


@dataclass
class Record:
    """An entry, and the place where it stands."""

    line: int
    offset: int
    length: int
    type: str
    kind: str
    entry: Json


@dataclass
class File:
    """All records of a file, and what was wrong with it."""

    records: list[Record] = field(default_factory=list)
    damage: list[Json] = field(default_factory=list)
    incomplete_tail: Json | None = None
    lines: int = 0


def piece(line: int, offset: int, length: int) -> Json:
    """A place in the file, as the manifest writes it."""
    return {"line": line, "offset": offset, "length": length}


def nul_runs(raw: bytes) -> list[tuple[int, int]]:
    """What was trimmed before and after the content of the line, where there are NULs in it."""
    body = raw.strip(b" \t\r\0")
    before = raw.index(body) if body else len(raw)
    sides = [(0, before), (before + len(body), len(raw))]
    return [(start, end) for start, end in sides if b"\0" in raw[start:end]]


def read_file(data: bytes, types: Types) -> File:
    """Splits at 0x0A only and reads every line; numbers count from 1."""
    file = File(lines=data.count(b"\n") + (not data.endswith(b"\n") and data != b""))
    offset = 0
    for number, raw in enumerate(data.split(b"\n"), start=1):
        skipped = 3 if offset == 0 and raw.startswith(b"\xef\xbb\xbf") else 0
        terminated = offset + len(raw) < len(data)
        read_one_line(file, raw[skipped:], (number, offset + skipped), types, terminated=terminated)
        offset += len(raw) + 1
    return file


def read_one_line(file: File, raw: bytes, place: tuple[int, int], types: Types, *, terminated: bool) -> None:
    """Adds the records and the damage of one line to the file."""
    number, offset = place
    body = raw.strip(b" \t\r\0")
    begin = raw.index(body) if body else 0
    text = body.decode("latin-1")
    reading = read_line(text, types, terminated=terminated) if body else LineReading()
    for start, end, noise_type in reading.records:
        record = make_record(body[start:end], types, noise_type)
        record.line, record.offset = number, offset + begin + start
        file.records.append(record)
    runs = [(start, end, "nul_bytes") for start, end in nul_runs(raw)]
    runs += [(begin + start, begin + end, reason) for start, end, reason in reading.damage]
    for start, end, reason in runs:
        damaged = piece(number, offset + start, end - start)
        file.damage.append({**damaged, "reason": reason, "recovered": bool(reading.records)})
    if reading.tail is not None:
        file.incomplete_tail = piece(number, offset + begin + reading.tail, len(body) - reading.tail)


def make_record(raw: bytes, types: Types, noise_type: str | Json | None = None) -> Record:
    """A record with its entry decoded: of broken noise nothing, of a mark what is read of it."""
    if isinstance(noise_type, dict):
        return Record(0, 0, len(raw), types.name_of(noise_type), types.kind_of(noise_type), noise_type)
    if noise_type is not None:
        return Record(0, 0, len(raw), noise_type, "noise", {})
    entry = decode_value(raw.decode("utf-8", "mark-invalid"), 0)[0]
    return Record(0, 0, len(raw), publish(types.name_of(entry))[:100], types.kind_of(entry), entry)
