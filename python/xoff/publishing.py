"""Replacement of an earlier run by a finished one.

A run replaces only files listed in the manifest of an earlier run. Other files in the folder
belong to the user: they are never touched, and an error names them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from xoff.drafts import sync
from xoff.errors import RunError, UsageError, writing
from xoff.integrity import listed_files
from xoff.manifest import (
    MANIFEST,
    OTHERS,
    RESERVE,
    WORKING_FILES,
    partial_of,
    read_manifest,
    run_files,
)

MOVE = "move it, or choose another folder with --out"
# Largest number of file names in an error message.
MOST_NAMES = 5


def old_of(out: Path) -> Path:
    """Return the temporary folder of an earlier run while a new one replaces it.

    No one gives this name to a run that is to be kept.
    """
    return out.with_name(f".{out.name}.xoff-old")


def check_out(out: Path) -> None:
    """Check that a run can replace `out`, its `.partial` and what an earlier replacement left.

    Each may be missing, empty or an earlier run. Raises `UsageError`.
    """
    for folder in (out, partial_of(out), old_of(out)):
        check_replaceable(folder)


def check_replaceable(folder: Path) -> None:
    """Check that a folder contains only files of a run. Raises `UsageError`."""
    with writing(folder, UsageError):
        if not os.path.lexists(folder):
            return
        if not folder.is_dir() or folder.is_symlink():
            kind = "link" if folder.is_symlink() else "file"
            raise UsageError(f"{folder} is a {kind}, not a folder; {MOVE}")
        found = strangers(folder)
        is_run = read_manifest(folder) is not None
    if found and not is_run:
        raise UsageError(
            f"{folder} contains files that are not from a run of xoff ({_names(found)}); {MOVE}"
        )
    if found:
        raise UsageError(
            f"{folder} is a run of xoff but also contains {_names(found)}, which a new run would "
            f"delete; {MOVE}"
        )


def _names(found: list[str]) -> str:
    shown = ", ".join(found[:MOST_NAMES])
    return shown if len(found) <= MOST_NAMES else f"{shown} and {len(found) - MOST_NAMES} more"


def strangers(folder: Path) -> list[str]:
    """Return the names of entries in a run's folder that are not the run's. Raises `OSError`."""
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
        # The run was killed before it wrote a manifest.
        return frozenset(WORKING_FILES)
    listed = listed_files(manifest)
    # The manifest of an unfinished run or of an older xoff has no file list.
    if listed is not None:
        return WORKING_FILES | frozenset(listed)
    others = manifest.get(OTHERS)
    named = filter(_is_plain_name, others) if isinstance(others, list) else ()
    return WORKING_FILES | run_files() | set(named)


def _is_plain_name(name: object) -> bool:
    """Return whether this can only name a file in the folder itself."""
    return isinstance(name, str) and name == os.path.basename(name) and name not in ("", ".", "..")


def clear(work: Path) -> None:
    """Remove the files of an earlier run in `work`. Raises `OSError`."""
    _remove_files(work, _own_names(work))


def discard(folder: Path) -> None:
    """Remove a run's files, and its folder if it is then empty. Raises `OSError`."""
    _remove_files(folder, _own_names(folder))
    _remove_if_empty(folder)


def discard_damaged(folder: Path) -> None:
    """Remove a damaged run from xoff's own cache, where its manifest may be missing, too.

    Raises `OSError`.
    """
    if folder.is_dir():
        _remove_files(folder, run_files() | _own_names(folder))
        _remove_if_empty(folder)


def _remove_files(folder: Path, names: frozenset[str]) -> None:
    # Remove the manifest last: until then it identifies the other files.
    for name in sorted(names, key=lambda name: (name == MANIFEST, name)):
        path = folder / name
        if path.is_file() and not path.is_symlink():
            path.unlink()


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def restore(out: Path) -> None:
    """Give an earlier run its name again, after a crash before its replacement had it.

    Raises `OSError`.
    """
    old_of(out).rename(out)
    sync(out.parent)


def publish(work: Path, out: Path) -> None:
    """Rename the finished run in `work` to `out`; an earlier run stays whole until the rename.

    Raises `UsageError` or `OSError` if nothing was changed, `RunError` if the run was published
    but foreign files appeared in the earlier run's folder.
    """
    old = old_of(out)
    (work / RESERVE).unlink(missing_ok=True)
    check_out(out)  # it may have changed during the run
    replaces = out.exists()
    if replaces:
        if old.exists():  # of a crash after its replacement had its name
            discard(old)
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
            f"the run is complete, in {out}; files that appeared in the earlier run's folder "
            f"meanwhile are kept in {old}: {_names(strangers(old))}"
        )
