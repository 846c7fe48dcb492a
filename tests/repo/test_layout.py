"""Who imports whom, read from the imports: the rules of CONTRIBUTING.md as a test."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.checkout import ROOT
from tests.support.rust_modules import circles, crate_files, imports

import retell_fast

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE = ROOT / "rust" / "core" / "src"
BINDING = ROOT / "rust" / "python" / "src"
PACKAGE = ROOT / "python" / "retell_fast"

pytestmark = pytest.mark.skipif(not CORE.exists(), reason="the sources are not here")

# The picture in CONTRIBUTING.md, as a table: what each module of the core may import. Nothing points back.
MAY_IMPORT: dict[str, set[str]] = {
    "error": set(),
    "warning": set(),
    "measures": set(),
    "refusal": {"error"},
    "progress": {"error"},
    "parallel": {"error", "refusal", "progress"},
    "io": {"error", "progress", "parallel"},
    "lines": {"error", "progress", "io"},
    "json": {"error"},
    "glue": {"error", "json"},
    "entry": {"error", "lines", "json", "glue"},
    "branches": set(),
    "event": {"error", "entry", "branches"},
    "images": {"error", "progress", "parallel", "io", "json", "event", "warning", "measures", "refusal"},
    "secrets": {"error", "json"},
    "agents": {"error", "json", "glue", "entry", "branches", "event", "images"},
    "head": {"error", "lines", "json", "agents"},
    "document": {"error", "lines", "json", "entry", "agents"},
    "reader": {"error", "progress", "parallel", "io", "lines", "json", "entry", "agents", "head", "document"},
    "stretch": {"error", "json", "entry", "branches", "event", "images", "agents", "head", "reader"},
    "queue": {"error", "event"},
    "story": {"error", "entry", "branches", "event", "images", "queue"},
}
READING = {
    "error",
    "progress",
    "parallel",
    "io",
    "lines",
    "json",
    "entry",
    "branches",
    "event",
    "images",
    "secrets",
    "agents",
    "head",
    "document",
    "reader",
    "stretch",
    "story",
}
MAY_IMPORT["transcript"] = READING
MAY_IMPORT["sessions"] = {"error", "io", "agents"}
MAY_IMPORT["subagents"] = MAY_IMPORT["transcript"] | {"transcript"}
MAY_IMPORT["threads"] = MAY_IMPORT["subagents"] | {"subagents", "sessions"}
MAY_IMPORT["manifest"] = MAY_IMPORT["subagents"] | {"subagents"}
MAY_IMPORT["conversation"] = MAY_IMPORT["manifest"] | {"manifest", "refusal"}
MAY_IMPORT["findings"] = {
    "error",
    "warning",
    "measures",
    "entry",
    "event",
    "story",
    "manifest",
    "conversation",
}
MAY_IMPORT["parse"] = MAY_IMPORT["conversation"] | {"conversation", "threads", "sessions"}
MAY_IMPORT["discover"] = MAY_IMPORT["parse"] | {"parse", "measures"}
MAY_IMPORT["census"] = MAY_IMPORT["document"] | {
    "progress",
    "parallel",
    "io",
    "glue",
    "head",
    "reader",
    "sessions",
}
MAY_IMPORT["sinks"] = {"error", "io", "event", "images", "conversation", "manifest", "parallel"}

TOP_LEVEL = {
    "Cargo.lock",
    "Cargo.toml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "benches",
    "pyproject.toml",
    "python",
    "rust",
    "tests",
}


# ---------------------------------------------------------------- Rust


def code_of(path: Path) -> str:
    """The text of a Rust file without comments, without its tests, and without rows that only tests have."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    text = re.sub(r"#\[cfg\(test\)\]\s*&[^\n]*", "", text)
    return re.split(r"#\[cfg\((?:test|all\(test[^\]]*)\)\](?:\s*#\[[^\]]*\])*\s*mod \w+ \{", text)[0]


def module_of(path: Path) -> str:
    """The module of the core that a file belongs to: `images/find.rs` is part of `images`."""
    return path.relative_to(CORE).parts[0].removesuffix(".rs")


def core_files() -> list[Path]:
    return [path for path in sorted(CORE.rglob("*.rs")) if path.name not in ("lib.rs", "main.rs")]


GRAPH = imports(crate_files(CORE))


def test_the_reader_of_imports_reads_them(tmp_path: Path) -> None:
    texts = {
        "lib.rs": "mod lines;\nmod json;\nmod entry;\nmod event;\npub use entry::B;",
        "lines.rs": "pub struct Line;",
        "json.rs": "pub fn a() {}",
        "entry.rs": "use crate::{json::{self, a}, lines::Line};\npub struct B;",
        "event.rs": "use crate::B;\nfn f() { crate::json::a() }\n#[cfg(test)]\nmod t { use crate::lines; }",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = imports(crate_files(tmp_path))
    assert graph["entry",] == {("json",), ("lines",)}
    assert graph["event",] == {("entry",), ("json",)}


@pytest.mark.parametrize("file", [file for file in GRAPH if file], ids="/".join)
def test_arrows_never_go_back(file: tuple[str, ...]) -> None:
    module = file[0]
    assert module in MAY_IMPORT, (
        f"{module} is not in the picture: add it to CONTRIBUTING.md and to this table"
    )
    beyond = {imported[0] for imported in GRAPH[file] if imported} - MAY_IMPORT[module] - {module}
    assert not beyond, f"{module} may not import {', '.join(sorted(beyond))}"


def test_the_table_has_no_cycle() -> None:
    left = dict(MAY_IMPORT)
    while left:
        free = [module for module, imports in left.items() if not imports & left.keys()]
        assert free, f"a cycle among {sorted(left)}"
        for module in free:
            del left[module]


def test_agents_do_not_know_each_other() -> None:
    files = [path for path in sorted((CORE / "agents").rglob("*.rs")) if path.name != "mod.rs"]
    # Beside them stands what all agents read in the same way.
    agents = {path.stem for path in files if " Agent for " in code_of(path)}
    assert len(agents) > 1
    for path in files:
        agent = path.relative_to(CORE / "agents").parts[0].removesuffix(".rs")
        text = code_of(path)
        for other in agents:
            assert other == agent or not re.search(rf"\b(?:super|agents)::\{{?[^;]*\b{other}\b", text)


# ---------------------------------------------------------------- what only an agent knows

# Words that stand in the files of some agent and are something else here: a file, its subject, the words.
WORDS_OF_THE_HOUSE: dict[str, set[str]] = {
    "census/tally.rs": {"other"},  # what is counted under no name of its own
    "conversation.rs": {"plan", "questions", "unknown"},  # manifest.json
    "discover.rs": {".json", ".jsonl", "session", "subagent"},  # what a user types, and previews
    "event.rs": {  # events.json
        *("duration_ms", "plan", "questions", "role", "source", "timestamp", "uuid"),
    },
    "images/files/report.rs": {"images"},  # how many there are
    "images/format.rs": {"image"},  # media types
    "images/mod.rs": {"claude-code", "codex"},  # names, as a user types them
    "images/runs.rs": {"base64"},  # data URIs
    "sessions.rs": {".jsonl"},  # JSON lines are everybody's
    "sinks/event_text.rs": {  # events.json
        *(
            "assistant",
            "duration_ms",
            "false",
            "plan",
            "questions",
            "role",
            "source",
            "timestamp",
            "user",
            "uuid",
        ),
    },
    "sinks/folder.rs": {".json", "name"},  # the files that it writes
    "stretch.rs": {"other"},
    "subagents.rs": {".jsonl"},
    "subagents/links.rs": {"name"},  # what a subagent is known by
}
# Tells formats of other programs, some of which write what a known agent writes.
OF_STRANGERS = CORE / "head" / "stranger.rs"
# Says of a single test file that it is one, with `mod` in another file.
WITH_TESTS_ONLY = {CORE / "branches" / "slow.rs", CORE / "images" / "law.rs", CORE / "queue" / "tests.rs"}

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
WORD = re.compile(r"\.?[A-Za-z_]\w*(?:-\w*)*", re.ASCII)
SHORT_WORD = 3


def words_in_strings(text: str) -> set[str]:
    """The words in the strings of some Rust, but for sentences: keys, types, names of files and folders."""
    words = set()
    for string in re.findall(STRING, text):
        if " " not in string:
            plain = re.sub(r'\\[nrtx0"]|\{[^{}"]*\}', " ", string)
            words |= {word for word in WORD.findall(plain) if len(word) > SHORT_WORD}
    return words


def words_of_agents() -> set[str]:
    files = sorted((CORE / "agents").rglob("*.rs"))
    return {word for path in files for word in words_in_strings(code_of(path))}


def test_keys_and_names_of_files_are_read_from_what_an_agent_writes() -> None:
    text = 'b"{\\"parentUuid\\"", format!("agent-{id}.meta.json"), "a message, in words", ".claude", "id"'
    assert words_in_strings(text) == {"parentUuid", "agent-", ".meta", ".json", ".claude"}
    assert {"parentUuid", "toolUseResult", "agent-", "subagents", ".claude", "rollout-"} <= words_of_agents()


def test_only_agents_know_their_keys_and_the_names_of_their_files() -> None:
    theirs = words_of_agents()
    used: dict[str, set[str]] = {}
    for path in core_files():
        is_agent = CORE / "agents" in path.parents
        if not is_agent and path != OF_STRANGERS and path not in WITH_TESTS_ONLY:
            words = words_in_strings(code_of(path)) & theirs
            if words:
                used[path.relative_to(CORE).as_posix()] = words
    assert used == WORDS_OF_THE_HOUSE, "move it behind the trait Agent, or say above what the word is here"


@pytest.mark.parametrize("forbidden", [r"\bpyo3\b", r"\be?print(?:ln)?!", r"\bprocess::exit\b", r"\bdbg!"])
def test_the_core_knows_no_python_and_prints_nothing(forbidden: str) -> None:
    for path in sorted(CORE.rglob("*.rs")):
        assert not re.search(forbidden, code_of(path)), path
    assert not re.search(r"^pyo3\b", (CORE.parent / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_binding_prints_nothing_and_does_not_end_the_process() -> None:
    for path in sorted(BINDING.rglob("*.rs")):
        assert not re.search(r"\be?print(?:ln)?!|\bprocess::exit\b", code_of(path)), path


@pytest.mark.parametrize(
    "forbidden",
    [
        r"\bstd::fs\b",
        r"\bfs::\w",
        r"\bFile::",
        r"\bOpenOptions\b",
        r"\bread_dir\b",
        r"\b(tempfile|walkdir)::",
    ],
)
def test_only_io_opens_lists_and_replaces_files(forbidden: str) -> None:
    """To ask what a path is, `path.metadata()` and its like, is everybody's."""
    for path in core_files():
        if module_of(path) != "io":
            assert not re.search(forbidden, code_of(path)), path
    assert any(re.search(forbidden, code_of(path)) for path in sorted((CORE / "io").rglob("*.rs")))


# What is left of circles among files: a file that joins one fails, and a new one; so does one that is open.
CIRCLES = [
    {
        ("agents",),
        ("agents", "claude_code"),
        *(("agents", "claude_code", file) for file in ("authors", "blocks", "evidence", "files", "replies")),
        ("agents", "codex"),
        *(("agents", "codex", file) for file in ("sieve", "tools", "words")),
    },
    {("agents", "codex", "twins"), ("agents", "codex", "twins", "thoughts")},
    {("entry",), ("entry", "skim")},
    {("story",), ("story", "agents")},
    {("subagents",), ("subagents", "links")},
]


def test_no_files_import_each_other_in_a_circle_but_those_named_here() -> None:
    # The root declares every module and exports from most.
    graph = {file: imported for file, imported in GRAPH.items() if file}
    assert sorted(map(sorted, CIRCLES)) == circles(graph)


# ---------------------------------------------------------------- Python


def imports_of(path: Path, root: Path = PACKAGE.parent) -> Iterator[tuple[str, list[str]]]:
    """The absolute name of each imported module, and the names taken from it."""
    package = path.relative_to(root).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, []
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            yield module, [alias.name for alias in node.names]


def package_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", package_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_table_of_contents_imports_the_binary(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        return
    for module, names in imports_of(path):
        assert not module.startswith("retell_fast._native"), module
        assert not (module == "retell_fast" and "_native" in names)


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").rglob("*.py")), ids=lambda path: path.name)
def test_the_command_line_uses_the_public_api_only(path: Path) -> None:
    for module, names in imports_of(path):
        if module == "retell_fast":
            assert set(names) <= set(retell_fast.__all__)
        elif module.startswith("retell_fast."):
            assert module.startswith("retell_fast.cli"), module
    used = set(re.findall(r"\bretell_fast\.(\w+)", path.read_text(encoding="utf-8")))
    assert used <= {*retell_fast.__all__, "cli"}


def test_nothing_in_the_package_imports_the_command_line() -> None:
    for path in package_files():
        if PACKAGE / "cli" not in path.parents and path.name != "__main__.py":
            assert not [module for module, _ in imports_of(path) if module.startswith("retell_fast.cli")], (
                path
            )


def test_nothing_opens_a_network_connection() -> None:
    network = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp"}
    for path in package_files():
        assert not {module.split(".")[0] for module, _ in imports_of(path)} & network, path
    for path in [*CORE.rglob("*.rs"), *BINDING.rglob("*.rs")]:
        assert not re.search(r"\bstd::net\b|\bTcpStream\b|\breqwest\b", code_of(path)), path


# ---------------------------------------------------------------- benches and tests

# A folder imports only what stands to its left, and a folder of tests no other one.
BENCHES = ("corpus", "peers", "goals", "report")
SUPPORT = ("twin", "strategies", "support")
TESTS = ("api", "cli", "images", "differential", "hostile", "repo")


def folders_imported(path: Path) -> set[tuple[str, ...]]:
    """The folders that a file imports from: `benches`, `goals`."""
    modules = [[*module.split("."), *names] for module, names in imports_of(path, ROOT)]
    return {(parts[0], parts[1]) for parts in modules if parts[0] in ("benches", "tests")}


def python_files(folder: str) -> list[Any]:
    files = sorted((ROOT / folder).rglob("*.py"))
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in files]


@pytest.mark.parametrize("path", python_files("benches"))
def test_benches_import_only_what_stands_to_the_left(path: Path) -> None:
    place = BENCHES.index(path.relative_to(ROOT).parts[1])
    # The slow twin of the image codec is a peer of the product.
    allowed = {("benches", folder) for folder in BENCHES[: place + 1]} | {("tests", "twin")}
    assert folders_imported(path) <= allowed


@pytest.mark.parametrize("path", python_files("tests"))
def test_tests_import_only_what_stands_to_the_left(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[1]
    assert folder in (*SUPPORT, *TESTS, "conftest.py")
    place = SUPPORT.index(folder) if folder in SUPPORT else len(SUPPORT)
    imported = folders_imported(path)
    assert {name for top, name in imported if top == "tests"} <= {*SUPPORT[:place], folder}
    assert folder == "repo" or not [name for top, name in imported if top == "benches"]


def commands() -> list[str]:
    """What of the benches people run; the inside of a side's process is run by the benches alone."""
    files = [
        path for path in (ROOT / "benches").rglob("*.py") if "ArgumentParser(" in path.read_text("utf-8")
    ]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(files)]
    return [module.removesuffix(".__main__") for module in modules]


@pytest.mark.parametrize("module", commands())
def test_the_commands_of_the_benches_start(module: str) -> None:
    command = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- the house


def test_the_top_level_holds_what_is_prescribed() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(
        [git, "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("git does not want to read this checkout")
    top = {line.split("/")[0] for line in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL


def test_names_are_of_the_domain() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "processor", "types", "misc"}
    for folder in (ROOT / "rust", ROOT / "python", ROOT / "tests", ROOT / "benches"):
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".rs"):
                assert path.stem not in vague, path
