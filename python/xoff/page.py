"""One page per paper: every figure, and every claim next to xoff's measurement."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xoff import engine, report
from xoff.claims import NotRun, Verdict
from xoff.errors import UsageError, writing
from xoff.experiment import Column, Experiment
from xoff.manifest import replace_text
from xoff.metrics import Term
from xoff.text import markdown

if TYPE_CHECKING:
    from xoff.reproduce import Outcome

# Panels per row, and dots per inch: two panels are as wide as a page of text.
PANELS, DPI = 2, 100
# Largest number of table rows per experiment; the command prints all.
MOST_ROWS = 40
# Table columns of an experiment without `[[column]]`s; columns without any number are left out.
COLUMNS = (
    Column("short, p99", {"range": "short", "statistic": "p99"}),
    Column("medium, mean", {"range": "medium", "statistic": "mean"}),
    Column("long, mean", {"range": "long", "statistic": "mean"}),
    Column("all, p99", {"range": "all", "statistic": "p99"}),
    Column("buffer p99 (MB)", {"path": "buffer.p99_bytes", "scale": 1e-6}),
    Column("drops", {"path": "drops_packets"}),
    Column("paused by PFC (%)", {"path": "pfc.pause_time_share", "scale": 100.0}),
)
CLAIMS = ("claim", "where", "what the paper says", "its number", "xoff", "holds")


def write(outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Write `<paper>.md` and its pictures, `<paper>/<experiment>.png`, into a folder.

    Returns the path of the page. Raises `UsageError` or `RunError` if a file cannot be written.
    """
    paper = outcomes[0].experiment.name.split("/")[0]
    ordered = sorted(outcomes, key=lambda outcome: _place(outcome.experiment))
    for outcome in ordered:
        _draw(outcome, folder / paper)
    target = folder / f"{paper}.md"
    with writing(target, UsageError):
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(target, text(paper, ordered))
    return target


def _draw(outcome: Outcome, folder: Path) -> None:
    from xoff import figure, plots  # matplotlib takes a second to import

    name = outcome.experiment.name.split("/")[-1]
    drawn = figure.build(outcome.experiment, outcome.results, columns=PANELS)
    plots.save_picture(drawn, folder / f"{name}.png", DPI)


def _place(experiment: Experiment) -> tuple[object, ...]:
    """Return a sort key: the experiment's first section in the paper, appendices last."""
    found = re.search(r"§([\d.]*\d)|App\. ([A-Z])(?:\.(\d+))?", experiment.source)
    figure = re.search(r"(Fig|Table)\.? (\d+)", experiment.source)
    at = int(figure[2]) if figure else 0
    if found is None:
        return (2, (), at, experiment.name)
    if found[1]:
        return (0, tuple(int(part) for part in found[1].split(".")), at, experiment.name)
    return (1, (ord(found[2]), int(found[3] or 0)), at, experiment.name)


def text(paper: str, outcomes: Sequence[Outcome]) -> str:
    """Format the page in Markdown; it links to pictures in a folder named after the paper."""
    title, _, _ = outcomes[0].experiment.source.partition("§")
    scale = outcomes[0].experiment.scale
    parts = [_head(title.strip(" ,") or paper, paper, scale, outcomes)]
    parts += [_part(outcome, paper) for outcome in outcomes]
    parts.append(_without_runs(outcomes))
    return "\n".join(part for part in parts if part)


def _head(title: str, paper: str, scale: str, outcomes: Sequence[Outcome]) -> str:
    held = {v.claim.id: v.holds for v in _one_a_claim(outcomes)}
    verdicts = list(held.values())
    runs = {digest for outcome in outcomes for digest in outcome.runs.values()}
    said = (
        f"# {title}: claims and measurements\n\n"
        f"Made by `xoff reproduce {paper} --scale {scale} --page FOLDER` with xoff "
        f"{engine.version()}: {len(outcomes)} experiments, {len(runs)} different results, digest "
        f"`{digest([one for o in outcomes for one in o.runs.items()])}`.\n\n"
        f"{len(verdicts)} claims were checked: {verdicts.count(True)} hold, "
        f"{verdicts.count(False)} do not, {verdicts.count(None)} are undecided. A claim checked in "
        f"several experiments holds if it holds in all of them. The wording of claims is ours; "
        f"their numbers are the paper's. [claims.toml](../../papers/{paper}/claims.toml) has the "
        f"bounds, [deviations.md](../../papers/{paper}/deviations.md) the choices the paper leaves "
        f"open. With several seeds, claims show the mean and its 95 % confidence interval; tables "
        f"of cases show the median, minimum and maximum.\n"
    )
    rows = [
        [f"[{_heading(o.experiment)}](#{_anchor(_heading(o.experiment))})", *_counts(o.verdicts)]
        for o in outcomes
    ]
    return said + "\n" + markdown(("experiment", "hold", "do not", "undecided"), rows, left=1)


def _counts(verdicts: Sequence[Verdict]) -> list[str]:
    held = [verdict.holds for verdict in verdicts if verdict.claim.experiments]
    return [str(held.count(which)) for which in (True, False, None)]


def _one_a_claim(outcomes: Sequence[Outcome]) -> list[Verdict]:
    """Return one verdict per claim: the worst over all experiments."""
    rank = {False: 0, None: 1, True: 2}
    worst: dict[str, Verdict] = {}
    for verdict in (verdict for outcome in outcomes for verdict in outcome.verdicts):
        before = worst.get(verdict.claim.id)
        if before is None or rank[verdict.holds] < rank[before.holds]:
            worst[verdict.claim.id] = verdict
    return list(worst.values())


def _heading(experiment: Experiment) -> str:
    """Return place in the paper and title: "§2.3, Fig. 4: Active flows"."""
    _, mark, place = experiment.source.partition("§")
    if not mark:
        _, mark, place = experiment.source.partition("App. ")
    return f"{mark}{place}: {experiment.title}" if mark else experiment.title


def _anchor(heading: str) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _part(outcome: Outcome, paper: str) -> str:
    experiment = outcome.experiment
    name = experiment.name.split("/")[-1]
    verdicts = [verdict for verdict in outcome.verdicts if verdict.claim.experiments]
    parts = [
        f"## {_heading(experiment)}\n",
        f"![{experiment.title}]({paper}/{name}.png)\n",
        f"`xoff reproduce {experiment.name} --scale {experiment.scale} --check`, "
        f"{_seeds(experiment)}, runs: {len(outcome.runs)}, digest "
        f"`{digest(list(outcome.runs.items()))}`.\n",
    ]
    if verdicts:
        parts += [markdown(CLAIMS, [_row(verdict) for verdict in verdicts], left=6), _why(verdicts)]
    parts.append(_table(outcome))
    return "\n".join(part for part in parts if part)


def _seeds(experiment: Experiment) -> str:
    seeds = list(dict.fromkeys(point.seed for point in experiment.points if point.seed is not None))
    if not seeds:
        return "one seed"
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"


def digest(runs: Sequence[tuple[str, str]]) -> str:
    """Return a digest of (title, digest) pairs of runs, in any order."""
    lines = "".join(f"{title} {found}\n" for title, found in sorted(runs))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _row(verdict: Verdict) -> list[str]:
    claim = verdict.claim
    measured = report.measured_text(verdict.measured, verdict.intervals)
    cells = [claim.id, claim.where, claim.text, claim.paper, measured, report.holds_text(verdict)]
    return [cell.replace("|", "\\|") for cell in cells]


def _why(verdicts: Sequence[Verdict]) -> str:
    """Format the explanations of claims as a list."""
    said = [f"- {v.claim.id}: {v.claim.explanation}.\n" for v in verdicts if v.claim.explanation]
    return "".join(line.replace("..\n", ".\n") for line in said)


def _table(outcome: Outcome) -> str:
    experiment = outcome.experiment
    if experiment.columns or not _has_flows(outcome):
        full = report.table_text(experiment, outcome.results).split("\n\n", 2)[2]
    else:
        shown = [c for c in COLUMNS if _is_there(c, outcome)]
        full = report.spread_table(shown, outcome.results)
    lines = full.rstrip().splitlines()
    if len(lines) <= MOST_ROWS + 2:
        return full
    kept = "\n".join(lines[: MOST_ROWS + 2])
    return f"{kept}\n\nTable cut; the command prints all rows.\n"


def _has_flows(outcome: Outcome) -> bool:
    runs = [run for runs in outcome.results.values() for run in runs]
    return not any(run.summary.get("queries") or run.summary.get("engine") for run in runs)


def _is_there(column: Column, outcome: Outcome) -> bool:
    results = outcome.results.items()
    return any(Term(label, **column.term).over_seeds(runs) is not None for label, runs in results)


def _without_runs(outcomes: Sequence[Outcome]) -> str:
    closed = {v.claim.id: v for o in outcomes for v in o.verdicts if not v.claim.experiments}
    rest: dict[str, NotRun] = {r.claim.id: r for o in outcomes for r in o.not_run}
    rows = [_row(verdict) for verdict in closed.values()]
    rows += [
        [r.claim.id, r.claim.where, r.claim.text, r.claim.paper, report.needs_text(r), "not run"]
        for r in rest.values()
    ]
    if not rows:
        return ""
    return "## Claims without a run\n\n" + markdown(CLAIMS, rows, left=6)
