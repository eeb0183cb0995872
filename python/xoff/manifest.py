"""`manifest.json`: the identity, files and completeness of a run directory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from xoff import engine

MANIFEST = "manifest.json"
SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
CAPTURE = "trace.pcapng"
REFERENCE = "reference.csv"

OTHERS = "other_files"
"""Key of the manifest: the names of files that are no tables, while a run goes on."""

DRAFT = ".new"
RESERVE = ".reserve"
WORKING_FILES = frozenset({MANIFEST, MANIFEST + DRAFT, RESERVE, ".lock"})
"""Bookkeeping files of a run directory; all but the manifest exist only during the run.

Killed runs of xoff 0.2 left a `.lock`.
"""


def partial_of(out: Path) -> Path:
    """Return the folder of a run in progress. A path without a name, such as `.`, has none."""
    return out.with_name(out.name + ".partial") if out.name else out


def table_file(name: str) -> str:
    """Return the file name of a table."""
    return f"{name}.parquet"


def tables() -> dict[str, str | None]:
    """Return the names of all tables, and how to get those that not every run has."""
    return {table["name"]: table["optional"] for table in engine.tables()}


def needed_tables() -> list[str]:
    """Return the names of the tables that every finished run has."""
    return [name for name, optional in tables().items() if optional is None]


def needed_files() -> list[str]:
    """Return the files that every finished run has, besides its manifest."""
    return [SCENARIO, SUMMARY, *map(table_file, needed_tables())]


def run_files() -> frozenset[str]:
    """Return the files that a run can have, besides its manifest."""
    return frozenset({SCENARIO, SUMMARY, CAPTURE, REFERENCE, *map(table_file, tables())})


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a complete or partial run; None if `folder` is no run directory."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "xoff" in found else None


def is_complete(folder: Path) -> bool:
    """Return whether the manifest marks the run in `folder` as finished."""
    manifest = read_manifest(folder)
    return manifest is not None and manifest.get("complete") is True


def save_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest of a run directory. Raises `OSError`."""
    replace_text(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def replace_text(path: Path, text: str) -> None:
    """Replace the contents of `path` atomically and sync them to disk. Raises `OSError`."""
    draft = path.with_name(path.name + DRAFT)
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
