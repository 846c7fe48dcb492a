"""Sessions by their ids, and what is said of folders, pipes and sockets."""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest
from tests.support.command import COMMAND
from tests.support.homes import IDS, NOT_ON_WINDOWS, WORDS, Homes, says, session

import retell_fast


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Homes:
    return Homes(tmp_path).enter(monkeypatch)


# ---------------------------------------------------------------- ids


def test_ids_are_matched_in_letters_of_any_case(place: Homes) -> None:
    place.put_session()
    place.put_session(IDS[1])
    for typed in (IDS[0].upper(), "4B1D7A9", "4B1d7A9"):
        assert says(typed) == WORDS
    with pytest.raises(retell_fast.AmbiguousSessionError):
        retell_fast.parse("4B1D7A")


def test_the_nearest_sessions_are_those_that_a_slip_was_meant_to_be(place: Homes) -> None:
    place.put_session()
    others = ["11111111", "4b000000", "99999999", "4b1d0000"]
    for number, beginning in enumerate(others):
        place.put_session(beginning + IDS[0][8:], asks=f"question {number}")
    for typed in ("4d1b7a90", "b1d7a90", "4b1d7a09", "4B1D7A80"):
        status, out, err = place.run("parse", typed)
        assert (status, out) == (1, "")
        error, hint, first, *rest = err.splitlines()
        assert error.startswith(f'error: no file and no session called "{typed}" (looked in ')
        assert hint == "hint: the nearest sessions are:"
        assert first.startswith(f"  {IDS[0]}  20"), err
        assert re.search(r"  \d+ B  /home/you/lamps  why is the lamp dark$", first), first
        assert len(rest) == 3
        assert "0.0 MB" not in err


def test_several_matches_are_listed_with_what_tells_them_apart(place: Homes) -> None:
    old = place.put_session(asks="the older " + "question " * 40)
    os.utime(old, (1_700_000_000, 1_700_000_000))
    place.put_session(IDS[1], asks="the newer " + "question " * 300)
    status, _, err = place.run("parse", "4b1d")
    assert status == 1
    error, hint, *listed = err.splitlines()
    assert error == 'error: 2 sessions begin with "4b1d"'
    assert hint == "hint: type more of the id, such as 4b1d7af:"
    newer, older = listed
    assert re.fullmatch(rf"  {IDS[1]}  \d{{4}}-\d\d-\d\d  3\.\d kB  /home/you/lamps  the newer .*", newer)
    assert re.fullmatch(rf"  {IDS[0]}  2023-11-14  \d+ B  /home/you/lamps  the older .*", older)


# ---------------------------------------------------------------- folders, pipes, sockets


def test_a_folder_is_told_with_what_to_type_next(place: Homes) -> None:
    old = place.put_session()
    os.utime(old, (1_700_000_000, 1_700_000_000))
    new = place.put_session(IDS[1], project="-with space")
    for folder in (place.folder / "claude", place.projects, place.projects / "-with space"):
        status, out, err = place.run("parse", folder)
        assert (status, out) == (1, "")
        assert err == (
            f"error: {folder} is a folder\n"
            f"hint: parse the newest session in it: retell-fast parse '{new.resolve()}'\n"
        )
        with pytest.raises(IsADirectoryError):
            retell_fast.parse(folder)
    (place.folder / "empty").mkdir()
    _, _, err = place.run("parse", "empty")
    assert err.startswith("error: empty is a folder\nhint: name a session file, or ")
    assert "retell-fast preview" in err


def test_arguments_that_belong_to_another_command_are_told_why(place: Homes) -> None:
    place.put_session()
    status, _, err = place.run("preview", "claude")
    assert status == 2
    assert "'claude' is not a number of sessions; they are looked for below $CLAUDE_CONFIG_DIR or " in err
    (place.folder / "7").mkdir()
    assert place.run("preview", "7")[0] == 0
    for words in (["types", "-"], ["images", "list", "-"]):
        status, _, err = place.run(*words)
        assert status == 1
        assert "hint: only parse reads standard input" in err


def test_the_temporary_folder_is_a_folder_like_any_other(
    place: Homes, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.folder / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(place.folder / "tmp"))
    _, _, err = place.run("parse", place.folder / "tmp")
    assert "TMPDIR" not in err
    assert "is a folder" in err


@NOT_ON_WINDOWS
def test_a_pipe_is_read_and_waiting_for_it_is_said(place: Homes) -> None:
    pipe = place.folder / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [*COMMAND, "parse", str(pipe), "-o", "out"],
        cwd=place.folder,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().decode() == (
            f"note: {pipe} is a pipe: waiting for what is written to it\n"
        )
        pipe.write_bytes(gzip.compress(session()))
        assert process.wait(timeout=20) == 0
    assert json.loads((place.folder / "out" / "events.json").read_text(encoding="utf-8"))


@NOT_ON_WINDOWS
def test_what_is_no_file_is_told_at_once(place: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.folder)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for words in (["parse", "socket"], ["types", "socket"], ["images", "list", "socket"]):
            status, _, err = place.run(*words)
            assert status in (1, 3), err
    os.mkfifo("pipe")
    status, _, err = place.run("images", "list", "pipe")
    assert status == 1
    assert err.startswith("error: pipe is a pipe, a socket or a device: ")
    status, _, err = place.run("parse", "/dev/null")
    assert (status, "the input is empty" in err) == (1, True)


@NOT_ON_WINDOWS
def test_pipes_among_sessions_are_not_waited_for(place: Homes) -> None:
    place.put_session()
    os.mkfifo(place.projects / "-home-you-lamps" / f"{IDS[1]}.jsonl")
    assert place.listed() == [IDS[0]]
    assert retell_fast.types()["files"] == 1
    assert retell_fast.list_images(place.projects).files == 1
