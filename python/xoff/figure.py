"""Figure of an experiment: one panel or several per `[[plot]]`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xoff import comparison, dots, panels, plots
from xoff.experiment import Experiment
from xoff.metrics import Relative
from xoff.plot import Plot
from xoff.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Results = Mapping[str, Sequence[Result]]
Panel = Callable[[Any], None]


def build(experiment: Experiment, results: Results, columns: int = 3) -> Figure:
    """Draw the experiment's figure, `columns` panels per row.

    An experiment without `[[plot]]` gets slowdowns by flow size.
    """
    if comparison.is_compared(experiment):
        return _dots(experiment, results)
    wanted = experiment.plots or (Plot("slowdown-by-size"),)
    drawings = [panel for plot in wanted for panel in _panels(plot, experiment, results)]
    figure, axes = plots.new_figure(len(drawings), columns)
    for ax, draw in zip(axes, drawings, strict=True):
        draw(ax)
    plots.legends(axes)
    heading = experiment.heading if experiment.source or experiment.settings else experiment.title
    # About 13 characters of this font size fit in an inch.
    figure.suptitle(textwrap.fill(heading, int(13 * figure.get_figwidth())), fontsize=10)
    return figure


def _dots(experiment: Experiment, results: Results) -> Figure:
    numbers = comparison.numbers_of(experiment, results)
    drawn = [
        dots.Panel(plot.title or "", plot.x_label or "", numbers, plot.columns, plot.log_x)
        for plot in experiment.plots
    ]
    return dots.figure(drawn, comparison.groups_of(experiment), experiment.heading)


def _panels(plot: Plot, experiment: Experiment, results: Results) -> list[Panel]:
    shown = _select(plot, experiment, results)
    if plot.kind == "slowdown-by-size":
        return [
            _titled(plot, lambda ax, s=stat: panels.slowdown_axes(ax, shown, s, plot.cls))  # type: ignore[misc]
            for stat in plot.statistics
        ]
    if plot.kind == "flow-series":
        return [
            _titled(plot, lambda ax, k=label, r=runs[0]: panels.flow_series_axes(ax, k, r))  # type: ignore[misc]
            for label, runs in shown.items()
        ]
    relative = _relative(plot, experiment, results)
    x_label = plot.x_label or ""
    y_label = plot.y_label or panels.number_label(plot.term, plot.relation, plot.relative_to)
    draw: dict[str, Panel] = {
        "buffer-cdf": lambda ax: panels.buffer_axes(ax, shown),
        "watermark-cdf": lambda ax: panels.watermark_axes(ax, shown),
        "throughput-cdf": lambda ax: panels.throughput_axes(ax, shown),
        "active-flows-cdf": lambda ax: (
            panels.monitored_flows_axes if plot.monitored else panels.active_flows_axes
        )(ax, shown, plot.queues),
        "size-cdf": lambda ax: panels.size_axes(ax, shown),
        "completion-cdf": lambda ax: panels.completion_axes(
            ax, shown, plot.term["cdf"], plot.y_from
        ),
        "trace": lambda ax: panels.trace_axes(ax, shown, plot.column, plot.span_us, plot.level),
        "series": lambda ax: panels.series_axes(ax, shown, plot.column, plot.span_us),
        "cdf": lambda ax: panels.any_cdf_axes(ax, shown, plot.term["cdf"], x_label),
        "columns": lambda ax: panels.columns_axes(ax, shown, plot.over, plot.column, plot.marks),
        "pause-share": lambda ax: panels.pause_axes(ax, shown),
        "bars": lambda ax: panels.bars_axes(
            ax, shown, plot.term, y_label, relative, whiskers=plot.whiskers
        ),
        "class-bars": lambda ax: panels.class_bars_axes(
            ax, shown, plot.term, plot.classes, y_label, whiskers=plot.whiskers
        ),
        "grouped-bars": lambda ax: panels.grouped_bars_axes(
            ax,
            _curves(plot, experiment, results),
            plot.term,
            plot.level,
            relative,
            y_label=y_label,
            whiskers=plot.whiskers,
        ),
        "curve": lambda ax: panels.curve_axes(
            ax,
            _curves(plot, experiment, results),
            plot.term,
            x_label,
            y_label,
            relative,
            whiskers=plot.whiskers,
        ),
    }
    return [_titled(plot, draw[plot.kind])]


def _titled(plot: Plot, draw: Panel) -> Panel:
    def panel(ax: Any) -> None:
        draw(ax)
        if plot.theory is not None:
            panels.theory_axes(ax, plot.theory)
        if plot.title:
            ax.set_title(plot.title, fontsize=9)
        if plot.log_x:
            ax.set_xscale("log")
        if plot.log_y:
            ax.set_yscale("log")
        if plot.x_label:
            ax.set_xlabel(plot.x_label)
        if plot.y_label:
            ax.set_ylabel(plot.y_label)

    return panel


def _relative(plot: Plot, experiment: Experiment, results: Results) -> Relative | None:
    """Return the baseline runs of a plot with `relative_to`."""
    if plot.relative_to is None:
        return None
    base = [point for point in experiment.points if point.case == plot.relative_to]
    return Relative({point.value: results[point.label] for point in base}, plot.relation)


def _select(plot: Plot, experiment: Experiment, results: Results) -> dict[str, Sequence[Result]]:
    """Return the results shown in a plot: those of its cases or labels, in its order.

    A plot without `cases` shows all but its baseline (`relative_to`).
    """
    labels = {point.label: point.case for point in experiment.points}
    if not plot.cases:
        base = [label for label, case in labels.items() if case == plot.relative_to]
        return {label: runs for label, runs in results.items() if label not in base}
    return {
        label: results[label]
        for name in plot.cases
        for label, case in labels.items()
        if name in (case, label)
    }


def _curves(
    plot: Plot, experiment: Experiment, results: Results
) -> dict[str, dict[Any, Sequence[Result]]]:
    shown = _select(plot, experiment, results)
    curves: dict[str, dict[Any, Sequence[Result]]] = {}
    for point in experiment.points:
        if point.label in shown and point.value is not None:
            curves.setdefault(point.case, {})[point.value] = shown[point.label]
    return curves
