"""A picture that shows each switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from xoff.picture import legend
from xoff.picture.groups import Box, Drawn, Line
from xoff.picture.layout import Places, Point, extent
from xoff.plots import SETTINGS

_MARGIN, _LEAST, _MOST = 0.45, 6.5, 18.0
"""Inches around the boxes, the least width of the picture, and the greatest of both sides."""
_LONG, _LEGEND_ROW = 45, 0.19
"""Characters of an entry of the legend that needs a row of its own, and inches of a row."""
Curve = tuple[Point, Point, Point]
"""Start, control point and end of a quadratic Bezier curve."""
_MARK = 0.4
"""The place of marks on a line: not in its middle, where lines cross."""


def draw_nodes(drawn: Drawn, places: Places, title: str) -> Figure:
    """Draw boxes at their places, and the lines between them."""
    curves = [
        _curve(line, drawn, places, lane)
        for line, lane in zip(drawn.lines, _lanes(drawn), strict=True)
    ]
    left, right, low, high = extent([*places.at, *(_on_curve(0.5, curve) for curve in curves)])
    looks = legend.Looks(drawn.lines)
    faults = legend.faults_of(drawn.lines, lambda line: _name(drawn, line))
    handles = [*legend.box_handles(drawn.boxes), *looks.handles(), *legend.fault_handles(faults)]
    figure, ax = new_picture(right - left, high - low, title, handles)
    number = {text: at for at, text in enumerate(faults, 1)}
    for line, curve in zip(drawn.lines, curves, strict=True):
        _draw_line(ax, line, curve, looks, number)
        if line.links > 1 and not line.faults and drawn.joins_switches(line):
            _draw_count(ax, line.links, _on_curve(_MARK, curve))
    scale = min(1.0, _MOST / max(1.0, right - left, high - low))
    for box, place in zip(drawn.boxes, places.at, strict=True):
        _draw_box(ax, box, place, scale, bool(places.rows))
    for layer, y in places.rows:
        ax.text(left - _MARGIN / 2, y, layer, ha="right", va="center")
    ax.set_xlim(left - _MARGIN - 0.5 * bool(places.rows), right + _MARGIN)
    ax.set_ylim(low - _MARGIN, high + _MARGIN)
    ax.set_aspect("equal")
    return figure


def new_picture(width: float, height: float, title: str, handles: list[Any]) -> tuple[Figure, Any]:
    """Return a figure for a drawing of this size in inches, with a legend below, and its axes."""
    scale = min(1.0, _MOST / max(width, height, 1.0))
    inches = max(_LEAST, scale * width + 2 * _MARGIN + 0.6), scale * height + 2 * _MARGIN + 0.5
    columns = 1 if any(len(handle.get_label()) > _LONG for handle in handles) else 2
    legend_inches = _LEGEND_ROW * -(-len(handles) // columns)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(inches[0], inches[1] + legend_inches), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
    ax.set_axis_off()
    ax.set_title(title)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )
    return figure, ax


def _lanes(drawn: Drawn) -> Iterator[int]:
    """Number the lines between the same two boxes."""
    seen = Counter[tuple[int, int]]()
    for line in drawn.lines:
        yield seen[line.ends]
        seen[line.ends] += 1


def _curve(line: Line, drawn: Drawn, places: Places, lane: int) -> Curve:
    start, end = (places.at[end] for end in line.ends)
    control = places.control(*line.ends, lane, of_switches=drawn.joins_switches(line))
    return start, control, end


def _draw_line(
    ax: Any, line: Line, curve: Curve, looks: legend.Looks, number: Mapping[str, int]
) -> None:
    style = looks.of(line.rate_bps, line.delay_ps)
    colour, above = (legend.FAULTY, 1.5) if line.faults else (legend.INK, 1)
    path = Path(curve, [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    ax.add_patch(PathPatch(path, facecolor="none", edgecolor=colour, zorder=above, **style))
    if line.faults:
        x, y = mark = _on_curve(_MARK, curve)
        ax.plot(x, y, marker="x", color=legend.FAULTY, markersize=9, markeredgewidth=2, zorder=4)
        text = ", ".join(str(number[text]) for text in line.faults)
        ax.annotate(text, mark, (6, 6), textcoords="offset points", color=legend.FAULTY, zorder=4)


def _draw_count(ax: Any, links: int, place: Point) -> None:
    back = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    ax.text(*place, f"{links}", ha="center", va="center", fontsize=7, bbox=back, zorder=2)


def _on_curve(share: float, curve: Curve) -> Point:
    """Return the point of a quadratic Bezier curve at a share of its way."""
    weights = (1 - share) ** 2, 2 * share * (1 - share), share**2
    x, y = (sum(w * p[axis] for w, p in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y


def _draw_box(ax: Any, box: Box, place: tuple[float, float], scale: float, in_row: bool) -> None:
    text = str(box.count) if box.is_host and box.count > 1 else ""
    size, shape, face = (9 if text else 5), "circle,pad=0.25", legend.HOST
    if not box.is_host:
        # A row is named once.
        text = box.name.removeprefix(f"{box.layer}:") if in_row else box.name
        size, shape, face = 8, "square,pad=0.3", legend.SWITCH
    look = {"boxstyle": shape, "facecolor": face, "edgecolor": "black", "linewidth": 0.8}
    ax.text(
        *place, text or " ", ha="center", va="center", fontsize=size * scale, bbox=look, zorder=3
    )


def _name(drawn: Drawn, line: Line) -> str:
    return " to ".join(_title(drawn.boxes[end]) for end in line.ends)


def _title(box: Box) -> str:
    if box.is_host and box.count > 1:
        return f"hosts {box.name} and others"
    return f"host {box.name}" if box.is_host and box.name.isdecimal() else box.name
