"""Whether the files of a run directory are those that the run wrote.

The manifest of a finished run lists every file with its size and its SHA-256, both taken from the
bytes as they were written. Whatever reads a run directory does so through `RunFiles`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff.cores import cores
from xoff.errors import IncompleteRunError, UsageError, writing
from xoff.manifest import (
    MANIFEST,
    WORKING_FILES,
    needed_files,
    read_manifest,
    run_files,
    save_manifest,
)

if TYPE_CHECKING:
    from io import BufferedWriter

Entry = dict[str, Any]
"""What the manifest says of a file: `bytes` and `sha256`."""

CHUNK_BYTES = 1 << 20
AGAIN = "run it again"


class HashedFile:
    """A new file that is written from its begin to its end, and hashed on the way."""

    def __init__(self, path: Path) -> None:
        """Create the file, or empty it. Raises `OSError`."""
        self._file: BufferedWriter = path.open("wb")
        self._hash = hashlib.sha256()
        self._bytes = 0

    def write(self, data: bytes) -> int:
        """Append to the file. Raises `OSError`."""
        self._hash.update(data)
        self._bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Hand what is buffered to the system. Raises `OSError`."""
        self._file.flush()

    def close(self) -> None:
        """Write what is buffered and close the file. Raises `OSError`."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    @property
    def entry(self) -> Entry:
        """What the manifest says of the file."""
        return {"bytes": self._bytes, "sha256": self._hash.hexdigest()}


def write_hashed(path: Path, text: str) -> Entry:
    """Write a text; return what the manifest says of the file. Raises `RunError`."""
    with writing(path):
        file = HashedFile(path)
        try:
            file.write(text.encode())
        finally:
            file.close()
    return file.entry


def listed_files(manifest: Mapping[str, Any]) -> dict[str, Entry] | None:
    """Return what a manifest says of each file; None if it has no list, or a damaged one."""
    files = manifest.get("files")
    if not isinstance(files, dict):
        return None
    whole = all(
        # A name with a folder in it would reach out of the run directory.
        os.path.basename(name) == name not in ("", ".", "..", *WORKING_FILES)
        and isinstance(entry, dict)
        and type(entry.get("bytes")) is int
        and isinstance(entry.get("sha256"), str)
        for name, entry in files.items()
    )
    return files if whole else None


class RunFiles:
    """The files of a finished run, which are verified before they are used."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        """Take the files that a manifest lists.

        Raises `IncompleteRunError` where the run has not finished or its manifest has no list.
        """
        self.folder = folder
        self.manifest = manifest
        if manifest.get("complete") is not True:
            status = manifest.get("status", "unfinished")
            raise IncompleteRunError(f"{folder} is an incomplete run ({status}); {AGAIN}")
        listed = listed_files(manifest)
        if listed is None:
            raise IncompleteRunError(
                f"{folder / MANIFEST} has no list of the run's files with their checksums: the "
                f"run is from an older xoff, or the manifest is damaged; {AGAIN}"
            )
        self._listed = listed
        # What a file was when it was verified.
        self._verified: dict[str, tuple[int, ...]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._listed

    def verify(self) -> None:
        """Read every file and compare it with the manifest.

        Raises `IncompleteRunError` naming each file that is damaged, and how.
        """
        missing = [
            f"{name} is not listed in {MANIFEST}" for name in needed_files() if name not in self
        ]
        unlisted = [
            f"{name} is there, but not listed in {MANIFEST}"
            for name in sorted(run_files())
            if name not in self and os.path.lexists(self.folder / name)
        ]
        with ThreadPoolExecutor(cores()) as pool:
            found = list(pool.map(self._problem, self._listed))
        self._refuse([*missing, *unlisted, *(problem for problem in found if problem)])

    def path(self, name: str) -> Path:
        """Return the place of a file that is what the run wrote. It is not read again if nothing
        has touched it since it was.

        Raises `IncompleteRunError`.
        """
        self._refuse([problem] if (problem := self._problem(name)) else [])
        return self.folder / name

    def text(self, name: str) -> str:
        """Return the contents of a text file. Raises `IncompleteRunError`."""
        try:
            return self.path(name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise IncompleteRunError(
                f"cannot read {self.folder / name}: {error}; {AGAIN}"
            ) from error

    def add(self, name: str, text: str) -> None:
        """Add a text file to the finished run, or replace it. Raises `RunError`."""
        self._listed[name] = write_hashed(self.folder / name, text)
        with writing(self.folder / MANIFEST):
            save_manifest(self.folder, self.manifest)

    def _problem(self, name: str) -> str | None:
        """Say what is wrong with a file; None if it is what the run wrote."""
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
                    return f"{name} has {state.st_size:,} bytes in place of {expected['bytes']:,}"
                if _sha256(file) != expected["sha256"]:
                    return f"{name} is not what the run wrote: its checksum differs"
        except OSError as error:
            return f"{name} cannot be read: {(error.strerror or str(error)).lower()}"
        self._verified[name] = identity
        return None

    def _refuse(self, problems: Iterable[str]) -> None:
        if told := "; ".join(problems):
            raise IncompleteRunError(f"{self.folder} is damaged: {told}; {AGAIN}")


def _identity(state: os.stat_result) -> tuple[int, ...]:
    """Return what changes whenever a file is written or replaced."""
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def _sha256(file: Any) -> str:
    digest, buffer = hashlib.sha256(), bytearray(CHUNK_BYTES)
    view = memoryview(buffer)
    while count := file.readinto(buffer):
        digest.update(view[:count])
    return digest.hexdigest()


def open_run_dir(folder: Path) -> RunFiles:
    """Return the files of a finished run, all verified.

    Raises `IncompleteRunError` where the run is unfinished or damaged, `UsageError` where `folder`
    is not a run directory.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise _not_a_run(folder)
    files = RunFiles(folder, manifest)
    files.verify()
    return files


def _not_a_run(folder: Path) -> UsageError:
    partial = folder.with_name(folder.name + ".partial") if folder.name else folder
    if os.path.lexists(folder / MANIFEST):
        return IncompleteRunError(
            f"{folder / MANIFEST} is damaged, or not of a run of xoff; {AGAIN}"
        )
    if (left := read_manifest(partial)) is None:
        return UsageError(f"{folder} is not a run directory of xoff (no {MANIFEST})")
    if left.get("complete") is True:
        return IncompleteRunError(
            f"{folder} is not there; {partial} is the finished run: rename it"
        )
    return IncompleteRunError(f"{folder} is not there; {partial} is an unfinished run")
