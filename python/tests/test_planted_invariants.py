"""Planted bugs: a checker of `run.check_invariants` must find each."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import compiled
import pytest

ROOT = Path(__file__).parents[2]
PLANTED = Path(__file__).parent / "planted" / "invariants"
SCENARIO = PLANTED / "scenario.toml"
PATCHES = sorted(PLANTED.glob("*.patch"))
CHECKERS = ROOT / "crates" / "xoff-core" / "src" / "invariant.rs"
WORK = ROOT / "target" / "planted-invariants"


def field(patch, name):
    return re.search(rf"^{name}: (.*)$", patch.read_text(), re.M)[1]


def apply(patch, source, *options):
    command = ["patch", "--strip=1", "--input", str(patch), *options]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, f"{patch.name} is out of date:\n{done.stdout}{done.stderr}"


def test_every_checker_has_a_planted_bug():
    declared = set(re.findall(r'^    [A-Z]\w+ = "(\w+)",$', CHECKERS.read_text(), re.M))
    assert declared == {field(patch, "Checker") for patch in PATCHES}
    assert len(PATCHES) >= 15


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_planted_bug_applies(patch):
    apply(patch, ROOT, "--dry-run", "--fuzz=0")


@pytest.fixture(scope="module")
def source():
    """A copy of the engine. Its files are new, so cargo compiles all of it once."""
    copy = WORK / "source"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copyfile(ROOT / name, copy / name)
    shutil.copytree(ROOT / "crates", copy / "crates", copy_function=shutil.copyfile)
    return copy


@compiled.on_request
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo to build with")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_checker_finds_a_planted_bug(patch, source):
    # Otherwise the engine's own assertions come first. Optimisation would take longer than the run.
    profile = {"DEBUG": "0", "DEBUG_ASSERTIONS": "false", "OVERFLOW_CHECKS": "false"}
    profile = {f"CARGO_PROFILE_DEV_{name}": value for name, value in profile.items()}
    target = WORK / "build"
    command = ["cargo", "build", "-p", "xoff-run", "--bin", "scenario", "--target-dir", str(target)]
    apply(patch, source)
    try:
        subprocess.run(command, cwd=source, env=os.environ | profile, check=True)
    finally:
        apply(patch, source, "--reverse")
    done = subprocess.run(
        [target / "debug" / "scenario", SCENARIO, *field(patch, "Settings").split()],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout
    assert f'invariant "{field(patch, "Checker")}" does not hold' in done.stderr, done.stderr
    # A violation of the whole network or of a frame between neighbours concerns no part.
    is_of_all = field(patch, "Checker") in ("bytes", "packets") or "sent again" in done.stderr
    if not is_of_all:
        assert re.search(r"\n  recent events of .*:\n    \d+\.\d{6}us  ", done.stderr), done.stderr
