"""Exceptions of xoff and the exit code of each."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xoff.result import Result


class XoffError(Exception):
    """Base class of the errors xoff raises on purpose; `str()` is ready to print."""

    exit_code = 1


class UsageError(XoffError, ValueError):
    """An invalid request, detected before anything runs."""

    exit_code = 2


class ScenarioError(UsageError):
    """A scenario that does not parse or validate; `str()` is the full diagnostic."""


class MissingExtraError(UsageError, ImportError):
    """An optional package that is not installed; `str()` has the command that installs it."""


class IncompleteRunError(UsageError):
    """A run directory whose run is unfinished or whose files are damaged."""


class RunError(XoffError, RuntimeError):
    """A run that started and failed; `str()` says where."""


class InvariantError(RunError):
    """A run in which an invariant does not hold: a bug of xoff; `str()` says which and where."""

    exit_code = 4


class EndedEarly(RunError):
    """A run that reached its budget; `result` has the results of its part, marked as such."""

    exit_code = 3

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP, raised once partial results are saved."""

    exit_code = 130


def reason(error: OSError) -> str:
    """Return a short reason why a file operation failed, with advice where there is any."""
    if is_disk_full(error):
        return "no space left on the device; free some space or choose another folder with --out"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what = error.strerror or "permission denied"
        return f"{what.lower()}; choose a writable folder with --out"
    if error.errno == errno.EFBIG:
        return "the limit of a file's size is reached; raise it (`ulimit -f`)"
    if error.errno == errno.ENOENT:
        return "its folder was removed meanwhile; run it again, or choose another with --out"
    return error.strerror or str(error)


def is_disk_full(error: OSError) -> bool:
    """Return whether the disk or the quota is full (Arrow may leave `errno` unset)."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return "no space left" in str(error).lower()


@contextmanager
def writing(path: Path, kind: type[XoffError] = RunError) -> Iterator[None]:
    """Turn an `OSError` inside the block into `kind`, with `path` and advice in the message."""
    try:
        yield
    except OSError as error:
        raise kind(f"cannot write {path}: {reason(error)}") from error


def as_path(given: str | os.PathLike[str], what: str) -> Path:
    """Return `given` as a path; `what` describes it in errors, e.g. "a scenario".

    Raises `UsageError` if it is empty, not valid Unicode or contains a NUL character.
    """
    text = os.fspath(given)
    if not text:
        raise UsageError(f"the path of {what} is empty; omit it or give one")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{text!r} cannot be the path of {what}: invalid Unicode at character {error.start}"
        ) from None
    if b"\0" in encoded:
        raise UsageError(f"{text!r} cannot be the path of {what}: it contains a NUL character")
    return Path(text)
