"""What can go wrong, and with which exit code the command answers."""

from __future__ import annotations

import errno
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
    """Ctrl-C or SIGTERM, after what was done has been put in order."""

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
