"""Files that are replaced at once: a reader sees the old file or the new one, never a part.

A draft next to the file is named after its machine and process, since several may write the same
file. Drafts of killed processes of this machine are removed by the next one.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """Yield a path to write; at the end of the block it becomes `target`, synced to disk.

    After an error there is no draft, and `target` is as before. Raises `OSError`.
    """
    machine = re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:40]
    begin = f".{target.name}.{machine}-"
    draft = target.with_name(f"{begin}{os.getpid()}{target.suffix}")
    _remove_orphans(target, begin)
    try:
        yield draft
        sync(draft)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def replace_text(target: Path, text: str) -> None:
    """Replace the contents of a file at once. Raises `OSError`."""
    with draft_of(target) as draft:
        draft.write_text(text, encoding="utf-8")


def sync(path: Path) -> None:
    """Sync a file or folder to disk. Raises `OSError`."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_orphans(target: Path, begin: str) -> None:
    """Remove drafts of processes of this machine that do not exist any more."""
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            process = entry.name.removeprefix(begin).removesuffix(target.suffix)
            if entry.name.startswith(begin) and process.isdecimal() and not _lives(int(process)):
                os.unlink(entry.path)


def _lives(process: int) -> bool:
    if sys.platform == "win32":
        return True  # there, signal 0 would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
