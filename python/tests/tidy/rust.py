"""Rust source as far as the checks need it: code without comments and strings, and its parts."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tidy import tree

# What is not code: comments (block comments do not nest here), strings, raw strings, characters.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^']+|[^'\\])'""",
    re.S,
)
OPEN, CLOSE = "([{", ")]}"


def blank(text: str) -> str:
    """Return spaces instead of a text, with its line breaks."""
    return re.sub(r"[^\n]", " ", text)


@cache
def code(path: str) -> str:
    """Return a file with spaces instead of comments and of what is in strings."""
    return NOT_CODE.sub(lambda found: blank(found[0]), tree.text(path))


@cache
def production_code(path: str) -> str:
    """Return the code without modules of tests."""
    masked = code(path)
    for found in list(re.finditer(r"#\[cfg\(test\)\]\s*(?:pub\S* )?mod \w+ \{", masked)):
        end = closing(masked, found.end() - 1)
        masked = masked[: found.start()] + blank(masked[found.start() : end]) + masked[end:]
    return masked


def closing(masked: str, at: int) -> int:
    """Return the place after the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(masked)):
        depth += (masked[place] in OPEN) - (masked[place] in CLOSE)
        if depth == 0:
            return place + 1
    return len(masked)


def opening(masked: str, at: int) -> int:
    """Return the place of the innermost bracket open at a place, or -1."""
    depth = 0
    for place in range(at - 1, -1, -1):
        depth += (masked[place] in CLOSE) - (masked[place] in OPEN)
        if depth < 0:
            return place
    return -1


def functions(path: str) -> Iterator[tuple[str, int]]:
    """Yield the name of each function and its lines, from `fn` to the closing brace."""
    masked = code(path)
    for found in re.finditer(r"\bfn\s+(\w+)", masked):
        at = found.end()
        while at < len(masked) and masked[at] not in "{;":
            at = closing(masked, at) if masked[at] in "([" else at + 1
        if masked[at : at + 1] == "{":
            yield found[1], masked[found.start() : closing(masked, at)].count("\n") + 1


class Doc(NamedTuple):
    """The first sentence of a public item's documentation."""

    sentence: str
    item: str
    path: str


ITEM = re.compile(
    r"((?:^[ \t]*///[^\n]*\n)+)(?:^[ \t]*#\[[^\n]*\n)*"
    r"^[ \t]*pub (?:const |unsafe |async )*(?:fn|struct|enum|trait|type|const|static|mod) (\w+)",
    re.M,
)


def docs(path: str) -> Iterator[Doc]:
    """Yield the documented public items of a file."""
    for found in ITEM.finditer(tree.text(path)):
        text = " ".join(line.strip().removeprefix("///").strip() for line in found[1].splitlines())
        yield Doc(re.split(r"(?<=[.:])\s", text, maxsplit=1)[0], found[2], path)
