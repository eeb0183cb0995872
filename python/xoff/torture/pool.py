"""A worker process: killed when it exceeds its time limit, restarted after it dies."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xoff.errors import UsageError
from xoff.torture.ways import Way
from xoff.torture.worlds import World

WORKER = Path(__file__).with_name("worker.py")
# Extra time for a worker that is within a grid step or building the network at its limit.
GRACE_S = 30.0
FILE = "world.toml"


class Abandoned(Exception):
    """The campaign has ended before the worker answered."""


class Worker:
    """One process with one engine. `python_path` is the folder of another build, if any."""

    def __init__(self, memory_bytes: int, python_path: Path | None = None) -> None:
        self._memory = memory_bytes
        self._environment = dict(os.environ)
        if python_path is not None:
            self._environment["PYTHONPATH"] = str(python_path)
        self._folder = tempfile.TemporaryDirectory(prefix="xoff-torture-")
        self._files: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._abandoned = False

    def check(self, world: World) -> dict[str, Any]:
        """Check a world: `status` accepted, refused, panic, died or hangs."""
        return self._ask(world, {"do": "check"}, GRACE_S)

    def run(self, world: World, way: Way, budget_s: float, tables: bool = True) -> dict[str, Any]:
        """Run a world in one way.

        `status` is ran, over budget, stuck, refused, panic, died or hangs.
        """
        request = {"do": "run", "way": way.request(), "budget_s": budget_s, "tables": tables}
        return self._ask(world, request, budget_s + GRACE_S)

    def abandon(self) -> None:
        """Let the thread that waits for an answer raise `Abandoned`, now and from now on."""
        self._abandoned = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()

    def _ask(self, world: World, request: dict[str, Any], patience_s: float) -> dict[str, Any]:
        folder = Path(self._folder.name)
        # A trace ends where a file is missing, so no file of another world may be left.
        for name in self._files - world.files.keys():
            (folder / name).unlink()
        self._files = set(world.files)
        for name, content in world.files.items():
            (folder / name).write_bytes(content)
        request |= {"text": world.text(), "file": str(folder / FILE)}
        process = self._started()
        # After the start: who abandons the worker kills the process that it then has.
        if self._abandoned:
            raise Abandoned
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        line = self._read_line(process, time.monotonic() + patience_s)
        if self._abandoned:
            raise Abandoned
        if line is None:
            self._end()
            return {"status": "hangs", "message": f"no answer within {patience_s:.0f} s"}
        if not line:
            message = self._last_words(process)
            self._process = None
            return {"status": "died", "message": message}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - kept open
            self._process = subprocess.Popen(
                [sys.executable, str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self._environment,
                start_new_session=True,
            )
            assert self._process.stdin is not None
            limit = json.dumps({"memory": self._memory}).encode()
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(limit + b"\n")
        return self._process

    @staticmethod
    def _read_line(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
        """Read one line: None after the deadline, empty if the process has ended."""
        assert process.stdout is not None
        fd = process.stdout.fileno()
        read = b""
        while not read.endswith(b"\n"):
            ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            part = os.read(fd, 1 << 16)
            if not part:
                return b""
            read += part
        return read

    def _last_words(self, process: subprocess.Popen[bytes]) -> str:
        code = process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{how}: {lines[-1] if lines else 'no output'}"

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextlib.contextmanager
def unpacked(build: str | None) -> Iterator[Path | None]:
    """Yield the import path of another build of xoff; None without `build`.

    `build` is a wheel, unpacked for the duration of the block, or a checkout with a built engine.
    Raises `UsageError` if it contains no engine.
    """
    if build is None:
        yield None
        return
    if not build.endswith(".whl"):
        yield _engine_in(Path(build), (Path(build) / "python", Path(build)))
        return
    with tempfile.TemporaryDirectory(prefix="xoff-wheel-") as folder:
        try:
            with zipfile.ZipFile(build) as wheel:
                wheel.extractall(folder)
        except (OSError, zipfile.BadZipFile) as error:
            raise UsageError(f"cannot unpack {build}: {error}") from None
        yield _engine_in(Path(build), (Path(folder),))


def _engine_in(build: Path, folders: Sequence[Path]) -> Path:
    for folder in folders:
        if any((folder / "xoff").glob("_native*.so")):
            return folder.resolve()
    raise UsageError(
        f"{build} contains no built engine; give a wheel, or a checkout after `make .venv/built`"
    )
