"""Two cases with the same seeds, and so the same traffic, compared by a ratio or a difference.

Draws are common to all cases (`sampling`). What the traffic of a seed does to both cases therefore
cancels, and the interval of a ratio or difference is narrower than those of its two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xoff import sampling
from xoff.metrics import Term
from xoff.result import Result
from xoff.sampling import MISSING, Array, Sample


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
        return np.where(opposite == 0, np.nan, one / opposite)


def common(runs: Sequence[Result], base: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Return the runs of both cases whose seeds both have, seed by seed in the same order."""
    of_seed = {run.summary.get("seed"): run for run in base}
    both = [(run, of_seed[seed]) for run in runs if (seed := run.summary.get("seed")) in of_seed]
    return [run for run, _ in both], [other for _, other in both]
