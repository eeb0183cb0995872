"""`manifest.json`: what a run directory is, and whether it is whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a run directory, complete or not; None if it is not one."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "xoff" in found else None


def is_complete(folder: Path) -> bool:
    """Tell whether `folder` is a whole, finished run."""
    manifest = read_manifest(folder)
    return manifest is not None and manifest.get("complete") is True


def replace_text(path: Path, text: str) -> None:
    """Write `path` so that it holds the old text or all of the new one, synced to disk.

    Raises `OSError`.
    """
    draft = path.with_name(path.name + ".new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
