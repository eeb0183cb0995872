"""What a sweep has measured: one row per point, also relative to a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xoff import paired, sampling
from xoff.experiment import plain
from xoff.result import Result
from xoff.sampling import MISSING, Sample
from xoff.sweeps.grid import Combination, Grid, Measure, is_number
from xoff.text import with_interval

if TYPE_CHECKING:
    import pyarrow as pa

Results = Mapping[str, Sequence[Result]]


@dataclass(frozen=True)
class Row:
    """A point and its numbers, by the names of the columns (`Grid.columns`)."""

    point: Combination
    seeds: int
    cells: Mapping[str, Sample]


def rows(grid: Grid, results: Results) -> list[Row]:
    """Return one row per point with finished runs."""
    found = []
    for one in grid.combinations():
        if runs := results.get(one.label):
            own = row(one, runs, grid.measures)
            found.append(replace(own, cells={**own.cells, **_relative(grid, one, results)}))
    return found


def row(point: Combination, runs: Sequence[Result], measures: Sequence[Measure]) -> Row:
    """Return the numbers of a point over its runs."""
    cells = {m.name: sampling.of_term(m.of(point.label), runs) for m in measures}
    return Row(point, len(runs), cells)


def _relative(grid: Grid, point: Combination, results: Results) -> dict[str, Sample]:
    """Return the numbers of a point relative to those of its baseline, with the same seeds."""
    base = grid.baseline_of(point)
    if base is None:
        return {}
    if base == point:
        return dict.fromkeys(map(grid.relative_name, grid.measures), MISSING)
    by_seed = [
        {run.summary.get("seed"): run for run in results.get(one.label, ())}
        for one in (point, base)
    ]
    runs, others = paired.common(*by_seed)
    return {
        grid.relative_name(m): paired.relative(m.of(point.label), runs, others, grid.relation)
        for m in grid.measures
    }


def cells(
    keys: Sequence[str], columns: Sequence[str], found: Sequence[Row]
) -> tuple[list[str], list[list[str]]]:
    """Return the rows as text, below the names of their columns."""
    shown = [
        [
            *(plain(row.point.settings[key]) for key in keys),
            str(row.seeds),
            *(_cell(row.cells[name]) for name in columns),
        ]
        for row in found
    ]
    return [*keys, "seeds", *columns], shown


def _cell(found: Sample) -> str:
    return with_interval(found.low, found.interval, found.is_censored)


def bounds(found: Sequence[Row]) -> list[str]:
    """Explain numbers that are bounds, if there are any."""
    if not any(cell.is_censored for row in found for cell in row.cells.values()):
        return []
    return [
        '"At least": some flows did not end with their run and count with the time that they '
        "lasted. A longer `run.drain` lets them end."
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


def arrow(keys: Sequence[str], columns: Sequence[str], found: Sequence[Row]) -> pa.Table:
    """Return the rows as an Arrow table.

    Columns: every setting that varies, `seeds`, and for each of `columns` NAME its number,
    `NAME_low` and `NAME_high` (95 % interval) and `NAME_at_least`.
    """
    import pyarrow as pa

    table: dict[str, pa.Array] = {
        key: column([row.point.settings[key] for row in found]) for key in keys
    }
    table["seeds"] = pa.array([row.seeds for row in found], pa.int64())
    for name in columns:
        own = [row.cells[name] for row in found]
        ends = [sample.interval or (None, None) for sample in own]
        table[name] = pa.array([sample.low for sample in own], pa.float64())
        table[f"{name}_low"] = pa.array([low for low, _ in ends], pa.float64())
        table[f"{name}_high"] = pa.array([high for _, high in ends], pa.float64())
        table[f"{name}_at_least"] = pa.array([sample.is_censored for sample in own])
    return pa.table(table)


def column(values: Sequence[Any]) -> pa.Array:
    """Return values of a setting as whole numbers, numbers, truth values or text."""
    import pyarrow as pa

    for kind, type_ in ((bool, pa.bool_()), (int, pa.int64()), ((int, float), pa.float64())):
        if all(isinstance(v, kind) and (kind is bool or is_number(v)) for v in values):
            return pa.array(values, type_)
    return pa.array([plain(value) for value in values], pa.string())
