"""The package as a program uses it: what each public name takes, gives and raises."""

from __future__ import annotations

import array
import base64
import datetime
import inspect
import io
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.checkout import DEMO
from tests.support.entries import entry

import retell_fast


def line(role: str, content: Any, number: int, **fields: Any) -> bytes:
    """One line of a session."""
    return json.dumps(entry(role, content, number, **fields), separators=(",", ":")).encode() + b"\n"


SESSION = b"".join(
    [
        line("user", "why does the boat leak", 1),
        line("assistant", [{"type": "thinking", "thinking": "a hole?"}], 2),
        line("assistant", [{"type": "text", "text": "because of the hole"}], 3),
        line("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], 4),
        line("user", "then close it", 5),
        line("assistant", [{"type": "text", "text": "closed"}], 6),
    ]
)
UNKNOWN = SESSION + b'{"type":"dream","about":"boats"}\n'
DAMAGED = SESSION + b"not json\n"


@pytest.fixture
def claude_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Claude home of this test's own, with one session in it."""
    home = tmp_path / "claude"
    (home / "projects" / "-home-you-boats").mkdir(parents=True)
    (home / "projects" / "-home-you-boats" / "aaaabbbb-cccc.jsonl").write_bytes(SESSION)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return home


# ---------------------------------------------------------------- the names


def test_every_public_name_is_there_and_documented() -> None:
    for name in retell_fast.__all__:
        assert hasattr(retell_fast, name), name
        if name != "__version__":
            assert inspect.getdoc(getattr(retell_fast, name)), name


def test_errors_and_warnings_have_one_base_each() -> None:
    for name in retell_fast.__all__:
        public = getattr(retell_fast, name)
        if isinstance(public, type) and name.endswith("Error"):
            assert issubclass(public, retell_fast.RetellError)
        if isinstance(public, type) and name.endswith("Warning"):
            assert issubclass(public, retell_fast.RetellWarning)
    assert issubclass(retell_fast.RetellWarning, UserWarning)


def test_options_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        retell_fast.parse(SESSION, "claude-code")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        retell_fast.discover(None, 3)  # type: ignore[call-arg]


# ---------------------------------------------------------------- what parse takes


def test_all_sources_give_the_same_events(claude_home: Path) -> None:
    path = claude_home / "projects" / "-home-you-boats" / "aaaabbbb-cccc.jsonl"
    expected = [event.to_dict() for event in retell_fast.parse(SESSION).events]
    for source in (path, str(path), os.fsencode(path).decode(), "aaaabbbb-cccc", "aaaa", io.BytesIO(SESSION)):
        assert [event.to_dict() for event in retell_fast.parse(source).events] == expected
    with path.open("rb") as file:
        assert [event.to_dict() for event in retell_fast.parse(file).events] == expected


def test_a_reader_may_give_little_at_a_time() -> None:
    class Drips:
        def __init__(self) -> None:
            self.rest = SESSION

        def read(self, size: int, /) -> bytes:
            piece, self.rest = self.rest[: min(size, 7)], self.rest[7:]
            return piece

    assert len(retell_fast.parse(Drips()).events) == 6


@pytest.mark.parametrize("kind", [bytearray, memoryview, lambda piece: array.array("B", piece)])
def test_a_reader_may_give_anything_with_bytes_in_it(kind: Callable[[bytes], Any]) -> None:
    class Gives:
        def __init__(self) -> None:
            self.file = io.BytesIO(SESSION)

        def read(self, size: int, /) -> Any:
            return kind(self.file.read(size))

    assert len(retell_fast.parse(Gives()).events) == 6


@pytest.mark.parametrize("given", ["text", 5, None])
def test_a_reader_that_gives_no_bytes_is_a_type_error(given: object) -> None:
    class Gives:
        def read(self, _size: int, /) -> Any:
            return given

    with pytest.raises(TypeError, match="binary mode"):
        retell_fast.parse(Gives())


def test_bytes_come_in_several_kinds() -> None:
    expected = [event.to_dict() for event in retell_fast.parse(SESSION).events]
    for source in (bytearray(SESSION), memoryview(SESSION), memoryview(SESSION[::-1])[::-1]):
        assert [event.to_dict() for event in retell_fast.parse(source).events] == expected


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_path_need_not_be_text(claude_home: Path) -> None:
    path = os.fsencode(claude_home / "projects" / "-home-you-boats") + b"/s\xe9ance.jsonl"
    Path(os.fsdecode(path)).write_bytes(SESSION)
    for source in (os.fsdecode(path), Path(os.fsdecode(path))):
        assert len(retell_fast.parse(source).events) == 6
    with pytest.raises(FileNotFoundError) as missing:
        retell_fast.parse(os.fsdecode(path) + "x")
    assert os.fsencode(missing.value.filename) == path + b"x"
    (preview,) = (each for each in retell_fast.discover() if each.session_id != "aaaabbbb-cccc")
    assert os.fsencode(preview.path) == path
    assert len(retell_fast.parse(preview.path).events) == 6


def test_a_folder_called_like_an_id_is_not_in_the_way(
    claude_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert claude_home.exists()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aaaa").mkdir()
    (tmp_path / "bbbb").mkdir()
    assert len(retell_fast.parse("aaaa").events) == 6
    for folder in ("bbbb", f"aaaa{os.sep}"):
        with pytest.raises(IsADirectoryError):
            retell_fast.parse(folder)
    (tmp_path / "aaaabbbb-cccc").write_bytes(SESSION + line("user", "thanks", 7))
    assert len(retell_fast.parse("aaaabbbb-cccc").events) == 7


def test_what_a_reader_raises_comes_out() -> None:
    class Breaks:
        def read(self, _size: int, /) -> bytes:
            msg = "the cable"
            raise ConnectionError(msg)

    with pytest.raises(ConnectionError, match="the cable"):
        retell_fast.parse(Breaks())


def test_the_agent_can_be_named() -> None:
    assert retell_fast.parse(SESSION, agent="claude-code").manifest["agent"] == "claude-code"
    with pytest.raises(ValueError, match="sailor"):
        retell_fast.parse(SESSION, agent="sailor")


def test_a_source_of_a_strange_kind_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        retell_fast.parse(12)  # type: ignore[arg-type]


# ---------------------------------------------------------------- what parse gives


def test_events_are_a_sequence() -> None:
    events = retell_fast.parse(SESSION).events
    assert isinstance(events, Sequence)
    assert len(events) == 6
    assert [event.index for event in events] == list(range(6))
    assert events[-1].says == "closed"
    assert [event.says for event in events[4:]] == ["then close it", "closed"]
    assert [event.index for event in events[::-2]] == [5, 3, 1]
    assert isinstance(events[:2], list)
    assert events[0] in events
    assert [event.index for event in reversed(events)] == [5, 4, 3, 2, 1, 0]
    assert events.index(events[3]) == 3
    assert events.count(events[3]) == 1
    for beyond in (6, -7):
        with pytest.raises(IndexError):
            events[beyond]


def test_only_integers_and_slices_are_positions() -> None:
    events = retell_fast.parse(SESSION).events
    for key in ("x", 1.0, None):
        with pytest.raises(TypeError, match="events indices must be integers or slices"):
            events[key]  # type: ignore[call-overload]
    for huge in (10**30, -(10**30), sys.maxsize, -sys.maxsize - 1):
        with pytest.raises(IndexError):
            events[huge]
    assert events[True] == events[1]


def test_an_event_has_all_its_fields() -> None:
    asked, thought, _, reached, *_ = retell_fast.parse(SESSION).events
    assert (asked.role, asked.says, asked.uuid) == ("user", "why does the boat leak", "uuid-1")
    assert asked.timestamp == "2026-02-10T09:14:01.000Z"
    assert (asked.line, asked.offset, asked.length) == (1, 0, SESSION.index(b"\n"))
    assert (asked.thinks, asked.tools, asked.message_id, asked.source) == ("", [], "", None)
    assert (asked.session_break, asked.boundary, asked.continuation_summary) == (False, [], "")
    assert (asked.screenshots, asked.subagent_refs, asked.interrupted, asked.duration_ms) == (
        [],
        [],
        False,
        None,
    )
    assert (thought.role, thought.says, thought.thinks, thought.message_id) == (
        "assistant",
        "",
        "a hole?",
        "msg_2",
    )
    assert reached.tools == ["Bash"]
    assert "user" in repr(asked)


def test_events_compare_by_value() -> None:
    one, other = retell_fast.parse(SESSION).events, retell_fast.parse(SESSION).events
    assert one[0] == other[0]
    assert one[0] != one[1]
    assert one[0] != "why does the boat leak"


def test_what_is_given_may_be_changed_without_harm(tmp_path: Path) -> None:
    conversation = retell_fast.parse(SESSION)
    conversation.manifest.clear()
    conversation.events[3].tools.append("Hammer")
    conversation.events[0].to_dict().clear()
    assert conversation.events[3].tools == ["Bash"]
    conversation.write(tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))["total_events"] == 6


def test_events_outlive_their_conversation() -> None:
    event = retell_fast.parse(SESSION).events[4]
    assert event.says == "then close it"


@pytest.mark.filterwarnings("ignore::retell_fast.RetellWarning")
def test_write_gives_what_the_objects_say(tmp_path: Path) -> None:
    conversation = retell_fast.parse(DEMO, include_subagents=True, allow_unknown=True)
    conversation.write(tmp_path / "new" / "out")
    out = tmp_path / "new" / "out"
    events = json.loads((out / "events.json").read_text(encoding="utf-8"))
    assert events == [event.to_dict() for event in conversation.events]
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8")) == conversation.manifest
    assert sorted(conversation.assets) == sorted(path.name for path in (out / "assets").glob("*"))
    shown = {shot.filename for event in conversation.events for shot in event.screenshots}
    assert shown <= set(conversation.assets)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the files apart")
def test_no_two_assets_have_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_bytes(SESSION)
    agents = tmp_path / "s" / "subagents"
    agents.mkdir(parents=True)
    ids = ("a1", "A1", "a.b", "a b", "x" * 200, "x" * 201)
    for number, agent in enumerate(ids):
        image = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes([number] * 100)).decode()
        source = {"type": "base64", "media_type": "image/png", "data": image}
        content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
        said = line("user", content, number, isSidechain=True, agentId=agent)
        (agents / f"agent-{agent}.jsonl").write_bytes(said)
    conversation = retell_fast.parse(tmp_path / "s.jsonl", include_subagents=True)
    assert len({name.lower() for name in conversation.assets}) == len(ids)
    assert max(map(len, conversation.assets)) < 70
    conversation.write(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "assets").iterdir()) == sorted(
        conversation.assets
    )


def test_two_runs_differ_in_nothing_but_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = retell_fast.parse(SESSION).manifest, retell_fast.parse(SESSION).manifest
    del first["parsed_at"], second["parsed_at"]
    assert first == second
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1770714843")
    for name in ("one", "two"):
        retell_fast.parse(SESSION).write(tmp_path / name)
    for name in ("events.json", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert retell_fast.parse(SESSION).manifest["parsed_at"].startswith("2026-02-10T09:14:03")


# ---------------------------------------------------------------- input that needs a look


def test_unknown_types_warn_raise_or_pass() -> None:
    with pytest.warns(retell_fast.UnknownEntryTypeWarning, match="dream"):
        conversation = retell_fast.parse(UNKNOWN)
    assert conversation.attention
    assert conversation.manifest["unknown_entries"] == {"dream": {"count": 1, "first_line": 7}}
    with pytest.raises(retell_fast.UnknownEntryTypeError, match="dream"):
        retell_fast.parse(UNKNOWN, strict=True)
    conversation = retell_fast.parse(UNKNOWN, allow_unknown=True)
    assert not conversation.attention
    assert "dream" in conversation.manifest["unknown_entries"]


def test_damage_warns() -> None:
    with pytest.warns(retell_fast.DamagedInputWarning):
        conversation = retell_fast.parse(DAMAGED)
    assert conversation.attention
    assert len(conversation.events) == 6
    assert conversation.manifest["damaged_lines"] == [
        {"line": 7, "offset": len(SESSION), "length": 8, "reason": "invalid_json", "recovered": False}
    ]


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(retell_fast.DamagedInputWarning) as caught:
        retell_fast.parse(DAMAGED)
    assert [Path(each.filename).name for each in caught] == [Path(__file__).name]


def test_nothing_to_look_at_is_no_attention() -> None:
    assert not retell_fast.parse(SESSION).attention


# ---------------------------------------------------------------- errors


def test_errors_of_the_system_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        retell_fast.parse(tmp_path / "none.jsonl")
    assert Path(missing.value.filename) == tmp_path / "none.jsonl"
    assert missing.value.errno
    with pytest.raises(IsADirectoryError):
        retell_fast.parse(tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises((FileExistsError, NotADirectoryError)) as in_the_way:
        retell_fast.parse(SESSION).write(tmp_path / "file")
    assert in_the_way.value.filename
    assert (tmp_path / "file").read_text() == "mine"


def test_damaged_compression_is_said_to_be_that(tmp_path: Path) -> None:
    # A frame that begins, with a raw block of 16 bytes of which only 4 are there (RFC 8878).
    cut = b"\x28\xb5\x2f\xfd\x00\x58" + (16 << 3).to_bytes(3, "little") + SESSION[:4]
    # A block of the reserved kind.
    spoilt = b"\x28\xb5\x2f\xfd\x00\x58" + (16 << 3 | 3 << 1).to_bytes(3, "little") + SESSION[:16]
    for data in (cut, spoilt):
        (tmp_path / "session.jsonl.zst").write_bytes(data)
        for source in (tmp_path / "session.jsonl.zst", data, io.BytesIO(data)):
            with pytest.raises(OSError, match="damaged zstd data: ") as damaged:
                retell_fast.parse(source)
            assert "zstd -d" in damaged.value.hint  # type: ignore[attr-defined]


def test_files_of_others_are_not_replaced(tmp_path: Path) -> None:
    conversation = retell_fast.parse(SESSION)
    for name in ("events.json", "manifest.json"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("{}")
        with pytest.raises(FileExistsError) as refused:
            conversation.write(folder)
        assert Path(refused.value.filename) == folder / name
        assert [path.name for path in folder.iterdir()] == [name]
        assert (folder / name).read_text() == "{}"


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(4096)])
def test_what_is_no_transcript_is_invalid_input(data: bytes) -> None:
    with pytest.raises(retell_fast.InvalidInputError) as refused:
        retell_fast.parse(data)
    assert refused.value.hint


def test_entries_without_words_are_no_conversation() -> None:
    with pytest.raises(retell_fast.NoConversationError, match="mode"):
        retell_fast.parse(b'{"type":"mode","mode":"plan"}\n{"type":"mode","mode":"plan"}\n')


def test_ids_that_lead_nowhere_or_to_several(claude_home: Path) -> None:
    with pytest.raises(retell_fast.SessionNotFoundError) as missing:
        retell_fast.parse("99999999")
    assert missing.value.hint
    path = claude_home / "projects" / "-home-you-boats" / "aaaabbbb-dddd.jsonl"
    path.write_bytes(SESSION)
    with pytest.raises(retell_fast.AmbiguousSessionError) as several:
        retell_fast.parse("aaaabbbb")
    assert several.value.hint
    assert "aaaabbbb-cccc" in str(several.value) + several.value.hint
    assert "aaaabbbb-dddd" in str(several.value) + several.value.hint


def test_a_message_has_no_capital_and_no_full_stop() -> None:
    with pytest.raises(retell_fast.RetellError) as refused:
        retell_fast.parse(b"")
    message = str(refused.value)
    assert message[0].islower()
    assert not message.endswith(".")


# ---------------------------------------------------------------- progress and threads


def test_progress_reports_bytes_and_may_stop_the_parse() -> None:
    data = SESSION + b"".join(line("user", "why " * 2000, number) for number in range(10, 60)) * 100
    reports: list[tuple[int, int | None]] = []
    with_progress = retell_fast.parse(data, progress=lambda done, total: reports.append((done, total)))
    assert len(with_progress.events) > 6
    assert reports[-1] == (len(data), len(data))
    assert all(total == len(data) for _, total in reports)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)

    def stop(_done: int, _total: int | None) -> None:
        msg = "enough"
        raise StopIteration(msg)

    for stopped in (data, SESSION):
        with pytest.raises(StopIteration, match="enough"):
            retell_fast.parse(stopped, progress=stop)


def test_progress_has_to_be_callable() -> None:
    with pytest.raises(TypeError, match="progress must be callable, not int"):
        retell_fast.parse(SESSION, progress=5)  # type: ignore[arg-type]
    reports: list[tuple[int, int | None]] = []
    retell_fast.parse(SESSION, progress=lambda done, total: reports.append((done, total)))
    assert reports == [(len(SESSION), len(SESSION))]


def test_threads_may_parse_at_once() -> None:
    expected = [event.to_dict() for event in retell_fast.parse(SESSION).events]
    results: list[list[dict[str, Any]]] = []

    def work() -> None:
        results.extend([event.to_dict() for event in retell_fast.parse(SESSION).events] for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 80


# ---------------------------------------------------------------- discover


def test_discover_describes_sessions(claude_home: Path) -> None:
    (preview,) = retell_fast.discover()
    assert Path(preview.path) == claude_home / "projects" / "-home-you-boats" / "aaaabbbb-cccc.jsonl"
    assert (preview.session_id, preview.agent, preview.size) == ("aaaabbbb-cccc", "claude-code", len(SESSION))
    assert preview.modified == pytest.approx(Path(preview.path).stat().st_mtime)
    assert (preview.project_path, preview.title) == ("/home/you/boats", None)
    assert (preview.human_messages, preview.assistant_messages) == (2, 4)
    assert (preview.sessions, preview.subagents, preview.tools) == (1, 0, {"Bash": 1})
    assert (preview.first_words, preview.last_words) == ("why does the boat leak", "then close it")
    assert preview.continuation is False
    assert isinstance(preview.score, int)
    assert all(isinstance(reason, str) for reason in preview.reasons)
    described = preview.to_dict()
    assert json.loads(json.dumps(described)) == described
    assert described["session_id"] == "aaaabbbb-cccc"


def test_discover_takes_any_root(claude_home: Path) -> None:
    by_default = [preview.path for preview in retell_fast.discover()]
    for root in (claude_home, claude_home / "projects", claude_home / "projects" / "-home-you-boats"):
        assert [preview.path for preview in retell_fast.discover(root)] == by_default
    assert [preview.path for preview in retell_fast.discover(str(claude_home))] == by_default


def test_discover_lists_the_newest_first_and_narrows(claude_home: Path) -> None:
    folder = claude_home / "projects" / "-srv-trains"
    folder.mkdir()
    for number in range(3):
        path = folder / f"train-{number}.jsonl"
        path.write_bytes(SESSION.replace(b"/home/you/boats", b"/srv/trains"))
        moment = datetime.datetime(2026, 2, 10 + number, 12, tzinfo=datetime.timezone.utc).timestamp()
        os.utime(path, (moment, moment))
    boats = claude_home / "projects" / "-home-you-boats" / "aaaabbbb-cccc.jsonl"
    os.utime(boats, (1_600_000_000, 1_600_000_000))

    def ids(**narrowed: Any) -> list[str]:
        return [preview.session_id for preview in retell_fast.discover(**narrowed)]

    assert ids() == ["train-2", "train-1", "train-0", "aaaabbbb-cccc"]
    assert ids(limit=2) == ["train-2", "train-1"]
    assert ids(limit=0) == []
    assert ids(project="boats") == ["aaaabbbb-cccc"]
    for since in (
        "2026-02-11",
        "2026-02-11T00:00:00Z",
        datetime.date(2026, 2, 11),
        datetime.datetime(2026, 2, 11, tzinfo=datetime.timezone.utc),
    ):
        assert ids(since=since) == ["train-2", "train-1"], since
    with pytest.raises(ValueError, match="yesteryear"):
        retell_fast.discover(since="yesteryear")
    with pytest.raises(TypeError, match="since must be"):
        retell_fast.discover(since=5)  # type: ignore[arg-type]


def test_subagent_files_are_not_sessions(claude_home: Path) -> None:
    (claude_home / "projects" / "-home-you-boats" / "agent-1234.jsonl").write_bytes(SESSION)
    nested = claude_home / "projects" / "-home-you-boats" / "aaaabbbb-cccc" / "subagents"
    nested.mkdir(parents=True)
    (nested / "agent-5678.jsonl").write_bytes(SESSION)
    assert [preview.session_id for preview in retell_fast.discover()] == ["aaaabbbb-cccc"]


def test_a_home_is_looked_into_one_level_deep(claude_home: Path, tmp_path: Path) -> None:
    deeper = claude_home / "projects" / "-home-you-boats" / "aaaabbbb-cccc"
    deeper.mkdir()
    (deeper / "workflow.jsonl").write_bytes(SESSION)
    (claude_home / "stray.jsonl").write_bytes(SESSION)
    assert [preview.session_id for preview in retell_fast.discover()] == ["aaaabbbb-cccc"]
    assert [preview.session_id for preview in retell_fast.discover(claude_home)] == ["aaaabbbb-cccc"]
    (tmp_path / "any" / "thing" / "tool-results").mkdir(parents=True)
    (tmp_path / "any" / "thing" / "boat.jsonl").write_bytes(SESSION)
    (tmp_path / "any" / "thing" / "tool-results" / "leak.jsonl").write_bytes(SESSION)
    assert [preview.session_id for preview in retell_fast.discover(tmp_path / "any")] == ["boat"]


def test_a_home_without_projects_holds_no_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stray.jsonl").write_bytes(SESSION)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert retell_fast.discover() == []
