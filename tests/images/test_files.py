"""Images out of files and folders, and back: what is written where, what is refused, what a kill leaves."""

from __future__ import annotations

import os
import random
import shutil
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies.images import OTHER_BYTES, encode, image, not_canonical, transcripts
from tests.support.image_folders import (
    LONG_AGO,
    NOT_ON_WINDOWS,
    WINDOW,
    Place,
    below,
    leftovers,
    line,
)
from tests.twin import images as twin

import retell_fast

# ---------------------------------------------------------------- one file


def test_a_file_goes_out_and_back(place: Place) -> None:
    transcript = place.write(line(image(), image("jpg", 500)) + b'{"a":1}\r\n' + line(image()))
    report = place.extract()
    assert place.slim.read_bytes() == twin.extract(transcript).rewritten
    assert place.assets() == {twin.name_of(raw): raw for raw in (image(), image("jpg", 500))}
    assert report.to_dict() == {
        "files": 1,
        "images": 3,
        "distinct": 2,
        "duplicates": 1,
        "bytes_before": len(transcript),
        "bytes_after": place.slim.stat().st_size,
        "image_bytes": 2 * len(encode(image())) + len(encode(image("jpg", 500))),
        "left_inline": {},
        "missing": [],
        "media_types": {"image/png": 2, "image/jpeg": 1},
        "skipped": [],
    }
    back = place.restore()
    assert place.back.read_bytes() == transcript
    assert (back.images, back.distinct, back.missing) == (3, 2, [])
    assert (back.bytes_before, back.bytes_after) == (report.bytes_after, report.bytes_before)
    assert place.full.read_bytes() == transcript
    assert not leftovers(place.full.parent)


@given(transcripts, st.sampled_from([95, 97, 64 << 20]))
@settings(max_examples=min(1000, settings().max_examples))
def test_property_files_are_treated_as_bytes_are(
    tmp_path_factory: pytest.TempPathFactory, transcript: bytes, cap: int
) -> None:
    place = Place(tmp_path_factory.mktemp("files"))
    transcript = place.write(transcript + b"\n")  # a line that is not whole is another matter
    expected = twin.extract(transcript, cap)
    report = place.extract(max_image_bytes=cap)
    assert place.slim.read_bytes() == expected.rewritten
    assert place.assets() == {name: raw for name, (_, raw) in expected.assets.items()}
    assert (report.images, report.distinct) == (expected.images, len(expected.assets))
    assert report.left_inline == dict(expected.left_inline)
    place.restore()
    assert place.back.read_bytes() == transcript


def test_what_stays_inline_is_reported_with_the_reason(place: Place) -> None:
    raws = [image("png", 97), image("png", 200)]
    values = [encode(raw) for raw in [*raws, *OTHER_BYTES[:2]]] + [not_canonical(encode(raws[0]))[0]]
    transcript = place.write(b"[" + b",".join(b'"' + value + b'"' for value in values) + b"]\n")
    report = place.extract(max_image_bytes=100)
    assert report.left_inline == {"not_an_image": 2, "not_canonical": 1, "too_large": 1}
    assert report.images == 1
    place.restore()
    assert place.back.read_bytes() == transcript


def test_a_line_that_is_not_whole_is_copied_through(place: Place) -> None:
    tail = line(image("gif"))[:-1] + b"retell-asset:"
    transcript = place.write(line(image()) + tail)
    report = place.extract()
    assert report.images == 1
    assert place.slim.read_bytes().endswith(twin.escape(tail))
    place.restore()
    assert place.back.read_bytes() == transcript


def test_a_file_without_any_line_end_is_handled_whole(place: Place) -> None:
    transcript = place.write(line(image("gif"))[:-1])
    assert place.extract().images == 1
    place.restore()
    assert place.back.read_bytes() == transcript


LARGE = image("png", 1_500_000)
"""Fifty of it are read in many pieces."""


def test_a_file_that_grows_is_taken_as_it_was_at_the_start(place: Place) -> None:
    transcript = place.write(line(LARGE) * 50)

    def grow(_done: int, _total: int) -> None:
        with place.full.open("ab") as file:
            file.write(line(image("gif")))

    retell_fast.externalize(place.full, place.slim, place.store, progress=grow)
    place.restore()
    assert place.full.stat().st_size > len(transcript)
    assert place.back.read_bytes() == transcript


def test_a_file_that_grows_meanwhile_loses_nothing_in_place(place: Place) -> None:
    place.write(line(LARGE) * 50)
    expected = place.full.read_bytes()

    def grow(_done: int, _total: int) -> None:
        nonlocal expected
        with place.full.open("ab") as file:
            file.write(b"{}\n")
        expected += b"{}\n"

    try:
        retell_fast.externalize(place.full, None, place.store, in_place=True, progress=grow)
    except retell_fast.RetellError:
        kept = place.full.read_bytes() == expected
    else:
        retell_fast.restore(place.full, place.back, place.store)
        kept = place.back.read_bytes() == expected
    assert expected.endswith(b"{}\n")  # it did grow
    assert kept  # not compared here: pytest would look for the difference for long


def test_an_empty_file(place: Place) -> None:
    place.write(b"")
    assert place.extract().to_dict()["bytes_before"] == 0
    assert place.slim.read_bytes() == b""


def test_no_such_file(place: Place) -> None:
    with pytest.raises(FileNotFoundError):
        place.extract()
    with pytest.raises(FileNotFoundError):
        place.restore()
    with pytest.raises(FileNotFoundError):
        retell_fast.list_images(place.full)


# ---------------------------------------------------------------- where a window ends


@pytest.mark.parametrize("windows", [1, 2])
def test_runs_cut_at_every_offset_around_the_end_of_a_window(place: Place, windows: int) -> None:
    # An image, a placeholder in the text, and an image again: whatever is cut, something is cut wrongly.
    run = encode(image("png", 97))
    content = (
        b'{"data":"' + run + b'"}retell-asset:~retell-asset:assets/ ["data:x;base64,' + run + b'done"]\n'
    )
    for shift in range(len(content) + 4):
        filler = b"." * (windows * WINDOW - shift)
        transcript = place.write(filler + content + b"x" * 300 + b"\n")
        assert place.extract().images == 2, shift
        assert place.slim.read_bytes()[len(filler) :] == twin.extract(content).rewritten + b"x" * 300 + b"\n"
        place.restore()
        assert place.back.read_bytes() == transcript, shift


def test_placeholders_cut_at_every_offset_around_the_end_of_a_window(place: Place) -> None:
    content = twin.extract(line(image("png", 97)) + b"retell-asset:~\n").rewritten
    place.store.mkdir()
    (place.store / twin.name_of(image("png", 97))).write_bytes(image("png", 97))
    for shift in range(len(content) + 4):
        filler = b"." * (WINDOW - shift)
        place.slim.write_bytes(filler + content + b"x" * 300)
        assert place.restore().images == 1
        assert place.back.read_bytes()[len(filler) : -300] == line(image("png", 97)) + b"retell-asset:~\n"


def test_content_around_the_end_of_each_window(place: Place) -> None:
    """A file of many windows with something at each end, and images longer than a window."""
    rng = random.Random(3)
    big = image("png", 3 * WINDOW + 1)
    transcript = b""
    for number in range(1, 7):
        transcript += b"." * (number * WINDOW - len(transcript) - rng.randrange(200))
        transcript += line(image("jpg", rng.randrange(90, 300), number)) + b"retell-asset:\n"
        if number == 3:
            transcript += line(big, big)
            transcript = transcript[: len(transcript)]
            break
    transcript = place.write(transcript + line(image()))
    expected = twin.extract(transcript)
    assert place.extract().images == expected.images
    assert place.slim.read_bytes() == expected.rewritten
    place.restore()
    assert place.back.read_bytes() == transcript


@pytest.mark.parametrize("shift", [*range(-20, 4), -256, -255, -300])
def test_a_run_past_the_cap_over_the_end_of_a_window(place: Place, shift: int) -> None:
    run = b"A" * (WINDOW + shift - 10 - 6) + b"retell"
    content = b'["' + b" " * 6 + b'",' + run[3:] + b'-asset:~","' + encode(image()) + b'"]\n'
    transcript = place.write(content)
    place.extract(max_image_bytes=200)
    assert place.slim.read_bytes() == twin.extract(transcript, 200).rewritten
    place.restore()
    assert place.back.read_bytes() == transcript


# ---------------------------------------------------------------- the store


ALTERED = [b"", b"other bytes", image("png", 96, 1)]


def test_a_missing_asset_fails_closed(place: Place) -> None:
    place.write(line(image(), image("jpg")))
    place.extract()
    name = twin.name_of(image("jpg"))
    (place.store / name).unlink()
    with pytest.raises(retell_fast.MissingAssetError, match=name) as caught:
        place.restore()
    assert caught.value.missing == [name]
    assert caught.value.hint
    assert not place.back.exists()
    assert not leftovers(place.full.parent)

    report = place.restore(allow_missing=True)
    assert (report.missing, report.images) == ([name], 1)
    assert place.back.read_bytes() == place.full.read_bytes().replace(
        encode(image("jpg")), twin.placeholder(name)
    )


@pytest.mark.parametrize("altered", ALTERED, ids=["empty", "no image", "another image"])
def test_an_altered_asset_fails_closed(place: Place, altered: bytes) -> None:
    place.write(line(image()))
    place.extract()
    name = twin.name_of(image())
    (place.store / name).write_bytes(altered)
    with pytest.raises(retell_fast.MissingAssetError, match=name) as caught:
        place.restore()
    assert caught.value.missing == [name]
    assert not place.back.exists()


@pytest.mark.parametrize("altered", ALTERED, ids=["empty", "no image", "another image"])
def test_extracting_again_never_relies_on_an_altered_asset(place: Place, altered: bytes) -> None:
    transcript = place.write(line(image()))
    place.extract()
    (place.store / twin.name_of(image())).write_bytes(altered)
    place.slim.unlink()
    try:
        place.extract()
    except retell_fast.RetellError:
        assert not place.slim.exists()
    else:
        place.restore()
        assert place.back.read_bytes() == transcript


def test_placeholders_of_entire_are_read_from_files(place: Place) -> None:
    raw = image()
    name = f"{twin.name_of(raw)[:36]}.png"
    place.store.mkdir()
    (place.store / name).write_bytes(raw)
    place.slim.write_bytes(f'["entire-asset:assets/{name}"]\n'.encode())
    report = retell_fast.restore(place.slim, place.back, place.store, format="entire")
    assert report.images == 1
    assert place.back.read_bytes() == b'["' + encode(raw) + b'"]\n'
    with pytest.raises(ValueError, match="other"):
        retell_fast.restore(place.slim, place.back, place.store, format="other")  # type: ignore[arg-type]


@NOT_ON_WINDOWS
def test_what_is_written_is_private(place: Place, tmp_path: Path) -> None:
    place.write(line(image()))
    os.chmod(place.full, 0o644)  # noqa: PTH101 - the number is the subject
    retell_fast.externalize(place.full, tmp_path / "new" / "slim.jsonl", place.store)
    retell_fast.restore(tmp_path / "new" / "slim.jsonl", tmp_path / "other" / "back.jsonl", place.store)
    for path in (place.store, tmp_path / "new", tmp_path / "other"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
        for file in path.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


# ---------------------------------------------------------------- in place, and not at all


def test_in_place(place: Place) -> None:
    transcript = place.write(line(image()) * 3)
    retell_fast.externalize(place.full, None, place.store, in_place=True)
    assert place.full.read_bytes() == twin.extract(transcript).rewritten
    os.utime(place.full, (LONG_AGO, LONG_AGO))
    retell_fast.restore(place.full, None, place.store, in_place=True)
    assert place.full.read_bytes() == transcript
    assert not leftovers(place.full.parent)


def test_in_place_twice_and_back_twice(place: Place) -> None:
    transcript = place.write(line(image()) + b"retell-asset:\n")
    for act in (retell_fast.externalize, retell_fast.externalize, retell_fast.restore, retell_fast.restore):
        act(place.full, None, place.store, in_place=True)
        os.utime(place.full, (LONG_AGO, LONG_AGO))
    assert place.full.read_bytes() == transcript


@NOT_ON_WINDOWS
def test_in_place_refuses_a_link(place: Place, tmp_path: Path) -> None:
    transcript = place.write(line(image()))
    link = tmp_path / "link.jsonl"
    link.symlink_to(place.full)
    with pytest.raises(retell_fast.RetellError, match="link") as caught:
        retell_fast.externalize(link, None, place.store, in_place=True)
    assert caught.value.hint
    assert link.is_symlink()
    assert place.full.read_bytes() == transcript
    assert place.assets() == {}


def test_in_place_refuses_a_file_changed_in_the_last_minute(place: Place) -> None:
    transcript = place.write(line(image()))
    now = time.time()
    os.utime(place.full, (now - 30, now - 30))
    with pytest.raises(retell_fast.RetellError, match="last minute") as caught:
        retell_fast.externalize(place.full, None, place.store, in_place=True)
    assert caught.value.hint
    assert place.full.read_bytes() == transcript
    os.utime(place.full, (now - 90, now - 90))
    assert retell_fast.externalize(place.full, None, place.store, in_place=True).images == 1


def test_a_file_is_not_overwritten_by_its_own_name(place: Place) -> None:
    """Without `in_place` nothing else may lead to it: here the file is new and would be refused."""
    place.full.write_bytes(line(image()))
    with pytest.raises((retell_fast.RetellError, ValueError, OSError)):
        retell_fast.externalize(place.full, place.full, place.store)
    assert place.full.read_bytes() == line(image())


def test_a_dry_run_writes_nothing(place: Place, tmp_path: Path) -> None:
    place.write(line(image()) * 2)
    before = below(tmp_path)
    report = retell_fast.externalize(place.full, None, place.store, dry_run=True)
    assert (report.images, report.distinct) == (2, 1)
    assert report.bytes_after == len(twin.extract(place.full.read_bytes()).rewritten)
    assert below(tmp_path) == before
    assert not place.store.exists()

    real = place.extract()
    assert real.to_dict() == report.to_dict()
    before = below(tmp_path)
    report = retell_fast.restore(place.slim, None, place.store, dry_run=True)
    assert (report.images, report.bytes_after) == (2, place.full.stat().st_size)
    assert below(tmp_path) == before


@pytest.mark.parametrize("act", [retell_fast.externalize, retell_fast.restore])
def test_out_has_to_fit_in_place_and_dry_run(place: Place, act: type) -> None:
    place.write(line(image()))
    with pytest.raises(ValueError, match="out"):
        act(place.full, None, place.store)
    with pytest.raises(ValueError, match="out"):
        act(place.full, place.slim, place.store, in_place=True)
    assert not place.slim.exists()
    assert place.full.read_bytes() == line(image())


def test_progress_is_told_and_can_stop_it(place: Place) -> None:
    transcript = place.write(line(LARGE) * 50)
    told: list[tuple[int, int]] = []
    retell_fast.externalize(
        place.full, place.slim, place.store, progress=lambda done, total: told.append((done, total))
    )
    assert told
    assert {total for _, total in told} == {len(transcript)}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] <= len(transcript)

    def stop(_done: int, _total: int) -> None:
        raise LookupError("enough")

    place.slim.unlink()
    shutil.rmtree(place.store)
    with pytest.raises(LookupError, match="enough"):
        retell_fast.externalize(place.full, place.slim, place.store, progress=stop)
    assert not place.slim.exists()
    assert not leftovers(place.full.parent)
