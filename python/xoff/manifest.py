"""`manifest.json`: the identity, files and completeness of a run directory."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
CAPTURE = "trace.pcapng"
REFERENCE = "reference.csv"

TABLES = ("flows", "samples", "ports")
# Tables of some runs only, each with advice on how to get it.
OPTIONAL_TABLES = {
    "flow_series": "set run.flow_series",
    "port_samples": "set run.port_samples",
    "queries": 'add [[traffic]] kind = "queries", without run.flows = "none"',
    "requests": 'add [[traffic]] kind = "queries", without run.flows = "none"',
}


def table_file(name: str) -> str:
    """Return the file name of a table."""
    return f"{name}.parquet"


NEEDED = (SCENARIO, SUMMARY, *map(table_file, TABLES))
"""Files that every finished run has besides its manifest."""
RUN_FILES = frozenset({*NEEDED, *map(table_file, OPTIONAL_TABLES), CAPTURE, REFERENCE})
"""Files that a run can have besides its manifest."""

DRAFT = ".new"
LOCK = ".lock"
RESERVE = ".reserve"
WORKING_FILES = frozenset({MANIFEST, MANIFEST + DRAFT, LOCK, RESERVE})
"""Bookkeeping files of a run directory; all but the manifest exist only during the run."""


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
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
