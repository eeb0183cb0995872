"""The files of the working tree."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]


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


def python_files() -> tuple[str, ...]:
    return tuple(path for path in files("*.py") if not (ROOT / path).is_symlink())


def rust_files() -> tuple[str, ...]:
    return files("*.rs")
