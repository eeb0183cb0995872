"""Matches over the variants of a seam, outside the seam.

A scenario is read part by part, and each part is one implementation of a seam. Where another file
asks which implementation it has, each new one must be found and judged there. The part should
answer instead: a method of the seam's settings trait. So no file that reads scenarios, runs them or
writes results may compare or match variants of a seam. Making a value of a variant is allowed.
"""

import re
from collections import Counter
from functools import cache

from tidy import rust, tree

SCENARIO = "crates/xoff-scenario/src/"
SEAM = re.compile(r"\benum (\w+): dyn [\w:]+, named by (\w+)")
AFTER_PATTERN = re.compile(r"\s*(=>|if\b|=(?![=>]))")


@cache
def seams() -> frozenset[str]:
    """Return the enums of every seam: of settings, and of names."""
    files = tree.files("crates/*/src/*.rs")
    code = (rust.production_code(path) for path in files if "tests" not in path)
    return frozenset(name for text in code for pair in SEAM.findall(text) for name in pair)


def variant() -> re.Pattern[str]:
    """Return a pattern for a variant of a seam."""
    return re.compile(rf"\b({'|'.join(sorted(seams()))})::[A-Z]\w*")


def is_match(code: str, found: re.Match[str]) -> bool:
    """Return whether a variant is compared with or matched on, rather than made."""
    if re.search(r"[=!]=\s*$", code[: found.start()]):
        return True
    at = found.end()
    if code[at : at + 1] and code[at] in "({":
        at = rust.closing(code, at)
    opened = rust.opening(code, found.start())
    if code[:opened].endswith("matches!"):
        return "," in code[opened : found.start()]
    # In a pattern of alternatives or of a tuple, what follows the whole pattern decides.
    while re.match(r"\s*\|(?!\|)", code[at:]):
        other = re.compile(r"\s*\|\s*[\w:]+\s*").match(code, at)
        if other is None:
            break
        at = other.end()
        if code[at : at + 1] in {"(", "{"}:
            at = rust.closing(code, at)
    if AFTER_PATTERN.match(code, at):
        return True
    if opened >= 0 and code[opened] == "(":
        return AFTER_PATTERN.match(code, rust.closing(code, opened)) is not None
    return False


def matches() -> Counter[str]:
    """Return the matches of each file on each enum."""
    found: Counter[str] = Counter()
    for path in tree.files(f"{SCENARIO}*.rs"):
        if "tests" in path:
            continue
        code = rust.production_code(path)
        for place in variant().finditer(code):
            if is_match(code, place):
                found[f"{path.removeprefix(SCENARIO)} {place[1]}"] += 1
    return found
