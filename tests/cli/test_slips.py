"""Slips of the fingers, and names out of transcripts that would not be seen or would do harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.command import ended

import retell_fast
from retell_fast.cli.messages import shown_name
from retell_fast.cli.slips import meant


def run(*words: str, cwd: Path | None = None) -> tuple[int, str, str]:
    return ended(*words, cwd=cwd, env={"CLAUDE_CONFIG_DIR": "none", "CODEX_HOME": "none"})


# ---------------------------------------------------------------- what was meant


@pytest.mark.parametrize(
    ("words", "fitting"),
    [
        (["parse", "x", "--include-subagnets"], "--include-subagents"),
        (["parse", "--include-subagnets"], "--include-subagents"),
        (["parse", "x", "--include"], "--include-subagents"),
        (["parse", "x", "--STRICT"], "--strict"),
        (["parse", "x", "--agnet=codex"], "--agent"),
        (["parse", "x", "--agnet", "codex"], "--agent"),
        (["parse", "x", "--outputdir", "y"], "--output-dir"),
        (["preview", "--jsno"], "--json"),
        (["preview", "--projet", "boats"], "--project"),
        (["preview", "--sort", "scroe"], "score"),
        (["types", "--thread", "2"], "--threads"),
        (["images", "list", "x", "--josn"], "--json"),
        (["images", "extract", "x", "--asset", "y"], "--assets"),
        (["images", "extract", "x", "--assets", "y", "--inplace"], "--in-place"),
        (["images", "restore", "x", "--assets", "y", "--format", "entrie"], "entire"),
        (["prase", "x"], "parse"),
        (["Parse", "x"], "parse"),
        (["type"], "types"),
        (["image", "list", "x"], "images"),
        (["images", "extarct", "x"], "extract"),
        (["--verison"], "--version"),
    ],
)
def test_what_was_meant_is_said(words: list[str], fitting: str) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    error, hint = err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith(f"hint: did you mean {fitting}? (retell-fast "), err
    assert hint.endswith(" --help shows what there is)")


@pytest.mark.parametrize("words", [["parse", "x", "--sail"], ["sail"], ["parse"], ["preview", "many"]])
def test_nothing_is_guessed_where_nothing_is_near(words: list[str]) -> None:
    status, _, err = run(*words)
    assert status == 2
    assert "did you mean" not in err
    assert "--help shows what there is" in err


def test_a_command_complains_of_its_own_options() -> None:
    assert "retell-fast preview --help" in run("preview", "--strict")[2]
    assert "retell-fast images list --help" in run("images", "list", "x", "--strict")[2]


def test_a_file_alone_is_meant_to_be_parsed(tmp_path: Path) -> None:
    (tmp_path / "boats.jsonl").write_text("{}\n")
    status, _, err = run("boats.jsonl", cwd=tmp_path)
    assert status == 2
    assert "did you mean retell-fast parse boats.jsonl?" in err


def test_words_behind_two_dashes_are_no_options() -> None:
    assert meant("", ["--", "--strcit"], options=["--strict"], choices=[]) is None
    assert meant("", ["--strcit"], options=["--strict"], choices=[]) == "--strict"


# ---------------------------------------------------------------- names that cannot be seen


NAMES = {
    "": '""',
    " ": '" "',
    "two words": '"two words"',
    "dream": "dream",
    "\x1b[31mred\x07": '"\\u{1b}[31mred\\u{7}"',
    "\u202eback": '"\\u{202e}back"',
    'q"\\': '"q\\"\\\\"',
    "x" * 300: "x" * 60 + "…",
}


def transcript(*kinds: str) -> bytes:
    asked: dict[str, Any] = {
        "type": "user",
        "message": {"role": "user", "content": "hello"},
        "sessionId": "s",
    }
    records = [asked, *({"type": kind} for kind in kinds)]
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_the_name_of_a_type_is_shown_so_that_it_can_be_seen(tmp_path: Path, name: str, shown: str) -> None:
    assert shown_name(name) == shown
    (tmp_path / "a.jsonl").write_bytes(transcript(name))
    status, _, err = run("parse", "a.jsonl", "-o", "out", cwd=tmp_path)
    assert status == 3
    assert f"warning: unknown entry type {shown} (1 entry, first on line 2)" in err
    status, _, err = run("parse", "a.jsonl", "-o", "out", "--strict", cwd=tmp_path)
    assert status == 1
    # What a name is written like in Rust has other escapes for a few characters.
    assert f"unknown entry types: {shown.replace('{7}', '{7}')} (first on line 2)" in err
    with pytest.warns(retell_fast.UnknownEntryTypeWarning) as warned:
        retell_fast.parse(tmp_path / "a.jsonl")
    assert f"unknown entry types were passed over: {shown} (1, first on line 2)" in str(warned[0].message)


def test_a_type_without_a_name_is_shown_in_the_table_of_types(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(transcript("", "words of somebody", "x" * 300, "\x1b[31m"))
    status, out, _ = run("types", "a.jsonl", cwd=tmp_path)
    assert status == 3
    names = [line.split("  ")[2].strip() for line in out.splitlines() if line.startswith("unknown")]
    assert sorted(names) == ['""', "(other)", "x" * 60 + "…"]
    assert "\x1b" not in out
    assert "" in retell_fast.types(tmp_path / "a.jsonl")["agents"]["claude-code"]["types"]


def test_a_file_of_nothing_but_nameless_types_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"type":""}\n{"type":"a b"}\n')
    with pytest.raises(retell_fast.NoConversationError, match='it holds 1 "", 1 "a b"'):
        retell_fast.parse(tmp_path / "a.jsonl")
