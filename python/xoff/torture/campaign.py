"""A campaign: random worlds until the time is over, and a tally of their outcomes."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from xoff import engine
from xoff.drafts import replace_text
from xoff.errors import writing
from xoff.text import count_text, table
from xoff.torture import trial, ways
from xoff.torture.drawing import Draw
from xoff.torture.pool import Abandoned, Worker
from xoff.torture.shrink import shrink
from xoff.torture.trial import VIOLATION, Failure, Outcome
from xoff.torture.worlds import World

SLOWEST = 10
MOST_UNFINISHED = 40
# The packet-hops per second of a shorter run are not meaningful.
FEW_HOPS = 20_000
SHRINK_S = 180.0


@dataclass(frozen=True)
class Limits:
    """Limits of one world, and the path of another build to compare with."""

    budget_s: float
    memory_bytes: int
    other: Path | None = None


@dataclass
class Tally:
    """Outcomes of the worlds so far. Worlds are identified by number."""

    statuses: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    refused_changes: Counter[str] = field(default_factory=Counter)
    presets: Counter[str] = field(default_factory=Counter)
    hops: int = 0
    runs: int = 0
    slowest: list[tuple[float, int, str]] = field(default_factory=list)
    unfinished: list[tuple[int, str, str]] = field(default_factory=list)
    failures: list[tuple[int, Failure, Path]] = field(default_factory=list)

    @property
    def worlds(self) -> int:
        """Number of worlds drawn."""
        return sum(self.statuses.values())

    def add(self, number: int, world: World, outcome: Outcome) -> None:
        """Count a world that ran."""
        self.statuses[outcome.status] += 1
        self.presets[str(world.top["scheme"])] += 1
        self.hops += outcome.hops
        if outcome.status != "ran":
            self.unfinished.append((number, str(world.top["scheme"]), outcome.status))
        if outcome.hops >= FEW_HOPS or outcome.wall_s >= 1:
            self.slowest.append((outcome.rate, number, str(world.top["scheme"])))
            self.slowest = sorted(self.slowest)[:SLOWEST]


class Campaign:
    """Draws and runs worlds of one seed. World N does not depend on the number of workers."""

    def __init__(self, seed: int, limits: Limits, out: Path, slots: int) -> None:
        self.seed, self.limits, self.out = seed, limits, out
        self.tally = Tally()
        self._slots = slots
        self._schema = json.loads(engine.schema())
        self._presets = [name for name, _ in engine.presets()]
        self._next = 0
        self._lock = threading.Lock()
        # Set: start no further world.
        self._enough = threading.Event()
        # Set: also abandon shrinking in progress.
        self._over = threading.Event()
        self._errors: list[BaseException] = []
        self._workers: list[Worker] = []

    def run(self, minutes: float, tick: Callable[[Tally], None], first: bool = False) -> Tally:
        """Run worlds for `minutes`, with `first` up to the first failure; calls `tick` regularly.

        Raises the exception of a worker thread. Ctrl-C ends the workers at once.
        """
        deadline = time.monotonic() + minutes * 60
        threads = [
            threading.Thread(target=self._work, args=(deadline,), daemon=True)
            for _ in range(self._slots)
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.1)
                tick(self.tally)
                if first and self.tally.failures:
                    # Another world may have failed in the meantime; it is shrunk, too.
                    self._enough.set()
        finally:
            self._over.set()
            for worker in self._workers:
                worker.abandon()
            for thread in threads:
                thread.join()
        if self._errors:
            raise self._errors[0]
        return self.tally

    def write(self, number: int) -> Path:
        """Draw and write world `number` without running it; return the scenario's path."""
        worker = Worker(self.limits.memory_bytes)
        try:
            draw = self._draw(number, worker)
            draw.make(self._presets)
            stem = self.out / f"world-{self.seed}-{number}"
            return _write(stem, draw.world, [f"world {number} of seed {self.seed}"])
        finally:
            worker.close()

    def _draw(self, number: int, worker: Worker) -> Draw:
        return Draw(random.Random(f"{self.seed}/{number}"), worker, self._schema)

    def _work(self, deadline: float) -> None:
        worker = Worker(self.limits.memory_bytes)
        other = None
        if self.limits.other is not None:
            other = Worker(self.limits.memory_bytes, self.limits.other)
        self._workers += [worker] if other is None else [worker, other]
        try:
            stops = (self._enough, self._over)
            while time.monotonic() < deadline and not any(stop.is_set() for stop in stops):
                with self._lock:
                    number, self._next = self._next, self._next + 1
                self._world(number, worker, other)
        except Abandoned:
            pass
        except BaseException as error:
            self._errors.append(error)
            self._over.set()
        finally:
            worker.close()
            if other is not None:
                other.close()

    def _world(self, number: int, worker: Worker, other: Worker | None) -> None:
        draw = self._draw(number, worker)
        accepted = draw.make(self._presets)
        with self._lock:
            self.tally.refused_changes += draw.refused
        if draw.failure is not None:
            answer = draw.failure
            failure = Failure(answer["status"], answer["message"], ())
            self._save(number, draw.world, failure, worker)
            return
        if not accepted:
            with self._lock:
                self.tally.statuses["refused"] += 1
                self.tally.refused[draw.last_reason] += 1
            return
        drawn = ways.draw(draw.rng)
        outcome = self._try(draw.world, drawn, worker, other)
        with self._lock:
            self.tally.add(number, draw.world, outcome)
            self.tally.runs += len(drawn) if other is None else 2
        if outcome.failure is not None:
            self._save(number, draw.world, outcome.failure, worker, other)

    def _try(
        self, world: World, drawn: list[ways.Way], worker: Worker, other: Worker | None
    ) -> Outcome:
        budget_s = self.limits.budget_s
        if other is not None:
            return trial.compare_builds(worker, other, world, drawn[0], budget_s)
        return trial.run(worker, world, drawn, budget_s)

    def _save(
        self,
        number: int,
        world: World,
        failure: Failure,
        worker: Worker,
        other: Worker | None = None,
    ) -> None:
        """Write the world as drawn, then a smaller one that fails in the same way."""
        what = f"world {number} of seed {self.seed}"
        stem = self.out / f"world-{self.seed}-{number}"
        _write(stem, world, _about(failure, f"{what}, as drawn", stem))

        def fails(smaller: World) -> bool:
            if self._over.is_set():
                return False
            drawn = list(failure.ways) or [ways.WHOLE]
            try:
                if worker.check(smaller)["status"] == "refused":
                    return False
                found = self._try(smaller, drawn, worker, other).failure
            except Abandoned:
                return False
            return found is not None and found.kind == failure.kind

        small = shrink(world, fails, SHRINK_S)
        stem = stem.with_name(f"{stem.name}-small")
        path = _write(stem, small, _about(failure, f"{what}, reduced", stem))
        with self._lock:
            self.tally.failures.append((number, failure, path))


def _write(stem: Path, world: World, about: list[str]) -> Path:
    path = stem.with_suffix(".toml")
    comments = "".join(f"# {line}\n" for line in about)
    renamed = world.renamed(stem.name)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, content in renamed.files.items():
            (path.parent / name).write_bytes(content)
        replace_text(path, comments + renamed.text())
    return path


def _about(failure: Failure, what: str, path: Path) -> list[str]:
    """Describe a failure: kind and detail, the ways that show it, the command to reproduce it."""
    wrong = f"{failure.kind}: {' '.join(failure.detail.split())[:300]}"
    return [what, wrong, *(f"  {way}" for way in failure.ways), _command(path, failure)]


def _command(path: Path, failure: Failure) -> str:
    name = f"{path.name}.toml"
    sets = [f"run.partitions={way.partitions} --threads {way.threads}" for way in failure.ways]
    if len(sets) == 2:
        other = sets[1].replace("--threads", "--other-threads")
        return f"xoff diverge {name} --set {sets[0]} --other-set {other}"
    checks = " --check-invariants" if failure.kind == VIOLATION else ""
    return f"xoff run {name} --set {sets[0]}{checks}" if sets else f"xoff check {name}"


def render(tally: Tally, seed: int) -> str:
    """Format the outcomes of a campaign."""
    ended = ", ".join(f"{count:,} {status}" for status, count in tally.statuses.most_common())
    lines = [
        f"{tally.worlds:,} worlds of seed {seed}: {ended or 'none'}",
        f"{tally.runs:,} runs, {len(tally.presets)} schemes, "
        f"{count_text(tally.hops)} packet-hops per way",
    ]
    for title, counter in (
        ("refused worlds, by reason", tally.refused),
        ("refused changes of settings, by reason", tally.refused_changes),
    ):
        if counter:
            rows = [(reason, f"{count:,}") for reason, count in counter.most_common(25)]
            lines += ["", table((title, "count"), rows)]
    if tally.slowest:
        slowest = [
            (f"{number}", scheme, count_text(rate)) for rate, number, scheme in tally.slowest
        ]
        lines += ["", table(("slowest worlds", "scheme", "packet-hops/s"), slowest, left=2)]
    if tally.unfinished:
        rest = sorted(tally.unfinished)[:MOST_UNFINISHED]
        unfinished = [(f"{number}", scheme, status) for number, scheme, status in rest]
        lines += ["", table(("unfinished worlds", "scheme", "reason"), unfinished, left=3)]
    for number, failure, path in tally.failures:
        lines += ["", f"world {number} {failure.kind}: {' '.join(failure.detail.split())[:200]}"]
        lines.append(f"  {path}")
    return "\n".join(lines) + "\n"
