"""Status line of the runs of an experiment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xoff import jobs
from xoff.progress import Line, draining, fraction, fraction_at_least, missing, time_left
from xoff.text import count_text

if TYPE_CHECKING:
    from xoff.engine import Progress


class ReproduceProgress:
    """Progress line of all runs: number done, progress of each, speed, time left."""

    def __init__(self, planned: Sequence[jobs.Job], line: Line, name: str) -> None:
        self._jobs = planned
        self._line = line
        self._name = name
        self._began = time.monotonic()

    def __call__(self) -> None:
        """Show the line if it is due."""
        if self._line.due():
            self._line.show(self.text())

    def text(self) -> str:
        """Format the line."""
        fresh = [job for job in self._jobs if not job.cached]
        elapsed = time.monotonic() - self._began
        shares = [1.0 if job.done else _share(job) for job in fresh]
        running = [job for job in fresh if _running(job)]
        hops = sum(job.progress.get("packet_hops", 0) for job in fresh)
        active = [f"{job.title} {_state(job)}" for job in running]
        at_most = "at most " if any(draining(_at(job)) for job in running) else ""
        done = sum(job.done for job in self._jobs)
        left = time_left(elapsed, sum(shares) / max(1, len(shares)))
        rate = count_text(hops / max(elapsed, 1e-9))
        parts = [f"{self._name}: {done} of {len(self._jobs)} runs done", *active]
        return "  ".join([*parts, f"{rate} packet-hops/s", f"{at_most}{left} left"])


def _running(job: jobs.Job) -> bool:
    return bool(job.progress) and not job.done


def _at(job: jobs.Job) -> Progress:
    return cast("Progress", job.progress)


def _share(job: jobs.Job) -> float:
    return fraction_at_least(_at(job)) if job.progress else 0.0


def _state(job: jobs.Job) -> str:
    at = _at(job)
    return f"drain {missing(at):,} left" if draining(at) else f"{fraction(at):.0%}"
