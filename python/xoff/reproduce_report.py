"""Outcome of an experiment as text, Markdown and JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xoff import engine, numerical, paired, units
from xoff.claims import KINDS, Claim
from xoff.experiment import Column, Experiment
from xoff.lookup import Group, class_entry, lookup, statistic
from xoff.metrics import Term
from xoff.result import Result
from xoff.text import byte_text, fixed, jsonable, markdown, number, with_interval
from xoff.verdicts import HOLDS, WORDS, Measured, NotRun, Verdict

if TYPE_CHECKING:
    from xoff.reproduce import Outcome

# What a check adds to the name of a number that an earlier check has measured, too.
_AGAIN = re.compile(r" \(\d+\)$")
# Like the numbers next to it, of the measured time. Packets lost on failed links count.
LOST = Column("packets lost", {"path": "dropped.packets"})
TABLE = [
    *("case", "range", "flows", "mean", "p50", "p95", "p99"),
    *("buffer p99", LOST.title, "PFC pause share", "digest"),
]
# Largest number of table rows per experiment in the report on its paper.
MOST_ROWS = 48
# Largest number of rows of an experiment's table on a paper's page.
MOST_PAGE_ROWS = 40
# Columns on a paper's page of an experiment without `[[column]]`s; those without any number are
# left out.
PAGE_COLUMNS = (
    Column("short, p99", {"range": "short", "statistic": "p99"}),
    Column("medium, mean", {"range": "medium", "statistic": "mean"}),
    Column("long, mean", {"range": "long", "statistic": "mean"}),
    Column("all, p99", {"range": "all", "statistic": "p99"}),
    Column("buffer p99 (MB)", {"path": "buffer.p99_bytes", "scale": 1e-6}),
    LOST,
    Column("paused by PFC (%)", {"path": "pfc.pause_time_share", "scale": 100.0}),
)


def table_text(experiment: Experiment, results: Mapping[str, Sequence[Result]]) -> str:
    """Format an experiment's table in Markdown: one row per case, seed and size range."""
    head = f"# {experiment.title}\n\n{experiment.name}, scale {experiment.scale}"
    head += f", {experiment.source}" if experiment.source else ""
    head += f", changed: {', '.join(experiment.settings)}" if experiment.settings else ""
    head += f", xoff {engine.version()}.\n\n"
    titled = [
        (label if len(runs) == 1 else f"{label} #{index}", run)
        for label, runs in results.items()
        for index, run in enumerate(runs, 1)
    ]
    if kind := numerical.engine_of(titled[0][1].summary):
        shown = [[title, *numerical.values(run.summary), run.digest] for title, run in titled]
        return head + markdown(["case", *numerical.titles(kind), "digest"], shown, left=1)
    below = f"\n{relative_table(experiment, results)}" if experiment.relative_to else ""
    if experiment.columns:
        return head + spread_table(experiment.columns, results) + below
    if any(run.summary.get("queries") for _, run in titled):
        return head + _completions(titled) + below
    note = "Slowdown: FCT divided by the FCT of the flow alone on its path. "
    note += "`-`: fewer than 10 flows beyond the percentile.\n"
    rows = [row for title, run in titled for row in _rows(title, run)]
    return f"{head}{markdown(TABLE, rows, left=2)}\n{note}{below}"


def relative_table(experiment: Experiment, results: Mapping[str, Sequence[Result]]) -> str:
    """Format the columns relative to the baseline (`paired.table`)."""
    columns = experiment.columns or [one for one in PAGE_COLUMNS if _is_there(one, results)]
    return paired.table(experiment, columns, results)


def spread_table(columns: Sequence[Column], results: Mapping[str, Sequence[Result]]) -> str:
    """Format one row per case: each column's median, minimum and maximum over the seeds."""
    shown = []
    for label, runs in results.items():
        cells = [label, str(len(runs))]
        for column in columns:
            term = Term(label, **column.term)
            low, middle, high = (
                number(replace(term, seeds=which).over_seeds(runs))
                for which in ("min", "median", "max")
            )
            cells.append(middle if low == high else f"{middle} ({low} to {high})")
        shown.append(cells)
    titles = ["case", "seeds", *[column.title for column in columns]]
    note = "Median over the seeds (minimum to maximum in parentheses).\n"
    return f"{markdown(titles, shown, left=1)}\n{note}"


def page_table(outcome: Outcome) -> str:
    """Format an experiment's tables for a paper's page, each cut to `MOST_PAGE_ROWS` rows."""
    experiment, results = outcome.experiment, outcome.results
    if experiment.columns or not _has_flows(outcome):
        alone = replace(experiment, relative_to="")
        full = table_text(alone, results).split("\n\n", 2)[2]
    else:
        shown = [column for column in PAGE_COLUMNS if _is_there(column, results)]
        full = spread_table(shown, results)
    if not experiment.relative_to:
        return _cut(full, MOST_PAGE_ROWS + 2)
    # Its sentence and an empty line come first.
    return f"{_cut(full, MOST_PAGE_ROWS + 2)}\n" + _cut(
        relative_table(experiment, results), MOST_PAGE_ROWS + 4
    )


def _cut(full: str, most: int) -> str:
    lines = full.rstrip().splitlines()
    if len(lines) <= most:
        return full
    kept = "\n".join(lines[:most])
    return f"{kept}\n\nTable cut; the command prints all rows.\n"


def _has_flows(outcome: Outcome) -> bool:
    runs = outcome.run_of.values()
    return not any(run.summary.get("queries") or run.summary.get("engine") for run in runs)


def _is_there(column: Column, results: Mapping[str, Sequence[Result]]) -> bool:
    return any(
        Term(label, **column.term).over_seeds(runs) is not None for label, runs in results.items()
    )


COUNTS = ("case", "packets without room", "timeouts", "spurious retransmissions", "digest")
TIMES = ("case", "completions", "count", "unfinished", "p50 (ms)", "p95 (ms)", "p99 (ms)")


def _completions(titled: Sequence[tuple[str, Result]]) -> str:
    """Format a table of counts over the whole run, and one of completion times."""
    paths = ("drops_packets", "timeouts", "transport.spurious_retransmissions")
    counts = [
        [title, *[number(lookup(run.summary, path)) for path in paths], run.digest]
        for title, run in titled
    ]
    times = [row for title, run in titled for row in _completion_rows(title, run)]
    return f"{markdown(COUNTS, counts, left=1)}\n{markdown(TIMES, times, left=2)}\n"


def _completion_rows(title: str, run: Result) -> list[list[str]]:
    """Return one row per group of queries, then per group of web requests.

    Groups by both size and priority are left out, as are web requests of one query each, which
    repeat the queries.
    """
    rows = []
    summary = run.summary
    for kind, classes in (
        ("queries", summary.get("queries")),
        ("requests", summary.get("requests")),
    ):
        for cls, groups in (classes or {}).items():
            if kind == "requests" and set(groups) == {"all", "1"}:
                continue
            for name, group in groups.items():
                if "-" not in name:
                    times = (group["p50_us"], group["p95_us"], group["p99_us"])
                    shown = ["-" if time is None else f"{time / 1e3:.3g}" for time in times]
                    sizes = [f"{group['count']:,}", f"{group['unfinished']:,}"]
                    rows.append([title, f"{kind} {cls}, {name}", *sizes, *shown])
    return rows


def paper_text(outcomes: Sequence[Outcome]) -> str:
    """Format the tables and claims of a paper's experiments in Markdown.

    Long tables are cut to `MOST_ROWS` rows.
    """
    paper, scale = outcomes[0].experiment.name.split("/")[0], outcomes[0].experiment.scale
    parts = [
        f"# Results at scale {scale}\n\nMade by `xoff reproduce {paper} --scale {scale} --check`.\n"
    ]
    for outcome in outcomes:
        lines = table_text(outcome.experiment, outcome.results).splitlines()
        shown = [f"#{lines[0]}", *lines[1 : 6 + MOST_ROWS]]
        if len(lines) > len(shown):
            shown.append("\nTable cut; the command prints all rows.")
        parts.append("\n".join(shown) + "\n")
        rows = [_claim_row(verdict) for verdict in outcome.verdicts]
        rows += [[r.claim.id, r.claim.paper, "", "not run", needs_text(r)] for r in outcome.not_run]
        if rows:
            parts.append(markdown(("claim", "paper", "measured", "verdict", "note"), rows, left=5))
    return "\n".join(parts)


def _claim_row(verdict: Verdict) -> list[str]:
    claim = verdict.claim
    measured = measured_text(verdict.measured)
    return [claim.id, claim.paper, measured, verdict.verdict, claim.explanation]


def needs_text(rest: NotRun) -> str:
    """Return the missing requirements of an unchecked claim, or the test that shows it."""
    return f"needs {', '.join(rest.needs)}" if rest.needs else f"shown by {rest.claim.shown_by}"


def _rows(title: str, run: Result) -> list[list[str]]:
    entry = class_entry(run) or {}
    groups: dict[str, Group] = {**(entry.get("ranges") or {}), "all": entry.get("all") or {}}
    share = lookup(run.summary, "pfc.pause_time_share")
    tail = [
        byte_text(lookup(run.summary, "buffer.p99_bytes")),
        number(lookup(run.summary, LOST.term["path"])),
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
    """Format the claims as text: checked claims with their verdicts, then unchecked ones."""
    lines = []
    for verdict in outcome.verdicts:
        claim = verdict.claim
        lines.append(_headline(claim))
        if claim.paper:
            lines.append(f"    paper     {claim.paper}")
        lines.append(f"    measured  {measured_text(verdict.measured)}")
        lines.append(f"    verdict   {verdict_text(verdict)}")
        for note in filter(None, (claim.cause, claim.explanation)):
            lines.append(f"    note      {note}")
    for rest in outcome.not_run:
        lines.append(_headline(rest.claim))
        lines.append(f"    not run   {needs_text(rest)}")
    if any(_AGAIN.search(name) for verdict in outcome.verdicts for name in verdict.measured):
        lines.append("(2): the same case in a further check of the claim, see `claims.toml`")
    lines += _counts(outcome)
    return "\n".join(lines) + "\n"


def _counts(outcome: Outcome) -> list[str]:
    """Return one line per kind of claims: how many hold, fail, are undecided."""
    lines = []
    for kind in KINDS:
        said = [v.verdict for v in outcome.verdicts if v.claim.kind == kind and not v.is_cause]
        if said:
            found = ", ".join(f"{said.count(word)} {word}" for word in WORDS if word in said)
            lines.append(f"{len(said)} {kind} claims: {found}")
    if outcome.not_run:
        lines.append(f"{len(outcome.not_run)} claims not run")
    return lines


def verdict_text(verdict: Verdict) -> str:
    """Format a verdict, its kind, and whether a failure has at least the paper's sign."""
    said = f"{verdict.verdict} ({verdict.claim.kind}"
    if verdict.verdict != HOLDS and verdict.direction is not None:
        said += ", the paper's direction" if verdict.direction else ", not the paper's direction"
    return said + (", without the cause)" if verdict.is_cause else ")")


def _headline(claim: Claim) -> str:
    where = f" ({claim.where})" if claim.where else ""
    return f"{claim.id}{where}: {claim.text}"


def measured_text(measured: Mapping[str, Measured]) -> str:
    """Format measured numbers on one line; a single number has no name.

    A number is followed by its 95 % confidence interval, if it has one, and its unit. A number that
    two checks have in common is shown once.
    """
    shown = {
        name: units.after(with_interval(one.value, one.interval, one.at_least), one.unit)
        for name, one in measured.items()
        if not _is_repeated(name, measured)
    }
    if len(shown) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{name} {value}" for name, value in shown.items()) or "-"


def _is_repeated(name: str, measured: Mapping[str, Measured]) -> bool:
    """Return whether another check has the same number, under the name without `(2)`."""
    other = _AGAIN.sub("", name)
    return other != name and measured.get(other) == measured[name]


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as a JSON object; infinite numbers become `"inf"` or `"-inf"`."""
    claims = [
        {
            "claim": verdict.claim.id,
            "kind": verdict.claim.kind,
            "text": verdict.claim.text,
            "paper": verdict.claim.paper,
            **verdict_json(verdict),
            "explanation": verdict.claim.explanation,
        }
        for verdict in outcome.verdicts
    ]
    not_run = [
        {"claim": r.claim.id, "needs": list(r.needs)}
        | ({"shown_by": r.claim.shown_by} if r.claim.shown_by else {})
        for r in outcome.not_run
    ]
    return {
        "experiment": outcome.experiment.name,
        "scale": outcome.experiment.scale,
        "settings": list(outcome.experiment.settings),
        "version": engine.version(),
        "claims": claims,
        "not_run": not_run,
        "runs": outcome.runs,
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for JSON: `verdict`, `direction`, `measured`, `interval`, `seeds`."""
    found = {
        "verdict": verdict.verdict,
        "direction": verdict.direction,
        "measured": {name: _number_json(one) for name, one in verdict.measured.items()},
        "interval": {
            name: [jsonable(end) for end in one.interval]
            for name, one in verdict.measured.items()
            if one.interval is not None
        },
        "seeds": verdict.seeds,
    }
    return {**found, "is_cause": True} if verdict.is_cause else found


def _number_json(one: Measured) -> dict[str, Any]:
    found = {"value": jsonable(one.value), "unit": one.unit}
    return {**found, "at_least": True} if one.at_least else found


def from_json(measured: Mapping[str, Any], interval: Mapping[str, Any]) -> dict[str, Measured]:
    """Return measured numbers as `verdict_json` has written them."""
    return {
        name: Measured(
            _float(one["value"]),
            one["unit"],
            _ends(interval.get(name)),
            one.get("at_least", False),
        )
        for name, one in measured.items()
    }


def _ends(found: Sequence[float | str] | None) -> tuple[float, float] | None:
    return None if found is None else (float(found[0]), float(found[1]))


def _float(value: float | str | None) -> float | None:
    return None if value is None else float(value)
