"""`xoff reproduce`: run the cases of an experiment, draw its figure, check its claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xoff import computed, jobs, page, report
from xoff.claims import NotRun, Verdict, evaluate, load_claims
from xoff.cores import cores
from xoff.errors import Interrupted, RunError, UsageError, writing
from xoff.experiment import Experiment, load_experiment
from xoff.manifest import replace_text
from xoff.papers import find_experiment, find_experiments, papers_dir
from xoff.progress import Line, fraction, time_left
from xoff.result import Result
from xoff.text import count_text


@dataclass
class Outcome:
    """Outcome of an experiment: results by label, digests by title, files, checked claims."""

    experiment: Experiment
    results: dict[str, list[Result]]
    runs: dict[str, str]
    out: Path
    files: list[Path] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)


def reproduce(
    name: str,
    scale: str = "quick",
    out: Path | None = None,
    check: bool = False,
    slots: int | None = None,
    line: Line | None = None,
    root: Path | None = None,
    cache: Path | None = None,
    max_memory: str | int | None = None,
) -> Outcome:
    """Run experiment `paper/experiment` and write its figure and table.

    - `out` (default `out/<paper>/<experiment>-<scale>`) receives `figure.svg`, `figure.png` and
      `table.md`.
    - `cache` holds the runs, so that a rerun is immediate. Default: `runs` in `out` if `out` is
      given, else `out/<paper>/runs`, which the experiments of a paper share.
    - `slots` is the number of concurrent runs, one thread each (default: one per core).
      `max_memory` limits each of them, as in `api.check`.

    Raises `UsageError` or `ScenarioError` before anything runs, `RunError` with the failed cases,
    `Interrupted` on Ctrl-C.
    """
    root = root or papers_dir()
    line = line or Line(quiet=True)
    name = name.strip("/")
    folder = find_experiment(name, root)
    experiment = load_experiment(folder, name, scale)
    claims = load_claims(folder.parent / "claims.toml") if check else []
    cache = (cache or (out or Path("out") / name.split("/")[0]) / "runs").resolve()
    out = (out or Path("out") / f"{name}-{scale}").resolve()
    for folder in (out, cache):
        with writing(folder, UsageError):
            folder.mkdir(parents=True, exist_ok=True)
    simulated = [point for point in experiment.points if not point.compute]
    planned = jobs.plan(simulated, cache, max_memory)
    done = computed.results([point for point in experiment.points if point.compute])
    _run(planned, slots or cores(), line, name, cache)
    results, runs = _collect(experiment, planned, done)
    outcome = Outcome(experiment, results, runs, out)
    outcome.files = _write_files(outcome)
    if check:
        outcome.verdicts, outcome.not_run = evaluate(claims, name.split("/")[-1], results)
    return outcome


def reproduce_all(
    name: str,
    done: Callable[[Outcome], None],
    scale: str = "quick",
    out: Path | None = None,
    check: bool = False,
    slots: int | None = None,
    line: Line | None = None,
    root: Path | None = None,
    page_dir: Path | None = None,
    max_memory: str | int | None = None,
) -> list[Outcome]:
    """Run every experiment of a paper, or the one named; calls `done` after each.

    `out` (default `out/<paper>`) receives one folder per experiment, and `results-<scale>.md` with
    all tables and claims; the experiments share their runs. `page_dir` receives a page with all
    figures and claims (`page.write`). Raises like `reproduce`.
    """
    root = root or papers_dir()
    names = find_experiments(name, root)
    if names == [name.strip("/")]:
        if page_dir is not None:
            raise UsageError(f"--page covers a whole paper: name `{name.split('/')[0]}`")
        outcomes = [reproduce(name, scale, out, check, slots, line, root, max_memory=max_memory)]
        done(outcomes[0])
        return outcomes
    out = out or Path("out") / name.strip("/")
    outcomes = []
    for one in names:
        folder = out / f"{one.split('/')[1]}-{scale}"
        runs = out / "runs"
        found = reproduce(one, scale, folder, check, slots, line, root, runs, max_memory)
        if one != names[0]:
            # Report claims without an experiment only once.
            found.not_run = [rest for rest in found.not_run if rest.claim.experiments]
            found.verdicts = [said for said in found.verdicts if said.claim.experiments]
        outcomes.append(found)
        done(found)
    target = out / f"results-{scale}.md"
    with writing(target):
        replace_text(target, report.paper_text(outcomes))
    if page_dir is not None:
        page.write(outcomes, page_dir)
    return outcomes


def _run(planned: list[jobs.Job], slots: int, line: Line, name: str, cache: Path) -> None:
    cached = sum(job.cached for job in planned)
    if cached:
        line.note(f"{name}: {cached} of {len(planned)} runs are cached")
    for job in planned:
        if job.damage is not None:
            line.note(f"{name}: case `{job.title}` is run again: {job.damage}")
    show = _Progress(planned, line, name)
    try:
        jobs.run_all(planned, slots, show)
    except KeyboardInterrupt:
        done = sum(job.done and job.failure is None for job in planned)
        raise Interrupted(
            f"interrupted; {done} of {len(planned)} runs are complete in {cache}, "
            "the same command resumes from there"
        ) from None
    finally:
        line.clear()
    failed = [job for job in planned if job.failure]
    if failed:
        told = "\n".join(f"case `{job.title}`: {job.failure}" for job in failed)
        raise RunError(f"{len(failed)} of {len(planned)} runs of {name} failed\n{told}")


class _Progress:
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
        hops = sum(job.progress.get("packet_hops", 0) for job in fresh)
        active = [f"{job.title} {_share(job):.0%}" for job in fresh if _running(job)]
        done = sum(job.done for job in self._jobs)
        left = time_left(elapsed, sum(shares) / max(1, len(shares)))
        rate = count_text(hops / max(elapsed, 1e-9))
        parts = [f"{self._name}: {done} of {len(self._jobs)} runs done", *active]
        return "  ".join([*parts, f"{rate} packet-hops/s", f"{left} left"])


def _running(job: jobs.Job) -> bool:
    return bool(job.progress) and not job.done


def _share(job: jobs.Job) -> float:
    return fraction(job.progress) if job.progress else 0.0  # type: ignore[arg-type]


def _collect(
    experiment: Experiment, planned: Sequence[jobs.Job], done: Mapping[str, Result]
) -> tuple[dict[str, list[Result]], dict[str, str]]:
    runs_by_title = {
        point.title: job.result for job in planned for point in job.points if job.result is not None
    }
    loaded = {**runs_by_title, **done}
    results: dict[str, list[Result]] = {}
    for point in experiment.points:
        results.setdefault(point.label, []).append(loaded[point.title])
    runs = {point.title: loaded[point.title].digest for point in experiment.points}
    return results, runs


def _write_files(outcome: Outcome) -> list[Path]:
    from xoff import figure, plots  # matplotlib takes a second to import

    drawn = plots.save(figure.build(outcome.experiment, outcome.results), outcome.out / "figure")
    target = outcome.out / "table.md"
    with writing(target):
        replace_text(target, report.table_text(outcome.experiment, outcome.results))
    return [*drawn, target]
