"""Example patches: what they touch, which of them apply together, and whether their tests pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tidy.tree import GENERATED, HEADER

from xoff.strict import tomllib

# Tests and documentation: what an extension needs besides, and what is not counted.
NOT_COUNTED = re.compile(r"(^|/)(docs|tests|golden)/|\.md$|(^|_)tests?\.rs$|_tests\.rs$")


class Example(NamedTuple):
    """An entry of examples.toml."""

    patch: Path
    adds: str
    most_files: int
    packages: list[str]
    tests: list[str]


def load(folder: Path) -> list[Example]:
    """Return the examples of a folder."""
    entries = tomllib.loads((folder / "examples.toml").read_text()).get("example", [])
    return [Example(**{**entry, "patch": folder / entry["patch"]}) for entry in entries]


def git(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in a tree."""
    identity = ["-c", "user.name=examples", "-c", "user.email=examples@localhost"]
    command = ["git", *identity, "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def touched(patch: Path) -> list[str]:
    """Return the files that a patch touches."""
    done = subprocess.run(
        ["git", "apply", "--numstat", "-z", str(patch)], capture_output=True, text=True, check=True
    )
    return [line.split("\t")[2] for line in done.stdout.split("\0") if line]


def counted(patch: Path) -> list[str]:
    """Return the files that a patch touches, without tests and documentation."""
    return [path for path in touched(patch) if not NOT_COUNTED.search(path)]


def generated(root: Path, patch: Path) -> list[str]:
    """Return the files of a patch that a command writes, by their headers in a tree."""
    files = [path for path in touched(patch) if (root / path).is_file()]
    return [path for path in files if GENERATED.search((root / path).read_text()[:HEADER])]


def copy(root: Path, files: Iterable[str], tree: Path) -> None:
    """Make a tree have these files, and commit them. Files that are the same keep their times."""
    wanted = set(files)
    for path in tree.rglob("*"):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and not name.startswith(".git/") and name not in wanted:
            path.unlink()
    for name in wanted:
        source, target = root / name, tree / name
        if source.is_dir():
            continue  # A link to a folder, whose files are listed themselves.
        # Cargo compares times, so a file that changes back must not get its old time.
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    shutil.rmtree(tree / ".git", ignore_errors=True)
    for arguments in (["init", "--quiet"], ["add", "--all", "--force"]):
        assert git(tree, *arguments).returncode == 0
    commit(tree)


def commit(tree: Path) -> None:
    """Record the state of a tree."""
    assert git(tree, "add", "--all", "--force").returncode == 0
    done = git(tree, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", "state")
    assert done.returncode == 0, done.stderr


def apply(tree: Path, patch: Path) -> str | None:
    """Apply a patch and record it; return why it does not apply, and leave the tree as it was."""
    done = git(tree, "apply", "--3way", "--whitespace=nowarn", str(patch))
    if done.returncode != 0:
        git(tree, "reset", "--quiet", "--hard")
        return f"{patch.name} does not apply:\n{done.stderr}"
    commit(tree)
    return None


def rounds(tree: Path, examples: list[Example]) -> Iterable[list[Example]]:
    """Apply as many examples as go together, yield them, and go on with the others."""
    base = git(tree, "rev-parse", "HEAD").stdout.strip()
    waiting = examples
    while waiting:
        applied, left = [], []
        for example in waiting:
            problem = apply(tree, example.patch)
            # Nothing else is applied before the first of a round.
            assert problem is None or applied, problem
            (left if problem else applied).append(example)
        yield applied
        assert git(tree, "reset", "--quiet", "--hard", base).returncode == 0
        waiting = left


def run_tests(tree: Path, examples: list[Example], target: Path) -> list[str]:
    """Build a tree with examples applied and run their tests; return what is wrong."""
    packages = sorted({name for example in examples for name in example.packages})
    command = ["cargo", "test", "--offline", "--no-fail-fast"]
    command += [word for name in packages for word in ("--package", name)]
    command += ["--tests", "--", *(f for e in examples for f in e.tests)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    results = dict(re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (\w+)", done.stdout, re.M))
    problems = [f"test {name}: {result}" for name, result in results.items() if result != "ok"]
    if done.returncode != 0 and not problems:
        problems.append(done.stderr[-4000:])
    for example in examples:
        for wanted in example.tests:
            if not any(wanted in name for name in results):
                problems.append(f"{example.patch.name}: no test has {wanted!r} in its name")
    return problems
