"""The files of the working tree."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
# What the header of a generated file says, and how many characters it may have.
GENERATED = re.compile(r"`make [a-z-]+` writes this")
HEADER = 1000


@cache
def files(*patterns: str) -> tuple[str, ...]:
    """Return the files that git tracks or would add, as paths from the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / path for path in sorted(set(listed.splitlines())))
    return tuple(str(path.relative_to(ROOT)) for path in paths if path.is_file())


@cache
def text(path: str) -> str:
    """Return what is in a file."""
    return (ROOT / path).read_text(encoding="utf-8")


def is_generated(path: str) -> bool:
    """Return whether a command writes a file."""
    return GENERATED.search(text(path)[:HEADER]) is not None


def python_files() -> tuple[str, ...]:
    return tuple(path for path in files("*.py") if not (ROOT / path).is_symlink())


def rust_files() -> tuple[str, ...]:
    return files("*.rs")
