"""Planted bugs: the engine is built with each, and random worlds must find it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import compiled
import pytest

from xoff.toml_text import parse_toml

ROOT = Path(__file__).parents[2]
PATCHES = sorted((Path(__file__).parent / "planted").glob("*.patch"))
WORK = ROOT / "target" / "planted"

pytestmark = [
    pytest.mark.real_engine,
    compiled.on_request,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo to build with"),
]


def build(patch):
    """Build the engine with a patch; return the import path of that xoff."""
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / name, source)
    shutil.copytree(ROOT / "crates", source / "crates")
    applied = subprocess.run(
        ["patch", "--strip=1", "--input", str(patch)], cwd=source, capture_output=True, text=True
    )
    assert applied.returncode == 0, f"{patch.name} is out of date:\n{applied.stdout}"
    command = ["cargo", "build", "--release", "-p", "xoff-python", "--features", "extension-module"]
    target = WORK / "build"
    compiled.reuse(ROOT / "target" / "release", target)
    subprocess.run([*command, "--target-dir", str(target)], cwd=source, check=True)
    package = WORK / "python" / "xoff"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        ROOT / "python" / "xoff", package, ignore=shutil.ignore_patterns("_papers", "*.so")
    )
    shutil.copy2(target / "release" / "libxoff_python.so", package / "_native.abi3.so")
    return package.parent


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_bug_is_found_and_made_small(patch, tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(build(patch)))
    command = ["torture", "--first", "--minutes", "5", "--seed", "1", "--out", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "xoff", *command], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stdout
    small = next(tmp_path.glob("*-small.toml"))
    text = small.read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) < 25, text
    assert parse_toml(text)["scheme"]
    # The command in its comment reproduces the bug.
    shown = re.search(r"^# xoff (diverge .*)$", text, re.M)
    assert shown, text
    again = subprocess.run(
        [sys.executable, "-m", "xoff", *shown[1].split()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert again.returncode == 1, again.stdout + again.stderr
    assert "the runs first differ in step" in again.stdout
