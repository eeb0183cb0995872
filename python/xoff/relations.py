"""Relations between the numbers of cases, with which claims are checked."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xoff.errors import UsageError


@dataclass
class Outcome:
    """Outcome of a relation: measured numbers by name, and whether it holds (None: undecided)."""

    measured: dict[str, float | None]
    holds: bool | None


@dataclass(frozen=True)
class Bounds:
    """Inclusive limits; None is no limit."""

    low: float | None = None
    high: float | None = None

    def contain(self, value: float | None) -> bool | None:
        """Return whether a value lies within the limits; None if there is no value."""
        if value is None or math.isnan(value):
            return None
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)


Named = Mapping[str, float | None]
Array = np.ndarray[Any, np.dtype[np.float64]]
Relation = Callable[[Named, Bounds, float], Outcome]


def every(verdicts: Sequence[bool | None]) -> bool | None:
    """Combine verdicts with "and": False if any is False, else None if any is None."""
    if any(verdict is False for verdict in verdicts):
        return False
    return None if not verdicts or None in verdicts else True


def some(verdicts: Sequence[bool | None]) -> bool | None:
    """Combine verdicts with "or": True if any is True, else None if any is None."""
    if any(verdict is True for verdict in verdicts):
        return True
    return None if not verdicts or None in verdicts else False


def divide(above: float | None, below: float | None) -> float | None:
    """Return a ratio; None if a side is missing, both are zero or both infinite.

    A positive number over a divisor of zero or less is infinite: such a divisor is a draw around a
    positive number.
    """
    if above is None or below is None or (above == 0 == below):
        return None
    if math.isinf(above) and math.isinf(below):
        return None
    return math.inf if below == 0 or below < 0 < above else above / below


def _bounded(measured: dict[str, float | None], bounds: Bounds) -> Outcome:
    return Outcome(measured, every([bounds.contain(value) for value in measured.values()]))


def value(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The value of every case is within the bounds."""
    return _bounded(dict(values), bounds)


def ratio(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The ratio of every case to the last one is within the bounds."""
    *above, last = values
    return _bounded({f"{a}/{last}": divide(values[a], values[last]) for a in above}, bounds)


def max_ratio(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The largest ratio of a case to the last one is within the bounds."""
    found = ratio(values, bounds, factor).measured
    if None in found.values():
        return Outcome(found, None)
    name, top = max(found.items(), key=lambda item: item[1] or 0.0)
    return Outcome({f"max {name}": top}, bounds.contain(top))


def saving(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The reduction of every case against the last one, as a share of it, is within the bounds."""
    found = ratio(values, bounds, factor).measured
    return _bounded({f"1 - {k}": None if x is None else 1 - x for k, x in found.items()}, bounds)


def difference(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The first value minus the second is within the bounds."""
    (a, x), (b, y) = list(values.items())[:2]
    return _bounded({f"{a} - {b}": None if x is None or y is None else x - y}, bounds)


def order(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """Each value times `factor` is at most the next: first <= second <= ..."""
    known = list(values.values())
    verdicts: list[bool | None] = []
    for x, y in itertools.pairwise(known):
        both_endless = x == math.inf == y
        verdicts.append(None if x is None or y is None or both_endless else x * factor <= y)
    return Outcome(dict(values), every(verdicts))


def ratio_order(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The ratios of consecutive pairs of values are ordered as by `order`."""
    known = list(values.items())
    pairs = list(zip(known[::2], known[1::2], strict=False))
    measured = {f"{a}/{b}": divide(x, y) for (a, x), (b, y) in pairs}
    return Outcome(measured, order(measured, bounds, factor).holds)


def lowest(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The first value times `factor` is at most every other one."""
    (_, x), *rest = values.items()
    verdicts = [order({"x": x, "y": y}, bounds, factor).holds for _, y in rest]
    return Outcome(dict(values), every(verdicts))


def highest(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """Every other value times `factor` is at most the first one."""
    (_, x), *rest = values.items()
    verdicts = [order({"y": y, "x": x}, bounds, factor).holds for _, y in rest]
    return Outcome(dict(values), every(verdicts))


def total(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The sum over the cases is within the bounds."""
    known = [value for value in values.values() if value is not None]
    found = sum(known) if len(known) == len(values) else None
    return _bounded({"sum": found}, bounds)


def count(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """At least `factor` of the cases have a value within the bounds."""
    inside = [bounds.contain(value) for value in values.values()]
    if None in inside:
        return Outcome(dict(values), None)
    found = sum(map(bool, inside))
    return Outcome({**values, "count": float(found)}, found >= factor)


def lines(values: Named) -> dict[str, tuple[float, float] | None]:
    """Fit a line to each case's sweep; return (slope, R squared) by case.

    Names are `CASE@X`; X is a number or a quantity, all in one unit. None if a point is missing or
    infinite, or there are fewer than three. Raises `UsageError` if an X is not a number.
    """
    return {case: _line(points) for case, points in _sweeps(values).items()}


def _sweeps(values: Named) -> dict[str, list[tuple[float, float | None]]]:
    found: dict[str, list[tuple[str, float | None]]] = {}
    for name, value in values.items():
        case, _, x = name.rpartition("@")
        found.setdefault(case, []).append((x, value))
    return {case: _numbers(points) for case, points in found.items()}


def _numbers(points: Sequence[tuple[str, float | None]]) -> list[tuple[float, float | None]]:
    split = [(re.fullmatch(r"(-?[0-9.]+)([A-Za-z]*)", x), y) for x, y in points]
    found = [(float(match[1]), match[2], y) for match, y in split if match]
    if len(found) < len(points) or len({unit for _, unit, _ in found}) > 1:
        raise UsageError(
            f"sweep values must be numbers in one unit, not {', '.join(x for x, _ in points)}"
        )
    return [(x, y) for x, _, y in found]


def _line(points: Sequence[tuple[float, float | None]]) -> tuple[float, float] | None:
    known = [(x, y) for x, y in points if y is not None and math.isfinite(y)]
    if len(known) < max(3, len(points)):
        return None
    xs, ys = np.array(known).T
    slope, intercept = np.polyfit(xs, ys, 1)
    return float(slope), _r_squared(ys, slope * xs + intercept)


def _r_squared(measured: Array, fitted: Array) -> float:
    total = float(((measured - measured.mean()) ** 2).sum())
    missed = float(((measured - fitted) ** 2).sum())
    return 1.0 - missed / total if total > 0 else 1.0


def linear(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """R squared of the line fitted to each case's sweep is within the bounds."""
    found = lines(values)
    measured: dict[str, float | None] = {}
    for case, line in found.items():
        measured[f"{case} slope"] = line and line[0]
        measured[f"{case} R2"] = line and line[1]
    return Outcome(measured, every([bounds.contain(line and line[1]) for line in found.values()]))


def slope_ratio(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The ratio of the slope of every case's sweep to the last one's is within the bounds."""
    slopes = {f"{case} slope": line and line[0] for case, line in lines(values).items()}
    return ratio(slopes, bounds, factor)


def proportional(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The first case minus the second is proportional to the swept value.

    R squared of the line fitted through the origin is within the bounds.
    """
    above, below = _sweeps(values).values()
    pairs = [(x, y, z) for (x, y), (_, z) in zip(above, below, strict=True)]
    points = [(x, y - z) for x, y, z in pairs if y is not None and z is not None]
    if len(points) < max(3, len(pairs)):
        return Outcome({"R2": None}, None)
    xs, ys = np.array(points).T
    slope = float(xs @ ys / (xs @ xs))
    fit = _r_squared(ys, slope * xs)
    measured: dict[str, float | None] = {f"difference@{x:g}": float(y) for x, y in points}
    return Outcome({**measured, "slope": slope, "R2": fit}, bounds.contain(fit))


def rank_correlation(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """Spearman's correlation of the first half of the values with the second is within bounds."""
    known = [value for value in values.values() if value is not None]
    half = len(values) // 2
    if len(known) < len(values) or half < 3:
        return Outcome({"rank correlation": None}, None)
    found = float(np.corrcoef(_ranks(known[:half]), _ranks(known[half:]))[0, 1])
    return Outcome({"rank correlation": found}, bounds.contain(found))


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal values share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def pair_saving(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The reduction of each value against its partner is within the bounds.

    The first half of the values is paired with the second half, in order.
    """
    return _bounded(_pair_savings(values), bounds)


def max_pair_saving(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The largest reduction as of `pair_saving` is within the bounds."""
    found = _pair_savings(values)
    if None in found.values():
        return Outcome(found, None)
    name, top = max(found.items(), key=lambda item: item[1] or 0.0)
    return Outcome({f"max {name}": top}, bounds.contain(top))


def _pair_savings(values: Named) -> dict[str, float | None]:
    first, second = _parts(values, 2)
    pairs = zip(first, second, strict=True)
    found = {f"1 - {a}/{b}": divide(x, y) for (a, x), (b, y) in pairs}
    return {name: None if x is None else 1 - x for name, x in found.items()}


def _parts(values: Named, parts: int) -> list[list[tuple[str, float | None]]]:
    known = list(values.items())
    if len(known) % parts:
        raise UsageError(f"{len(known)} values cannot be divided into {parts} equal parts")
    size = len(known) // parts
    return [known[i * size : (i + 1) * size] for i in range(parts)]


# Smallest gain of the whole mechanism of which a share is meaningful.
LEAST_GAIN = 0.03


def gain_share(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The share of a mechanism's gain due to one part of it is within the bounds, in the median.

    The values are three equal lists: without the mechanism, with the part, with the whole. The
    relation does not hold if the whole gains no more than `LEAST_GAIN` anywhere.
    """
    known = list(zip(*_parts(values, 3), strict=True))
    shares = {part: _share(x, y, z) for (_, x), (part, y), (_, z) in known}
    gains = [_gain(without, whole) for (_, without), _, (_, whole) in known]
    if any(gain is not None and gain <= LEAST_GAIN for gain in gains):
        return Outcome(shares, False)
    found = [share for share in shares.values() if share is not None]
    if len(found) < len(shares):
        return Outcome(shares, None)
    middle = float(np.median(found))
    return Outcome({**shares, "median": middle}, bounds.contain(middle))


def _gain(without: float | None, whole: float | None) -> float | None:
    left = divide(whole, without)
    return None if left is None else 1 - left


def _share(without: float | None, part: float | None, whole: float | None) -> float | None:
    """Return the part's share of the whole's gain.

    None if a value is missing or infinite, or the gain is at most `LEAST_GAIN`.
    """
    if without is None or part is None or whole is None:
        return None
    gain = _gain(without, whole)
    if gain is None or gain <= LEAST_GAIN or math.isinf(without):
        return None
    return (without - part) / (without - whole)


def reach_ratio(values: Named, bounds: Bounds, factor: float) -> Outcome:
    """The ratio of the reach of every case to the last one's is within the bounds.

    The reach is the swept value at which a case first exceeds `factor`, interpolated linearly. A
    case that starts above `factor` or never exceeds it has no reach (None).
    """
    reaches = {f"{case} reach": _reach(points, factor) for case, points in _sweeps(values).items()}
    found = ratio(reaches, bounds, factor)
    return Outcome({**reaches, **found.measured}, found.holds)


def _reach(points: Sequence[tuple[float, float | None]], limit: float) -> float | None:
    ordered = sorted(points)
    if any(y is None for _, y in ordered):
        return None
    reached: tuple[float, float] | None = None
    for x, y in ordered:
        above = math.inf if y is None else y
        if above > limit:
            if reached is None:
                return None
            x0, y0 = reached
            return x0 if math.isinf(above) else x0 + (x - x0) * (limit - y0) / (above - y0)
        reached = (x, above)
    return None


RELATIONS: dict[str, Relation] = {
    "value": value,
    "ratio": ratio,
    "max-ratio": max_ratio,
    "saving": saving,
    "difference": difference,
    "order": order,
    "ratio-order": ratio_order,
    "lowest": lowest,
    "highest": highest,
    "sum": total,
    "count": count,
    "linear": linear,
    "slope-ratio": slope_ratio,
    "proportional": proportional,
    "rank-correlation": rank_correlation,
    "pair-saving": pair_saving,
    "max-pair-saving": max_pair_saving,
    "gain-share": gain_share,
    "reach-ratio": reach_ratio,
}
"""Relations by their name in claims."""

ORDERINGS = ("order", "ratio-order", "lowest", "highest")
"""Relations with a `factor` between values. The order alone is their sign."""

NEUTRAL = {
    **dict.fromkeys(("ratio", "max-ratio", "slope-ratio", "reach-ratio"), 1.0),
    **dict.fromkeys(("saving", "pair-saving", "max-pair-saving", "difference"), 0.0),
    **dict.fromkeys(("rank-correlation", "gain-share"), 0.0),
}
"""Relations of an effect, and the number that means no effect."""


def sign(metric: str, bounds: Bounds) -> tuple[Bounds, float | None] | None:
    """Return the bounds and the factor (None: unchanged) that ask only for the sign of an effect.

    None if the relation has no sign, or the bounds allow both.
    """
    if metric in ORDERINGS:
        return bounds, 1.0
    neutral = NEUTRAL.get(metric)
    if neutral is None:
        return None
    if bounds.low is not None and bounds.low >= neutral:
        return Bounds(low=neutral), None
    if bounds.high is not None and bounds.high <= neutral:
        return Bounds(high=neutral), None
    return None
