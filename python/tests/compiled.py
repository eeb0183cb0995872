"""Engines that are built by tests: when, and with dependencies that other builds have compiled."""

import os
import shutil
from pathlib import Path

import pytest

on_request = pytest.mark.skipif(
    "XOFF_TEST_BUILDS" not in os.environ, reason="builds an engine: run `make test-builds`"
)


def reuse(built: Path, target: Path) -> None:
    """Copy the dependencies of a build, unless `target` exists; cargo compiles what is missing.

    `built` is the folder of a profile, such as `target/release`.
    """
    if built.is_dir() and not target.exists():
        shutil.copytree(built, target / built.name, ignore=_ours)


def _ours(folder: str, names: list[str]) -> set[str]:
    """Return what is built from our own crates, and programs, which have no suffix."""
    programs = Path(folder).name == "deps"
    return {
        name
        for name in names
        if "xoff" in name or name == "incremental" or (programs and not Path(name).suffix)
    }
