"""What a sweep has measured: one row per point, and where a measure passes its level."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xoff import sampling
from xoff.experiment import plain
from xoff.result import Result
from xoff.sweeps.grid import Combination, Grid, Measure, is_number
from xoff.text import markdown, number

if TYPE_CHECKING:
    import pyarrow as pa

Results = Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class Cell:
    """A number with its 95 % interval; None: too few samples.

    `at_least`: it rests on unfinished flows, and `value` is the least it can be.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    at_least: bool = False

    @property
    def text(self) -> str:
        """The number and its interval."""
        text = ("at least " if self.at_least else "") + number(self.value)
        if self.interval is not None and self.interval[0] < self.interval[1]:
            text += f" ({number(self.interval[0])} to {number(self.interval[1])})"
        return text

    def side(self, level: float) -> int:
        """Return -1 if the number is below a level, 1 if it is above, 0 if that is undecided.

        Without an interval the number itself decides.
        """
        if self.value is None:
            return 0
        low, high = self.interval or (self.value, math.inf if self.at_least else self.value)
        return int(low > level) - int(high < level)


@dataclass(frozen=True)
class Row:
    """A point and its numbers, by the names of the measures."""

    point: Combination
    seeds: int
    cells: Mapping[str, Cell]


def rows(grid: Grid, results: Results) -> list[Row]:
    """Return one row per point with finished runs."""
    return [
        row(one, runs, grid.measures)
        for one in grid.combinations()
        if (runs := results.get(one.label))
    ]


def row(point: Combination, runs: Sequence[Result], measures: Sequence[Measure]) -> Row:
    """Return the numbers of a point over its runs."""
    return Row(point, len(runs), {m.name: _cell(m, point.label, runs) for m in measures})


def _cell(measure: Measure, label: str, runs: Sequence[Result]) -> Cell:
    sample = sampling.of_term(measure.of(label), runs)
    return Cell(sample.low, sample.interval, sample.is_censored)


def text(grid: Grid, found: Sequence[Row]) -> str:
    """Format the rows as a Markdown table, with the levels that are passed below it."""
    head, shown = cells(grid.keys, grid.measures, found)
    note = "Numbers are over all seeds, with their 95 % intervals in parentheses.\n"
    return (
        "\n".join([markdown(head, shown, left=len(grid.keys)), note])
        + "".join(f"\n- {line}" for line in crossings(grid, found))
        + "\n"
    )


def cells(
    keys: Sequence[str], measures: Sequence[Measure], found: Sequence[Row]
) -> tuple[list[str], list[list[str]]]:
    """Return the rows as text, below the names of their columns."""
    names = [measure.name for measure in measures]
    shown = [
        [
            *(plain(row.point.settings[key]) for key in keys),
            str(row.seeds),
            *(row.cells[name].text for name in names),
        ]
        for row in found
    ]
    return [*keys, "seeds", *names], shown


def crossings(grid: Grid, found: Sequence[Row], x: str | None = None) -> list[str]:
    """Say where measures with a level pass it, along `x` on every curve. One line each."""
    x = x or grid.default_x()
    if not all(is_number(row.point.settings[x]) for row in found):
        return []
    return [
        (f"{name}: " if name else "") + f"{measure.name} {_crossing(measure, x, curve)}"
        for measure in grid.measures
        if measure.level is not None
        for name, curve in curves(found, x).items()
    ]


def curves(found: Sequence[Row], x: str) -> dict[str, list[Row]]:
    """Group rows by their settings besides `x`; numbers along `x` are in their order."""
    grouped: dict[str, list[Row]] = {}
    for row in found:
        grouped.setdefault(row.point.without(x), []).append(row)
    for curve in grouped.values():
        if all(is_number(row.point.settings[x]) for row in curve):
            curve.sort(key=lambda row: row.point.settings[x])
    return grouped


def _crossing(measure: Measure, x: str, curve: Sequence[Row]) -> str:
    level = measure.level or 0.0
    sides = [row.cells[measure.name].side(level) for row in curve]
    at = [plain(row.point.settings[x]) for row in curve]
    decided = [i for i, side in enumerate(sides) if side]
    steps = [(i, j) for i, j in itertools.pairwise(decided) if sides[i] != sides[j]]
    said = [f"passes {level:g} between {x} = {at[i]} and {at[j]}" for i, j in steps]
    if not said and decided:
        side = "above" if sides[decided[0]] > 0 else "below"
        said = [f"is {side} {level:g} where it is decided"]
    open_ones = [at[i] for i, side in enumerate(sides) if not side]
    if open_ones:
        said.append(f"undecided at {', '.join(open_ones)}: more seeds or longer runs decide it")
    return "; ".join(said)


def arrow(keys: Sequence[str], measures: Sequence[Measure], found: Sequence[Row]) -> pa.Table:
    """Return the rows as an Arrow table.

    Columns: every setting that varies, `seeds`, and for each measure NAME its number,
    `NAME_low` and `NAME_high` (95 % interval) and `NAME_at_least`.
    """
    import pyarrow as pa

    columns: dict[str, pa.Array] = {
        key: column([row.point.settings[key] for row in found]) for key in keys
    }
    columns["seeds"] = pa.array([row.seeds for row in found], pa.int64())
    for measure in measures:
        own = [row.cells[measure.name] for row in found]
        ends = [cell.interval or (None, None) for cell in own]
        columns[measure.name] = pa.array([cell.value for cell in own], pa.float64())
        columns[f"{measure.name}_low"] = pa.array([low for low, _ in ends], pa.float64())
        columns[f"{measure.name}_high"] = pa.array([high for _, high in ends], pa.float64())
        columns[f"{measure.name}_at_least"] = pa.array([cell.at_least for cell in own])
    return pa.table(columns)


def column(values: Sequence[Any]) -> pa.Array:
    """Return values of a setting as whole numbers, numbers, truth values or text."""
    import pyarrow as pa

    for kind, type_ in ((bool, pa.bool_()), (int, pa.int64()), ((int, float), pa.float64())):
        if all(isinstance(v, kind) and (kind is bool or is_number(v)) for v in values):
            return pa.array(values, type_)
    return pa.array([plain(value) for value in values], pa.string())
