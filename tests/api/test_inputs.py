"""Where sessions come from: compressed files, and folders over links."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path

import pytest
from tests.strategies.codex import compressed
from tests.support.command import run
from tests.support.homes import IDS, NOT_ON_WINDOWS, WORDS, Homes, record, says, session

import retell_fast


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homes:
    return Homes(tmp_path).enter(monkeypatch)


# ---------------------------------------------------------------- compressed


def skippable(content: bytes, kind: int = 0) -> bytes:
    """A zstd frame that readers skip (RFC 8878, 3.1.2)."""
    return bytes([0x50 + kind]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def members(content: bytes) -> bytes:
    """The content in two members of gzip, cut in the middle of a line."""
    return gzip.compress(content[:40]) + gzip.compress(content[40:])


FORMS = {
    "gzip": gzip.compress(session()),
    "gzip, several members": members(session()),
    "gzip, padded": members(session()) + bytes(1024),
    "zstd": compressed(session()),
    "zstd, several frames": compressed(session()[:40]) + compressed(session()[40:]),
    "zstd behind a frame to skip": skippable(b"seek table") + compressed(session()),
    "zstd behind several": skippable(b"", 15) + skippable(b"x" * 70_000, 9) + compressed(session()),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["session.jsonl", "session.jsonl.gz", "session.jsonl.zst", "session"])
def test_compressed_input_is_known_by_its_first_bytes(place: Homes, form: str, name: str) -> None:
    assert says(place.put(name, FORMS[form])) == WORDS


@pytest.mark.parametrize("form", FORMS)
def test_bytes_and_open_files_may_be_compressed(form: str) -> None:
    class OneByteAtATime(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(1, size or 0))

    content = FORMS[form]
    for source in (
        content,
        bytearray(content),
        memoryview(content),
        io.BytesIO(content),
        OneByteAtATime(content),
    ):
        assert says(source) == WORDS


@pytest.mark.parametrize("form", FORMS)
def test_standard_input_may_be_compressed(place: Homes, form: str) -> None:
    run("parse", "-", "-o", "out", given=FORMS[form], cwd=place.folder)
    events = json.loads((place.folder / "out" / "events.json").read_text(encoding="utf-8"))
    assert [event["says"] for event in events] == WORDS


def test_a_large_compressed_file_is_read_ahead_to_its_end(place: Homes) -> None:
    chance = random.Random(7)
    noise = [{"type": "progress", "data": chance.randbytes(3000).hex()} for _ in range(600)]
    lines = session() + b"".join(json.dumps(each).encode() + b"\n" for each in noise)
    path = place.put("large.jsonl.gz", gzip.compress(lines + session(IDS[1], "and now")))
    assert path.stat().st_size > 1_500_000
    conversation = retell_fast.parse(path)
    assert [event.says for event in conversation.events] == [*WORDS, "and now", "no oil"]
    assert conversation.manifest["source"]["bytes"] == len(lines) + len(session(IDS[1], "and now"))


@pytest.mark.parametrize("cut", [3, 11, 60, -9, -1])
@pytest.mark.parametrize("packed", [gzip.compress(session() * 50), members(session() * 50)])
def test_gzip_that_is_cut_off_is_told(place: Homes, packed: bytes, cut: int) -> None:
    path = place.put("cut.jsonl.gz", packed[:cut])
    for source in (path, packed[:cut], io.BytesIO(packed[:cut])):
        with pytest.raises(OSError, match="damaged gzip data: it is cut off") as damaged:
            retell_fast.parse(source)
        assert "gzip -dc" in damaged.value.hint  # type: ignore[attr-defined]
    status, out, err = place.run("parse", path)
    assert (status, out) == (1, "")
    assert err == (
        f"error: {path}: damaged gzip data: it is cut off\n"
        "hint: decompress it with gzip -dc to see how much of it is whole\n"
    )


def test_gzip_that_is_damaged_is_told() -> None:
    packed = bytearray(gzip.compress(session() * 50))
    packed[len(packed) // 2] ^= 0xFF
    for source in (bytes(packed), gzip.compress(session()) + b"and more"):
        with pytest.raises(OSError, match="damaged gzip data: "):
            retell_fast.parse(source)


def test_an_exception_of_an_open_file_comes_out_of_compressed_input() -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            content = super().read(size)
            if not content:
                raise ConnectionResetError("gone")
            return content

    for packed in (gzip.compress(session()), compressed(session())):
        with pytest.raises(ConnectionResetError, match="gone"):
            retell_fast.parse(Torn(packed[: len(packed) // 2]))


def test_compressed_sessions_are_found_where_plain_ones_are(place: Homes) -> None:
    place.put(place.projects / "-a" / f"{IDS[0]}.jsonl.gz", gzip.compress(session()))
    place.put(place.projects / "-a" / f"{IDS[1]}.jsonl.gz", gzip.compress(session(IDS[1])))
    place.put(place.projects / "-a" / f"{IDS[1]}.jsonl", session(IDS[1]))
    rollout = "019c5555-0000-7000-8000-000000000001"
    meta = {"timestamp": "t", "type": "session_meta", "payload": {"id": rollout}}
    asked = {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "hello"}}
    lines = "".join(f"{json.dumps(each)}\n" for each in (meta, asked)).encode()
    place.put(
        f"codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-{rollout}.jsonl.gz", gzip.compress(lines)
    )
    assert place.listed() == sorted([rollout, *IDS])
    conversation = retell_fast.parse(IDS[0])
    assert [event.says for event in conversation.events] == WORDS
    assert conversation.manifest["conversation_id"] == IDS[0]
    assert says("019c5555") == ["hello"]
    found = retell_fast.types()
    assert {agent: row["files"] for agent, row in found["agents"].items()} == {"claude-code": 2, "codex": 1}
    assert not found["unreadable"]


def test_a_compressed_session_finds_its_subagents(place: Homes) -> None:
    call = record(IDS[0], "assistant", "", 3)
    call["message"]["content"] = [
        {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "look", "prompt": "look"}}
    ]
    lines = session() + json.dumps(call).encode() + b"\n"
    place.put("s/one.jsonl.gz", gzip.compress(lines))
    work = [{**record(IDS[0], "user", "look", 4), "isSidechain": True, "agentId": "a1"}]
    place.put("s/one/subagents/agent-a1.jsonl", "".join(json.dumps(each) + "\n" for each in work).encode())
    manifest = retell_fast.parse(place.folder / "s" / "one.jsonl.gz").manifest
    assert [agent["id"] for agent in manifest["subagents"]] == ["a1"]


def test_types_tell_damaged_compression_apart(place: Homes) -> None:
    place.put("t/a.jsonl.gz", gzip.compress(session())[:-12])
    place.put("t/b.jsonl.zst", compressed(session())[:-4])
    place.put("t/c.jsonl.gz", gzip.compress(session()))
    found = retell_fast.types(place.folder / "t")
    assert found["unreadable"] == {"damaged_gzip": 1, "damaged_zstd": 1}
    assert found["agents"]["claude-code"]["types"]["user"]["count"] == 1


@pytest.mark.parametrize(
    ("name", "packed"), [("gzip", gzip.compress(session())), ("zstd", compressed(session()))]
)
def test_images_of_a_compressed_file_are_not_said_to_be_none(place: Homes, name: str, packed: bytes) -> None:
    path = place.put("session.jsonl.packed", packed)
    for action, *options in (["list"], ["extract", "-o", "slim", "--assets", "store"]):
        status, out, err = place.run("images", action, path, *options)
        assert (status, out) == (1, "")
        assert "is compressed: images are moved in plain transcripts" in err
        assert f"hint: decompress it first: {name} -d" in err
    assert not (place.folder / "slim").exists()


# ---------------------------------------------------------------- links to folders


@NOT_ON_WINDOWS
def test_links_to_folders_are_followed(place: Homes) -> None:
    far = place.put("disk/lamps/" + IDS[0] + ".jsonl", session()).parent
    place.projects.mkdir(parents=True)
    (place.projects / "-home-you-lamps").symlink_to(far)
    assert place.listed() == [IDS[0]]
    (listed,) = retell_fast.discover()
    assert Path(listed.path).parent == place.projects.resolve() / "-home-you-lamps"
    conversation = retell_fast.parse(IDS[0][:6])
    assert [event.says for event in conversation.events] == WORDS
    assert conversation.manifest["project_encoded"] == "-home-you-lamps"
    assert retell_fast.types()["files"] == 1
    assert retell_fast.types(place.folder / "claude")["files"] == 1


@NOT_ON_WINDOWS
def test_a_linked_day_of_rollouts_is_followed(place: Homes) -> None:
    rollout = "019c6666-0000-7000-8000-000000000001"
    asked = {"timestamp": "t", "type": "event_msg", "payload": {"type": "user_message", "message": "hello"}}
    day = place.put(
        f"disk/04/rollout-2026-03-04T05-06-07-{rollout}.jsonl", json.dumps(asked).encode() + b"\n"
    ).parent
    (place.folder / "codex/sessions/2026/03").mkdir(parents=True)
    (place.folder / "codex/sessions/2026/03/04").symlink_to(day)
    (place.folder / "codex/sessions/2025").symlink_to(place.folder / "codex/sessions/2026")
    assert place.listed() == [rollout]
    assert says("019c6666") == ["hello"]
    assert retell_fast.types()["files"] == 1


@NOT_ON_WINDOWS
def test_each_real_folder_is_looked_into_once(place: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.put_session()
    (place.projects / "-again").symlink_to(path.parent)
    (path.parent / "round").symlink_to(place.projects)
    (place.folder / "other").mkdir()
    (place.folder / "other" / "projects").symlink_to(place.projects)
    (place.folder / "third").symlink_to(place.folder / "claude")
    (place.folder / "fourth" / "projects").mkdir(parents=True)
    (place.folder / "fourth" / "projects" / "-one").symlink_to(path.parent)
    roots = ",".join(str(place.folder / name) for name in ("claude", "other", "third", "fourth"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", roots)
    assert [preview.path for preview in retell_fast.discover()] == [str(path.resolve())]
    assert retell_fast.types()["files"] == 1
    assert retell_fast.types([place.folder / "claude", place.folder / "other"])["files"] == 1
    assert says(IDS[0]) == WORDS


@NOT_ON_WINDOWS
def test_a_link_to_a_session_is_the_same_session(place: Homes) -> None:
    path = place.put_session()
    (place.projects / "-linked").mkdir()
    (place.projects / "-linked" / path.name).symlink_to(path)
    elsewhere = place.put(f"disk/{IDS[1]}.jsonl", session(IDS[1]))
    (place.projects / "-linked" / elsewhere.name).symlink_to(elsewhere)
    (place.projects / "-linked" / "nothing.jsonl").symlink_to(place.folder / "gone")
    assert place.listed() == sorted(IDS)
    assert retell_fast.types()["files"] == 2


@NOT_ON_WINDOWS
def test_images_follow_links_to_folders(place: Homes) -> None:
    path = place.put("tree/a/one.jsonl", session())
    far = place.put("disk/two.jsonl", session(IDS[1])).parent
    (place.folder / "tree" / "far").symlink_to(far)
    (place.folder / "tree" / "a" / "round").symlink_to(place.folder / "tree")
    status, out, err = place.run("images", "list", "tree", "--json")
    assert status == 0, err
    report = json.loads(out)
    assert [each["path"] for each in report["files"]] == [
        str(Path("tree", "a", "one.jsonl")),
        str(Path("tree", "far", "two.jsonl")),
    ]
    assert report["total"]["files"] == 2
    status, _, err = place.run("images", "extract", "tree", "-o", "slim", "--assets", "store")
    assert status == 0, err
    assert (place.folder / "slim" / "a" / "one.jsonl").read_bytes() == path.read_bytes()
    assert (place.folder / "slim" / "far" / "two.jsonl").read_bytes() == session(IDS[1])
    assert "passed over tree/a/round" in err
