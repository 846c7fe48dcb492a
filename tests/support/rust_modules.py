"""The files of a Rust crate and who imports whom: whole module paths, re-exports followed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Module = tuple[str, ...]
"""`("json", "blocks", "run")` is `crate::json::blocks::run`; `()` is the root."""


@dataclass
class File:
    """One file: what it declares and what it names."""

    path: Path
    children: set[str] = field(default_factory=set)
    reexports: dict[str, Module] = field(default_factory=dict)
    globs: list[Module] = field(default_factory=list)
    named: set[Module] = field(default_factory=set)


def code_of(path: Path) -> str:
    """The text of a Rust file without comments, strings and its tests."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    text = re.split(r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*mod\b", text)[0]
    text = re.sub(r"\bpub\(in [\w:]+\)", "pub", text)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def module_of(root: Path, path: Path) -> Module:
    parts = path.relative_to(root).with_suffix("").parts
    return () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts


def split_outside_braces(text: str) -> Iterator[str]:
    """The parts between commas that stand outside braces."""
    depth, part = 0, ""
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += character
    yield part.strip()


def spelled_out(tree: str) -> Iterator[str]:
    """The paths of a `use`, one by one: `a::{b, c::{self, D}}` is `a::b`, `a::c::self`, `a::c::D`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        if tree.strip():
            yield re.sub(r"\s+as\s+\w+$", "", tree.strip())
        return
    for part in split_outside_braces(rest.rsplit("}", 1)[0]):
        for path in spelled_out(part):
            yield head.strip() + path


def crate_files(root: Path) -> dict[Module, File]:
    """All files of the crate whose `lib.rs` stands in `root`."""
    files = {module_of(root, path): File(path) for path in sorted(root.rglob("*.rs"))}
    for module, file in files.items():
        read_into(module, file)
    return files


def read_into(module: Module, file: File) -> None:
    code = code_of(file.path)
    file.children = set(re.findall(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+);", code, re.MULTILINE))
    for match in re.finditer(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", code, re.MULTILINE):
        for path in spelled_out(re.sub(r"\s+", " ", match[2])):
            absolute = absolute_of(module, file, path)
            if absolute is None:
                continue
            file.named.add(absolute)
            if match[1] and absolute[-1] == "*":
                file.globs.append(absolute[:-1])
            elif match[1]:
                file.reexports[absolute[-1]] = absolute
    body = re.sub(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+[^;]+;", "", code, flags=re.MULTILINE)
    for path in re.findall(r"\b(?:crate|super|self)(?:::\w+)+|\b[a-z_]\w*(?:::\w+)+", body):
        absolute = absolute_of(module, file, path)
        if absolute is not None:
            file.named.add(absolute)


def absolute_of(module: Module, file: File, path: str) -> Module | None:
    """The path from the crate's root, `None` for what belongs to another crate."""
    first, *rest = (part.strip() for part in path.split("::"))
    if rest and rest[-1] == "self":
        rest.pop()
    if first == "crate":
        return tuple(rest)
    if first == "self":
        return (*module, *rest)
    above = module
    while first == "super":
        above = above[:-1]
        if not rest or rest[0] != "super":
            return (*above, *rest)
        first, *rest = rest
    return (*module, first, *rest) if first in file.children else None


def home_of(files: dict[Module, File], path: Module) -> Module:
    """The file that what `path` names is written in."""
    module: Module = ()
    for _ in range(10):
        module = ()
        for part in path:
            if (*module, part) not in files:
                break
            module = (*module, part)
        rest = path[len(module) :]
        if not rest:
            return module
        file = files[module]
        if rest[0] in file.reexports:
            path = (*file.reexports[rest[0]], *rest[1:])
        elif rest[0] not in declared(file) and (glob := glob_with(files, file, rest[0])):
            path = (*glob, *rest)
        else:
            return module
    return module


def declared(file: File) -> set[str]:
    pattern = r"\b(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)\s+(\w+)"
    return set(re.findall(pattern, code_of(file.path)))


def glob_with(files: dict[Module, File], file: File, name: str) -> Module | None:
    return next((glob for glob in file.globs if glob in files and name in declared(files[glob])), None)


def imports(files: dict[Module, File]) -> dict[Module, set[Module]]:
    """For each file the files that what it names is written in."""
    return {
        module: {home_of(files, path) for path in file.named} - {module} for module, file in files.items()
    }


def circles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """The sets of files that import each other, in a circle."""
    reached = {node: everything_from(node, graph) for node in graph}
    found = {frozenset(o for o in reached[node] if node in reached.get(o, ())) for node in graph}
    return sorted(sorted(circle) for circle in found if circle)


def everything_from(node: Module, graph: dict[Module, set[Module]]) -> set[Module]:
    """What a file imports, and what that imports, and so on."""
    found: set[Module] = set()
    left = [node]
    while left:
        new = graph.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def shown(modules: Iterable[Module]) -> str:
    return ", ".join("::".join(module) or "lib" for module in modules)
