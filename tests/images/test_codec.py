"""The image codec: restore(extract(x)) == x for every x, and the same as its slow twin."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies.images import (
    HEADERS,
    IMAGES,
    NOT_IMAGES,
    OTHER_BYTES,
    encode,
    ending_in,
    image,
    jumbles,
    nested,
    not_canonical,
    transcripts,
)
from tests.twin import images as twin

import retell_fast

KNOWN = ["claude-code", "codex", "pi", "openclaw", "factory-droid", "gemini-cli", "qwen-code"]

# In the long profile the law is tried on so many jumbles; they are quick to draw.
LAW_EXAMPLES = 100_000 if settings().max_examples >= 20_000 else 2_000

CAPS = st.sampled_from([1, 93, 94, 95, 96, 97, 150, 400, 64 << 20])


def codec(agent: str = "claude-code") -> retell_fast.ImageCodec:
    found = retell_fast.codec_for(agent)
    assert found is not None
    return found


CODEC = codec()


def extract(transcript: bytes, **options: int) -> tuple[bytes, dict[str, bytes]]:
    rewritten, assets = CODEC.extract_images(transcript, **options)
    return rewritten, {asset.name: asset.data for asset in assets}


def assert_round_trips(transcript: bytes, **options: int) -> None:
    rewritten, store = extract(transcript, **options)
    assert CODEC.reinject_images(rewritten, store) == transcript


def assert_lifted(transcript: bytes, *raws: bytes) -> None:
    """Exactly these images come out, in this order, and go back."""
    rewritten, assets = CODEC.extract_images(transcript)
    assert [asset.data for asset in assets] == list(raws)
    assert CODEC.has_placeholders(rewritten) is bool(raws)
    assert CODEC.reinject_images(rewritten, {asset.name: asset.data for asset in assets}) == transcript


# ---------------------------------------------------------------- the law, on anything


@given(jumbles)
@settings(max_examples=LAW_EXAMPLES)
def test_property_the_law_holds_on_jumbles(transcript: bytes) -> None:
    assert_round_trips(transcript)


@given(transcripts, CAPS)
def test_property_the_law_holds_on_transcripts(transcript: bytes, cap: int) -> None:
    assert_round_trips(transcript, max_image_bytes=cap)


@given(st.binary())
def test_property_the_law_holds_on_arbitrary_bytes(transcript: bytes) -> None:
    assert_round_trips(transcript)


@given(transcripts, CAPS, CAPS)
def test_property_extracting_and_restoring_twice_gives_the_original(
    transcript: bytes, first: int, second: int
) -> None:
    once, store = extract(transcript, max_image_bytes=first)
    twice, more = extract(once, max_image_bytes=second)
    store |= more
    assert CODEC.reinject_images(twice, store) == once
    assert CODEC.reinject_images(CODEC.reinject_images(twice, store), store) == transcript


@given(transcripts, CAPS)
def test_property_extracting_is_what_the_twin_does(transcript: bytes, cap: int) -> None:
    expected = twin.extract(transcript, cap)
    rewritten, assets = CODEC.extract_images(transcript, max_image_bytes=cap)
    assert rewritten == expected.rewritten
    assert {asset.name: (asset.media_type, asset.data) for asset in assets} == expected.assets
    assert [asset.name for asset in assets] == list(expected.assets)


STORE = {twin.name_of(raw): raw for raw in IMAGES}


@given(transcripts, st.sets(st.sampled_from(sorted(STORE))))
@pytest.mark.filterwarnings("ignore::retell_fast.MissingAssetWarning")
def test_property_restoring_is_what_the_twin_does(transcript: bytes, missing: set[str]) -> None:
    """On anything, not only on what extracting gave: nobody knows what is put into a restore."""
    store = {name: raw for name, raw in STORE.items() if name not in missing}
    assert CODEC.reinject_images(transcript, store) == twin.restore(transcript, store.get)
    assert CODEC.has_placeholders(transcript) == twin.has_placeholders(transcript)


@given(transcripts)
def test_property_what_was_extracted_is_shorter_and_named_by_its_hash(transcript: bytes) -> None:
    rewritten, assets = CODEC.extract_images(transcript)
    for asset in assets:
        assert asset.name.startswith(f"img-{hashlib.sha256(asset.data).hexdigest()}.")
    escapes = transcript.count(b"retell-asset:")
    assert len(rewritten) <= len(transcript) + escapes
    if not assets and not escapes:
        assert rewritten == transcript
    assert len({asset.name for asset in assets}) == len(assets)


# ---------------------------------------------------------------- what stands beside what

# What letters stand for that follow base64 without padding: nothing tells that they do not belong to it.
DONE, DATA = base64.b64decode(b"done"), base64.b64decode(b"data")


@pytest.mark.parametrize("kind", HEADERS)
@pytest.mark.parametrize("size", [94, 95, 96, 1000])
def test_every_format_is_lifted(kind: str, size: int) -> None:
    raw = image(kind, size)
    (asset,) = CODEC.extract_images(b'{"data":"' + encode(raw) + b'"}')[1]
    assert asset.name == twin.name_of(raw)
    assert asset.media_type == twin.media_type(raw)
    assert_lifted(b'{"data":"' + encode(raw) + b'"}\n', raw)


def test_a_run_of_127_characters_stays_and_one_of_128_does_not() -> None:
    assert_lifted(b'["' + encode(image("png", 93)) + b'"]')  # 124
    assert_lifted(b'["' + encode(image("png", 94)) + b'"]', image("png", 94))  # 126 and two of padding


@pytest.mark.parametrize(
    ("transcript", "raws"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b'["' + encode(image()) + b'"', [image()], id="an array-rooted, truncated file"),
        pytest.param(b'[ {\r\n "data" :\t"' + encode(image()) + b'"\r\n} ]\r\n', [image()], id="spaced"),
        pytest.param(b'["' + encode(image())[:-3], [], id="cut inside the base64"),
        pytest.param(b'["data:x;base64,' + encode(image()) + b")", [image()], id="in text"),
        pytest.param(b'["data:x;a=b;BaSe64,' + encode(image()), [image()], id="mark in any letter case"),
        pytest.param(
            b'["data:x;base64,' + encode(image("png", 97)) + b'done"', [image("png", 97)], id="==done"
        ),
        pytest.param(
            b'["data:x;base64,' + encode(image("png", 96)) + b'done"',
            [image("png", 96) + DONE],
            id="base64 that goes on",
        ),
        pytest.param(b'["' + encode(image("png", 97)) + b'="', [image("png", 97)], id="a third ="),
        pytest.param(b'["' + encode(image("png", 96)) + b'=="', [], id="padding where none belongs"),
        pytest.param(
            b'["' + encode(image()) + b'","' + encode(image("jpg")) + b'"]',
            [image(), image("jpg")],
            id="beside",
        ),
        pytest.param(
            b'["data:;base64,' + encode(image("png", 97)) + b"data:;base64," + encode(image("gif")) + b'"',
            [image("png", 97), image("gif")],
            id="back to back behind padding",
        ),
        pytest.param(
            b'["data:;base64,' + encode(image("png", 96)) + b"data:;base64," + encode(image("gif")) + b'"',
            [image("png", 96) + DATA, image("gif")],
            id="back to back: the word data is base64",
        ),
        pytest.param(b'["' + encode(nested()) + b'"]', [nested()], id="one inside another"),
        pytest.param(b'["' + encode(ending_in(b"retell")) + b"-asset:~", [ending_in(b"retell")], id="joins"),
        pytest.param(b'["' + encode(image()) + b'retell-asset:~"]', [], id="joins a run that stays"),
        pytest.param(b'\xff\xfe:"' + encode(image()) + b"\xff", [image()], id="not UTF-8"),
        pytest.param(encode(image()), [], id="bare"),
        pytest.param(b'"' + encode(image()) + b'"', [], id="a JSON text that is a string"),
        pytest.param(b'{"a":"\\"' + encode(image()) + b'"', [], id="behind an escaped quote"),
        pytest.param(b'{"' + encode(image()) + b'":1}', [], id="a key that begins an object"),
    ],
)
def test_what_stands_beside_what(transcript: bytes, raws: list[bytes]) -> None:
    assert list(twin.extract(transcript).assets.values()) == [(twin.media_type(raw), raw) for raw in raws]
    assert_lifted(transcript, *raws)


@pytest.mark.parametrize("kind", NOT_IMAGES)
def test_bytes_that_are_no_image_stay_whatever_the_transcript_says(kind: str) -> None:
    raw = NOT_IMAGES[kind] + bytes(200)
    assert_lifted(b'{"media_type":"image/png","data":"' + encode(raw) + b'"}')


@pytest.mark.parametrize("raw", OTHER_BYTES)
def test_no_image_is_seen_in_chance_behind_other_first_bytes(raw: bytes) -> None:
    assert_lifted(b'["data:image/png;base64,' + encode(raw) + b'"]')


@pytest.mark.parametrize("size", [97, 98])
def test_unusual_base64_stays(size: int) -> None:
    for characters in not_canonical(encode(image("png", size, 3))):
        if characters == encode(image("png", size, 3)):
            continue  # nothing in it to write another way
        if characters.startswith(encode(image("png", size, 3))):
            continue  # a third `=` belongs to what follows
        assert_lifted(b'["' + characters + b'"]')


def test_an_image_past_the_cap_stays() -> None:
    transcript = b'["' + encode(image("png", 200)) + b'","' + encode(image("png", 100)) + b'"]'
    for cap, raws in ((99, []), (100, [100]), (199, [100]), (200, [200, 100])):
        assets = CODEC.extract_images(transcript, max_image_bytes=cap)[1]
        assert [len(asset.data) for asset in assets] == raws
        assert_round_trips(transcript, max_image_bytes=cap)


@pytest.mark.parametrize("behind", [b"-asset:~", b"-asset:assets/img-", b"-asset:"])
@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 256, 2 << 20])
def test_a_run_past_the_cap_that_ends_where_a_window_ends(behind: bytes, size: int) -> None:
    """`retell` at the end of one piece that is read, `-asset:` at the beginning of the next."""
    start = encode(image("png", 300))
    for before in (b'["', b"    x"):
        for shift in range(-14, 3):
            run = before + start
            run += b"A" * (size + shift - len(run) - len(b"retell")) + b"retell"
            assert_round_trips(run + behind + b'"]' + bytes(300), max_image_bytes=100)


def test_the_same_picture_is_one_asset() -> None:
    transcript = b"".join(b'["' + encode(image()) + b'"]\n' for _ in range(20))
    rewritten, assets = CODEC.extract_images(transcript)
    assert [asset.data for asset in assets] == [image()]
    assert rewritten.count(twin.placeholder(assets[0].name)) == 20


def test_a_transcript_with_nothing_to_lift_comes_back_as_it_was() -> None:
    transcript = b'{"a":"b"}\r\n\xff\n' * 1000
    assert CODEC.extract_images(transcript) == (transcript, [])


# ---------------------------------------------------------------- the interface


def test_other_agents_have_no_codec() -> None:
    for agent in KNOWN:
        assert codec(agent).agent == agent
    for agent in ("cursor", "amp", "goose", "", "Codex"):
        assert retell_fast.codec_for(agent) is None


def test_an_asset_is_a_value() -> None:
    asset = retell_fast.Asset("img-0.png", "image/png", b"bytes")
    assert (asset.name, asset.media_type, asset.data) == ("img-0.png", "image/png", b"bytes")
    assert asset == retell_fast.Asset(name="img-0.png", media_type="image/png", data=b"bytes")
    assert asset != retell_fast.Asset("img-0.png", "image/png", b"other bytes")
    assert asset != "img-0.png"
    assert "img-0.png" in repr(asset)


def test_lookup_can_be_a_function() -> None:
    asked = []

    def lookup(name: str) -> bytes | None:
        asked.append(name)
        return STORE.get(name)

    transcript = b'["' + encode(IMAGES[0]) + b'"]'
    rewritten, assets = CODEC.extract_images(transcript)
    assert CODEC.reinject_images(rewritten, lookup) == transcript
    assert asked == [assets[0].name]


def test_what_lookup_raises_comes_out() -> None:
    def lookup(name: str) -> bytes | None:
        raise LookupError(name)

    rewritten, _ = CODEC.extract_images(b'["' + encode(image()) + b'"]')
    with pytest.raises(LookupError, match="img-"):
        CODEC.reinject_images(rewritten, lookup)


def test_missing_images_stay_and_are_counted() -> None:
    transcript = b'["' + encode(image()) + b'","' + encode(image("jpg")) + b'"]'
    rewritten, assets = CODEC.extract_images(transcript)
    with pytest.warns(retell_fast.MissingAssetWarning, match=r"\b1\b"):
        partly = CODEC.reinject_images(rewritten, {assets[0].name: assets[0].data})
    assert partly == transcript.replace(encode(image("jpg")), twin.placeholder(assets[1].name))


@pytest.mark.parametrize(
    ("transcript", "expected"),
    [
        (b"retell-asset:assets/img-" + b"0" * 64 + b".png;", True),
        (b"retell-asset:assets/img-" + b"0" * 64 + b".png", False),
        (b"retell-asset:assets/img-" + b"0" * 63 + b".png;", False),
        (b"retell-asset:~assets/img-" + b"0" * 64 + b".png;", False),
        (b"retell-asset:", False),
        (b"", False),
    ],
)
def test_only_whole_placeholders_count(transcript: bytes, expected: bool) -> None:  # noqa: FBT001
    assert CODEC.has_placeholders(transcript) is expected


def test_placeholders_of_entire_are_read_when_asked_for() -> None:
    raw = image()
    name = twin.name_of(raw)
    for digits in (16, 64):
        short = f"{name[: 4 + digits]}.png"
        transcript = f'["entire-asset:assets/{short}"]'.encode()
        assert CODEC.reinject_images(transcript, {short: raw}) == transcript
        assert CODEC.reinject_images(transcript, {short: raw}, format="entire") == b'["' + encode(raw) + b'"]'


def test_a_format_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="other"):
        CODEC.reinject_images(b"", {}, format="other")  # type: ignore[arg-type]
