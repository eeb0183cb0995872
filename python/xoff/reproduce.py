"""`xoff reproduce`: run the cases of an experiment, draw its figure, check its claims."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff import engine, jobs
from xoff.claims import Claim, NotRun, Verdict, evaluate, load_claims
from xoff.cores import cores
from xoff.errors import Interrupted, RunError, UsageError, writing
from xoff.experiment import Experiment, load_experiment
from xoff.manifest import replace_text
from xoff.metrics import Group, class_entry, lookup, statistic
from xoff.papers import find_experiment, papers_dir
from xoff.progress import Line, fraction, time_left
from xoff.result import Result, load
from xoff.text import byte_text, count_text, fixed, markdown, number

TABLE = [
    *("case", "range", "flows", "mean", "p50", "p95", "p99"),
    *("buffer p99", "drops", "PFC pause share", "digest"),
]


@dataclass
class Outcome:
    """What an experiment left: results by label, files, and claims if they were checked."""

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
) -> Outcome:
    """Run experiment `paper/experiment` and write its figure and table.

    `out` (default `out/<paper>/<experiment>-<scale>`) receives `figure.svg`, `figure.png`,
    `table.md` and `runs/`, the cache that makes a rerun immediate. `slots` is the number
    of runs at a time, each on one thread (default: cores). Raises `UsageError` or
    `ScenarioError` before anything runs, `RunError` naming the cases that failed,
    `Interrupted` on Ctrl-C.
    """
    root = root or papers_dir()
    line = line or Line(quiet=True)
    name = name.strip("/")
    folder = find_experiment(name, root)
    experiment = load_experiment(folder, name, scale)
    claims = load_claims(folder.parent / "claims.toml") if check else []
    out = (out or Path("out") / f"{name}-{scale}").resolve()
    with writing(out, UsageError):
        (out / "runs").mkdir(parents=True, exist_ok=True)
    planned = jobs.plan(experiment.points, out / "runs")
    _run(planned, slots or cores(), line, name, out)
    results, runs = _collect(experiment, planned)
    outcome = Outcome(experiment, results, runs, out)
    outcome.files = _write_files(outcome)
    if check:
        outcome.verdicts, outcome.not_run = evaluate(claims, name.split("/")[-1], results)
    return outcome


def _run(planned: list[jobs.Job], slots: int, line: Line, name: str, out: Path) -> None:
    cached = sum(job.cached for job in planned)
    if cached:
        line.note(f"{name}: {cached} of {len(planned)} runs are there already")
    show = _Progress(planned, line, name)
    try:
        jobs.run_all(planned, slots, show)
    except KeyboardInterrupt:
        done = sum(job.done and job.failure is None for job in planned)
        raise Interrupted(
            f"interrupted; {done} of {len(planned)} runs are complete in {out / 'runs'}, "
            "the same command goes on from there"
        ) from None
    finally:
        line.clear()
    failed = [job for job in planned if job.failure]
    if failed:
        told = "\n".join(f"case `{job.title}`: {job.failure}" for job in failed)
        raise RunError(f"{len(failed)} of {len(planned)} runs of {name} failed\n{told}")


class _Progress:
    """One line for all runs: how many are done, where each is, speed, time left."""

    def __init__(self, planned: Sequence[jobs.Job], line: Line, name: str) -> None:
        self._jobs = planned
        self._line = line
        self._name = name
        self._began = time.monotonic()

    def __call__(self) -> None:
        """Show the line when it is time to."""
        if self._line.due():
            self._line.show(self.text())

    def text(self) -> str:
        """Render the line."""
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
    experiment: Experiment, planned: Sequence[jobs.Job]
) -> tuple[dict[str, list[Result]], dict[str, str]]:
    loaded = {point.title: load(job.folder) for job in planned for point in job.points}
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
        replace_text(target, table_text(outcome))
    return [*drawn, target]


def table_text(outcome: Outcome) -> str:
    """Return the experiment's table in Markdown: one row a case, seed and size range."""
    experiment = outcome.experiment
    head = f"# {experiment.title}\n\n{experiment.name}, scale {experiment.scale}"
    head += f", {experiment.source}" if experiment.source else ""
    rows = []
    for label, runs in outcome.results.items():
        for index, run in enumerate(runs, 1):
            title = label if len(runs) == 1 else f"{label} #{index}"
            rows += _rows(title, run)
    note = "Slowdowns are relative to the flow alone on its path. "
    note += "`-`: fewer than 10 flows beyond the percentile.\n"
    return f"{head}, xoff {engine.version()}.\n\n{markdown(TABLE, rows, left=2)}\n{note}"


def _rows(title: str, run: Result) -> list[list[str]]:
    entry = class_entry(run) or {}
    groups: dict[str, Group] = {**(entry.get("ranges") or {}), "all": entry.get("all") or {}}
    share = lookup(run.summary, "pfc.pause_time_share")
    tail = [
        byte_text(lookup(run.summary, "buffer.p99_bytes")),
        number(lookup(run.summary, "drops_packets")),
        "-" if share is None else f"{share:.3%}",
        run.digest,
    ]
    left = entry.get("unfinished")
    return [
        [
            title,
            name,
            f"{group.get('flows') or 0:,}",
            *[fixed(statistic(group, s, left)) for s in ("mean", "p50", "p95", "p99")],
            *tail,
        ]
        for name, group in groups.items()
        if group
    ]


def claims_text(outcome: Outcome) -> str:
    """Return the claims as text: what ran, with its verdict, then what did not."""
    lines = []
    words = {True: "yes", False: "no", None: "undecided"}
    for verdict in outcome.verdicts:
        claim = verdict.claim
        lines.append(_headline(claim))
        lines.append(f"    paper     {claim.paper or '-'}")
        lines.append(f"    measured  {measured_text(verdict.measured)}")
        lines.append(f"    holds     {words[verdict.holds]}")
        if claim.explanation:
            lines.append(f"    note      {claim.explanation}")
    for rest in outcome.not_run:
        lines.append(_headline(rest.claim))
        lines.append(f"    not run   needs {', '.join(rest.needs)}")
    held = [verdict.holds for verdict in outcome.verdicts]
    lines.append(
        f"{len(held)} claims checked: {held.count(True)} hold, {held.count(False)} do not, "
        f"{held.count(None)} undecided (too few samples); {len(outcome.not_run)} not run"
    )
    return "\n".join(lines) + "\n"


def _headline(claim: Claim) -> str:
    where = f" ({claim.where})" if claim.where else ""
    return f"{claim.id}{where}: {claim.text}"


def measured_text(measured: Mapping[str, float | None]) -> str:
    """Return measured numbers on one line, the name left out where there is just one."""
    if len(measured) == 1:
        return number(next(iter(measured.values())))
    return ", ".join(f"{name} {number(value)}" for name, value in measured.items()) or "-"


def as_json(outcome: Outcome) -> str:
    """Return the outcome as one JSON object; an infinite number is the string `"inf"`."""
    claims = [
        {
            "claim": verdict.claim.id,
            "text": verdict.claim.text,
            "paper": verdict.claim.paper,
            "measured": _plain(verdict.measured),
            "holds": verdict.holds,
            "explanation": verdict.claim.explanation,
        }
        for verdict in outcome.verdicts
    ]
    not_run = [{"claim": r.claim.id, "needs": list(r.needs)} for r in outcome.not_run]
    found: dict[str, Any] = {
        "experiment": outcome.experiment.name,
        "scale": outcome.experiment.scale,
        "version": engine.version(),
        "claims": claims,
        "not_run": not_run,
        "runs": outcome.runs,
    }
    return json.dumps(found, indent=2, allow_nan=False)


def _plain(measured: Mapping[str, float | None]) -> Any:
    shown = {name: _jsonable(value) for name, value in measured.items()}
    return next(iter(shown.values())) if len(shown) == 1 else shown


def _jsonable(value: float | None) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    return ("inf" if value > 0 else "-inf") if math.isinf(value) else value
