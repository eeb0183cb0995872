"""Confidence intervals of a claim's numbers over the seeds of its cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xoff.relations import Outcome
from xoff.result import Result

Results = Mapping[str, Sequence[Result]]

# Student's t, two-sided 95 % quantiles for 1, 2, ... degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
_T_BEYOND = 1.960
# With two seeds the interval would be 13 standard errors wide on each side: meaningless.
LEAST_SEEDS = 3


def student_t(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's t with `freedom` degrees of freedom."""
    return _T[freedom - 1] if freedom <= len(_T) else _T_BEYOND


def interval(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Return the mean's 95 % confidence interval.

    None if a value is missing or infinite, or there are fewer than three.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < max(LEAST_SEEDS, len(values)):
        return None
    middle = sum(known) / len(known)
    variance = sum((value - middle) ** 2 for value in known) / (len(known) - 1)
    half = student_t(len(known) - 1) * math.sqrt(variance / len(known))
    return middle - half, middle + half


def by_seed(
    check: Callable[[Results], Outcome], cases: Sequence[str], results: Results
) -> list[Outcome]:
    """Return the check's outcome for each single seed.

    Empty if cases differ in their number of seeds, or there are fewer than three.
    """
    counts = {len(results.get(case, ())) for case in cases}
    if len(counts) != 1 or (seeds := counts.pop()) < LEAST_SEEDS:
        return []
    alone = [{case: [results[case][i]] for case in cases} for i in range(seeds)]
    return [check(runs) for runs in alone]


def intervals(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    """Return the confidence interval of each number available for every seed."""
    if not outcomes:
        return {}
    names = [name for name in outcomes[0].measured if all(name in o.measured for o in outcomes)]
    found = {name: interval([o.measured[name] for o in outcomes]) for name in names}
    return {name: ends for name, ends in found.items() if ends is not None}
