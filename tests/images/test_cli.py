"""`retell-fast images`, run as its users run it: what it prints where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.strategies.images import encode, image
from tests.support import command
from tests.support.checkout import DEMO
from tests.support.image_folders import (
    LONG_AGO,
    NOT_ON_WINDOWS,
    below,
    expected_assets,
    leftovers,
    line,
    sessions,
)
from tests.twin import images as twin

from retell_fast.cli.arguments import read_arguments

COMMAND = [sys.executable, "-m", "retell_fast", "images"]
TRANSCRIPT = line(image("png", 5000), image("jpg", 3000)) + b'{"a":1}\n' + line(image("png", 5000))


class Folder:
    """Runs the command in a folder that holds a transcript."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("full.jsonl", TRANSCRIPT)

    def write(self, name: str, content: bytes) -> None:
        (self.path / name).write_bytes(content)
        os.utime(self.path / name, (LONG_AGO, LONG_AGO))

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def run(self, words: str, status: int = 0) -> tuple[str, str]:
        """What was printed on standard output and on standard error."""
        return command.run("images", *words.split(), status=status, cwd=self.path)

    def fails(self, words: str, says: str, status: int = 1) -> None:
        """One clear line, a hint, nothing on standard output."""
        out, err = self.run(words, status)
        assert out == ""
        assert re.match(rf"error: .*{says}", err), err
        assert len(re.findall("^hint: ", err, re.MULTILINE)) == 1, err


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


# ---------------------------------------------------------------- out and back


def test_out_and_back(folder: Folder) -> None:
    out, err = folder.run("extract full.jsonl -o slim.jsonl --assets store")
    assert out == ""
    summary, wrote = err.splitlines()
    assert re.fullmatch(
        r"3 pictures, 2 distinct · 17\.\d kB → 5\d\d B, 17\.\d kB saved · 0 left inline · \d\.\d\d s", summary
    ), summary
    assert wrote == "wrote slim.jsonl"
    assert folder.read("slim.jsonl") == twin.extract(TRANSCRIPT).rewritten
    assert below(folder.path / "store") == expected_assets({"": TRANSCRIPT})

    out, err = folder.run("restore slim.jsonl --assets store -o back.jsonl")
    assert out == ""
    summary, wrote = err.splitlines()
    assert re.fullmatch(r"3 pictures, 2 distinct · 5\d\d B → 17\.\d kB · 0 missing · \d\.\d\d s", summary), (
        summary
    )
    assert wrote == "wrote back.jsonl"
    assert folder.read("back.jsonl") == TRANSCRIPT


def test_what_stays_inline_is_said_with_the_reason(folder: Folder) -> None:
    folder.write("full.jsonl", TRANSCRIPT + b'["' + encode(bytes(200)) + b'"]\n')
    _, err = folder.run("extract full.jsonl -o slim.jsonl --assets store --max-image-bytes 4000")
    assert "1 picture, 1 distinct" in err
    assert re.search(r"· 3 left inline \((1 no image, 2 too large|2 too large, 1 no image)\) ·", err), err


def test_in_place_and_back(folder: Folder) -> None:
    folder.run("extract full.jsonl --in-place --assets store")
    assert folder.read("full.jsonl") == twin.extract(TRANSCRIPT).rewritten
    folder.write("full.jsonl", folder.read("full.jsonl"))
    folder.run("restore full.jsonl --in-place --assets store")
    assert folder.read("full.jsonl") == TRANSCRIPT


def test_a_folder(folder: Folder) -> None:
    tree = sessions(folder.path / "full", 20)
    _, err = folder.run("extract full -o slim --assets store")
    assert re.match(rf"{len(tree)} files · \d+ pictures, {len(expected_assets(tree))} distinct · ", err), err
    folder.run("restore slim --assets store -o back")
    assert below(folder.path / "back") == tree
    assert not leftovers(folder.path)


@NOT_ON_WINDOWS
def test_links_in_a_folder_are_named(folder: Folder) -> None:
    sessions(folder.path / "full", 2)
    (folder.path / "full" / "link.jsonl").symlink_to(folder.path / "full.jsonl")
    _, err = folder.run("extract full -o slim --assets store")
    assert "note: passed over full/link.jsonl\n" in err


def test_quiet_says_nothing(folder: Folder) -> None:
    assert folder.run("extract full.jsonl -o slim.jsonl --assets store -q") == ("", "")
    assert folder.run("restore slim.jsonl --assets store -o back.jsonl --quiet") == ("", "")


def test_a_dry_run_writes_nothing(folder: Folder) -> None:
    before = below(folder.path)
    for words in ("", " -o slim.jsonl", " --in-place"):
        _, err = folder.run(f"extract full.jsonl --assets store --dry-run{words}")
        assert err.startswith("3 pictures, 2 distinct · ")
        assert err.endswith("wrote nothing: --dry-run\n")
        assert below(folder.path) == before


def test_json_is_the_report(folder: Folder) -> None:
    out, err = folder.run("extract full.jsonl -o slim.jsonl --assets store --json")
    assert err
    report = json.loads(out)
    assert report["images"] == 3
    assert report["media_types"] == {"image/png": 2, "image/jpeg": 1}
    assert report["bytes_after"] == len(folder.read("slim.jsonl"))
    out, _ = folder.run("restore slim.jsonl --assets store -o back.jsonl --json")
    assert json.loads(out)["images"] == 3


# ---------------------------------------------------------------- what is missing


def test_a_missing_image_fails_closed(folder: Folder) -> None:
    folder.run("extract full.jsonl -o slim.jsonl --assets store")
    name = twin.name_of(image("jpg", 3000))
    (folder.path / "store" / name).unlink()
    folder.fails("restore slim.jsonl --assets store -o back.jsonl", name)
    assert not (folder.path / "back.jsonl").exists()

    out, err = folder.run("restore slim.jsonl --assets store -o back.jsonl --allow-missing", status=3)
    assert out == ""
    assert f"warning: left where it was: {name}\n" in err
    assert "· 1 missing ·" in err
    assert folder.read("back.jsonl") == TRANSCRIPT.replace(encode(image("jpg", 3000)), twin.placeholder(name))


def test_an_altered_image_fails_closed(folder: Folder) -> None:
    folder.run("extract full.jsonl -o slim.jsonl --assets store")
    name = twin.name_of(image("jpg", 3000))
    (folder.path / "store" / name).write_bytes(image("jpg", 3000, 1))
    folder.fails("restore slim.jsonl --assets store -o back.jsonl", name)


def test_the_placeholders_of_entire(folder: Folder) -> None:
    name = twin.name_of(image())
    (folder.path / "store").mkdir()
    (folder.path / "store" / name).write_bytes(image())
    folder.write("slim.jsonl", f'["entire-asset:assets/{name}"]\n'.encode())
    folder.run("restore slim.jsonl --assets store -o back.jsonl --format entire")
    assert folder.read("back.jsonl") == b'["' + encode(image()) + b'"]\n'


# ---------------------------------------------------------------- what cannot be done


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("extract full.jsonl --assets store", "nowhere to write"),
        ("restore full.jsonl --assets store", "nowhere to write"),
        ("extract full.jsonl -o slim.jsonl --in-place --assets store", "not allowed with"),
        ("extract full.jsonl -o slim.jsonl", "--assets"),
        ("extract -o slim.jsonl --assets store", "FILE"),
        ("extract full.jsonl -o slim.jsonl --assets store --max-image-bytes 0", "number of bytes"),
        ("restore full.jsonl -o slim.jsonl --assets store --format other", "other"),
        ("list", "FILE"),
        ("", "ACTION"),
        ("remove full.jsonl", "remove"),
    ],
)
def test_wrong_usage(folder: Folder, words: str, says: str) -> None:
    folder.fails(words, says, status=2)
    assert list(below(folder.path)) == ["full.jsonl"]


@pytest.mark.parametrize("words", ["extract no.jsonl -o out", "restore no.jsonl -o out", "list no.jsonl"])
def test_no_such_file(folder: Folder, words: str) -> None:
    folder.fails(f"{words} {'' if 'list' in words else '--assets store'}", r"no\.jsonl")


def test_a_file_that_was_just_changed_is_refused_in_place(folder: Folder) -> None:
    os.utime(folder.path / "full.jsonl")
    folder.fails("extract full.jsonl --in-place --assets store", "last minute")
    assert folder.read("full.jsonl") == TRANSCRIPT


@NOT_ON_WINDOWS
def test_a_link_is_refused_in_place(folder: Folder) -> None:
    (folder.path / "link.jsonl").symlink_to("full.jsonl")
    folder.fails("extract link.jsonl --in-place --assets store", "link")


# ---------------------------------------------------------------- list


def test_list_is_a_table(folder: Folder) -> None:
    out, err = folder.run("list full.jsonl")
    assert err == ""
    heading, row = out.splitlines()
    assert heading.split() == ["pictures", "bytes", "share", "duplicates", "media", "types", "file"]
    assert re.fullmatch(r" +3 +17\.\d kB +9\d\.\d % +1  png 2, jpeg 1  full\.jsonl", row), row
    assert list(below(folder.path)) == ["full.jsonl"]


def test_list_has_a_row_for_each_file_and_one_for_all(folder: Folder) -> None:
    tree = sessions(folder.path / "full", 10)
    out, _ = folder.run("list full")
    _, *rows, total = out.splitlines()
    assert [row.split()[-1] for row in rows] == sorted(f"full/{path}" for path in tree)
    images = [twin.extract(tree[row.split()[-1].removeprefix("full/")]).images for row in rows]
    assert [int(row.split()[0]) for row in rows] == images
    assert total.endswith("  total")
    assert int(total.split()[0]) == sum(images)


def test_list_takes_several_and_counts_what_they_share(folder: Folder) -> None:
    folder.write("copy.jsonl", TRANSCRIPT)
    out, _ = folder.run("list full.jsonl copy.jsonl --json")
    listed: dict[str, Any] = json.loads(out)
    assert [each["path"] for each in listed["files"]] == ["full.jsonl", "copy.jsonl"]
    assert [each["distinct"] for each in listed["files"]] == [2, 2]
    assert (listed["total"]["images"], listed["total"]["distinct"]) == (6, 2)


def test_list_says_what_would_stay(folder: Folder) -> None:
    folder.write("full.jsonl", b'["' + encode(bytes(200)) + b'"]\n')
    out, err = folder.run("list full.jsonl")
    assert err == "note: 1 left inline (1 no image)\n"
    assert re.search(r" 0  - +full\.jsonl\n\Z", out), out


# ---------------------------------------------------------------- the start


def test_parse_starts_without_what_images_needs(tmp_path: Path) -> None:
    code = (
        f"import sys; from retell_fast.cli import main; main(['parse', {str(DEMO)!r}, '-o', sys.argv[1]]);"
        "print([name for name in sys.modules if name in "
        "('argparse', 'retell_fast.cli.images', 'retell_fast.cli.pictures')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_words_are_read() -> None:
    assert read_arguments(["images", "extract", "a", "-o", "b", "--assets", "c"]) == {
        "command": "images", "action": "extract", "path": "a", "out": "b", "assets_dir": "c",
        "in_place": False, "max_image_bytes": None, "threads": None, "dry_run": False, "as_json": False,
        "quiet": False,
    }  # fmt: skip
    assert read_arguments(["images", "list", "a", "b"]) == {
        "command": "images", "action": "list", "paths": ["a", "b"], "as_json": False, "threads": None,
    }  # fmt: skip
