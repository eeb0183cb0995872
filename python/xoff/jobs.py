"""Runs of an experiment as separate processes, cached by content.

A run's folder is named by a hash of its effective scenario (including the seed) and the engine's
build. A rerun therefore finds finished runs, and an interrupted experiment resumes. Several
processes can work on the same runs: a run that another one is writing is waited for.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from xoff import api, engine
from xoff.budget import Budget
from xoff.engine import NO_BUDGET
from xoff.errors import EndedEarly, RunError, ScenarioError, UsageError, writing
from xoff.experiment import Point
from xoff.integrity import AGAIN
from xoff.locks import in_use
from xoff.publishing import discard_damaged
from xoff.result import Result, load
from xoff.rundir import adopt
from xoff.toml_text import parse_toml

POLL_S = 0.05
# Between two looks at runs that other processes are writing.
ELSEWHERE_S = 0.5
# Batches of the measured time that uncertainty is estimated from (`sampling`).
BATCHES = 20
STOP_S = 0.7


@dataclass(frozen=True)
class Kind:
    """What a run has to read numbers from: its engine (None: of packets) and traffic classes.

    Only runs of packets have results by class.
    """

    engine: str | None = None
    classes: tuple[str, ...] = ()

    @staticmethod
    def of(effective: str) -> Kind:
        """Return that of an effective scenario."""
        known = parse_toml(effective)
        if engine := known.get("engine"):
            return Kind(engine)
        return Kind(None, tuple(str(entry["class"]) for entry in known.get("traffic", ())))


@dataclass
class Job:
    """One distinct run: the points that share it and its run directory."""

    points: list[Point]
    folder: Path
    effective: str
    kind: Kind = Kind()
    progress: dict[str, Any] = field(default_factory=dict)
    result: Result | None = None
    max_memory: str | int | None = None
    budget: Budget = NO_BUDGET
    done: bool = False
    cached: bool = False
    damage: str | None = None
    failure: str | None = None
    ended_early: bool = False

    @property
    def title(self) -> str:
        """Name in the progress line."""
        return self.points[0].title

    def command(self, *more: str) -> list[str]:
        """Return the command that runs it on one thread."""
        point = self.points[0]
        sets = [part for override in point.overrides for part in ("--set", override)]
        command = [sys.executable, "-m", "xoff", "run", os.path.abspath(point.scenario), *sets]
        command += ["--out", str(self.folder), "--threads", "1", *more]
        if (most := engine.size(self.max_memory)) is not None:
            command += ["--max-memory", most]
        return [*command, *self.budget.options()]

    def clear_damage(self) -> None:
        """Remove a damaged run from the cache. Raises `RunError`."""
        if self.damage is not None:
            with writing(self.folder):
                discard_damaged(self.folder)

    def end(self, code: int, errors: str) -> None:
        """Record the end of its process: its result, or why it failed."""
        self.done = True
        if code == 0:
            self._take_result()
        else:
            self.failure = errors.strip() or f"the run exited with code {code}"
            self.ended_early = code == EndedEarly.exit_code

    def _take_result(self) -> None:
        try:
            found = load(self.folder)
        except UsageError as error:
            self.failure = str(error)
            return
        if found.effective == self.effective:
            self.result = found
        else:
            self.failure = (
                f"{self.folder} has the run of another scenario: {self.points[0].scenario}, or a "
                "file that it names, has changed since the runs were planned. Start again"
            )

    def find_result(self) -> None:
        """Take the result if another process has finished the run since it was planned."""
        _adopt(self.folder)
        if self.damage is not None:
            with contextlib.suppress(UsageError):
                found = load(self.folder)
                if found.effective == self.effective:
                    self.result, self.damage, self.done = found, None, True
        elif os.path.lexists(self.folder):
            self._take_result()
            self.done = self.cached = True


def plan(
    points: Sequence[Point],
    runs: Path,
    max_memory: str | int | None = None,
    budget: Budget = NO_BUDGET,
) -> list[Job]:
    """Validate every point and return the distinct runs; cached runs are marked as done.

    A damaged cached run is run again; its `damage` describes the problem. `max_memory` is the
    limit of each run, as in `api.check`, and so is `budget`. Raises `ScenarioError` with the name
    of the case before any run starts.
    """
    jobs: dict[str, Job] = {}
    for point in points:
        try:
            point, effective, kind = _checked(point, max_memory)
        except ScenarioError as error:
            raise ScenarioError(f"case `{point.title}`:\n{error}") from None
        identity = f"{engine.build_id()}\n{effective}"
        key = hashlib.sha256(identity.encode()).hexdigest()[:20]
        if key in jobs:
            jobs[key].points.append(point)
            continue
        job = Job([point], runs / key, effective, kind, max_memory=max_memory, budget=budget)
        jobs[key] = _planned(job)
    return list(jobs.values())


def _checked(point: Point, max_memory: str | int | None) -> tuple[Point, str, Kind]:
    """Return the point, with batches of time if it simulates packets, and its effective scenario.

    Raises `ScenarioError`.
    """
    effective = api.check(point.scenario, point.overrides, max_memory)
    kind = Kind.of(effective)
    if kind.engine is None:
        point = replace(point, overrides=(f"run.batches={BATCHES}", *point.overrides))
        effective = api.check(point.scenario, point.overrides, max_memory)
    return point, effective, kind


def _planned(job: Job) -> Job:
    """Look for the job's run in the cache."""
    folder = job.folder
    _adopt(folder)
    if not os.path.lexists(folder):
        return job
    try:
        found = load(folder)
    except UsageError as error:
        job.damage = str(error).partition(f"; {AGAIN}")[0]
        return job
    if found.effective != job.effective:
        job.damage = f"{folder} contains the run of another scenario"
        return job
    job.result, job.done, job.cached = found, True, True
    return job


def _adopt(folder: Path) -> None:
    """Finish what a killed process left undone after a run: its name."""
    # Of a run that cannot be named now, its own process or the next attempt says why.
    with contextlib.suppress(UsageError, RunError):
        adopt(folder)


def run_all(jobs: Sequence[Job], slots: int, tick: Callable[[], None]) -> None:
    """Run all unfinished jobs, `slots` at a time; calls `tick` many times a second.

    A failed run sets `Job.failure` and the others continue. Ctrl-C stops every process, leaves
    their `.partial` folders and is raised again. Raises `UsageError` or `RunError`.
    """
    waiting = _Waiting(jobs)
    running: list[_Worker] = []
    try:
        while waiting.jobs or running:
            while len(running) < max(1, slots) and (job := waiting.take()) is not None:
                running.append(_Worker(job))
            time.sleep(POLL_S)
            for worker in [worker for worker in running if worker.finished()]:
                running.remove(worker)
                waiting.put_back_if_elsewhere(worker.job)
            tick()
    except BaseException:
        _stop(running)
        raise


class _Waiting:
    """The jobs that have not begun."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = [job for job in jobs if not job.done]
        self._look = 0.0

    def take(self) -> Job | None:
        """Return the first job that no other process is running; None if there is none now."""
        if time.monotonic() < self._look:
            return None
        for job in list(self.jobs):
            if in_use(job.folder):
                continue
            self.jobs.remove(job)
            job.find_result()
            if not job.done:
                return job
        self._look = time.monotonic() + ELSEWHERE_S
        return None

    def put_back_if_elsewhere(self, job: Job) -> None:
        """Wait again for a job that another process has begun at the same time."""
        ended = job.damage is None and os.path.lexists(job.folder)
        if job.failure is not None and (ended or in_use(job.folder)):
            job.done, job.failure = False, None
            self.jobs.append(job)


class _Worker:
    """A process that runs one job; a thread reads its progress."""

    def __init__(self, job: Job) -> None:
        self.job = job
        job.clear_damage()
        with writing(job.folder):
            self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - kept open
        # In a new session the worker does not receive Ctrl-C. Only this program does, and it
        # stops its workers once.
        self.process = subprocess.Popen(
            job.command("--progress-json"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self.job.progress = json.loads(line)

    def finished(self) -> bool:
        """Return whether the process has ended; if so, record its result or failure."""
        code = self.process.poll()
        if code is None:
            return False
        self._errors.seek(0)
        self.job.end(code, self._errors.read().decode(errors="replace"))
        self._errors.close()
        return True


def _stop(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            worker.process.terminate()
    deadline = time.monotonic() + STOP_S
    for worker in workers:
        try:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()
