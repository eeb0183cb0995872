"""A sweep's outcome as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from xoff.sweeps import levels, table
from xoff.sweeps.grid import Grid
from xoff.text import markdown


def text(grid: Grid, found: Sequence[table.Row], x: str | None = None) -> str:
    """Format the rows as a table, with the levels that are passed along `x` below it."""
    head, cells = table.cells(grid.keys, grid.columns, found)
    parts = [markdown(head, cells, left=len(grid.keys)), *notes(grid, found)]
    lines = [f"- {one.text}\n" for one in levels.crossings(grid, found, x)]
    return "\n".join([*parts, "".join(lines)] if lines else parts)


def notes(grid: Grid, found: Sequence[table.Row]) -> list[str]:
    """Return what the numbers of the table are, a line each."""
    said = ["Numbers are over all seeds, with their 95 % intervals in parentheses.\n"]
    said += [f"{note}\n" for note in table.bounds(found)]
    if grid.relative_to:
        names = ", ".join(f"`{grid.relative_name(measure)}`" for measure in grid.measures)
        said.append(
            f"{names}: {grid.relation} to {grid.baseline}, all else equal, paired by seed.\n"
        )
    return said
