"""Two cases with the same seeds, and so the same traffic, compared by a ratio or a difference.

Draws are common to all cases (`sampling`). What the traffic of a seed does to both cases therefore
cancels, and the interval of a ratio or difference is narrower than those of its two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xoff import sampling, units
from xoff.experiment import Column, Experiment
from xoff.metrics import Term
from xoff.result import Result
from xoff.sampling import MISSING, Array, Sample
from xoff.text import markdown, with_interval

Results = Mapping[str, Sequence[Result]]


def relative(term: Term, runs: Sequence[Result], base: Sequence[Result], relation: str) -> Sample:
    """Return a term's ratio or difference to a baseline (`relation`: one of `COMPARISONS`).

    `runs` and `base` have the runs of both cases, seed by seed in the same order.
    """
    return of_samples(sampling.of_term(term, runs), sampling.of_term(term, base), relation)


def of_samples(one: Sample, base: Sample, relation: str) -> Sample:
    """Return the ratio or difference of two numbers; missing where it is not a number."""
    if one.low is None or one.high is None or base.low is None or base.high is None:
        return MISSING
    ends = np.array([[one.low], [one.high]]), np.array([[base.low], [base.high]])
    low, high = (float(end) for end in _related(*ends, relation)[:, 0])
    if math.isnan(low) or math.isnan(high):
        return MISSING
    if one.draws is None or base.draws is None:
        return Sample(low, high)
    return Sample(low, high, _related(one.draws, base.draws, relation))


def _related(one: Array, base: Array, relation: str) -> Array:
    """Relate both ends, the lower one to the upper end of the baseline; NaN where undefined."""
    opposite = base[::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        if relation == "difference":
            return one - opposite
        undefined = (opposite == 0) | ((opposite < 0) & (one > 0))
        return np.where(undefined, np.nan, one / opposite)


def common(
    runs: Mapping[Any, Result], base: Mapping[Any, Result]
) -> tuple[list[Result], list[Result]]:
    """Return the runs of two cases, given by seed, for the seeds that both have, in one order."""
    seeds = [seed for seed in runs if seed in base]
    return [runs[seed] for seed in seeds], [base[seed] for seed in seeds]


def table(experiment: Experiment, columns: Sequence[Column], results: Results) -> str:
    """Format the ratios or differences of an experiment's columns to its baseline case.

    A case at a value of a sweep is compared with the baseline at the same value. Cases without a
    baseline or without a common seed are left out.
    """
    relation, baseline = experiment.relation, experiment.relative_to
    by_seed = _by_seed(experiment, results)
    rows = []
    for point in {point.label: point for point in experiment.points}.values():
        base = replace(point, case=baseline).label
        base = base if base in by_seed else baseline
        runs, others = common(by_seed[point.label], by_seed.get(base, {}))
        if point.case == baseline or not runs:
            continue
        found = [
            relative(Term(point.label, **column.term), runs, others, relation) for column in columns
        ]
        cells = [with_interval(one.low, one.interval, one.is_censored) for one in found]
        rows.append([point.label, str(len(runs)), *cells])
    head = (
        f"{relation.capitalize()} to {baseline}, over all seeds and paired by seed (95 % interval"
    )
    titles = [column.title if relation == "difference" else _bare(column) for column in columns]
    shown = markdown(["case", "seeds", *titles], rows, left=1)
    return f"{head} in parentheses).\n\n{shown}"


def _bare(column: Column) -> str:
    """Return a column's title without the unit of its number, which a ratio does not have."""
    unit = f" ({units.of_term(Term('', **column.term))})"
    named = column.title.lower().endswith(unit.lower())
    return column.title[: -len(unit)] if named else column.title


def _by_seed(experiment: Experiment, results: Results) -> dict[str, dict[Any, Result]]:
    seeds: dict[str, list[int | None]] = {}
    for point in experiment.points:
        seeds.setdefault(point.label, []).append(point.seed)
    return {label: dict(zip(seeds[label], runs, strict=True)) for label, runs in results.items()}
