"""Lists that stand twice and must agree: both are taken from where they stand, and compared."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.checkout import DATA, ROOT

import retell_fast
from retell_fast.cli import arguments
from retell_fast.cli.exit_status import ExitStatus
from retell_fast.cli.plain import read_plain


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def parsers(
    parser: argparse.ArgumentParser, words: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command, by the words that call it."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    if not below:
        yield words, parser
    for name, each in (item for action in below for item in action.choices.items()):
        yield from parsers(each, f"{words} {name}".strip())


COMMANDS = dict(parsers(arguments._program()))  # noqa: SLF001


def defaults(command: str) -> dict[str, Any]:
    """What a command takes, and what it takes where nothing is said."""
    actions = COMMANDS[command]._actions  # noqa: SLF001
    return {action.dest: action.default for action in actions if action.dest != "help"}


# ---------------------------------------------------------------- the command and the functions

PRINTED = {"as_json", "quiet"}
"""How a command tells what came out; a function gives it back."""


@pytest.mark.parametrize(
    ("command", "function", "of_the_command", "of_the_function"),
    [
        ("parse", retell_fast.parse, {"session", "output_dir"}, {"source"}),
        ("preview", retell_fast.discover, {"count", "sort"}, {"root", "limit"}),
        ("types", retell_fast.types, set(), set()),
        ("images list", retell_fast.list_images, {"paths"}, {"path", "max_image_bytes"}),
        ("images extract", retell_fast.externalize, set(), set()),
        ("images restore", retell_fast.restore, set(), set()),
    ],
)
def test_a_command_takes_what_its_function_takes(
    command: str, function: Callable[..., Any], of_the_command: set[str], of_the_function: set[str]
) -> None:
    of_function = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    options = defaults(command)
    assert options.keys() - PRINTED - of_the_command == of_function.keys() - {"progress"} - of_the_function
    for name in options.keys() & of_function.keys():
        if of_function[name] not in (inspect.Parameter.empty, ...):
            assert options[name] == of_function[name], name


def test_every_command_stands_above() -> None:
    marks = test_a_command_takes_what_its_function_takes.pytestmark
    assert {row[0] for row in marks[0].args[1]} == COMMANDS.keys()


def values_of(action: argparse.Action) -> list[str]:
    return [] if action.nargs == 0 else [{"threads": "2"}.get(action.dest, "word")]


def words_of_parse() -> Iterator[list[str]]:
    for action in COMMANDS["parse"]._actions:  # noqa: SLF001
        for option in action.option_strings:
            if action.dest != "help":
                yield ["parse", "s.jsonl", option, *values_of(action)]


@pytest.mark.parametrize("words", list(words_of_parse()), ids=lambda words: words[2])
def test_the_short_way_reads_what_argparse_reads(words: list[str]) -> None:
    plain = read_plain(words)
    # The number of threads is checked by argparse.
    assert (plain is None) == ("--threads" in words)
    assert plain is None or defaults("parse") | plain == arguments.read_arguments(words)


def test_the_readme_names_options_that_there_are() -> None:
    known = {
        option
        for parser in COMMANDS.values()
        for action in parser._actions  # noqa: SLF001
        for option in action.option_strings
    }
    lines = [line for line in text("README.md").splitlines() if "retell-fast " in line]
    named = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z-]+", line)}
    assert named
    assert named <= known | {"--version"}


def test_each_exit_status_is_told_in_the_help_and_in_the_readme() -> None:
    statuses = {value for name, value in vars(ExitStatus).items() if name.isupper()}
    help_ = {int(number) for number in re.findall(r"^ +(\d+)  ", arguments.EXIT_STATUSES, re.MULTILINE)}
    readme = text("README.md").partition("| exit status |")[2].partition("\n\n")[0]
    assert help_ == {int(number) for number in re.findall(r"^\| (\d+) \|", readme, re.MULTILINE)} == statuses


# ---------------------------------------------------------------- the classes, their schemas, the agents


@pytest.mark.parametrize("name", ["event", "screenshot", "subagent_ref"])
def test_a_class_has_the_fields_of_its_schema(name: str) -> None:
    class_ = getattr(retell_fast, "".join(part.capitalize() for part in name.split("_")))
    attributes = {each for each, value in vars(class_).items() if inspect.isgetsetdescriptor(value)}
    assert attributes == retell_fast.schema("events")["$defs"][name]["properties"].keys()


def test_every_agent_has_test_data_a_twin_and_a_place_in_the_schema() -> None:
    with pytest.raises(ValueError, match="known agents") as caught:
        retell_fast.parse(b"", agent="nobody")
    known = re.findall(r"[\w-]+", str(caught.value).partition("known agents: ")[2])
    assert known == sorted(path.name for path in DATA.iterdir() if path.is_dir())
    assert known == retell_fast.schema("manifest")["properties"]["agent"]["enum"]
    for agent in known:
        assert (ROOT / "tests" / "twin" / f"{agent.split('-')[0]}.py").exists()


def test_the_public_names_are_those_of_the_stub() -> None:
    stub = text("python/retell_fast/_native.pyi")
    named = set(re.findall(r"^(?:class|def) ([A-Za-z]\w*)", stub, re.MULTILINE))
    public = {name for name in retell_fast.__all__ if name not in ("__version__", "schema")}
    assert public == named


# ---------------------------------------------------------------- the house


def test_every_target_stands_in_the_help_and_in_contributing() -> None:
    makefile = text("Makefile")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split()) == targets
    contributing = text("CONTRIBUTING.md")
    assert set(re.findall(r"`make ([a-z-]+)[` ]", contributing)) | {"help"} == targets
    steps = re.search(r"for step in ([a-z ]+);", text(".ci/run"))
    said = re.search(r"`\.ci/run` is what must pass: ([a-z, ]+)\.", contributing)
    assert steps
    assert said
    assert steps[1].split() == said[1].split(", ")
    assert set(steps[1].split()) <= targets


def test_every_python_that_is_promised_is_tested() -> None:
    promised = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text("pyproject.toml"))
    matrix = re.search(r"python: (\[.*\])", text(".github/workflows/ci.yml"))
    assert matrix
    assert promised == [version for version in json.loads(matrix[1]) if not version.endswith("t")]


def test_version_and_changelog_agree() -> None:
    newest = re.search(r"^## \[?(?:Unreleased|([\d.]+))", text("CHANGELOG.md"), re.MULTILINE)
    assert newest
    assert newest[1] in (None, retell_fast.__version__)
