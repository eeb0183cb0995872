"""Cycles of imports between modules of a crate.

The children of each module form a graph: `a` points to `b` if a file of `a` names a path in `b`.
Names that a parent exports again count for the child they come from. A parent that names its
children, or a child its parent, is no edge: that is how a module tree is built.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tidy import rust, tree

Path = tuple[str, ...]

TESTS = re.compile(r"(^|_)tests?(_|$)|_tests$")
USE_TREE = re.compile(r"(?<![\w:])(?:pub(?:\([^)]*\))? )?use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])(?:crate|super)(?:::(?:\w+))+")
EXPORT = re.compile(r"(?<![\w:])pub(?:\([^)]*\))? use\s+([^;]+);")


def crates() -> list[str]:
    """Return the folders of the crates' sources."""
    return sorted({path.split("/src/")[0] + "/src" for path in tree.files("crates/*/src/*.rs")})


def modules(source: str) -> dict[Path, str]:
    """Return the module path of each file of a crate that is not a test."""
    found = {}
    for file in tree.files(f"{source}/*.rs"):
        parts = PurePosixPath(file).relative_to(source).with_suffix("").parts
        if parts[-1] in {"lib", "mod", "main"}:
            parts = parts[:-1]
        if not any(TESTS.search(part) for part in parts):
            found[parts] = file
    return found


def leaves(use_tree: str) -> Iterator[str]:
    """Yield the paths of a `use`, such as `a::b` and `a::c` of `a::{b, c}`."""
    use_tree = re.sub(r"\s+as\s+\w+", "", re.sub(r"\s+", " ", use_tree)).strip()
    brace = use_tree.find("{")
    if brace < 0:
        yield use_tree.removesuffix("::self")
        return
    depth, start = 0, brace + 1
    for place in range(brace, len(use_tree)):
        depth += (use_tree[place] == "{") - (use_tree[place] == "}")
        if (depth == 1 and use_tree[place] == ",") or depth == 0:
            if part := use_tree[start:place].strip():
                yield from leaves(use_tree[:brace] + part)
            start = place + 1
        if depth == 0:
            return


def absolute(path: str, module: Path) -> Path | None:
    """Return a path from the root of its crate, or None if it is of another crate."""
    parts = path.split("::")
    base = list(module)
    if parts[0] == "crate":
        base = []
    elif parts[0] == "super":
        while parts[0] == "super":
            base, parts = base[:-1], [*parts[1:], ""]
        return tuple(base) + tuple(part for part in parts if part)
    elif parts[0] != "self":
        return None
    return tuple(base) + tuple(parts[1:])


class Crate:
    """The modules of a crate and what they name."""

    def __init__(self, source: str):
        self.files = modules(source)
        self.exports = {module: self._exports(module) for module in self.files}

    def _exports(self, module: Path) -> dict[str, Path]:
        found = {}
        for use in EXPORT.finditer(rust.production_code(self.files[module])):
            for leaf in leaves(use[1]):
                parts = leaf.split("::")
                # `pub use child::Name;` without `self::` is the usual form.
                child = (*module, parts[0])
                path = child + tuple(parts[1:]) if child in self.files else absolute(leaf, module)
                if path:
                    found[parts[-1]] = path
        return found

    def home(self, path: Path) -> Path:
        """Return the module in which what a path names is defined."""
        for length in range(len(path), -1, -1):
            module = path[:length]
            if module in self.files:
                exported = self.exports[module].get(path[length]) if length < len(path) else None
                return self.home(exported) if exported and exported != path else module
        return ()

    def named(self, module: Path) -> set[Path]:
        """Return the modules that the code of a module names."""
        code = rust.production_code(self.files[module])
        paths = {leaf for use in USE_TREE.finditer(code) for leaf in leaves(use[1])}
        paths |= {found[0] for found in PATH.finditer(USE_TREE.sub("", code))}
        found = (absolute(path, module) for path in paths)
        return {self.home(path) for path in found if path}

    def cycles(self) -> Iterator[frozenset[Path]]:
        """Yield the sets of sibling modules that all reach each other."""
        edges: dict[Path, set[Path]] = {}
        for module in self.files:
            for other in self.named(module):
                shared = next(
                    (n for n, (a, b) in enumerate(zip(module, other, strict=False)) if a != b), None
                )
                if shared is not None:
                    edges.setdefault(module[: shared + 1], set()).add(other[: shared + 1])
        reached = {module: reach(edges, module) for module in edges}
        for module in edges:
            cycle = frozenset(o for o in reached[module] if module in reached.get(o, ()))
            if module == min(cycle, default=None):
                yield cycle


def reach(edges: dict[Path, set[Path]], start: Path) -> set[Path]:
    """Return what can be reached from a module in one or more steps."""
    found: set[Path] = set()
    waiting = list(edges.get(start, ()))
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(edges.get(module, ()))
    return found


def all_cycles() -> set[str]:
    """Return the cycles of all crates, such as `xoff-net: fabric, packet`."""
    return {
        f"{source.split('/')[1]}: {', '.join(sorted('::'.join(module) for module in cycle))}"
        for source in crates()
        for cycle in Crate(source).cycles()
    }
