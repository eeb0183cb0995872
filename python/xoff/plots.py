"""Figures of runs and experiments as SVG and PNG: readable in grey, reproducible to the byte."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xoff import extras

try:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
except ModuleNotFoundError:
    extras.need(extras.PLOT, "xoff.plots")
    raise

from xoff.drafts import draft_of
from xoff.errors import writing
from xoff.lookup import lookup
from xoff.panels import (
    Axes,
    Runs,
    active_flows_axes,
    as_lists,
    buffer_axes,
    pause_axes,
    slowdown_axes,
)
from xoff.result import Result

PANEL_INCHES = (4.6, 3.6)
SETTINGS: Any = {
    "svg.hashsalt": "xoff",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


def new_figure(panels: int, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """Return a figure with `panels` panels, `columns` per row, and its axes."""
    columns = min(columns, max(1, panels))
    rows = math.ceil(max(1, panels) / columns)
    with mpl.rc_context(SETTINGS):
        size = (PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(rows, columns, squeeze=False)
    axes = [ax for row in grid for ax in row]
    for spare in axes[panels:]:
        spare.set_visible(False)
    return figure, axes[:panels]


def new_rows(panels: int, inches: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with `panels` panels in a row that share the vertical axis, and its axes."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=inches, layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(1, panels, squeeze=False, sharey=True)
    return figure, list(grid[0])


def legends(axes: Sequence[Axes]) -> None:
    """Add a legend to every panel with labels."""
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        if handles:
            _leave_room_above_bars(ax, len(handles))
            ax.legend(handles, labels, fontsize=8)


def _leave_room_above_bars(ax: Axes, lines: int) -> None:
    """Raise the upper limit, so that a legend of `lines` lines covers no bar."""
    has_bars = any(isinstance(drawn, BarContainer) for drawn in ax.containers)
    if has_bars and ax.get_yscale() == "linear":
        low, high = ax.get_ylim()
        ax.set_ylim(top=high + (0.03 + 0.065 * lines) * (high - low))


def axes_of(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure, which a notebook shows."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    with mpl.rc_context(SETTINGS):
        return pyplot.subplots(figsize=PANEL_INCHES, layout="constrained")[1]


def slowdown_by_size(
    results: Result | Runs, statistic: str = "p99", cls: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw FCT slowdown by flow size: one run, or several by name. Returns the Matplotlib axes.

    `statistic` is `mean`, `p50`, `p95`, `p99` or `p999`, `cls` a traffic class (None: the first
    that is not an incast), `ax` the axes to draw into (None: those of a new figure).
    """
    ax = axes_of(ax)
    slowdown_axes(ax, _by_name(results), statistic, cls)
    legends([ax])
    return ax


def buffer_cdf(results: Result | Runs, ax: Axes | None = None) -> Axes:
    """Draw the CDF of buffer occupancy. Arguments are those of `slowdown_by_size`."""
    ax = axes_of(ax)
    buffer_axes(ax, _by_name(results))
    legends([ax])
    return ax


def active_flows_cdf(
    results: Result | Runs, queues: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the CDF of active flows at a port, with a line at the number of `queues`."""
    ax = axes_of(ax)
    active_flows_axes(ax, _by_name(results), queues)
    legends([ax])
    return ax


def pause_share(results: Result | Runs, ax: Axes | None = None) -> Axes:
    """Draw the share of time that links are paused by PFC."""
    ax = axes_of(ax)
    pause_axes(ax, _by_name(results))
    legends([ax])
    return ax


def _by_name(results: Result | Runs) -> Runs:
    return {results.scheme: results} if isinstance(results, Result) else results


def overview(results: Runs, cls: str | None = None) -> Figure:
    """Draw the figure of `xoff plot`: slowdowns, buffers, and active flows and pauses if any.

    Slowdowns are those of class `cls` (None: the first that is not an incast). Active flows are
    shown for runs whose switches count flows; numbers of queues would not compare with them.
    """
    flat = [run for runs in as_lists(results).values() for run in runs]
    active = any(run.summary.get("active_flows") and run.counts_flows for run in flat)
    paused = any(lookup(run.summary, "pfc.pause_time_share") for run in flat)
    figure, axes = new_figure(4 + active + paused)
    for ax, stat in zip(axes, ("mean", "p95", "p99"), strict=False):
        slowdown_axes(ax, results, stat, cls)
    buffer_axes(axes[3], results)
    if active:
        active_flows_axes(axes[4], results)
    if paused:
        pause_axes(axes[-1], results)
    legends(axes)
    return figure


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write `<stem>.svg` and `<stem>.png`, byte for byte the same for the same data.

    Returns both paths. Raises `RunError` if a file cannot be written.
    """
    targets = [stem.with_name(stem.name + suffix) for suffix in (".svg", ".png")]
    with _laid_out(figure):
        for target in targets:
            save_as(figure, target)
    return targets


def save_as(figure: Figure, target: Path) -> None:
    """Write an SVG or a PNG, by the ending of `target`. Raises `RunError` if it cannot."""
    metadata = {"Date": None, "Creator": "xoff"} if target.suffix == ".svg" else {}
    _write(figure, target, metadata=metadata, dpi=150)


def save_picture(figure: Figure, target: Path, dpi: int, source: str = "") -> None:
    """Write a size-optimised PNG, byte for byte the same for the same data.

    `source` is kept in the file: the digest of the runs (`recorded.runs_digest`). Raises
    `RunError` if the file cannot be written.
    """
    metadata = {"Source": source} if source else {}
    _write(figure, target, metadata=metadata, dpi=dpi, pil_kwargs={"optimize": True})


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Place axes and texts once for several files. It takes as long as to draw them."""
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    _take_literally(figure)
    with mpl.rc_context(SETTINGS):
        engine.execute(figure)
    figure.set_layout_engine("none")
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def _write(figure: Figure, target: Path, **options: Any) -> None:
    _take_literally(figure)
    with writing(target), mpl.rc_context(SETTINGS):
        target.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(target) as draft:
            figure.savefig(draft, **options)


def _take_literally(figure: Figure) -> None:
    """Let names in titles, legends and labels be text: `$` begins no formula."""
    texts = [*figure.texts]
    for ax in figure.axes:
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        legend = ax.get_legend()
        texts += legend.get_texts() if legend is not None else []
    for legend in figure.legends:
        texts += legend.get_texts()
    for text in texts:
        text.set_parse_math(False)
