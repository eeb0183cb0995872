"""A run's directory, written so that it is whole or visibly not.

Work happens in `<out>.partial/`, whose manifest says `"complete": false` from its first
moment; only when every file is written, synced and closed is the folder renamed to `<out>`.
A crash, a full disk or a Ctrl-C therefore never leaves something that looks finished.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from xoff import engine, publishing
from xoff.budget import KEY, EarlyEnd
from xoff.drafts import sync
from xoff.errors import (
    Interrupted,
    InvariantError,
    RunError,
    UsageError,
    XoffError,
    writing,
)
from xoff.integrity import Entry, HashedFile, RunFiles, open_run_dir, write_hashed
from xoff.locks import FolderLock
from xoff.manifest import (
    DRAFT,
    MANIFEST,
    OTHERS,
    RESERVE,
    SCENARIO,
    SUMMARY,
    is_complete,
    needed_tables,
    partial_of,
    save_manifest,
    table_file,
)
from xoff.result import Result
from xoff.sections import read_summary
from xoff.tables import TableWriter, empty_schema

if TYPE_CHECKING:
    from xoff._native import Run

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a run in an orderly way; Windows has no SIGHUP."""

# Space that is given back when the disk is full, so that the manifest can say what happened.
RESERVE_BYTES = 16_384


@contextmanager
def signals_held() -> Iterator[None]:
    """Ignore Ctrl-C and its kin in the block: tidying up is short and must not be torn."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [signal.signal(kind, signal.SIG_IGN) for kind in STOP_SIGNALS]
    try:
        yield
    finally:
        for kind, handler in zip(STOP_SIGNALS, before, strict=True):
            signal.signal(kind, handler)


def resolved(out: Path) -> Path:
    """Return the place of a run directory, links followed. Raises `UsageError`."""
    try:
        found = out.resolve()
    except (OSError, RuntimeError) as error:  # a link that leads to itself
        raise UsageError(f"cannot write {out}: {error}") from None
    if not found.name:
        raise UsageError(f"{out} is the root of the file system; name a folder with --out")
    return found


class RunDir:
    """Writer of one run directory; use as a context manager around the run.

    Leaving the block before `finish` keeps `<out>.partial` with `complete` false: after
    Ctrl-C the exception becomes `Interrupted`, which says where the rows are.
    Raises `UsageError` on entry (not writable, in use, not ours), `RunError` later.
    """

    def __init__(self, out: Path, command: Sequence[str]) -> None:
        self.out = resolved(out)
        self.work = partial_of(self.out)
        self._began = time.monotonic()
        self._lock = FolderLock(self.out)
        self._complete = self._ended_early = False
        self._tables: dict[str, TableWriter] = {}
        self._others: dict[str, HashedFile] = {}
        self._files: dict[str, Entry] = {}
        self._manifest: dict[str, Any] = {
            "xoff": engine.version(),
            "complete": False,
            "status": "running",
            "command": list(command),
            "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        }

    def __enter__(self) -> RunDir:
        """Claim the folder; everything that can be known to fail fails here."""
        with writing(self.work, UsageError):
            self.out.parent.mkdir(parents=True, exist_ok=True)
            self._lock.take()
        try:
            self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def _begin(self) -> None:
        publishing.check_out(self.out)
        with writing(self.work, UsageError):
            if _is_finished(self.work):
                # Only a crash or something in the way kept it from getting its name.
                publishing.publish(self.work, self.out)
            if not os.path.lexists(self.out) and _is_finished(publishing.old_of(self.out)):
                publishing.restore(self.out)
            self.work.mkdir(exist_ok=True)
            publishing.clear(self.work)
            (self.work / RESERVE).write_bytes(os.urandom(RESERVE_BYTES))
            save_manifest(self.work, self._manifest)
        self._tables = {table: self._writer(table) for table in needed_tables()}

    def rows(self, table: str, batch: Any) -> None:
        """Append rows of a table. The files of some tables are there only if they get rows."""
        if table not in self._tables:
            self._tables[table] = self._writer(table)
        self._tables[table].add(batch)

    def _writer(self, table: str) -> TableWriter:
        return TableWriter(self.work / table_file(table), empty_schema(table))

    def file(self, name: str, data: bytes) -> None:
        """Append to a file that is no table."""
        with writing(self.work / name):
            if name not in self._others:
                # A killed run has no list of files, but a new run may replace these.
                self._manifest[OTHERS] = sorted({*self._others, name})
                save_manifest(self.work, self._manifest)
                self._others[name] = HashedFile(self.work / name)
            self._others[name].write(data)

    def begin(self, run: Run) -> None:
        """Write what is known before the run, so that it survives an interruption."""
        self._manifest.update(threads=run.threads, threads_note=run.threads_note)
        self._write_text(SCENARIO, run.effective())

    def finish(self, run: Run) -> Result:
        """Write what is known at the end, sync, and give the folder its final name.

        Return the finished run.
        """
        summary = run.summary()
        known = read_summary(summary, self.work / SUMMARY)
        with signals_held():
            self._write_results(run, summary, known, complete=True, status="complete")
            self._complete = True
            self._publish()
        files = RunFiles(self.out, self._manifest)
        return Result(known, run.effective(), run.digest(), self.out, files=files)

    def finish_early(self, run: Run, early: EarlyEnd) -> Result:
        """Write the results of a part of a run. The folder stays `.partial`, marked incomplete."""
        known = early.marked(read_summary(run.summary(), self.work / SUMMARY))
        marks = {"complete": False, "status": early.text, KEY: early.as_json()}
        with signals_held():
            self._write_results(run, json.dumps(known), known, **marks)
            self._ended_early = True
            self._remove(RESERVE)
        files = RunFiles(self.work, self._manifest, partial=True)
        return Result(known, run.effective(), run.digest(), self.work, files=files)

    def _write_results(
        self, run: Run, summary: str, known: Mapping[str, Any], **marks: Any
    ) -> None:
        """Close all files, write the summary and a manifest with these marks, and sync."""
        self._close_files()
        self._write_text(SUMMARY, summary)
        self._manifest.pop(OTHERS, None)
        self._manifest.update(
            {key: known[key] for key in ("name", "scheme", "seed") if key in known},
            digest=run.digest(),
            **marks,
            wall_s=self._wall_s(),
            files=dict(sorted(self._files.items())),
        )
        with writing(self.work):
            for name in self._files:
                sync(self.work / name)
            save_manifest(self.work, self._manifest)

    def _close_files(self) -> None:
        for name, table in self._tables.items():
            table.close()
            self._files[table_file(name)] = table.entry
        for name, file in self._others.items():
            with writing(self.work / name):
                file.close()
            self._files[name] = file.entry

    def _publish(self) -> None:
        try:
            with writing(self.out):
                publishing.publish(self.work, self.out)
        except XoffError as error:
            where = f"\nthe run is complete, in {self.work}" if self.work.exists() else ""
            raise RunError(f"{error}{where}") from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Mark an unfinished folder as such and release it."""
        try:
            if error is not None and not (self._complete or self._ended_early):
                with signals_held():
                    self._abandon(error)
        finally:
            self._lock.release()
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted; {self.left()}") from None
        if isinstance(error, RunError) and not self._complete:
            failed = InvariantError if isinstance(error, InvariantError) else RunError
            raise failed(f"{error}\n{self.left()}") from error.__cause__

    def left(self) -> str:
        """Say where what was done is."""
        if self._complete:
            return f"the run is complete, in {self.out if self.out.exists() else self.work}"
        if not self.work.is_dir():
            return f"nothing is left of it: {self.work} was removed while the run was going on"
        return f"what was done is in {self.work} (marked incomplete)"

    def _abandon(self, error: BaseException) -> None:
        stopped = isinstance(error, KeyboardInterrupt)
        self._manifest.update(
            complete=False,
            status="interrupted" if stopped else "failed",
            wall_s=self._wall_s(),
        )
        for key in ("files", KEY):
            self._manifest.pop(key, None)
        if not stopped:
            self._manifest["error"] = str(error)
        # The first error is the one to report, and the manifest already says incomplete.
        files: list[TableWriter | HashedFile] = [*self._tables.values(), *self._others.values()]
        for file in files:
            with suppress(RunError, OSError, ValueError):
                file.close()
        # After the rows, which would take what the reserve gives back.
        self._remove(RESERVE)
        with suppress(OSError):
            save_manifest(self.work, self._manifest)
        self._remove(MANIFEST + DRAFT)

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            (self.work / name).unlink(missing_ok=True)

    def _wall_s(self) -> float:
        return round(time.monotonic() - self._began, 3)

    def _write_text(self, name: str, text: str) -> None:
        self._files[name] = write_hashed(self.work / name, text)


def adopt(out: Path) -> None:
    """Give a finished run its name, if a crash came between its end and the rename.

    Raises `UsageError` if another process is writing it, `RunError` if it cannot be renamed.
    """
    found = RunDir(out, [])
    if os.path.lexists(found.out) or not _is_finished(found.work):
        return
    with writing(found.work):
        found._lock.take()
        try:
            if _is_finished(found.work):
                publishing.publish(found.work, found.out)
        finally:
            found._lock.release()


def _is_finished(folder: Path) -> bool:
    """Tell whether a folder holds a whole, finished run."""
    if not is_complete(folder):
        return False
    try:
        open_run_dir(folder)
    except UsageError:
        return False
    return True
