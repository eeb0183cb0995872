"""Verification of the files of a run directory.

The manifest of a finished run lists every file with its size and SHA-256, both computed while the
file was written. All readers of run directories go through `RunFiles`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.budget import EarlyEnd
from xoff.cores import cores
from xoff.errors import IncompleteRunError, UsageError, writing
from xoff.manifest import (
    MANIFEST,
    WORKING_FILES,
    needed_files,
    partial_of,
    read_manifest,
    run_files,
    save_manifest,
)

if TYPE_CHECKING:
    from io import BufferedWriter

Entry = dict[str, Any]
"""A file's entry in the manifest: `bytes` and `sha256`."""

CHUNK_BYTES = 1 << 20
AGAIN = "run it again"


class HashedFile:
    """A new file, written sequentially and hashed while it is written."""

    def __init__(self, path: Path) -> None:
        """Create or truncate the file. Raises `OSError`."""
        self._file: BufferedWriter = path.open("wb")
        self._hash = hashlib.sha256()
        self._bytes = 0

    def write(self, data: bytes) -> int:
        """Append to the file. Raises `OSError`."""
        self._hash.update(data)
        self._bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Flush the buffer to the operating system. Raises `OSError`."""
        self._file.flush()

    def close(self) -> None:
        """Flush the buffer and close the file. Raises `OSError`."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    @property
    def entry(self) -> Entry:
        """The file's entry in the manifest."""
        return {"bytes": self._bytes, "sha256": self._hash.hexdigest()}


def write_hashed(path: Path, text: str) -> Entry:
    """Write a text file; return its entry in the manifest. Raises `RunError`."""
    with writing(path):
        file = HashedFile(path)
        try:
            file.write(text.encode())
        finally:
            file.close()
    return file.entry


def listed_files(manifest: Mapping[str, Any]) -> dict[str, Entry] | None:
    """Return the manifest's entry of each file; None if the list is missing or malformed."""
    files = manifest.get("files")
    if not isinstance(files, dict):
        return None
    whole = all(
        # A name with a path separator could point outside the run directory.
        os.path.basename(name) == name not in ("", ".", "..", *WORKING_FILES)
        and isinstance(entry, dict)
        and type(entry.get("bytes")) is int
        and isinstance(entry.get("sha256"), str)
        for name, entry in files.items()
    )
    return files if whole else None


class RunFiles:
    """The files of a finished run, verified before use."""

    def __init__(self, folder: Path, manifest: dict[str, Any], partial: bool = False) -> None:
        """Take the file list of a manifest.

        Raises `IncompleteRunError` if the run is unfinished or the manifest has no valid list. With
        `partial`, a run that ended early by its budget is accepted.
        """
        self.folder = folder
        self.manifest = manifest
        if manifest.get("complete") is not True and not (partial and EarlyEnd.read(manifest)):
            raise IncompleteRunError(
                f"{folder} is an incomplete run ({_status(manifest)}); {_advice(folder, manifest)}"
            )
        listed = listed_files(manifest)
        if listed is None:
            raise IncompleteRunError(
                f"{folder / MANIFEST} has no valid list of files and checksums: the run is from "
                f"an older xoff, or the manifest is damaged; {AGAIN}"
            )
        self._listed = listed
        # Identity of each file (`_identity`) at its last verification.
        self._verified: dict[str, tuple[int, ...]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._listed

    def verify(self) -> None:
        """Compare every file with the manifest.

        Raises `IncompleteRunError` with the name and the problem of each damaged file.
        """
        missing = [
            f"{name} is not listed in {MANIFEST}" for name in needed_files() if name not in self
        ]
        unlisted = [
            f"{name} exists but is not listed in {MANIFEST}"
            for name in sorted(run_files())
            if name not in self and os.path.lexists(self.folder / name)
        ]
        with ThreadPoolExecutor(cores()) as pool:
            found = list(pool.map(self._problem, self._listed))
        self._refuse([*missing, *unlisted, *(problem for problem in found if problem)])

    def path(self, name: str) -> Path:
        """Return the path of a file after verifying it.

        A file that has not changed since its last verification is not read again.
        Raises `IncompleteRunError`.
        """
        self._refuse([problem] if (problem := self._problem(name)) else [])
        return self.folder / name

    def text(self, name: str) -> str:
        """Return the contents of a verified text file. Raises `IncompleteRunError`."""
        try:
            return self.path(name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise IncompleteRunError(
                f"cannot read {self.folder / name}: {error}; {AGAIN}"
            ) from error

    def add(self, name: str, text: str) -> None:
        """Add a text file to the finished run or replace it.

        Raises `RunError` if it cannot be written or listed; the run is then as before.
        """
        path, listed = self.folder / name, dict(self._listed)
        with writing(path):
            before = path.read_bytes() if path.is_file() else None
        try:
            self._listed[name] = write_hashed(path, text)
            with writing(self.folder / MANIFEST):
                save_manifest(self.folder, self.manifest)
        except BaseException:
            self._listed.clear()
            self._listed.update(listed)
            with suppress(OSError):
                path.unlink(missing_ok=True) if before is None else path.write_bytes(before)
            raise

    def _problem(self, name: str) -> str | None:
        """Describe the problem of a file; None if it is as the run wrote it."""
        expected, path = self._listed.get(name), self.folder / name
        if expected is None:
            return f"{name} is not listed in {MANIFEST}"
        try:
            if not path.is_file():
                return f"{name} is not a file" if os.path.lexists(path) else f"{name} is missing"
            with path.open("rb") as file:
                state = os.fstat(file.fileno())
                identity = _identity(state)
                if self._verified.get(name) == identity:
                    return None
                if state.st_size != expected["bytes"]:
                    return f"{name} has {state.st_size:,} bytes instead of {expected['bytes']:,}"
                if _sha256(file) != expected["sha256"]:
                    return f"{name} has changed since the run: its checksum differs"
        except OSError as error:
            return f"{name} cannot be read: {(error.strerror or str(error)).lower()}"
        self._verified[name] = identity
        return None

    def _refuse(self, problems: Iterable[str]) -> None:
        if told := "; ".join(problems):
            raise IncompleteRunError(f"{self.folder} is damaged: {told}; {AGAIN}")


def _identity(state: os.stat_result) -> tuple[int, ...]:
    """Return a key that changes whenever a file is written or replaced."""
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _sha256(file: Any) -> str:
    digest, buffer = hashlib.sha256(), bytearray(CHUNK_BYTES)
    view = memoryview(buffer)
    while count := file.readinto(buffer):
        digest.update(view[:count])
    return digest.hexdigest()


def open_run_dir(folder: Path, partial: bool = False) -> RunFiles:
    """Return the files of a finished run, all verified.

    With `partial`, the run may have ended early by its budget, in `folder` or in its `.partial`.
    Raises `IncompleteRunError` if the run is unfinished or damaged, `UsageError` if `folder` is not
    a run directory.
    """
    manifest = read_manifest(folder)
    if manifest is None and partial:
        left = read_manifest(partial_of(folder))
        if EarlyEnd.read(left):
            folder, manifest = partial_of(folder), left
    if manifest is None:
        raise _not_a_run(folder)
    files = RunFiles(folder, manifest, partial)
    files.verify()
    return files


def _not_a_run(folder: Path) -> UsageError:
    partial = partial_of(folder)
    if os.path.lexists(folder / MANIFEST):
        return IncompleteRunError(
            f"{folder / MANIFEST} is damaged or was not written by xoff; {AGAIN}"
        )
    if (left := read_manifest(partial)) is None:
        return UsageError(f"{folder} is not a run directory of xoff (no {MANIFEST})")
    if left.get("complete") is True:
        return IncompleteRunError(
            f"{folder} does not exist, but {partial} is the finished run: rename it to {folder}"
        )
    return IncompleteRunError(
        f"{folder} does not exist; {partial} is an unfinished run ({_status(left)}); "
        f"{_advice(partial, left)}"
    )


def _advice(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Return what to do about an incomplete run."""
    if EarlyEnd.read(manifest) is None:
        return AGAIN
    return (
        f"{AGAIN}, or read this part with `xoff report {folder}` or "
        f"xoff.load({str(folder)!r}, partial=True)"
    )


def _status(manifest: Mapping[str, Any]) -> str:
    """Return how an incomplete run ended, as its manifest says."""
    return str(manifest.get("status", "unfinished"))
