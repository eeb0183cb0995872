"""`xoff reproduce`: run the cases of an experiment, draw its figure, check its claims."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xoff import computed, extras, jobs, papers, paths, points, readings, recorded, reproduce_report
from xoff.budget import Budget
from xoff.claims import Claim, load_claims
from xoff.cores import cores
from xoff.drafts import replace_text
from xoff.errors import Interrupted, RunError, UsageError, writing
from xoff.experiment import SCALES, Experiment, load_experiment
from xoff.metrics import Term
from xoff.papers import FILE, find_experiment
from xoff.progress import Line
from xoff.reproduce_progress import ReproduceProgress
from xoff.result import Result
from xoff.verdicts import NotRun, Verdict, evaluate, undecided_cases

# Seeds that are added at once to the cases of undecided claims.
MORE_SEEDS = 2


@dataclass(frozen=True)
class Options:
    """What to run, and how.

    - `out` (default `out/<paper>/<experiment>-<scale>`) receives `figure.svg`, `figure.png` and
      `table.md`.
    - `settings` are `--set` overrides of every case that accepts them; `chosen` replaces choices of
      `readings.toml` by their id. Results with either say so.
    - `relative_to`: a case that the table compares all others with, besides the file's.
    - `budget_s`: time for more seeds where claims are undecided.
    - `root`: the folder of the papers, or of someone's own experiments (default: of the package).
    - `slots` is the number of concurrent runs, one thread each (default: one per core).
      `max_memory`, `max_wall` and `max_packet_hops` limit each of them, as in `api.run`.
    """

    scale: str = "quick"
    out: Path | None = None
    check: bool = False
    slots: int | None = None
    root: Path | None = None
    cache: Path | None = None
    max_memory: str | int | None = None
    max_wall: str | float | None = None
    max_packet_hops: str | int | None = None
    settings: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    seeds: int | None = None
    relative_to: str | None = None
    budget_s: float = 0.0

    @property
    def changed(self) -> tuple[str, ...]:
        """Settings and choices that differ from the experiment as it is written."""
        return (*self.settings, *(f"{one}: {value}" for one, value in self.chosen.items()))

    def folder(self, name: str) -> str:
        """Return the default folder of an experiment; changed settings have one of their own."""
        changed = "".join(c if c.isalnum() or c in ".=-" else "_" for c in ",".join(self.changed))
        return f"{name}-{self.scale}" + (f"-{changed}" if changed else "")


@dataclass
class Outcome:
    """Outcome of an experiment: results by label and by title, files, checked claims."""

    experiment: Experiment
    results: dict[str, list[Result]]
    run_of: dict[str, Result]
    out: Path
    root: Path
    command: str
    files: list[Path] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)

    @property
    def runs(self) -> dict[str, str]:
        """Digests by title."""
        return {title: run.digest for title, run in self.run_of.items()}


@dataclass(frozen=True)
class Prepared:
    """An experiment that is ready to run."""

    experiment: Experiment
    claims: Sequence[Claim]
    root: Path
    cache: Path
    out: Path
    options: Options
    unchanged: Sequence[str]
    alike: Sequence[str]

    def plan(self) -> list[jobs.Job]:
        """Validate every point and what is read from the runs, return the distinct runs.

        Raises `ScenarioError` or `UsageError`.
        """
        simulated = [point for point in self.experiment.points if not point.compute]
        budget = Budget.of(self.options.max_wall, self.options.max_packet_hops)
        planned = jobs.plan(simulated, self.cache, self.options.max_memory, budget)
        # What a computation in Python returns is not declared.
        if len(simulated) == len(self.experiment.points):
            paths.refuse_unknown(self._named(), (job.kind for job in planned))
        return planned

    def _named(self) -> Iterator[paths.Named]:
        """Yield what plots, columns and claims read from the runs."""
        experiment = self.experiment
        for number, plot in enumerate(experiment.plots, 1):
            where = f"{experiment.name}: plot {number}"
            yield paths.Named.of(where, plot.term)
            for cls in plot.classes:
                yield paths.Named(where, None, None, cls)
        for column in experiment.columns:
            yield paths.Named.of(f"{experiment.name}: column `{column.title}`", column.term)
        labels = [point.label for point in experiment.points]
        for claim in self.claims:
            if (name := experiment.name.split("/")[-1]) not in claim.experiments:
                continue
            for check in claim.about(name):
                # Without terms of cases that this scale leaves out.
                for term in check.expand(labels, []).terms:
                    if isinstance(term, Term):
                        yield paths.Named(f"claim {claim.id}", term.path, term.cdf, term.cls)

    def with_seeds(self, counts: Mapping[str, int]) -> Prepared:
        """Return it with at least `counts[label]` seeds of each label."""
        found = points.with_seeds(self.experiment.points, counts)
        return replace(self, experiment=replace(self.experiment, points=found))

    def key(self) -> str:
        """Return the digest of what decides its recorded result (`recorded.key`)."""
        return recorded.key(self.experiment, self.claims)


def prepare(name: str, options: Options) -> Prepared:
    """Read experiment `paper/experiment` and everything that decides its runs.

    Raises `UsageError` or `ScenarioError`.
    """
    root = options.root or papers.papers_dir()
    name = name.strip("/")
    folder = find_experiment(name, root)
    experiment = load_experiment(folder, name, options.scale)
    _check_cases(experiment, folder)
    if options.relative_to is not None:
        experiment = experiment.relative(options.relative_to)
    known = readings.load_readings(folder.parent / readings.FILE)
    open_ones = readings.choose(known, options.chosen)
    open_ones = [one for one in open_ones if one.concerns(folder.name)]
    found = readings.apply(experiment.points, open_ones)
    if options.seeds:
        simulated = (point.label for point in found if not point.compute)
        found = points.with_seeds(found, dict.fromkeys(simulated, options.seeds))
    unchanged: list[str] = []
    alike: list[str] = []
    if options.settings:
        before = found
        found, unchanged = points.with_settings(found, options.settings)
        changed = [old for old, new in zip(before, found, strict=True) if old != new]
        alike = points.made_alike(changed, options.settings)
    out = options.out or Path("out") / options.folder(name)
    cache = options.cache or (options.out or Path("out") / name.split("/")[0]) / "runs"
    return Prepared(
        replace(experiment, points=found, settings=options.changed),
        load_claims(folder.parent / "claims.toml") if options.check else [],
        root,
        cache.resolve(),
        out.resolve(),
        options,
        unchanged,
        alike,
    )


def _check_cases(experiment: Experiment, folder: Path) -> None:
    """Check that there is a case at the scale. Raises `UsageError`."""
    if not experiment.points:
        others = " or ".join(scale for scale in SCALES if scale != experiment.scale)
        raise UsageError(
            f"{folder / FILE}: no case runs at scale {experiment.scale}: use --scale {others}, or "
            f'give a case `scales` with "{experiment.scale}"'
        )


def reproduce(name: str, line: Line | None = None, **options: Any) -> Outcome:
    """Run experiment `paper/experiment`, write its figure and table; `options` as in `Options`.

    Raises `UsageError` or `ScenarioError` before anything runs, `RunError` with the failed cases,
    `Interrupted` on Ctrl-C.
    """
    return run(prepare(name, Options(**options)), line or Line(quiet=True))


def run(prepared: Prepared, line: Line) -> Outcome:
    """Run a prepared experiment. Raises like `reproduce`."""
    for folder in (prepared.out, prepared.cache):
        with writing(folder, UsageError):
            folder.mkdir(parents=True, exist_ok=True)
    if prepared.unchanged:
        line.note(f"the settings mean nothing to {', '.join(prepared.unchanged)}: left as they are")
    if prepared.alike:
        keys = ", ".join(f"`{key}`" for key in prepared.alike)
        line.note(f"cases differ in {keys}, and --set gives all of them the same value")
    outcome = _attempt(prepared, line)
    began = time.monotonic()
    while (more := _more_seeds(outcome)) and time.monotonic() - began < prepared.options.budget_s:
        line.note(f"{prepared.experiment.name}: more seeds for {', '.join(more)}")
        prepared = prepared.with_seeds(more)
        outcome = _attempt(prepared, line)
    outcome.files = _write_files(outcome)
    return outcome


def _attempt(prepared: Prepared, line: Line) -> Outcome:
    experiment, options = prepared.experiment, prepared.options
    planned = prepared.plan()
    done = computed.results([point for point in experiment.points if point.compute])
    _run(planned, options.slots or cores(), line, experiment.name, prepared.cache)
    results, run_of = _collect(experiment, planned, done)
    command = _command(prepared)
    outcome = Outcome(experiment, results, run_of, prepared.out, prepared.root, command)
    if options.check:
        name = experiment.name.split("/")[-1]
        outcome.verdicts, outcome.not_run = evaluate(prepared.claims, name, results)
    return outcome


def _more_seeds(outcome: Outcome) -> dict[str, int]:
    """Return how many seeds the cases of undecided claims should have."""
    have = {label: len(seeds) for label, seeds in points.seeds(outcome.experiment.points).items()}
    wanted = undecided_cases(outcome.verdicts, outcome.results)
    return {label: have[label] + MORE_SEEDS for label in wanted if label in have}


def _command(prepared: Prepared) -> str:
    """Return the command that repeats these runs."""
    experiment, options = prepared.experiment, prepared.options
    named = ["reproduce", experiment.name]
    if options.root is not None:
        named = ["experiment", str(options.root / experiment.name)]
    parts = ["xoff", *named, "--scale", experiment.scale, "--check"]
    for override in options.settings:
        parts += ["--set", override]
    for reading, value in options.chosen.items():
        parts += ["--reading", f"{reading}={value}"]
    most = max(map(len, points.seeds(experiment.points).values()), default=0)
    if options.relative_to is not None:
        parts += ["--relative-to", options.relative_to]
    if most and (options.seeds or options.budget_s):
        parts += ["--seeds", str(most)]
    return shlex.join(parts)


def _run(planned: list[jobs.Job], slots: int, line: Line, name: str, cache: Path) -> None:
    cached = sum(job.cached for job in planned)
    if cached:
        line.note(f"{name}: {cached} of {len(planned)} runs are cached")
    for job in planned:
        if job.damage is not None:
            line.note(f"{name}: case `{job.title}` is run again: {job.damage}")
    show = ReproduceProgress(planned, line, name)
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


def _collect(
    experiment: Experiment, planned: Sequence[jobs.Job], done: Mapping[str, Result]
) -> tuple[dict[str, list[Result]], dict[str, Result]]:
    runs_by_title = {
        point.title: job.result for job in planned for point in job.points if job.result is not None
    }
    loaded = {**runs_by_title, **done}
    results: dict[str, list[Result]] = {}
    for point in experiment.points:
        results.setdefault(point.label, []).append(loaded[point.title])
    return results, {point.title: loaded[point.title] for point in experiment.points}


def _write_files(outcome: Outcome) -> list[Path]:
    drawn = _draw(outcome) if extras.has(extras.PLOT) else []
    target = outcome.out / "table.md"
    with writing(target):
        replace_text(target, reproduce_report.table_text(outcome.experiment, outcome.results))
    return [*drawn, target]


def _draw(outcome: Outcome) -> list[Path]:
    from xoff import figure, plots  # matplotlib takes a second to import

    return plots.save(figure.build(outcome.experiment, outcome.results), outcome.out / "figure")
