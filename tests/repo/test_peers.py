"""The peers of the benches read the same conversation as the product, on every kind of session."""

from __future__ import annotations

from pathlib import Path

import pytest
from benches.corpus import generate
from benches.goals.against_peers import knows
from benches.peers import libraries

import retell_fast

PAIRS = [(profile, name) for profile in generate.PROFILES for name in libraries.readers_of(profile)]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("peers")
    for profile in generate.PROFILES:
        generate.write(folder / profile, profile, 3, 2)
    return {profile: folder / profile for profile in generate.PROFILES}


@pytest.mark.parametrize(("profile", "library"), PAIRS)
def test_every_reader_gives_what_json_gives(sessions: dict[str, Path], profile: str, library: str) -> None:
    readers = libraries.readers_of(profile)
    story = readers[library](sessions[profile])
    assert {role for role, *_ in story} == {"user", "assistant"}
    assert story == readers["json"](sessions[profile])


@pytest.mark.parametrize("profile", [profile for profile in generate.PROFILES if knows(profile)])
def test_json_gives_what_the_product_gives(sessions: dict[str, Path], profile: str) -> None:
    events = retell_fast.parse(sessions[profile]).events
    assert libraries.readers_of(profile)["json"](sessions[profile]) == libraries.told(events, profile)
