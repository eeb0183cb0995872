"""Where a measure passes its level along a setting, with the interval of that place.

Between two neighbouring values of the setting a measure is a straight line. The interval comes from
the draws of the measure's own interval (`xoff.sampling`): each draw takes the same seeds and
batches of time at every value, which makes a curve, and the curve passes the level somewhere or
beyond the range. So seeds are paired: a seed whose traffic is heavy is heavy at every value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xoff import sampling, units
from xoff.experiment import plain
from xoff.sampling import AGREEMENT, Array, Sample
from xoff.sweeps.grid import Grid, Measure, is_number
from xoff.sweeps.table import Row, curves
from xoff.text import jsonable, number

DECIDE = "more seeds or longer runs decide it"
PASSES, PASSES_OFTEN, ABOVE, BELOW, UNKNOWN = (
    *("passes", "passes-more-than-once", "above", "below", "unknown"),
)


@dataclass(frozen=True)
class Crossing:
    """Where a measure passes its level on one curve along the setting `x`.

    - `settings`: the other settings of the curve.
    - `outcome`: `passes`, `passes-more-than-once`, `above` or `below` (never passed in the range),
      `unknown` (no point has the number).
    - `at`: the places where the measured curve passes the level.
    - `interval`: 95 % interval of the place if there is one; an end beyond the range is infinite.
      None without uncertainty, or if more than 2.5 % of the draws have no number.
    - `decided`: whether all but 2.5 % of the draws agree with `above` or `below`, or both ends of
      the interval are within the range.
    - `limits`: the first and the last value of the setting.
    """

    measure: Measure
    x: str
    settings: Mapping[str, Any]
    outcome: str
    at: tuple[float, ...] = ()
    interval: tuple[float, float] | None = None
    decided: bool = False
    limits: tuple[float, float] = (math.nan, math.nan)

    @property
    def text(self) -> str:
        """One line about it."""
        curve = ", ".join(f"{key}={plain(value)}" for key, value in self.settings.items())
        level = units.with_unit(f"{self.measure.level:g}", self.measure.unit)
        return (f"{curve}: " if curve else "") + f"{self.measure.name} {self._said(level)}"

    def _said(self, level: str) -> str:
        first, last = (number(end) for end in self.limits)
        if self.outcome == UNKNOWN:
            return f"has too few samples to pass {level}"
        if self.outcome in (ABOVE, BELOW):
            said = f"does not pass {level}: it is {self.outcome} from {self.x} = {first} to {last}"
            return said if self.decided else f"{said}; undecided: {DECIDE}"
        places = ", ".join(map(number, self.at))
        if self.outcome == PASSES_OFTEN:
            return f"passes {level} more than once: at {self.x} = {places}"
        said = f"passes {level} at {self.x} = {places}"
        if self.interval is None:
            return f"{said} (without an interval: {DECIDE})"
        low, high = self.interval
        ends = (
            number(low) if math.isfinite(low) else f"below {first}",
            number(high) if math.isfinite(high) else f"above {last}",
        )
        said += f" (95 % interval {ends[0]} to {ends[1]})"
        return said if self.decided else f"{said}; undecided: {DECIDE}"

    def as_json(self) -> dict[str, Any]:
        """Return it for JSON; an infinite end of the interval becomes `"inf"` or `"-inf"`."""
        return {
            "measure": self.measure.name,
            "level": self.measure.level,
            "unit": self.measure.unit,
            "x": self.x,
            "settings": {key: plain(value) for key, value in self.settings.items()},
            "outcome": self.outcome,
            "decided": self.decided,
            "at": [jsonable(place) for place in self.at],
            "interval": None if self.interval is None else [jsonable(end) for end in self.interval],
        }


def crossings(grid: Grid, found: Sequence[Row], x: str | None = None) -> list[Crossing]:
    """Return where measures with a level pass it, on every curve along `x`.

    If `x` has no numbers, along `Grid.default_x`.
    """
    if x is None or not all(is_number(row.point.settings[x]) for row in found):
        x = grid.default_x()
    return [
        _crossing(measure, x, curve)
        for measure in grid.measures
        if measure.level is not None
        for curve in curves(found, x).values()
    ]


def _crossing(measure: Measure, x: str, curve: Sequence[Row]) -> Crossing:
    settings = {key: value for key, value in curve[0].point.settings.items() if key != x}
    known = [
        (float(row.point.settings[x]), sample)
        for row in curve
        if (sample := row.cells[measure.name]).low is not None
    ]
    if not known:
        return Crossing(measure, x, settings, UNKNOWN)
    at = np.array([place for place, _ in known])
    samples = [sample for _, sample in known]
    level = measure.level or 0.0
    lower = np.array([[sample.low for sample in samples]], dtype=np.float64)
    places = _places(at, lower[0], level)
    limits = (float(at[0]), float(at[-1]))
    starts_above = bool(lower[0, 0] > level)
    if len(places) > 1:
        return Crossing(measure, x, settings, PASSES_OFTEN, tuple(places), limits=limits)
    draws = _draws(samples)
    if not places:
        decided = draws is not None and _agreement(draws, level, starts_above) >= AGREEMENT
        outcome = ABOVE if starts_above else BELOW
        return Crossing(measure, x, settings, outcome, decided=decided, limits=limits)
    interval = None if draws is None else _interval(at, draws, level, starts_above)
    decided = interval is not None and all(map(math.isfinite, interval))
    return Crossing(measure, x, settings, PASSES, tuple(places), interval, decided, limits)


def _places(at: Array, values: Array, level: float) -> list[float]:
    """Return where the line through points passes a level, from left to right."""
    above = values > level
    steps = np.flatnonzero(above[1:] != above[:-1])
    left, right = values[steps], values[steps + 1]
    with np.errstate(invalid="ignore"):
        share = (level - left) / (right - left)
    # A line to infinity leaves its finite end at once.
    share = np.where(np.isinf(right), 0.0, np.where(np.isinf(left), 1.0, share))
    return [float(place) for place in at[steps] + share * (at[steps + 1] - at[steps])]


def _draws(samples: Sequence[Sample]) -> Array | None:
    """Return the curves of all draws, shape `(2, DRAWS, points)`; None if a point has none.

    A number that is infinite for every seed has no draws and needs none. Draws in which a point
    has no number are left out.
    """
    count = next((s.draws.shape[1] for s in samples if s.draws is not None), None)
    columns = []
    for sample in samples:
        if sample.draws is not None:
            columns.append(sample.draws)
        elif count is not None and sample.low is not None and math.isinf(sample.low):
            columns.append(np.full((2, count), sample.low))
        else:
            return None
    drawn = np.stack(columns, axis=2)
    return drawn[:, ~np.isnan(drawn).any(axis=(0, 2))]


def _agreement(draws: Array, level: float, above: bool) -> float:
    """Return the share of all draws whose curves are wholly on one side of a level."""
    sides = ((draws > level) == above).all(axis=(0, 2))
    return float(sides.sum()) / sampling.DRAWS


def _interval(
    at: Array, draws: Array, level: float, starts_above: bool
) -> tuple[float, float] | None:
    """Return the 95 % interval of the place where the curves pass a level.

    A curve that is wholly on the side on which the measured one starts passes it beyond the last
    value, one on the other side before the first.
    """
    lows, highs = [], []
    for both in draws.swapaxes(0, 1):
        places: list[float] = []
        for curve in both:
            beyond = math.inf if bool(curve[0] > level) == starts_above else -math.inf
            places += _places(at, curve, level) or [beyond]
        lows.append(min(places))
        highs.append(max(places))
    return sampling.interval(lows, highs)
