"""The folder of a sweep's results, and there the file of a scenario that has none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from xoff import changing, source, toml_text
from xoff.drafts import replace_text
from xoff.errors import UsageError, as_path, writing
from xoff.manifest import SCENARIO, read_manifest
from xoff.toml_text import parse_toml

RUNS = "runs"
"""Folder of the runs in that of the results."""


def folder(out: str | os.PathLike[str] | None, name: str) -> Path:
    """Return the folder of the results, by default `out/NAME`.

    Raises `UsageError` if it is the directory of a run, which the sweep would damage.
    """
    place = (as_path(out, "the results") if out is not None else Path("out") / name).resolve()
    if read_manifest(place) is not None:
        raise UsageError(f"{place} is a run of xoff: give the sweep a folder of its own")
    return place


def default_name(given: source.Source) -> str:
    """Return the name of a sweep of a scenario: that of the scenario."""
    with suppress(ValueError):  # a case of another simulator
        if name := parse_toml(given.text).get("name"):
            return str(name)
    return Path(given.file).stem


def folder_name(name: str) -> str:
    """Return the name of the default folder. A run of the scenario is in another one."""
    return (re.sub(r"[^\w.-]+", "-", name).strip(".-") or "scenario") + "-sweep"


@contextmanager
def as_file(given: source.Source, place: Path) -> Iterator[Path]:
    """Yield the file of a scenario; runs are processes that read it.

    A scenario without a file gets one in the folder of the runs, in which relative paths have
    become absolute. If an error ends the block, the folder is left as it was. Raises `UsageError`.
    """
    if given.is_file:
        yield Path(given.file)
        return
    # The folder itself may be a user's, with a scenario of the user's.
    file = place / RUNS / SCENARIO
    new = [folder for folder in file.parents if not folder.exists()]
    with writing(file, UsageError):
        before = file.read_bytes() if file.is_file() else None
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, _anchored(given))
    try:
        yield file
    except BaseException:
        with suppress(OSError):
            file.unlink() if before is None else file.write_bytes(before)
            for folder in new:
                folder.rmdir()
        raise


def _anchored(given: source.Source) -> str:
    """Return the text of a scenario that means the same in any folder."""
    try:
        tables = parse_toml(given.text)
    except ValueError:
        return given.text  # the engine says where the mistake is
    changing.anchor(tables, Path(given.file).resolve().parent)
    return toml_text.write(changing.ordered(tables))
