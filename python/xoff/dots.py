"""Dot plots that compare many cases: one row per case, panels that share the rows.

Rows stand in groups, sorted by the number of the first panel. A panel shows one or two columns of
numbers: the last one filled, the other one hollow, each at the median over the seeds with a bar
from the smallest to the largest seed. Nothing depends on colour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from xoff import plots
from xoff.metrics import OVER_SEEDS
from xoff.panels import literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Seeds = Sequence[float | None]
Numbers = Mapping[str, Mapping[str, Seeds]]
"""By the title of a column and the name of a case: a number per seed."""

# Inches: width of names and of a panel, height of a row and of titles and axes.
NAMES, PANEL, ROW, FRAME = 1.9, 2.35, 0.185, 1.35


@dataclass(frozen=True)
class Panel:
    """One panel: numbers of every case, and the titles of the columns shown."""

    title: str
    x_label: str
    numbers: Numbers
    columns: Sequence[str]
    log: bool = False


def figure(panels: Sequence[Panel], groups: Mapping[str, str], heading: str) -> Figure:
    """Draw panels with a row per case; `groups` has the group of each case, in their order."""
    rows = _rows(panels[0], groups)
    size = (NAMES + PANEL * len(panels), FRAME + ROW * len(rows))
    drawn, axes = plots.new_rows(len(panels), size)
    places = {case: -at for at, (case, _) in enumerate(rows) if case}
    for ax, panel in zip(axes, panels, strict=True):
        _panel(ax, panel, places)
        _bands(ax, rows)
    _names(axes[0], rows)
    drawn.suptitle(heading, fontsize=11)
    return drawn


def _rows(panel: Panel, groups: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (case, group) from top to bottom; a row without a case is the heading of a group."""
    numbers = panel.numbers[panel.columns[-1]]

    def place(case: str) -> float:
        middle = OVER_SEEDS["median"](numbers[case])
        return math.inf if middle is None else middle

    rows: list[tuple[str, str]] = []
    for group in dict.fromkeys(groups.values()):
        own = [case for case in groups if groups[case] == group]
        rows += [("", group), *((case, group) for case in sorted(own, key=place))]
    return rows


def _names(ax: Any, rows: Sequence[tuple[str, str]]) -> None:
    names = [literal(case.replace("@", ", ") or group) for case, group in rows]
    ax.set_yticks([-at for at in range(len(rows))], names)
    for label, (case, _) in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontsize(8)
        if not case:
            label.set_fontweight("bold")


def _bands(ax: Any, rows: Sequence[tuple[str, str]]) -> None:
    """Shade the headings of groups, and leave out lines across rows."""
    for at, (case, _) in enumerate(rows):
        if not case:
            ax.axhspan(-at - 0.5, -at + 0.5, color="0.9", linewidth=0, zorder=0)
    ax.grid(visible=False, axis="y")
    ax.set_ylim(0.5 - len(rows), 0.5)
    ax.tick_params(axis="y", length=0)


def _panel(ax: Any, panel: Panel, places: Mapping[str, int]) -> None:
    if panel.log:
        ax.set_xscale("log")
        _ticks(ax.xaxis)
    beyond = []
    last = len(panel.columns) - 1
    for case, y in places.items():
        ends = []
        for index, title in enumerate(panel.columns):
            middle, low, high = _spread(panel.numbers[title][case])
            if middle is None:
                continue
            if math.isinf(middle):
                beyond.append(y)
                continue
            ends.append(middle)
            filled = index == last
            ax.plot([low, high], [y, y], color="0.45", linewidth=3.2, zorder=2)
            face = "black" if filled else "white"
            ax.plot(middle, y, "o", color="black", markerfacecolor=face, markersize=5, zorder=3)
        ax.plot(ends, [y] * len(ends), color="0.6", linewidth=0.8, zorder=1)
    _edge(ax, panel)
    if beyond:
        across = ax.get_yaxis_transform()
        ax.plot([0.985] * len(beyond), beyond, "k>", transform=across, clip_on=False, zorder=3)
    _legend(ax, panel)


def _ticks(axis: Any) -> None:
    """Label a logarithmic axis 1, 3, 10, 30, ..."""
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(FuncFormatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] == "3" else ""))


def _spread(values: Seeds) -> tuple[float | None, float, float]:
    """Return median, smallest and largest value; the median is None if a seed has no number."""
    middle = OVER_SEEDS["median"](values)
    known = [value for value in values if value is not None and math.isfinite(value)]
    return middle, min(known, default=math.nan), max(known, default=math.nan)


def _edge(ax: Any, panel: Panel) -> None:
    """Begin a linear axis at zero, and label the axis."""
    if not panel.log:
        ax.set_xlim(left=0)
    ax.set_xlabel(panel.x_label, fontsize=8)
    ax.tick_params(axis="x", which="both", labelsize=7)


def _legend(ax: Any, panel: Panel) -> None:
    """Put the title above the panel, and under it which dot is which."""
    ax.set_title(panel.title, fontsize=9, pad=20)
    names = [title.rpartition(", ")[2].partition(" (")[0] for title in panel.columns]
    dots = ["○", "●"][-len(names) :]
    text = "    ".join(f"{dot} {name}" for dot, name in zip(dots, names, strict=True))
    ax.text(0.5, 1.012, text, transform=ax.transAxes, ha="center", va="bottom", fontsize=8)
