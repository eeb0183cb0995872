"""The figure of a sweep: one panel per measure, one curve per combination of other settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xoff import panels, plots
from xoff.experiment import plain
from xoff.sweeps.grid import Grid, Measure, is_number
from xoff.sweeps.levels import Crossing, crossings
from xoff.sweeps.table import Row, curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_LEAST = "at least: some flows did not end"
"""What an arrow means, in the legend."""


def build(grid: Grid, found: Sequence[Row], x: str, measures: Sequence[Measure]) -> Figure:
    """Draw measures along a setting, with their 95 % intervals."""
    figure, axes = plots.new_figure(len(measures))
    for ax, measure in zip(axes, measures, strict=True):
        draw(ax, grid, found, x, measure)
    plots.legends(axes)
    figure.suptitle(grid.title, fontsize=10)
    return figure


def draw(ax: Any, grid: Grid, found: Sequence[Row], x: str, measure: Measure) -> None:
    """Draw a measure along a setting, one curve per combination of the other settings.

    A number that unfinished flows leave open is an open marker with an arrow, off the curve. A
    level is a horizontal line. A vertical line is where a curve passes it, a band its interval.
    """
    for index, (label, curve) in enumerate(curves(found, x).items()):
        _draw(ax, label, curve, (x, measure), panels.line_style(index))
    if any(row.cells[measure.name].is_censored for row in found):
        # The line of the legend about arrows; arrows need room at the top.
        ax.plot([], [], color="0.3", linestyle="none", marker=r"$\uparrow$", label=AT_LEAST)
        ax.margins(y=0.15)
    if measure.level is not None:
        ax.axhline(measure.level, color="black", linewidth=1.0, linestyle=":")
        of_measure = replace(grid, measures=(measure,))
        for index, one in enumerate(crossings(of_measure, found, x)):
            if one.x == x:
                _draw_crossing(ax, one, panels.line_style(index)["color"])
    ax.set_xlabel(x)
    ax.set_ylabel(_label(measure))


def _draw_crossing(ax: Any, one: Crossing, color: str) -> None:
    for place in one.at:
        ax.axvline(place, color=color, linewidth=1.0, linestyle=":")
    if one.interval is not None:
        low, high = (min(max(end, one.limits[0]), one.limits[1]) for end in one.interval)
        ax.axvspan(low, high, color=color, alpha=0.15, linewidth=0)


def _draw_bound(ax: Any, at: Any, low: float, style: dict[str, Any]) -> None:
    """Draw an open marker at a lower bound, and an arrow from it upwards."""
    look = {**style, "linestyle": "none", "markersize": 6, "markerfacecolor": "none"}
    ax.plot([at], [low], **look)
    arrow = {"arrowstyle": "<-", "color": style["color"], "shrinkA": 0, "shrinkB": 3}
    ax.annotate("", (at, low), (0, 16), textcoords="offset points", arrowprops=arrow)


def _label(measure: Measure) -> str:
    if measure.name.endswith(")"):  # with a unit of its own
        return measure.name
    if measure.term.get("path") or measure.term.get("cdf"):
        return panels.with_unit(measure.name, measure.term)
    return f"{measure.name}: {panels.term_label(measure.term)}"


def _draw(
    ax: Any, label: str, curve: Sequence[Row], what: tuple[str, Measure], style: dict[str, Any]
) -> None:
    x, measure = what
    cells = [row.cells[measure.name] for row in curve]
    values = [row.point.settings[x] for row in curve]
    numeric = all(map(is_number, values))
    places = [at if numeric else panels.literal(plain(at)) for at in values]
    lows = [math.nan if cell.is_censored else panels.or_gap(cell.low) for cell in cells]
    ax.plot(places, lows, label=panels.named(label) or None, **style)
    for at, cell in zip(places, cells, strict=True):
        if cell.is_censored and cell.low is not None and math.isfinite(cell.low):
            _draw_bound(ax, at, cell.low, style)
        if (interval := cell.interval) is not None and math.isfinite(interval[1]):
            ax.plot([at, at], interval, color=style.get("color"), linewidth=1.0)
