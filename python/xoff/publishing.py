"""How a finished run takes the place of an earlier one, and of nothing else.

A run may replace the files that the manifest of an earlier run lists. Whatever else is in a folder
is somebody's: it is named, and left alone.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from xoff.errors import RunError, UsageError, writing
from xoff.integrity import listed_files
from xoff.manifest import LOCK, MANIFEST, RESERVE, WORKING_FILES, read_manifest, run_files

MOVE = "move it, or choose another folder with --out"
# So many names of what is in the way are told.
MOST_NAMES = 5


def partial_of(out: Path) -> Path:
    """Return the folder in which a run works."""
    return out.with_name(out.name + ".partial")


def old_of(out: Path) -> Path:
    """Return the folder in which an earlier run waits until a new one has its name."""
    return out.with_name(out.name + ".old")


def check_out(out: Path) -> None:
    """Refuse an `out` that a run cannot replace, or that has something in the way beside it.

    Raises `UsageError`. An empty folder and an earlier run are fine.
    """
    for folder in (out, partial_of(out), old_of(out)):
        check_replaceable(folder)


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds anything but the files of a run. Raises `UsageError`."""
    with writing(folder, UsageError):
        if not os.path.lexists(folder):
            return
        if not folder.is_dir() or folder.is_symlink():
            kind = "link" if folder.is_symlink() else "file"
            raise UsageError(f"{folder} is a {kind} where a folder is needed; {MOVE}")
        found = strangers(folder)
        is_run = read_manifest(folder) is not None
    if found and not is_run:
        raise UsageError(
            f"{folder} holds files that are not a run of xoff ({_names(found)}), and is left "
            f"alone; {MOVE}"
        )
    if found:
        raise UsageError(
            f"{folder} is a run of xoff, but also holds {_names(found)}, which a new run would "
            f"not keep; {MOVE}"
        )


def _names(found: list[str]) -> str:
    shown = ", ".join(found[:MOST_NAMES])
    return shown if len(found) <= MOST_NAMES else f"{shown} and {len(found) - MOST_NAMES} more"


def strangers(folder: Path) -> list[str]:
    """Return the names of what is in a run's folder and is not the run's. Raises `OSError`."""
    own = _own_names(folder)
    with os.scandir(folder) as entries:
        return sorted(
            entry.name
            for entry in entries
            if entry.name not in own or not entry.is_file(follow_symlinks=False)
        )


def _own_names(folder: Path) -> frozenset[str]:
    manifest = read_manifest(folder)
    if manifest is None:
        # A run that was killed before it had a manifest.
        return frozenset(WORKING_FILES)
    listed = listed_files(manifest)
    # An unfinished run, or one of an older xoff, does not say which files it has.
    return WORKING_FILES | (run_files() if listed is None else frozenset(listed))


def clear(work: Path) -> None:
    """Remove the files of the run that worked here before; its lock stays. Raises `OSError`."""
    _remove_files(work, _own_names(work) - {LOCK})


def discard(folder: Path) -> None:
    """Remove a run's files, and its folder unless it holds anything else. Raises `OSError`."""
    _remove_files(folder, _own_names(folder))
    _remove_if_empty(folder)


def discard_damaged(folder: Path) -> None:
    """Remove a run of which not even the manifest need be left, in a folder that is xoff's own.

    Raises `OSError`.
    """
    if folder.is_dir():
        _remove_files(folder, run_files() | WORKING_FILES)
        _remove_if_empty(folder)


def _remove_files(folder: Path, names: frozenset[str]) -> None:
    # The manifest goes last: until then it says whose the others are.
    for name in sorted(names, key=lambda name: (name == MANIFEST, name)):
        path = folder / name
        if path.is_file() and not path.is_symlink():
            path.unlink()


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def publish(work: Path, out: Path) -> None:
    """Give the finished run in `work` its name; an earlier run at `out` is whole until then.

    Raises `UsageError` or `OSError` where that cannot be done and nothing has changed, `RunError`
    where it has been done, but something strange was found in the earlier run's folder.
    """
    old = old_of(out)
    for left in (LOCK, RESERVE):
        (work / left).unlink(missing_ok=True)
    check_out(out)  # it may have changed while the run was going on
    if old.exists():
        discard(old)
    replaces = out.exists()
    if replaces:
        out.rename(old)
    try:
        work.rename(out)
    except OSError:
        if replaces:
            old.rename(out)
        raise
    sync(out.parent)
    if old.exists():
        discard(old)
    if old.exists():
        raise RunError(
            f"the run is complete, in {out}; but what came into the earlier run's folder "
            f"meanwhile is in {old}: {_names(strangers(old))}"
        )


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk. Raises `OSError`."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
