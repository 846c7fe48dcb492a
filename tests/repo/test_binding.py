"""The binding translates and says nothing: every text that a caller reads is spelled once, in the core."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.checkout import ROOT

import retell_fast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BINDING = ROOT / "rust" / "python" / "src"
PACKAGE = ROOT / "python" / "retell_fast"

pytestmark = pytest.mark.skipif(not BINDING.exists(), reason="the sources are not here")

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
MAX_LINES_OF_A_FILE = 330
MAX_LINES_OF_A_FUNCTION = 40


def code_of(text: str) -> str:
    """Rust without comments, attributes, and the docstrings of exceptions."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"#!?\[(?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*\]", "", text)
    return re.sub(r"create_exception!\(.*?\);", "", text, flags=re.DOTALL)


def messages_in(text: str) -> list[str]:
    """The literals that say something: words with blanks between. `<Event 3>` is how Python shows a thing."""
    found = (match[1] for match in LITERAL.finditer(code_of(text)))
    return [literal for literal in found if " " in literal and not re.fullmatch(r"<.*>", literal)]


def functions_in(text: str) -> Iterator[tuple[str, int]]:
    """The names of functions, and how many lines each body has, as rustfmt lays them out."""
    for match in re.finditer(r"^( *)(?:pub )?fn (\w+).*?^\1\}", text, re.MULTILINE | re.DOTALL):
        head, _, body = match[0].partition("{\n")
        yield match[2], body.count("\n") if body else head.count("\n")


def binding_files() -> list[Path]:
    return sorted(BINDING.rglob("*.rs"))


def test_the_reader_of_messages_finds_them() -> None:
    text = """
        //! Not "this one".
        #[expect(dead_code, reason = "nor this one [here]")]
        #[pyo3(signature = (path, *, format="retell"))]
        create_exception!(a, B, C, "Nor its docs.");
        fn f() -> String { refuse("one", "out is missing"); format!("<Event {} of {}>", 1, 2) }
    """
    assert messages_in(text) == ["out is missing"]
    assert list(functions_in("    fn f(a: u8) -> u8 {\n        a\n    }\n")) == [("f", 1)]


@pytest.mark.parametrize("path", binding_files(), ids=lambda path: path.stem)
def test_the_binding_says_nothing(path: Path) -> None:
    assert messages_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", binding_files(), ids=lambda path: path.stem)
def test_the_binding_decides_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r'"\s*(?:\|\s*"[^"]*"\s*)*=>', code_of(text)), (
        "what a text means is for the core to say"
    )
    assert text.count("\n") <= MAX_LINES_OF_A_FILE
    assert [name for name, lines in functions_in(text) if lines > MAX_LINES_OF_A_FUNCTION] == []


def test_exceptions_are_made_in_one_place() -> None:
    for path in binding_files():
        if path.name != "error.rs":
            assert "::new_err" not in path.read_text(encoding="utf-8"), path


def test_dictionaries_are_made_in_one_way() -> None:
    for path in binding_files():
        text = path.read_text(encoding="utf-8")
        assert "PyDict::new" not in text, path
        assert ("pythonize" in text) == (path.name == "dictionary.rs"), path


def reasons_in(schema: Any) -> set[str]:
    """What the fields called `reason` and `origin` of a schema can be."""
    if isinstance(schema, list):
        return set().union(*map(reasons_in, schema))
    if not isinstance(schema, dict):
        return set()
    own = {
        reason
        for name in ("reason", "origin")
        for reason in schema.get("properties", {}).get(name, {}).get("enum", [])
        if reason is not None
    }
    return own.union(*map(reasons_in, schema.values()))


def test_the_package_does_not_word_the_reasons_again() -> None:
    reasons = reasons_in(retell_fast.schema("manifest"))
    assert {"nul_bytes", "not_canonical", "guardian"} <= reasons
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                # One alone can be another word of the same spelling.
                assert len(keys & reasons) < 2, f"{path}:{node.lineno}"
