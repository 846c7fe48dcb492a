"""Images out of folders into one store, and back; what `list` counts; what a kill leaves."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.strategies.images import image
from tests.support.image_folders import (
    LONG_AGO,
    NOT_ON_WINDOWS,
    SHARED,
    Place,
    below,
    expected_assets,
    leftovers,
    line,
    sessions,
)
from tests.twin import images as twin

import retell_fast

# ---------------------------------------------------------------- folders


def test_a_folder_of_sessions_shares_one_store(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "full")
    report = retell_fast.externalize(tmp_path / "full", tmp_path / "slim", tmp_path / "store")
    assets = expected_assets(tree)
    assert below(tmp_path / "store") == assets
    assert (report.files, report.distinct) == (len(tree), len(assets))
    assert report.images == sum(twin.extract(each).images for each in tree.values())
    assert report.duplicates == report.images - report.distinct
    assert report.bytes_before == sum(map(len, tree.values()))
    slim = below(tmp_path / "slim")
    assert slim == {path: twin.extract(each).rewritten for path, each in tree.items()}

    retell_fast.restore(tmp_path / "slim", tmp_path / "back", tmp_path / "store")
    assert below(tmp_path / "back") == tree
    if shutil.which("diff"):
        subprocess.run(["diff", "-r", tmp_path / "full", tmp_path / "back"], check=True)

    again = retell_fast.externalize(tmp_path / "full", tmp_path / "again", tmp_path / "store")
    assert again.to_dict() == report.to_dict()
    assert below(tmp_path / "again") == slim
    assert not leftovers(tmp_path)


def test_an_empty_folder_in_a_tree_is_there_again(tmp_path: Path) -> None:
    sessions(tmp_path / "full", 2)
    (tmp_path / "full" / "project-0" / "nothing").mkdir()
    retell_fast.externalize(tmp_path / "full", tmp_path / "slim", tmp_path / "store")
    retell_fast.restore(tmp_path / "slim", tmp_path / "back", tmp_path / "store")
    assert (tmp_path / "back" / "project-0" / "nothing").is_dir()


def test_a_folder_in_place(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "full", 12)
    retell_fast.externalize(tmp_path / "full", None, tmp_path / "store", in_place=True)
    assert below(tmp_path / "full") == {path: twin.extract(each).rewritten for path, each in tree.items()}
    for path in (tmp_path / "full").rglob("*.*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    retell_fast.restore(tmp_path / "full", None, tmp_path / "store", in_place=True)
    assert below(tmp_path / "full") == tree


@NOT_ON_WINDOWS
def test_links_in_a_folder_are_passed_over_and_named(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "full", 3)
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(line(image()))
    link = tmp_path / "full" / "link.jsonl"
    link.symlink_to(outside)
    report = retell_fast.externalize(tmp_path / "full", tmp_path / "slim", tmp_path / "store")
    assert report.skipped == [str(link)]
    assert set(below(tmp_path / "slim")) == set(tree)


def test_one_new_file_keeps_a_whole_folder_from_being_changed_in_place(tmp_path: Path) -> None:
    sessions(tmp_path / "full", 5)
    (tmp_path / "full" / "project-1" / "new.jsonl").write_bytes(line(image()))
    tree = below(tmp_path / "full")
    with pytest.raises(retell_fast.RetellError, match=r"new\.jsonl"):
        retell_fast.externalize(tmp_path / "full", None, tmp_path / "store", in_place=True)
    assert below(tmp_path / "full") == tree


def test_what_was_written_before_a_failure_can_be_restored(tmp_path: Path) -> None:
    """The files that are done when something fails need their images."""
    full, slim, store = tmp_path / "full", tmp_path / "slim", tmp_path / "store"
    tree = sessions(full)
    (full / "zzz.jsonl").write_bytes(line(image()))
    (slim / "zzz.jsonl" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="zzz"):
        retell_fast.externalize(full, slim, store)
    written = below(slim)
    retell_fast.restore(slim, tmp_path / "back", store, allow_missing=True)
    assert below(tmp_path / "back") == {path: tree[path] for path in written}


@NOT_ON_WINDOWS
def test_what_was_changed_in_place_before_a_failure_can_be_restored(tmp_path: Path) -> None:
    """As above, and here nothing else has the images any more."""
    full, store = tmp_path / "full", tmp_path / "store"
    sessions(full)
    # A path of nearly 4096 bytes: there is room for the file, and none for a longer name beside it.
    folder = full / "zzz"
    while len(bytes(folder)) < 4080:
        folder /= "z" * min(200, 4083 - len(bytes(folder)))
    try:
        folder.mkdir(parents=True)
        (folder / "last.jsonl").write_bytes(line(image()))
    except OSError:
        pytest.skip("this system takes no path of that length")
    os.utime(folder / "last.jsonl", (LONG_AGO, LONG_AGO))
    tree = below(full)
    with pytest.raises(OSError, match="last"):
        retell_fast.externalize(full, None, store, in_place=True)
    changed = [path for path, transcript in below(full).items() if transcript != tree[path]]
    shutil.rmtree(full / "zzz")
    retell_fast.restore(full, tmp_path / "back", store, allow_missing=True)
    for path in changed:
        assert (tmp_path / "back" / path).read_bytes() == tree[path], path


def test_a_failure_takes_no_image_that_another_run_relies_on(tmp_path: Path) -> None:
    """Two runs share a store: what the one put there is what the other found there."""
    large = line(image("png", 1_500_000))
    (tmp_path / "one.jsonl").write_bytes(large * 50)
    (tmp_path / "two.jsonl").write_bytes(large)
    one, two, store = tmp_path / "one.slim", tmp_path / "two.slim", tmp_path / "store"

    def meanwhile(_done: int, _total: int) -> None:
        retell_fast.externalize(tmp_path / "two.jsonl", two, store)
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        retell_fast.externalize(tmp_path / "one.jsonl", one, store, progress=meanwhile)
    assert not one.exists()
    retell_fast.restore(two, tmp_path / "back.jsonl", store)
    assert (tmp_path / "back.jsonl").read_bytes() == large


def test_a_folder_is_not_written_into_itself(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "full", 3)
    with pytest.raises(retell_fast.RetellError, match="inside") as caught:
        retell_fast.externalize(tmp_path / "full", tmp_path / "full" / "slim", tmp_path / "store")
    assert caught.value.hint
    assert below(tmp_path / "full") == tree


def test_a_missing_asset_keeps_a_whole_folder_from_being_restored(tmp_path: Path) -> None:
    sessions(tmp_path / "full", 9)
    retell_fast.externalize(tmp_path / "full", tmp_path / "slim", tmp_path / "store")
    victim = min((tmp_path / "store").iterdir())
    victim.unlink()
    with pytest.raises(retell_fast.MissingAssetError) as caught:
        retell_fast.restore(tmp_path / "slim", tmp_path / "back", tmp_path / "store")
    assert caught.value.missing == [victim.name]
    assert not (tmp_path / "back").exists() or not below(tmp_path / "back")


# ---------------------------------------------------------------- list


def test_list_counts_and_only_reads(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "full")
    report = retell_fast.list_images(tmp_path / "full")
    assert report.images == sum(twin.extract(each).images for each in tree.values())
    assert report.distinct == len(expected_assets(tree))
    assert sum(report.media_types.values()) == report.images
    assert below(tmp_path) == {f"full/{path}": each for path, each in tree.items()}


def test_list_takes_several(place: Place, tmp_path: Path) -> None:
    place.write(line(image(), image("jpg")))
    other = tmp_path / "other.jsonl"
    other.write_bytes(line(image()))
    report = retell_fast.list_images([place.full, str(other)])
    assert (report.files, report.images, report.distinct) == (2, 3, 2)
    assert retell_fast.list_images(str(place.full)).images == 2


def test_list_tells_of_each_file_in_the_order_of_their_names(tmp_path: Path) -> None:
    tree = {
        "b.jsonl": line(image()),
        "a/2.jsonl": line(image("jpg")),
        "a.jsonl": b"{}\n",
        "a/1.jsonl": line(image()),
    }
    for name, content in tree.items():
        (tmp_path / "full" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "full" / name).write_bytes(content)
    other = tmp_path / "0.jsonl"
    other.write_bytes(line(image("jpg")))
    report = retell_fast.list_images([tmp_path / "full", other])
    names = ["a.jsonl", "a/1.jsonl", "a/2.jsonl", "b.jsonl"]
    assert [path for path, _ in report.by_file] == [
        *(str(tmp_path / "full" / name) for name in names),
        str(other),
    ]
    assert [each.images for _, each in report.by_file] == [0, 1, 1, 1, 1]
    for path, each in report.by_file:
        assert each.to_dict() == retell_fast.list_images(path).to_dict()
        assert not each.by_file
    assert (report.files, report.images, report.distinct) == (5, 4, 2)


@NOT_ON_WINDOWS
def test_list_tells_of_what_links_lead_to_once(tmp_path: Path) -> None:
    full, far = tmp_path / "full", tmp_path / "far"
    for file in (full / "a.jsonl", far / "b.jsonl"):
        file.parent.mkdir()
        file.write_bytes(line(image()))
    (full / "away").symlink_to(far)
    (full / "too").symlink_to(far)
    (far / "round").symlink_to(full)
    (full / "0.jsonl").symlink_to(far / "b.jsonl")
    report = retell_fast.list_images(full)
    assert [path for path, _ in report.by_file] == [f"{full}/a.jsonl", f"{full}/away/b.jsonl"]
    assert sorted(report.skipped) == [f"{full}/0.jsonl", f"{full}/away/round", f"{full}/too"]
    again = retell_fast.list_images([full, far])
    assert [path for path, _ in again.by_file] == [path for path, _ in report.by_file]


# ---------------------------------------------------------------- killed

EXTRACT = """
import sys, retell_fast
full, out, store = sys.argv[1:]
print(flush=True)
retell_fast.externalize(full, out or None, store, in_place=not out)
"""


@NOT_ON_WINDOWS
@pytest.mark.parametrize("in_place", [False, True])
def test_a_kill_at_any_moment_leaves_the_original_or_the_whole_result(
    place: Place,
    in_place: bool,  # noqa: FBT001
) -> None:
    rng = random.Random(11)
    raws = [rng.randbytes(200_000) for _ in range(40)]
    lines = [line(b"GIF89a" + raw) for raw in raws]
    transcript = place.write(b"".join(lines + lines))
    expected = twin.extract(transcript).rewritten
    began = time.monotonic()
    retell_fast.externalize(place.full, place.slim, place.store)
    whole = time.monotonic() - began
    for _ in range(25):
        shutil.rmtree(place.store)
        place.slim.unlink(missing_ok=True)
        place.write(transcript)
        words = map(str, (place.full, "" if in_place else place.slim, place.store))
        with subprocess.Popen([sys.executable, "-c", EXTRACT, *words], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(rng.random() * whole * 1.3)
            process.send_signal(signal.SIGKILL)
        for path in place.store.glob("img-*") if place.store.exists() else []:
            assert twin.name_of(path.read_bytes()) == path.name
        left = place.full.read_bytes()
        if in_place:
            assert left in (transcript, expected)
        else:
            assert left == transcript
            assert not place.slim.exists() or place.slim.read_bytes() == expected
        if in_place and left == expected:
            retell_fast.restore(place.full, place.back, place.store)
            assert place.back.read_bytes() == transcript
        place.store.mkdir(exist_ok=True)


# ---------------------------------------------------------------- places that overlap


@pytest.mark.parametrize(
    ("path", "out", "assets", "says"),
    [
        ("tree", "tree", "store", "is the same as"),
        ("tree", "tree/slim", "store", "lies inside"),
        ("tree/project-0", "tree", "store", "holds"),
        ("tree/project-0", ".", "store", "holds"),
        ("tree", "slim", "tree", "is to hold the images"),
        ("tree", "slim", "tree/../tree", "is to hold the images"),
        ("tree/project-0/notes.txt", "tree", "store", "is a folder"),
        ("tree/project-0/notes.txt", "tree/project-0/notes.txt", "store", "is the same as"),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_places_that_overlap_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    out: str,
    assets: str,
    says: str,
    dry_run: bool,  # noqa: FBT001
) -> None:
    tree = sessions(tmp_path / "tree", 5)
    monkeypatch.chdir(tmp_path)
    for work in (retell_fast.externalize, retell_fast.restore):
        with pytest.raises(retell_fast.RetellError, match=says) as refused:
            work(path, out, assets, dry_run=dry_run)
        assert refused.value.hint
    assert below(tmp_path / "tree") == tree
    assert sorted(each.name for each in tmp_path.iterdir()) == ["tree"]


def test_in_place_with_the_assets_among_the_files_is_refused(tmp_path: Path) -> None:
    tree = sessions(tmp_path / "tree", 5)
    with pytest.raises(retell_fast.RetellError, match="is to hold the images"):
        retell_fast.externalize(tmp_path / "tree", None, tmp_path / "tree", in_place=True)
    assert below(tmp_path / "tree") == tree


def test_a_folder_of_assets_inside_the_tree_is_passed_over(tmp_path: Path) -> None:
    full, slim = tmp_path / "full", tmp_path / "slim"
    tree = sessions(full, 20)
    for _ in range(2):
        report = retell_fast.externalize(full, slim, slim / "assets")
        assert report.skipped == []
    report = retell_fast.restore(slim, tmp_path / "back", slim / "assets")
    assert report.skipped == [str(slim / "assets")]
    assert below(tmp_path / "back") == tree


def test_in_place_with_a_folder_of_assets_inside_goes_out_and_back(tmp_path: Path) -> None:
    full, store = tmp_path / "full", tmp_path / "full" / "assets"
    tree = sessions(full, 20)
    retell_fast.externalize(full, None, store, in_place=True)
    assets = below(store)
    assert assets == expected_assets(tree)
    retell_fast.restore(full, None, store, in_place=True)
    assert below(store) == assets
    shutil.rmtree(store)
    assert below(full) == tree


@NOT_ON_WINDOWS
def test_an_asset_that_is_altered_while_a_folder_is_restored_is_not_taken(place: Place) -> None:
    """One that was verified is verified again when its file is another."""
    place.write(line(SHARED[0], SHARED[1], SHARED[0]) * 50)
    place.extract()
    altered = place.store / twin.name_of(SHARED[0])

    def alter(_done: int, _total: int) -> None:
        altered.write_bytes(SHARED[0][:-1] + b"?")

    with pytest.raises(retell_fast.MissingAssetError, match=altered.name):
        retell_fast.restore(place.slim, place.back, place.store, progress=alter)
    assert not place.back.exists()
