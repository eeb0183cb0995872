"""How sure a claim's numbers are: confidence intervals over the seeds that a case ran with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xoff.relations import Outcome
from xoff.result import Result

Results = Mapping[str, Sequence[Result]]

# Student's t for a two-sided confidence of 95 %, by degrees of freedom from 1 on.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
_T_BEYOND = 1.960
# Two seeds make an interval of 13 standard deviations, which says nothing.
LEAST_SEEDS = 3


def student_t(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's distribution."""
    return _T[freedom - 1] if freedom <= len(_T) else _T_BEYOND


def interval(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Return the mean's 95 % confidence interval; None where a value is missing or infinite."""
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
    """Return what a check finds in each seed alone; nothing where cases differ in their seeds."""
    counts = {len(results.get(case, ())) for case in cases}
    if len(counts) != 1 or (seeds := counts.pop()) < LEAST_SEEDS:
        return []
    alone = [{case: [results[case][i]] for case in cases} for i in range(seeds)]
    return [check(runs) for runs in alone]


def intervals(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    """Return the interval of each number that every seed has."""
    if not outcomes:
        return {}
    names = [name for name in outcomes[0].measured if all(name in o.measured for o in outcomes)]
    found = {name: interval([o.measured[name] for o in outcomes]) for name in names}
    return {name: ends for name, ends in found.items() if ends is not None}
