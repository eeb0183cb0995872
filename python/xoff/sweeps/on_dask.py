"""Runs of a sweep on the workers of a Dask cluster.

A worker runs `xoff run` as a process of its own and writes the run directory itself, so all
machines need the same xoff and a file system in common. A run of a worker that is lost begins
again on another one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import extras
from xoff.errors import UsageError
from xoff.jobs import ELSEWHERE_S, POLL_S, Job
from xoff.locks import in_use

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler at an address, or named in a scheduler file.

    Raises `UsageError` if Dask is not installed or the scheduler does not answer.
    """
    extras.need(extras.DASK, "--dask")
    from distributed import Client

    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        client = Client(**where, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield client


def run_all(jobs: Sequence[Job], client: Any, tick: Callable[[], None]) -> None:
    """Run all unfinished jobs on the workers of `client` (`distributed.Client`).

    A failed run sets `Job.failure` and the others continue. After Ctrl-C no further run begins;
    those under way end on their workers.
    """
    under_way = {}
    try:
        for job in jobs:
            if not job.done:
                job.clear_damage()
                command = job.command("--progress-json")[1:]
                # Another sweep may run the same scenario into a folder of its own.
                whole = "\0".join((os.path.abspath(job.folder), *command))
                key = f"xoff-{job.folder.name}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
                place = (str(job.folder), os.getcwd())
                under_way[client.submit(run_here, command, *place, key=key)] = job
        while under_way:
            time.sleep(POLL_S)
            for future in [future for future in under_way if future.done()]:
                _end(under_way.pop(future), future)
            tick()
    except BaseException:
        client.cancel(list(under_way))
        raise


def _end(job: Job, future: Any) -> None:
    # Dask's own errors, such as a run that has killed several workers.
    error = future.exception()
    job.end(*((1, f"{type(error).__name__}: {error}") if error else future.result()))


def run_here(arguments: Sequence[str], folder: str, where: str) -> tuple[int, str]:
    """Run Python with these arguments in folder `where`; return its exit code and its errors.

    A run directory that another process is writing is waited for, and a finished one is kept.
    """
    while in_use(Path(folder)):
        time.sleep(ELSEWHERE_S)
    if os.path.lexists(folder):
        return 0, ""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=where,
        )
        assert process.stdout is not None
        # The pipe ends with this worker, and with it the run.
        for _ in process.stdout:
            pass
        code = process.wait()
        errors.seek(0)
        return code, errors.read().decode(errors="replace")
