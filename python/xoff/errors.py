"""What can go wrong, and with which exit code the command answers."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class XoffError(Exception):
    """Base of every error xoff raises on purpose; `str()` is ready to print."""

    exit_code = 1


class UsageError(XoffError, ValueError):
    """The request cannot be carried out as given: known before anything runs."""

    exit_code = 2


class ScenarioError(UsageError):
    """A scenario that does not parse or validate. `str()` is the full diagnostics."""


class IncompleteRunError(UsageError):
    """A run directory that is not a whole, finished run."""


class RunError(XoffError, RuntimeError):
    """A run that started and failed; `str()` names the place."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP, after what was done has been put in order."""

    exit_code = 130


def reason(error: OSError) -> str:
    """Say in a few words why an operation on a file failed."""
    if is_disk_full(error):
        return "no space left on the device; free some space or choose another folder with --out"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what = error.strerror or "permission denied"
        return f"{what.lower()}; choose a folder you may write to with --out"
    return error.strerror or str(error)


def is_disk_full(error: OSError) -> bool:
    """Tell whether the disk or the quota is used up (Arrow may leave `errno` unset)."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return "no space left" in str(error).lower()


@contextmanager
def writing(path: Path, kind: type[XoffError] = RunError) -> Iterator[None]:
    """Turn an `OSError` inside the block into `kind`, naming `path` and what to do."""
    try:
        yield
    except OSError as error:
        raise kind(f"cannot write {path}: {reason(error)}") from error


def as_path(given: str | os.PathLike[str], what: str) -> Path:
    """Return the path that names `what`. Raises `UsageError` where no file can have such a name."""
    text = os.fspath(given)
    if not text:
        raise UsageError(f"the name of {what} is empty; leave it out or name one")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{text!r} cannot name {what}: it is not valid Unicode at character {error.start}"
        ) from None
    if b"\0" in encoded:
        raise UsageError(f"{text!r} cannot name {what}: no name may contain a NUL character")
    return Path(text)
