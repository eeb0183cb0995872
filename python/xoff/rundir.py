"""A run's directory, written so that it is whole or visibly not.

Work happens in `<out>.partial/`, whose manifest says `"complete": false` from its first
moment; only when every file is written, synced and closed is the folder renamed to `<out>`.
A crash, a full disk or a Ctrl-C therefore never leaves something that looks finished.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from xoff import engine
from xoff.errors import Interrupted, RunError, UsageError, writing
from xoff.manifest import MANIFEST, read_manifest, replace_text
from xoff.tables import FLOW_SCHEMA, TableWriter, as_batch

if TYPE_CHECKING:
    from xoff._native import Run

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: two runs into one folder go undetected
    fcntl = None  # type: ignore[assignment]


def check_target(out: Path) -> None:
    """Refuse an `out` that would overwrite something other than a run of xoff.

    Raises `UsageError`. An empty folder and an earlier run are fine.
    """
    with writing(out, UsageError):
        if not out.exists():
            return
        if not out.is_dir():
            raise UsageError(f"{out} is a file; name a folder with --out")
        empty = not any(out.iterdir())
    if not empty and read_manifest(out) is None:
        raise UsageError(
            f"{out} holds files that are not a run of xoff, and is left alone; "
            "choose another folder with --out"
        )


@contextmanager
def signals_held() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM in the block: tidying up is short and must not be torn."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, signal.SIG_IGN) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


class RunDir:
    """Writer of one run directory; use as a context manager around the run.

    Leaving the block before `finish` keeps `<out>.partial` with `complete` false: after
    Ctrl-C the exception becomes `Interrupted`, which says where the rows are.
    Raises `UsageError` on entry (not writable, in use, not ours), `RunError` later.
    """

    def __init__(self, out: Path, command: Sequence[str]) -> None:
        self.out = out.resolve()
        self.work = self.out.with_name(self.out.name + ".partial")
        self._began = time.monotonic()
        self._lock: IO[str] | None = None
        self._writers: dict[str, TableWriter] = {}
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
        check_target(self.out)
        with writing(self.work, UsageError):
            if self.work.exists() and any(self.work.iterdir()) and not read_manifest(self.work):
                raise UsageError(
                    f"{self.work} is in the way and is not an unfinished run of xoff; "
                    "move it or choose another folder with --out"
                )
            self.work.mkdir(parents=True, exist_ok=True)
            self._claim()
            for old in self.work.iterdir():
                if old.name != ".lock":
                    _remove(old)
            self._save_manifest()
        self._writers = {
            "flows": TableWriter(self.work / "flows.parquet", FLOW_SCHEMA),
            "samples": TableWriter(self.work / "samples.parquet", None),
        }
        return self

    def _claim(self) -> None:
        if fcntl is None:
            return
        self._lock = (self.work / ".lock").open("w", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise UsageError(f"another run is writing {self.work}; wait or use --out") from None

    def flows(self, batch: Any) -> None:
        """Append finished flows."""
        self._writers["flows"].add(batch)

    def samples(self, batch: Any) -> None:
        """Append switch and port samples."""
        self._writers["samples"].add(batch)

    def flow_series(self, batch: Any) -> None:
        """Append what flows' receivers got; the file is there only if a run records it."""
        self._optional("flow_series").add(batch)

    def port_samples(self, batch: Any) -> None:
        """Append samples of all ports; the file is there only if a run records it."""
        self._optional("port_samples").add(batch)

    def queries(self, batch: Any) -> None:
        """Append queries that ended; the file is there only if a run has any."""
        self._optional("queries").add(batch)

    def requests(self, batch: Any) -> None:
        """Append web requests that ended; the file is there only if a run has any."""
        self._optional("requests").add(batch)

    def _optional(self, name: str) -> TableWriter:
        if name not in self._writers:
            self._writers[name] = TableWriter(self.work / f"{name}.parquet", None)
        return self._writers[name]

    def capture(self, data: bytes) -> None:
        """Append to the file of captured packets."""
        path = self.work / "trace.pcapng"
        with writing(path), path.open("ab") as file:
            file.write(data)

    def begin(self, run: Run) -> None:
        """Write what is known before the run, so that it survives an interruption."""
        self._manifest.update(threads=run.threads, threads_note=run.threads_note)
        self._write_text("scenario.toml", run.effective())

    def finish(self, run: Run) -> None:
        """Write what is known at the end, sync, and give the folder its final name."""
        ports = TableWriter(self.work / "ports.parquet", None)
        if (found := run.ports()) is not None:
            ports.add(as_batch(found))
        summary = run.summary()
        with signals_held():
            for writer in (*self._writers.values(), ports):
                writer.close()
            self._write_text("summary.json", summary)
            known = json.loads(summary)
            self._manifest.update(
                {key: known[key] for key in ("name", "scheme", "seed") if key in known},
                digest=run.digest(),
                complete=True,
                status="complete",
                wall_s=round(time.monotonic() - self._began, 3),
            )
            with writing(self.work):
                for file in self.work.iterdir():
                    _sync(file)
                self._save_manifest()
            with writing(self.out):
                self._publish()

    def _publish(self) -> None:
        old = self.out.with_name(self.out.name + ".old")
        if old.exists() and read_manifest(old) is not None:
            shutil.rmtree(old)
        (self.work / ".lock").unlink(missing_ok=True)
        if self.out.exists():
            check_target(self.out)  # it may have changed while the run was going on
            self.out.rename(old)
        self.work.rename(self.out)
        _sync(self.out.parent)
        if old.exists():
            shutil.rmtree(old, ignore_errors=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Mark an unfinished folder as such and release it."""
        try:
            if error is not None:
                with signals_held():
                    self._abandon(error)
        finally:
            if self._lock is not None:
                self._lock.close()
        where = f"what was done is in {self.work} (marked incomplete)"
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"interrupted; {where}") from None
        if isinstance(error, RunError):
            raise RunError(f"{error}\n{where}") from error.__cause__

    def _abandon(self, error: BaseException) -> None:
        stopped = isinstance(error, KeyboardInterrupt)
        self._manifest.update(
            complete=False,
            status="interrupted" if stopped else "failed",
            wall_s=round(time.monotonic() - self._began, 3),
        )
        if not stopped:
            self._manifest["error"] = str(error)
        # The first error is the one to report, and the manifest already says incomplete.
        for writer in self._writers.values():
            with suppress(RunError, OSError, ValueError):
                writer.close()
        with suppress(OSError):
            self._save_manifest()
        for left in (f"{MANIFEST}.new", ".lock"):
            with suppress(OSError):
                (self.work / left).unlink(missing_ok=True)

    def _write_text(self, name: str, text: str) -> None:
        with writing(self.work / name):
            (self.work / name).write_text(text, encoding="utf-8")

    def _save_manifest(self) -> None:
        text = json.dumps(self._manifest, indent=2) + "\n"
        replace_text(self.work / MANIFEST, text)


def _sync(path: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
