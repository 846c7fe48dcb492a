"""The command `retell-fast`, run as its users run it: what it prints where, and how it ends."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import entries
from tests.support.checkout import DEMO
from tests.support.command import AS_NOBODY, COMMAND

from retell_fast.cli.arguments import read_arguments
from retell_fast.cli.plain import read_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_ON_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="Windows has no such thing")

RUN_AS_NOBODY = f"""
import json, os, pathlib, sys
import retell_fast.cli.failures, retell_fast.cli.parse, retell_fast.cli.plain
{AS_NOBODY}
sys.exit(retell_fast.cli.main(sys.argv[1:]))
"""


def entry(role: str, text: str, number: int, **fields: Any) -> dict[str, Any]:
    content = text if role == "user" else [{"type": "text", "text": text}]
    return entries.entry(role, content, number, **fields)


CONVERSATION = [
    entry("user", "why does the boat leak", 1),
    entry("assistant", "because of the hole", 2),
    entry("user", "then close it", 3),
    entry("assistant", "closed", 4),
]


def long_id(beginning: str) -> str:
    """A session id as Claude Code makes them, that begins so."""
    return beginning + "00000000-0000-4000-8000-000000000000"[len(beginning) :]


def write_session(path: Path, entries: Sequence[dict[str, Any] | str]) -> Path:
    """Writes entries as lines; a string is written as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each in entries]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


class Run:
    """A finished run of the command."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.status = done.returncode
        self.out = (done.stdout or b"").decode("utf-8")
        self.err = (done.stderr or b"").decode("utf-8")
        assert "Traceback" not in self.err, self.err

    def lines(self, start: str) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith(start)]


class Terminal:
    """Runs the command in a folder of its own, with a Claude home of its own."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "claude"
        self.folder = folder / "work"
        self.folder.mkdir()
        self.environment = {
            **os.environ,
            "CLAUDE_CONFIG_DIR": str(self.home),
            "CODEX_HOME": str(folder / "codex"),
            "PYTHONUNBUFFERED": "",
        }

    def session(self, beginning: str, entries: Sequence[dict[str, Any] | str] = CONVERSATION) -> Path:
        return write_session(
            self.home / "projects" / "-home-you-boats" / f"{long_id(beginning)}.jsonl", entries
        )

    def run(self, *words: str | Path, command: Sequence[str] = COMMAND, **options: Any) -> Run:
        options = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "stdin": subprocess.DEVNULL,
            **options,
        }
        if "input" in options:
            del options["stdin"]
        return Run(
            subprocess.run(
                [*command, *map(str, words)],
                cwd=self.folder,
                env=self.environment,
                check=False,
                timeout=60,
                **options,
            )
        )

    def start(self, *words: str | Path, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *map(str, words)], cwd=self.folder, env=self.environment, **options
        )


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def assert_fails(run: Run, says: str, status: int = 1) -> None:
    """One clear line, one hint, nothing on standard output, the right status."""
    assert run.status == status, run.err
    assert run.out == ""
    (error,) = run.lines("error: ")
    assert re.search(says, error), error
    assert len(run.lines("hint: ")) == 1, run.err
    assert run.err.startswith("error: ")


# ---------------------------------------------------------------- usage


def test_version_is_the_package_version(terminal: Terminal) -> None:
    run = terminal.run("--version")
    assert run.status == 0
    assert re.fullmatch(r"retell-fast \d+\.\d+\.\d+\S*\n", run.out)


SLOW_TO_IMPORT = {
    "argparse",
    "dataclasses",
    "datetime",
    "importlib.resources",
    "inspect",
    "pathlib",
    "rich",
    "shutil",
    "typing",
}


def test_what_is_slow_to_import_is_imported_by_those_who_need_it(terminal: Terminal) -> None:
    program = "import sys; from retell_fast.cli import main; main({}); print(*sys.modules, sep='\\n')"

    def imported(*words: str) -> set[str]:
        run = terminal.run("-c", program.format(list(words)), command=[sys.executable])
        assert run.status == 0, run.err
        return set(run.out.split())

    before = set(terminal.run("-c", "import sys; print(*sys.modules)", command=[sys.executable]).out.split())
    assert not (imported("--version") - before) & {*SLOW_TO_IMPORT, "enum", "json", "re"}
    parse = imported("parse", str(terminal.session("aaaa")), "-o", "out", "--quiet")
    assert not (parse - before) & SLOW_TO_IMPORT


SWITCHES = ("include_subagents", "strict", "allow_unknown", "quiet")
PLAIN_WORDS = [
    "-",
    "a.jsonl",
    "",
    "-q",
    "--strict",
    "--allow-unknown",
    "--agent",
    "claude-code",
    "-o",
    "-oout",
]


def test_the_shortcut_reads_words_as_argparse_does() -> None:
    assert read_plain(["preview"]) is None
    for count in range(5):
        for words in itertools.product(PLAIN_WORDS, repeat=count):
            given = read_plain(["parse", *words])
            if given is not None:
                whole = read_arguments(["parse", *words])
                assert whole == {**dict.fromkeys(whole), **dict.fromkeys(SWITCHES, False), **given}, words
    assert read_plain(["parse", "x", "--include-subagents", "--output-dir", "y", "--quiet"]) == {
        "command": "parse",
        "session": "x",
        "include_subagents": True,
        "output_dir": "y",
        "quiet": True,
    }


def test_nothing_said_shows_the_help_and_is_wrong_usage(terminal: Terminal) -> None:
    run = terminal.run()
    assert run.status == 2
    assert run.out == ""
    assert "usage: retell-fast" in run.err


@pytest.mark.parametrize("words", [["--help"], ["parse", "--help"], ["preview", "--help"]])
def test_help_goes_to_standard_output(terminal: Terminal, words: list[str]) -> None:
    run = terminal.run(*words)
    assert run.status == 0
    assert run.out.startswith("usage: retell-fast")
    assert run.err == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sail"], "sail"),
        (["parse"], "SESSION"),
        (["parse", "x", "--strict", "--allow-unknown"], "not allowed with"),
        (["parse", "x", "--stri"], "unrecognized"),
        (["parse", str(DEMO), "--agent", "sailor"], "sailor"),
        (["preview", "0"], "0"),
        (["preview", "many"], "many"),
        (["preview", "--sort", "colour"], "colour"),
        (
            ["preview", "--since", "yesterday"],
            r"argument --since: not a date: 'yesterday' \(say 2026-02-10 or 2026-02-10T09:00\)$",
        ),
        (["parse", str(DEMO), "-o", ""], "--output-dir: the name of the folder is empty"),
        (["parse", str(DEMO), "--output-dir="], "--output-dir: the name of the folder is empty"),
    ],
)
def test_wrong_usage_is_status_2(terminal: Terminal, words: list[str], says: str) -> None:
    assert_fails(terminal.run(*words), says, status=2)


# ---------------------------------------------------------------- parse


def test_parse_writes_the_files_and_says_so_on_standard_error(terminal: Terminal) -> None:
    run = terminal.run("parse", terminal.session("aaaabbbb-cccc"))
    assert run.status == 0, run.err
    assert run.out == ""
    summary, wrote = run.err.splitlines()
    assert summary.startswith("4 events (human 2, assistant 2) · signal ")
    assert " · 1 session · " in summary
    assert re.search(r" · \d+\.\d\d s$", summary)
    assert wrote == f"wrote retell-aaaabbbb{os.sep}"
    events = json.loads((terminal.folder / "retell-aaaabbbb" / "events.json").read_text(encoding="utf-8"))
    assert [event["says"] for event in events] == [
        "why does the boat leak",
        "because of the hole",
        "then close it",
        "closed",
    ]
    assert (terminal.folder / "retell-aaaabbbb" / "manifest.json").exists()


def test_parse_takes_the_beginning_of_an_id(terminal: Terminal) -> None:
    terminal.session("aaaabbbb-cccc")
    terminal.session("bbbbcccc-dddd")
    assert terminal.run("parse", "aaaa").status == 0
    assert (terminal.folder / "retell-aaaabbbb" / "events.json").exists()


def test_parse_reads_standard_input(terminal: Terminal) -> None:
    run = terminal.run("parse", "-", "-o", "out", input=terminal.session("aaaa").read_bytes())
    assert run.status == 0, run.err
    assert len(json.loads((terminal.folder / "out" / "events.json").read_text(encoding="utf-8"))) == 4


def test_parse_of_the_demo(terminal: Terminal) -> None:
    run = terminal.run("parse", DEMO, "--include-subagents", "-o", "out")
    assert run.status in (0, 3), run.err
    assert json.loads((terminal.folder / "out" / "events.json").read_text(encoding="utf-8"))


def test_quiet_says_only_what_needs_a_look(terminal: Terminal) -> None:
    assert terminal.run("parse", terminal.session("aaaa"), "--quiet").err == ""
    run = terminal.run("parse", terminal.session("bbbb", [*CONVERSATION, {"type": "dream"}]), "--quiet")
    assert run.status == 3
    assert all(line.startswith("warning: ") for line in run.err.splitlines())


@NOT_ON_WINDOWS
def test_what_is_written_is_private(terminal: Terminal) -> None:
    assert terminal.run("parse", terminal.session("aaaa"), "-o", "out").status == 0
    out = terminal.folder / "out"
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    for name in ("events.json", "manifest.json"):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600


def test_running_again_replaces_and_touches_nothing_else(terminal: Terminal) -> None:
    out = terminal.folder / "out"
    terminal.run("parse", terminal.session("aaaa"), "-o", "out")
    (out / "mine.txt").write_text("keep")
    (out / "events.json").write_text("stale")
    assert terminal.run("parse", terminal.session("aaaa"), "-o", "out").status == 0
    assert json.loads((out / "events.json").read_text(encoding="utf-8"))
    assert (out / "mine.txt").read_text() == "keep"
    assert {path.name for path in out.iterdir()} - {"assets"} == {"events.json", "manifest.json", "mine.txt"}


def test_an_id_cannot_lead_out_of_the_folder(terminal: Terminal) -> None:
    evil = [{**each, "sessionId": "../../../evil"} for each in CONVERSATION]
    text = "".join(json.dumps(each) + "\n" for each in evil)
    run = terminal.run("parse", "-", input=text.encode())
    assert run.status == 0, run.err
    (written,) = terminal.folder.iterdir()
    assert written.name.startswith("retell-")


# ---------------------------------------------------------------- input that needs a look


def test_unknown_types_are_named_and_everything_is_written(terminal: Terminal) -> None:
    run = terminal.run(
        "parse", terminal.session("aaaa", [*CONVERSATION, {"type": "dream"}, {"type": "dream"}])
    )
    assert run.status == 3
    (warning,) = run.lines("warning: ")
    assert re.search(r"unknown entry type dream \(2 entries, first on line 5\)", warning)
    assert "UserWarning" not in run.err
    assert "UnknownEntryTypeWarning" not in run.err
    assert "1 warning" in run.err
    assert (terminal.folder / "retell-aaaa0000" / "events.json").exists()


def test_strict_writes_nothing(terminal: Terminal) -> None:
    run = terminal.run("parse", terminal.session("aaaa", [*CONVERSATION, {"type": "dream"}]), "--strict")
    assert_fails(run, "dream")
    assert list(terminal.folder.iterdir()) == []


def test_allow_unknown_makes_no_fuss(terminal: Terminal) -> None:
    run = terminal.run(
        "parse", terminal.session("aaaa", [*CONVERSATION, {"type": "dream"}]), "--allow-unknown"
    )
    assert run.status == 0
    assert "warning: " not in run.err


def test_damaged_lines_are_reported_with_their_place(terminal: Terminal) -> None:
    run = terminal.run("parse", terminal.session("aaaa", [*CONVERSATION[:2], "not json", *CONVERSATION[2:]]))
    assert run.status == 3
    (warning,) = run.lines("warning: ")
    before = sum(len(json.dumps(each, separators=(",", ":"))) + 1 for each in CONVERSATION[:2])
    assert warning == f"warning: damaged line 3 (offset {before}, 8 bytes): no valid JSON"
    assert run.lines("4 events")


def test_many_warnings_are_cut_short(terminal: Terminal) -> None:
    run = terminal.run("parse", terminal.session("aaaa", [*CONVERSATION, *["not json"] * 30]))
    assert run.status == 3
    assert len(run.lines("warning: ")) == 10
    assert run.lines("warning: ")[-1] == "warning: and 21 more, all of them in manifest.json"
    assert "30 warnings" in run.err


def test_a_session_still_being_written_is_a_note(terminal: Terminal) -> None:
    path = terminal.session("aaaa")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type":"user","mess')
    run = terminal.run("parse", path)
    assert run.status == 0, run.err
    assert re.search(r"note: .*line 5.*still being written", run.err)


def test_a_secret_is_pointed_at_and_not_shown(terminal: Terminal) -> None:
    secret = "ghp_" + "a1B2" * 9
    run = terminal.run("parse", terminal.session("aaaa", [*CONVERSATION, entry("user", f"use {secret}", 5)]))
    (warning,) = run.lines("warning: ")
    assert "1 possible secret" in warning
    assert secret[4:] not in run.err


def test_a_secret_outside_the_events_is_pointed_at(terminal: Terminal) -> None:
    secret = "ghp_" + "a1B2" * 9
    titled = {"type": "custom-title", "customTitle": f"use {secret}", "sessionId": "11112222-aaaa"}
    run = terminal.run("parse", terminal.session("aaaa", [*CONVERSATION, titled]), "-o", "out")
    (warning,) = run.lines("warning: ")
    assert warning.endswith("the first in title: ghp_… (40 characters)")
    assert secret[4:] not in run.err


# ---------------------------------------------------------------- bad input


def test_missing_file(terminal: Terminal) -> None:
    assert_fails(terminal.run("parse", "no/such/file.jsonl"), r"no/such/file\.jsonl")


def test_no_such_id(terminal: Terminal) -> None:
    terminal.session("aaaabbbb-cccc")
    assert_fails(terminal.run("parse", "aaaabbbb-dddd"), "aaaabbbb-dddd")


def test_ambiguous_beginning(terminal: Terminal) -> None:
    terminal.session("aaaabbbb-1111")
    terminal.session("aaaabbbb-2222")
    run = terminal.run("parse", "aaaabbbb")
    assert_fails(run, "aaaabbbb")
    assert "aaaabbbb-1111" in run.err
    assert "aaaabbbb-2222" in run.err
    assert "why does the boat leak" in run.err


def test_a_folder(terminal: Terminal) -> None:
    (terminal.folder / "sessions").mkdir()
    assert_fails(terminal.run("parse", "./sessions"), "sessions")


def test_damaged_compression(terminal: Terminal) -> None:
    # A frame that begins, with a raw block of 16 bytes of which only 4 are there (RFC 8878).
    (terminal.folder / "cut.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00\x58\x80\x00\x00abcd")
    run = terminal.run("parse", "cut.jsonl.zst")
    assert_fails(run, r"cut\.jsonl\.zst: damaged zstd data: ")
    assert "zstd -d" in run.lines("hint: ")[0]


@pytest.mark.parametrize("content", [b"", b"\n\n  \n"])
def test_empty_file(terminal: Terminal, content: bytes) -> None:
    (terminal.folder / "empty.jsonl").write_bytes(content)
    assert_fails(terminal.run("parse", "empty.jsonl"), r"empty\.jsonl|empty")


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 64, b"\x00" * 5000, b"\x7fELF" + b"\xff\xfe\n" * 500],
)
def test_binary_file(terminal: Terminal, content: bytes) -> None:
    (terminal.folder / "picture.jsonl").write_bytes(content)
    assert_fails(terminal.run("parse", "picture.jsonl"), "picture|transcript")


def test_entries_without_a_conversation(terminal: Terminal) -> None:
    path = terminal.session("aaaa", [{"type": "file-history-snapshot", "messageId": "x"}, {"type": "mode"}])
    run = terminal.run("parse", path)
    assert_fails(run, "file-history-snapshot")


@NOT_ON_WINDOWS
def test_permission_denied_to_read(terminal: Terminal) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = write_session(Path(folder) / "private.jsonl", CONVERSATION)
        path.chmod(0)
        run = terminal.run("-c", RUN_AS_NOBODY, "parse", path, command=[sys.executable])
    assert_fails(run, r"permission denied.*private\.jsonl")


@NOT_ON_WINDOWS
def test_permission_denied_to_write(terminal: Terminal) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = write_session(Path(folder) / "session.jsonl", CONVERSATION)
        path.chmod(0o644)
        locked = Path(folder) / "locked"
        locked.mkdir(mode=0o555)
        run = terminal.run("-c", RUN_AS_NOBODY, "parse", path, "-o", locked / "out", command=[sys.executable])
        assert list(locked.iterdir()) == []
    assert_fails(run, "permission denied")


def test_output_is_a_file(terminal: Terminal) -> None:
    (terminal.folder / "out").write_text("mine")
    assert_fails(terminal.run("parse", terminal.session("aaaa"), "-o", "out"), "file in the way: out")
    assert (terminal.folder / "out").read_text() == "mine"


@pytest.mark.parametrize("name", ["events.json", "manifest.json"])
def test_output_holds_files_of_others(terminal: Terminal, name: str) -> None:
    (terminal.folder / "out").mkdir()
    (terminal.folder / "out" / name).write_text("[]")
    run = terminal.run("parse", terminal.session("aaaa"), "-o", "out")
    assert_fails(run, f"there is a file in the way: out.{re.escape(name)}$")
    assert "--output-dir" in run.lines("hint: ")[0]
    assert [path.name for path in (terminal.folder / "out").iterdir()] == [name]
    assert (terminal.folder / "out" / name).read_text() == "[]"


@NOT_ON_WINDOWS
def test_a_failure_to_write_says_nothing_of_the_input(terminal: Terminal) -> None:
    session = terminal.session("aaaa")
    (terminal.folder / "nowhere").symlink_to(terminal.folder / "gone" / "out")
    for output, says in (("nowhere", "file in the way: nowhere"), ("n" * 300, "cannot write nnn")):
        run = terminal.run("parse", session, "-o", output)
        assert_fails(run, says)
        assert run.lines("hint: ") == ["hint: choose another folder with --output-dir DIR"]


@NOT_ON_WINDOWS
def test_the_temporary_folder_is_named(terminal: Terminal) -> None:
    header = b"\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + header + bytes(5_000_000)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": image}
    shown = entry("user", "", 5)
    shown["message"]["content"] = [{"type": "image", "source": source}, {"type": "text", "text": "look"}]
    session = terminal.session("aaaa", [*CONVERSATION, shown])
    terminal.environment["TMPDIR"] = str(terminal.folder / "gone")
    run = terminal.run("parse", session)
    assert_fails(run, "the temporary folder .*gone")
    assert "TMPDIR" in run.lines("hint: ")[0]


def test_output_is_below_a_file(terminal: Terminal) -> None:
    (terminal.folder / "out").write_text("mine")
    assert_fails(terminal.run("parse", terminal.session("aaaa"), "-o", "out/deeper"), "out")


@NOT_ON_WINDOWS
def test_no_room_for_the_output(terminal: Terminal) -> None:
    import resource  # noqa: PLC0415  # Windows has none

    long = [entry("user", f"{'why ' * 5000} {number}", number) for number in range(20)]
    run = terminal.run(
        "parse",
        terminal.session("aaaa", long),
        "-o",
        "out",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert_fails(run, "no room")
    left = [path.name for path in (terminal.folder / "out").rglob("*") if path.is_file()]
    assert left == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_no_room_for_standard_output(terminal: Terminal) -> None:
    terminal.session("aaaa")
    for words in (["preview"], ["preview", "--json"], ["--version"]):
        with Path("/dev/full").open("wb") as full:
            assert_fails(terminal.run(*words, stdout=full), "no room to write standard output")


# ---------------------------------------------------------------- pipes and signals


@NOT_ON_WINDOWS
def test_a_broken_pipe_ends_quietly(terminal: Terminal) -> None:
    terminal.session("aaaa")
    for words in (["preview"], ["preview", "--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        run = terminal.run(*words, stdout=writer)
        os.close(writer)
        assert (run.status, run.err) == (0, "")


def assert_ends_at_ctrl_c(process: subprocess.Popen[bytes]) -> None:
    """One word, the status that shells have for it, and no traceback."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("Ctrl-C was not noticed")
    assert process.stderr is not None
    assert process.stderr.read().decode() == "interrupted\n"
    assert process.returncode == 130


@NOT_ON_WINDOWS
def test_ctrl_c_while_parse_waits_for_its_input(terminal: Terminal) -> None:
    # More than a pipe holds: once all is written, it has been read from; and then the end does not come.
    session = terminal.session("aaaa", [*CONVERSATION, entry("user", "why " * 100_000, 5)]).read_bytes()
    with terminal.start("parse", "-", stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(session)
        process.stdin.flush()
        assert_ends_at_ctrl_c(process)
    assert list(terminal.folder.iterdir()) == []


@NOT_ON_WINDOWS
def test_ctrl_c_while_preview_prints(terminal: Terminal) -> None:
    # More than a pipe holds, and nobody reads on after the first byte: it hangs in the middle of printing.
    for number in range(300):
        terminal.session(f"aaaa{number:04}", [entry("user", "why " * 100, 1), CONVERSATION[1]])
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with terminal.start("preview", "300", **options) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)
        assert_ends_at_ctrl_c(process)


@NOT_ON_WINDOWS
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_failure(terminal: Terminal, closed: str) -> None:
    session = terminal.session("aaaa")
    for words in ("--version", f"parse {shlex.quote(str(session))} -o out", "preview", "preview --json"):
        command = ["sh", "-c", f"{shlex.quote(sys.executable)} -m retell_fast {words} {closed}"]
        assert terminal.run(command=command).status == 0


def test_no_bar_without_a_terminal(terminal: Terminal) -> None:
    assert "━" not in terminal.run("parse", terminal.session("aaaa")).err


# ---------------------------------------------------------------- preview


def age(path: Path, hours: int) -> None:
    """Makes a file look as if it was changed so many hours after a fixed moment."""
    moment = 1_770_000_000 + hours * 3600
    os.utime(path, (moment, moment))


@pytest.fixture
def three_sessions(terminal: Terminal) -> Terminal:
    age(terminal.session("aaaa1111", CONVERSATION), 1)
    age(terminal.session("bbbb2222", [*CONVERSATION, entry("user", "and " * 500, 5)]), 0)
    other = [{**each, "cwd": "/srv/trains"} for each in CONVERSATION[:2]]
    age(write_session(terminal.home / "projects" / "-srv-trains" / f"{long_id('cccc3333')}.jsonl", other), 48)
    return terminal


def listed(run: Run) -> list[str]:
    return [each["session_id"][:8] for each in json.loads(run.out)]


def test_preview_lists_the_newest_first(three_sessions: Terminal) -> None:
    run = three_sessions.run("preview", "--json")
    assert run.status == 0, run.err
    assert listed(run) == ["cccc3333", "aaaa1111", "bbbb2222"]
    first = json.loads(run.out)[1]
    assert first["date"] == "2026-02-02T03:40:00Z"
    assert first["human_messages"] == 2
    assert first["assistant_messages"] == 2
    assert first["project_path"] == "/home/you/boats"
    assert first["first_words"] == "why does the boat leak"
    assert first["last_words"] == "then close it"
    assert isinstance(first["score"], int)
    assert isinstance(first["reasons"], list)


@pytest.mark.parametrize(
    ("words", "sessions"),
    [
        (["1"], ["cccc3333"]),
        (["--sort", "size"], ["bbbb2222", "aaaa1111", "cccc3333"]),
        (["1", "--sort", "size"], ["bbbb2222"]),
        (["--project", "trains"], ["cccc3333"]),
        (["--since", "2026-02-03"], ["cccc3333"]),
    ],
)
def test_preview_can_be_narrowed_and_sorted(
    three_sessions: Terminal, words: list[str], sessions: list[str]
) -> None:
    assert listed(three_sessions.run("preview", "--json", *words)) == sessions


def test_preview_by_score_puts_the_best_first(three_sessions: Terminal) -> None:
    scores = [
        each["score"] for each in json.loads(three_sessions.run("preview", "--json", "--sort", "score").out)
    ]
    assert scores == sorted(scores, reverse=True)


def test_preview_in_a_pipe_is_plain_text_with_whole_lines(three_sessions: Terminal) -> None:
    run = three_sessions.run("preview")
    assert run.status == 0, run.err
    assert "\x1b" not in run.out
    assert "cccc3333" in run.out
    assert "why does the boat leak" in run.out


def test_preview_of_nothing_says_so(terminal: Terminal) -> None:
    (terminal.home / "projects").mkdir(parents=True)
    run = terminal.run("preview", "--json")
    assert (run.status, run.out.strip()) == (0, "[]")
    assert "no session found" in run.err


def test_what_steers_a_terminal_is_not_printed(terminal: Terminal) -> None:
    steering = "\x1b[31mred\x1b]0;title\x07 \u202eback\u2066"
    terminal.session("aaaa", [entry("user", steering, 1), entry("assistant", "no", 2)])
    run = terminal.run("preview")
    assert not set(run.out) & set("\x1b\x07\u202e\u2066")
    assert "red" in run.out


def on_terminal(terminal: Terminal, columns: int, *words: str) -> str:
    """What the command shows on a terminal that wide."""
    import fcntl  # noqa: PLC0415  # Windows has none of the three
    import pty  # noqa: PLC0415
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    terminal.environment |= {"TERM": "xterm-256color", "COLUMNS": str(columns)}
    terminal.environment.pop("NO_COLOR", None)
    with terminal.start(*words, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


@NOT_ON_WINDOWS
@pytest.mark.parametrize("columns", [80, 100])
def test_preview_fits_the_terminal(three_sessions: Terminal, columns: int) -> None:
    shown = on_terminal(three_sessions, columns, "preview")
    assert "\x1b[" in shown
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).splitlines()
    assert max(map(len, lines)) <= columns
    assert any("why does the boat leak" in line for line in lines)
    assert any(line.startswith("parse one of them with: retell-fast parse cccc3333") for line in lines)
