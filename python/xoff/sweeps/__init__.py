"""`xoff sweep`: a grid of settings, run in parallel, with a table and a figure of the results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xoff import extras, jobs, notebook, paths, source
from xoff.budget import Budget
from xoff.cores import cores
from xoff.drafts import draft_of, replace_text
from xoff.errors import Interrupted, UsageError, as_path, writing
from xoff.progress import Line, line_for
from xoff.reproduce_progress import ReproduceProgress
from xoff.result import Result
from xoff.sweeps import levels, placing, shown, table
from xoff.sweeps.grid import (
    Grid,
    choose,
    grid_of,
    read_grid,
    refuse_dead,
    seeds_of,
    with_baseline,
    with_levels,
)
from xoff.text import table as aligned

if TYPE_CHECKING:
    import pyarrow as pa

TABLE, RUNS, TEXT, FIGURE = "sweep.parquet", "runs.parquet", "table.md", "figure"
# `jobs.run_all` or one like it, to be called with jobs and `tick`.
RunAll = Callable[..., None]


@dataclass(repr=False)
class Swept:
    """A sweep's outcome.

    `results` has the runs of each point by its label, `failures` the error of each failed run by
    its title, `files` what was written. Levels are passed along the setting `x` (default:
    `Grid.default_x`).
    """

    grid: Grid
    results: dict[str, list[Result]]
    failures: dict[str, str]
    files: list[Path] = field(default_factory=list)
    x: str | None = None

    @property
    def rows(self) -> list[table.Row]:
        """One row per point with finished runs."""
        return table.rows(self.grid, self.results)

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table (`sweep.parquet`)."""
        return table.arrow(self.grid.keys, self.grid.columns, self.rows)

    @property
    def crossings(self) -> list[levels.Crossing]:
        """Where each measure with a level passes it, on every curve, with a 95 % interval."""
        return levels.crossings(self.grid, self.rows, self.x)

    @property
    def text(self) -> str:
        """The rows in Markdown, and where levels are passed (`table.md`)."""
        return shown.text(self.grid, self.rows, self.x)

    def plot(self, y: str | None = None, x: str | None = None, ax: Any = None) -> Any:
        """Draw a measure (default: the first) along a setting, with its 95 % intervals.

        Returns the Matplotlib axes: `ax`, or those of a new figure. Raises `UsageError`.
        """
        from xoff import plots
        from xoff.sweeps import picture

        along, (measure, *_) = choose(self.grid, x, y)
        ax = plots.axes_of(ax)
        picture.draw(ax, self.grid, self.rows, along, measure)
        plots.legends([ax])
        return ax

    def __repr__(self) -> str:
        head, rows = table.cells(self.grid.keys, self.grid.columns, self.rows)
        return "\n".join([aligned(head, rows, left=len(self.grid.keys)), *self._notes()])

    def _repr_html_(self) -> str:
        head, rows = table.cells(self.grid.keys, self.grid.columns, self.rows)
        drawn, notes = notebook.table(head, rows, left=len(self.grid.keys)), self._notes()
        return drawn + (notebook.text("\n".join(notes)) if notes else "")

    def _notes(self) -> list[str]:
        """Return which numbers are bounds, where levels are passed, and which runs failed."""
        failed = [f"{title} failed: {failure}" for title, failure in self.failures.items()]
        return [*table.bounds(self.rows), *(one.text for one in self.crossings), *failed]


def sweep(
    given: source.Given,
    out: str | os.PathLike[str] | None = None,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    set: Iterable[str] = (),
    seeds: int | Sequence[int] | None = None,
    measures: Mapping[str, Any] | None = None,
    levels: Mapping[str, float | str] | None = None,
    relative_to: Mapping[str, Any] | None = None,
    relation: str | None = None,
    slots: int | None = None,
    client: Any = None,
    again: bool = False,
    x: str | None = None,
    y: str | None = None,
    max_memory: str | int | None = None,
    max_wall: str | float | None = None,
    max_packet_hops: str | int | None = None,
    progress: bool | None = None,
) -> Swept:
    """Run every point of a sweep that has no result yet; write its tables and figure.

    - `given`: the file of a sweep (`xoff.sweeps.grid.Grid` documents its keys), or a scenario with
      a `grid`.
    - `out`: folder of the results (default: `out/` and the name of the file, or the name of the
      scenario and `-sweep`).
    - `grid`: values per setting, all combined: `{"scheme": ["bfc", "dctcp"], "load": [0.4, 0.8]}`.
    - `set`: overrides of every run, or one; `seeds`: run with seeds 1 to this number, or these.
    - `measures`: with a `grid`, numbers of every point by name, each a path of the summary such as
      `"buffer.p99_bytes"` or a dict with the keys of `[[measure]]` (default: `DEFAULT_MEASURES`).
    - `levels`: values of measures, `{"p99": 3, "delay": "10us"}`, to find in `Swept.crossings`.
    - `relative_to`: settings of a baseline, `{"scheme": "dctcp"}`. Each measure is also shown as
      its `relation` (`ratio`, the default, or `difference`) to the baseline, paired by seed.
    - `slots`: concurrent runs, one thread each (default: one per core).
    - `client`: a `distributed.Client`; the runs go to its workers.
    - `again`: run what failed before once more.
    - `x`, `y`: draw this measure (default: all) along this setting (default: `Grid.default_x`).
      Without Matplotlib (`pip install 'xoff[plot]'`) there is no figure.
    - `max_memory`, `max_wall`, `max_packet_hops`: limits of each run, which fails if it ends early.
    - `progress`: None shows a line in notebooks and on terminals, True everywhere, False nowhere.

    A run is found by its content, so a sweep that was stopped or extended continues. Failed runs
    are in `Swept.failures`; the rest is written. Raises `UsageError` or `ScenarioError` before
    anything runs, `Interrupted` on Ctrl-C.
    """
    with ExitStack() as undo:
        if grid is not None:
            prepared = _prepare_grid(given, grid, measures, out, set, seeds, max_memory, undo)
        else:
            prepared = prepare(_file(given, measures), out, set, seeds, max_memory)
        prepared = prepared.asked(levels, relative_to, relation)
        prepared.limit(Budget.of(max_wall, max_packet_hops))
        choose(prepared.grid, x, y)
        prepared.skip_failed(again)
    line = line_for(progress)
    if not extras.has(extras.PLOT):
        line.note(extras.without_figures())
    prepared.run(_runner(slots, client), line)
    return prepared.collect(x, y)


def _file(given: source.Given, measures: Mapping[str, Any] | None) -> Path:
    """Return the file of a sweep. Raises `UsageError` if only a `grid` would make sense of it."""
    if measures is not None or not isinstance(given, (str, os.PathLike)):
        raise UsageError("a sweep of a scenario requires `grid`: the values of settings that vary")
    return as_path(given, "a sweep")


def _runner(slots: int | None, client: Any) -> RunAll:
    """Return what runs jobs: processes on this machine, or the workers of a Dask client."""
    if client is None:
        return partial(jobs.run_all, slots=slots or cores())
    from xoff.sweeps import on_dask

    return partial(on_dask.run_all, client=client)


@dataclass(frozen=True)
class Prepared:
    """A sweep whose points are valid, with its distinct runs."""

    grid: Grid
    out: Path
    planned: list[jobs.Job]

    def asked(
        self,
        levels: Mapping[str, float | str] | None,
        relative_to: Mapping[str, Any] | None,
        relation: str | None,
    ) -> Prepared:
        """Return it with levels and a baseline besides those of the file. Raises `UsageError`."""
        grid = with_levels(self.grid, levels or {})
        return replace(self, grid=with_baseline(grid, relative_to or {}, relation))

    def limit(self, budget: Budget) -> None:
        """Give each run this budget."""
        for job in self.planned:
            job.budget = budget

    def skip_failed(self, again: bool) -> None:
        """Take runs that failed before as failed, or forget their errors (`again`).

        A run that ended early by another budget is run again. Raises `RunError`.
        """
        for job in self.planned:
            record = _record(job)
            with writing(record):
                if job.done or again:
                    record.unlink(missing_ok=True)
                elif record.exists():
                    error, limits = _read_failure(record)
                    if limits is None or limits == job.budget.options():
                        job.done, job.failure = True, error
                        job.ended_early = limits is not None

    def run(self, run_all: RunAll, line: Line) -> None:
        """Run what is unfinished. Raises `Interrupted`."""
        name = self.grid.file.stem
        found = sum(job.cached for job in self.planned)
        if found:
            line.note(f"{name}: {found} of {len(self.planned)} runs are finished already")
        old = [job for job in self.planned if job.failure is not None]
        if old:
            line.note(f"{name}: {len(old)} runs failed before; --again runs them once more")
        with writing(self.out, UsageError):
            (self.out / placing.RUNS).mkdir(parents=True, exist_ok=True)
        show = ReproduceProgress(self.planned, line, name)
        try:
            run_all(self.planned, tick=show)
        except KeyboardInterrupt:
            done = sum(job.result is not None for job in self.planned)
            raise Interrupted(
                f"interrupted; {done} of {len(self.planned)} runs are finished in "
                f"{self.out / 'runs'}, the same command continues from there"
            ) from None
        finally:
            line.clear()
            self._keep_failures()

    def _keep_failures(self) -> None:
        for job in self.planned:
            if job.failure is not None:
                kept: dict[str, Any] = {"error": job.failure}
                if job.ended_early:
                    kept["limits"] = job.budget.options()
                with writing(_record(job)):
                    replace_text(_record(job), json.dumps(kept) + "\n")

    def collect(self, x: str | None = None, y: str | None = None) -> Swept:
        """Write the tables and the figure of the finished runs; return the outcome."""
        results: dict[str, list[Result]] = {}
        failures: dict[str, str] = {}
        for point, job in self._points():
            if job.result is not None:
                results.setdefault(point.label, []).append(job.result)
            elif job.failure is not None:
                failures[point.title] = job.failure
        swept = Swept(self.grid, results, failures, x=x)
        swept.files = self._write(swept, x, y)
        return swept

    def _points(self) -> list[tuple[Any, jobs.Job]]:
        """Return every point with its job, in the order of the grid."""
        of = {point.title: job for job in self.planned for point in job.points}
        return [(point, of[point.title]) for point in self.grid.points()]

    def _write(self, swept: Swept, x: str | None, y: str | None) -> list[Path]:
        import pyarrow.parquet as pq

        found = swept.rows
        text = f"# {self.grid.title}\n\n{swept.text}"
        contents: dict[str, Callable[[Path], Any]] = {
            TABLE: partial(pq.write_table, swept.table),
            RUNS: partial(pq.write_table, self._runs()),
            TEXT: lambda draft: draft.write_text(text, encoding="utf-8"),
        }
        files = []
        for name, write in contents.items():
            target = self.out / name
            with writing(target), draft_of(target) as draft:
                write(draft)
            files.append(target)
        if found and extras.has(extras.PLOT):
            files += self._draw(found, x, y)
        return files

    def _draw(self, rows: list[table.Row], x: str | None, y: str | None) -> list[Path]:
        from xoff import plots
        from xoff.sweeps import picture

        along, measures = choose(self.grid, x, y)
        return plots.save(picture.build(self.grid, rows, along, measures), self.out / FIGURE)

    def _runs(self) -> pa.Table:
        """Return one row per run: settings, `seed`, `key` (folder in `runs`), `status`, `digest`,
        `error`.
        """
        import pyarrow as pa

        points = [(one, job) for one, job in self._points()]
        settings = [one for one in self.grid.combinations() for _ in (self.grid.seeds or (None,))]
        columns = {
            key: table.column([one.settings[key] for one in settings]) for key in self.grid.keys
        }
        text = {
            "key": [job.folder.name for _, job in points],
            "status": [_status(job) for _, job in points],
            "digest": [job.result.digest if job.result else None for _, job in points],
            "error": [job.failure for _, job in points],
        }
        columns["seed"] = pa.array([point.seed for point, _ in points], pa.int64())
        return pa.table(columns | {name: pa.array(v, pa.string()) for name, v in text.items()})


def prepare(
    file: Path,
    out: str | os.PathLike[str] | None = None,
    set: Iterable[str] = (),
    seeds: int | Sequence[int] | None = None,
    max_memory: str | int | None = None,
) -> Prepared:
    """Read a sweep and validate every point. Raises `UsageError` or `ScenarioError`."""
    grid = read_grid(file)
    grid = replace(grid, overrides=(*grid.overrides, *source.overrides_of(set)))
    if seeds is not None:
        grid = replace(grid, seeds=seeds_of(seeds, "--seeds"))
    return _planned(grid, placing.folder(out, file.stem), max_memory)


def _prepare_grid(
    given: source.Given,
    values: Mapping[str, Sequence[Any]],
    measures: Mapping[str, Any] | None,
    out: str | os.PathLike[str] | None,
    set: Iterable[str],
    seeds: int | Sequence[int] | None,
    max_memory: str | int | None,
    undo: ExitStack,
) -> Prepared:
    """Prepare a scenario with the values of settings that vary."""
    found = source.read(given)
    name = placing.default_name(found)
    place = placing.folder(out, placing.folder_name(name))
    scenario = undo.enter_context(placing.as_file(found, place))
    grid = grid_of(name, scenario, tuple(source.overrides_of(set)), values, seeds, measures)
    return _planned(grid, place, max_memory)


def _planned(grid: Grid, place: Path, max_memory: str | int | None) -> Prepared:
    planned = jobs.plan(grid.points(), place / placing.RUNS, max_memory)
    refuse_dead(grid)
    measures = (
        paths.Named.of(f"{grid.file}: measure `{one.name}`", one.term) for one in grid.measures
    )
    paths.refuse_unknown(measures, (job.kind for job in planned))
    return Prepared(grid, place, planned)


def _status(job: jobs.Job) -> str:
    if job.result is not None:
        return "finished"
    return "failed" if job.failure is not None else "missing"


def _record(job: jobs.Job) -> Path:
    """Return the file that keeps why a run failed."""
    return job.folder.with_name(f"{job.folder.name}.failed.json")


def _read_failure(record: Path) -> tuple[str, list[str] | None]:
    """Return the error of a run, and the limits by which it ended early, if it did."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(record.read_text(encoding="utf-8"))
        return str(found["error"]), found.get("limits")
    return "the run failed before, and its error cannot be read", None
