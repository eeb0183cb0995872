"""The lock of a run directory: one process at a time writes it and the folders next to it.

The lock is a file next to the directory, so that it stays where it is when folders are renamed.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from xoff.errors import UsageError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: two runs into one folder go undetected
    fcntl = None  # type: ignore[assignment]

# `in_use` has the lock for a moment; only a run has it for longer than this.
LOOK_S = 0.4


def lock_of(out: Path) -> Path:
    """Return the file that is locked while a run writes the directory `out`."""
    return out.with_name(f".{out.name}.xoff-lock")


class FolderLock:
    """The lock of a run directory, or of a file that several processes change.

    `option` names another place in the error.
    """

    def __init__(self, out: Path, option: str = "--out") -> None:
        self._out, self._option = out, option
        self._path = lock_of(out)
        self._file: IO[str] | None = None

    def take(self, wait_s: float = LOOK_S) -> None:
        """Take the lock. Raises `UsageError` if another process keeps it, or `OSError`."""
        if fcntl is None:
            return
        deadline = time.monotonic() + wait_s
        while not self._try():
            if time.monotonic() > deadline:
                raise UsageError(f"another run is writing {self._out}; wait or use {self._option}")
            time.sleep(LOOK_S / 20)

    def _try(self) -> bool:
        file = self._path.open("a", encoding="utf-8")
        # Whoever had the lock has removed its file: then this is the lock of no one.
        if not (_taken(file) and _is_at(file, self._path)):
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Release the lock, if it is taken, and remove its file."""
        if self._file is not None:
            with suppress(OSError):
                if _is_at(self._file, self._path):
                    self._path.unlink()
            self._file.close()
            self._file = None


def in_use(out: Path) -> bool:
    """Return whether another process is writing the run directory `out`."""
    lock = lock_of(out)
    if fcntl is None or not lock.exists():
        return False
    try:
        with lock.open("r", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # it was removed meanwhile
        return False
    return False


def _taken(lock: IO[str]) -> bool:
    """Take a lock unless another process has it; return whether it is taken."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[str], path: Path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
