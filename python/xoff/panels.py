"""Panels of a figure: each function draws one kind of plot into the given axes.

Curves differ in line style and marker, bars in hatching, never in colour alone.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from matplotlib.ticker import FuncFormatter

from xoff import completions, rows, units
from xoff.lookup import bin_centre, bins, class_entry, statistic
from xoff.metrics import PACKETS, Relative, Term, cdf_points, mean, monitored, sampled_cdf
from xoff.plot import Theory
from xoff.result import Result

Axes: TypeAlias = Any
Runs = Mapping[str, Result | Sequence[Result]]
"""Results by label; a label with several seeds has several results, drawn as their mean."""

# As many as markers, and one more than colours: pairs of style and colour do not repeat soon.
_STYLES = (
    *("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1))),
    (0, (12, 2, 2, 2)),
)
_MARKERS = ("o", "s", "^", "v", "D", "x", "*", "P")
_HATCHES = ("", "//", "..", "xx", "--", "\\\\", "oo", "++")
# Colours of Okabe and Ito: distinct for the colour-blind, and in greyscale.
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_NAMES = {"mean": "mean", "p50": "median", "p95": "p95", "p99": "p99", "p999": "p99.9"}


def as_lists(results: Runs) -> dict[str, list[Result]]:
    """Return the runs of each label as a list."""
    return {k: [v] if isinstance(v, Result) else list(v) for k, v in results.items()}


def line_style(index: int) -> dict[str, Any]:
    """Return the look of curve number `index`: colour, line style and marker."""
    return {
        "color": _COLOURS[index % len(_COLOURS)],
        "linestyle": _STYLES[index % len(_STYLES)],
        "marker": _MARKERS[index % len(_MARKERS)],
        "markersize": 4,
        "linewidth": 1.4,
    }


def slowdown_axes(ax: Axes, results: Runs, stat: str, cls: str | None = None) -> None:
    """Draw FCT slowdown against flow size, one curve per label, both axes logarithmic."""
    drawn = False
    for index, (label, runs) in enumerate(as_lists(results).items()):
        xs, ys = _slowdown_curve(runs, stat, cls)
        ax.plot(xs, ys, label=named(label), **line_style(index))
        drawn = drawn or any(math.isfinite(y) for y in ys)
    if drawn:
        ax.set_xscale("log")
        ax.set_yscale("log")
        _size_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
    else:
        # A logarithmic axis without any point cannot be drawn.
        few = f"too few flows for the {_NAMES.get(stat, stat)} of any size"
        ax.text(0.5, 0.5, few, transform=ax.transAxes, ha="center")
    ax.set_xlabel("flow size (bytes)")
    ax.set_ylabel(f"FCT slowdown, {_NAMES.get(stat, stat)} (ideal = 1)")


def plain_ticks(axis: Any) -> None:
    """Label a logarithmic axis 1, 2, 5, 10, ... instead of with powers of ten.

    An axis with fewer than two of these has a label at every tick.
    """

    def minor(x: float, _: int) -> str:
        low, high = axis.get_view_interval()
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        marks = sum(low <= digit * 10.0**k <= high for k in decades for digit in (1, 2, 5))
        return f"{x:g}" if marks < 2 or f"{x:e}"[0] in "25" else ""

    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(FuncFormatter(minor))


def _size_ticks(axis: Any) -> None:
    """Label a logarithmic axis with powers of ten, or more often if it has two of them at most."""
    low, high = axis.get_view_interval()
    if high < 100 * low:
        plain_ticks(axis)


def _slowdown_curve(
    runs: Sequence[Result], stat: str, cls: str | None
) -> tuple[list[float], list[float]]:
    """Return sizes (bytes) and slowdowns with enough samples; infinite ones are NaN, a gap."""
    xs, ys = [], []
    by_seed = [_by_bin(run, stat, cls) for run in runs]
    for group in bins(runs[0], cls):
        key = (group.get("low_bytes"), group.get("high_bytes"))
        found = mean([values.get(key) for values in by_seed])
        if found is not None:
            xs.append(bin_centre(group))
            ys.append(or_gap(found))
    return xs, ys


def _by_bin(run: Result, stat: str, cls: str | None) -> dict[Any, float | None]:
    left = (class_entry(run, cls) or {}).get("unfinished")
    groups = bins(run, cls)
    return {(g.get("low_bytes"), g.get("high_bytes")): statistic(g, stat, left) for g in groups}


def cdf_axes(
    ax: Axes,
    results: Runs,
    path: str,
    scale: float,
    x_label: str,
    has_it: Callable[[Result], bool] = lambda _: True,
) -> None:
    """Draw the step CDF `summary[path]["cdf"]`, one curve per label (first seed only).

    Runs that do not have the quantity, by `has_it`, have no curve.
    """
    for index, (label, runs) in enumerate(as_lists(results).items()):
        summary: Mapping[str, Any] = runs[0].summary
        points = (summary.get(path) or {}).get("cdf") or []
        if points and has_it(runs[0]):
            look = {**line_style(index), "marker": None}
            xs, ys = zip(*points, strict=True)
            ax.step([x * scale for x in xs], ys, where="post", label=named(label), **look)
    ax.set_ylim(0, 1.01)
    ax.set_xlabel(x_label)
    ax.set_ylabel("fraction of time")


def any_cdf_axes(ax: Axes, results: Runs, cdf: str, x_label: str) -> None:
    """Draw the step CDF of `metrics.cdf_points`, one curve per label (first seed only)."""
    for index, (label, runs) in enumerate(as_lists(results).items()):
        points = cdf_points(runs[0], cdf)
        if points:
            look = {**line_style(index), "marker": None}
            xs, ys = zip(*points, strict=True)
            ax.step(xs, ys, where="post", label=named(label), **look)
    ax.set_ylim(0, 1.01)
    ax.set_xlabel(x_label)
    ax.set_ylabel("fraction")


def buffer_axes(ax: Axes, results: Runs) -> None:
    """Draw the CDF of switch buffer occupancy (time-weighted, pooled over switches)."""
    cdf_axes(ax, results, "buffer", 1e-6, "buffer occupancy of a switch (MB)")


def watermark_axes(ax: Axes, results: Runs) -> None:
    """Draw the CDF of switch buffer watermarks (one per switch and grid step)."""
    cdf_axes(ax, results, "buffer_watermark", 1e-6, "buffer watermark of a switch (MB)")
    ax.set_ylabel("fraction of steps")


def throughput_axes(ax: Axes, results: Runs) -> None:
    """Draw the CDF of receiver throughput (one sample per host and interval)."""
    cdf_axes(ax, results, "receiver_throughput", 1e-9, "throughput of a receiver (Gb/s)")
    ax.set_ylabel("fraction of intervals")


def active_flows_axes(ax: Axes, results: Runs, queues: int | None = None) -> None:
    """Draw the CDF of active flows at a port, with a vertical line at the number of queues.

    Runs whose switches do not know flows have no curve (`Result.counts_flows`).
    """
    counts_flows = operator.attrgetter("counts_flows")
    cdf_axes(ax, results, "active_flows", 1, "active flows at a port", counts_flows)
    if queues is not None:
        ax.axvline(queues, color="0.4", linewidth=4, alpha=0.5, label=f"{queues} queues")


def monitored_flows_axes(ax: Axes, results: Runs, queues: int | None = None) -> None:
    """Draw the CDF of active flows at the monitored ports (first seed only)."""
    for index, (label, runs) in enumerate(as_lists(results).items()):
        points = sampled_cdf(runs[0], "active")
        if points:
            look = {**line_style(index), "marker": None}
            xs, ys = zip(*points, strict=True)
            ax.step(xs, ys, where="post", label=named(label), **look)
    ax.set_ylim(0, 1.01)
    ax.set_xlabel("active flows at the bottleneck")
    ax.set_ylabel("fraction of time")
    if queues is not None:
        ax.axvline(queues, color="0.4", linewidth=4, alpha=0.5, label=f"{queues} queues")


def size_axes(ax: Axes, results: Runs) -> None:
    """Draw the CDF of the sizes of finished flows, one curve per label (all seeds pooled)."""
    for index, (label, runs) in enumerate(as_lists(results).items()):
        sizes = np.sort(np.concatenate([rows.values(run, "size_bytes") for run in runs]))
        look = {**line_style(index), "marker": None}
        shares = np.arange(1, len(sizes) + 1) / max(1, len(sizes))
        ax.step(sizes, shares, where="post", label=named(label), **look)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.01)
    ax.set_xlabel("flow size (bytes)")
    ax.set_ylabel("fraction of flows")


def completion_axes(ax: Axes, results: Runs, cdf: str, y_from: float = 0.0) -> None:
    """Draw the CDF of completion times of queries or web requests, all seeds of a label pooled.

    `cdf` is `queries.CLASS.GROUP` or `requests.CLASS.GROUP`. A curve ends below 1 if some did not
    finish. Fractions below `y_from` are cut off.
    """
    for index, (label, runs) in enumerate(as_lists(results).items()):
        points = completions.cdf(runs, cdf)
        if points:
            look = {**line_style(index), "marker": None}
            times, shares = zip(*points, strict=True)
            ax.step([us * 1e-3 for us in times], shares, where="post", label=named(label), **look)
    ax.set_xlim(left=0)
    ax.set_ylim(y_from, 1 + 0.01 * (1 - y_from))
    ax.set_xlabel("completion time (ms)")
    ax.set_ylabel("fraction of " + ("queries" if cdf.startswith("queries") else "web requests"))


def trace_axes(
    ax: Axes, results: Runs, column: str, span_us: float, level: float | None = None
) -> None:
    """Draw the queues of the monitored ports over the first `span_us` of the measured time.

    Bytes are in KB, or in MB above 1 MB; time is in us, or in ms from 1 ms on. `level` is the
    position of a horizontal line, in KB for bytes.
    """
    traces = {}
    for label, runs in as_lists(results).items():
        trace = monitored(runs[0], column)
        if trace is not None:
            times = (trace[0] - trace[0][0]) * 1e-6
            traces[label] = (times[times <= span_us], trace[1][times <= span_us])
    time_unit, per_us = ("ms", 1e-3) if span_us >= 1000 else ("us", 1.0)
    most = max((values.max() for _, values in traces.values()), default=0)
    unit, scale = ("MB", 1e-6) if most > 1e6 else ("KB", 1e-3)
    if column != "bytes":
        scale = 1.0
    for index, (label, (times, values)) in enumerate(traces.items()):
        look = {**line_style(index), "marker": None}
        ax.step(times * per_us, values * scale, where="post", label=named(label), **look)
    if level is not None:
        shown = level * 1e3 * scale if column == "bytes" else level
        ax.axhline(shown, color="0.4", linewidth=1.5, label=f"{shown:g}")
    ax.set_xlabel(f"time ({time_unit})")
    ax.set_ylabel(f"queue ({unit})" if column == "bytes" else "active flows")


def flow_series_axes(ax: Axes, label: str, run: Result) -> None:
    """Draw the throughput delivered to each flow's application over time, one line per flow."""
    table = run.flow_series
    columns = {name: table[name].to_numpy() for name in ("time_ps", "flow", "delivered_bytes")}
    times = np.unique(columns["time_ps"])
    interval = float(np.diff(times).min()) if len(times) > 1 else math.nan
    for index, flow in enumerate(np.unique(columns["flow"])):
        own = columns["flow"] == flow
        rates = columns["delivered_bytes"][own] * 8e3 / interval
        look = {**line_style(index), "linewidth": 1.0, "markevery": 0.1}
        ax.plot(columns["time_ps"][own] * 1e-9, rates, label=f"flow {flow}", **look)
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("throughput (Gb/s)")
    ax.set_title(label, fontsize=9)


SERIES_LABELS = {
    "flows": "flowlets",
    "allocated_gbps": "allocated (Gb/s)",
    "carried_gbps": "carried (Gb/s)",
    "over_capacity_gbps": "allocated beyond capacities (Gb/s)",
    "optimal_gbps": "optimal (Gb/s)",
    "optimum_share": "throughput over the optimum's",
    "error_p50": "largest relative error, median of networks",
    "error_p90": "largest relative error, p90 of networks",
    "error_first": "largest relative error in one network",
    "within": "share of networks within the tolerance",
}


def series_axes(ax: Axes, results: Runs, column: str, span: float) -> None:
    """Draw a column of numerical runs (first seed only) over time or iterations.

    `span` is the length of the axis, in us or iterations. Steps without a value are left out.
    """
    by = "time (us)"
    for index, (label, runs) in enumerate(as_lists(results).items()):
        table = runs[0].samples
        if column not in table.column_names:
            continue
        xs = np.asarray(table.column(0), dtype=float)
        ys = np.asarray(table.column(column), dtype=float)
        if table.column_names[0] == "iteration":
            by = "iteration"
        else:
            xs = (xs - xs[0]) * 1e-6
        shown = (xs <= span) & np.isfinite(ys)
        look = {**line_style(index), "marker": None}
        ax.plot(xs[shown], ys[shown], label=named(label), **look)
    ax.set_xlabel(by)
    ax.set_ylabel(SERIES_LABELS[column])


def columns_axes(
    ax: Axes, results: Runs, over: str, column: str, marks: Sequence[float] = ()
) -> None:
    """Draw `column` of computed cases (first seed only) over the column `over`.

    `marks` are positions of vertical lines.
    """
    for index, (label, runs) in enumerate(as_lists(results).items()):
        table = runs[0].samples
        few = table.num_rows <= 20
        look = line_style(index) if few else {**line_style(index), "marker": None}
        ax.plot(table[over].to_numpy(), table[column].to_numpy(), label=named(label), **look)
    for place in marks:
        ax.axvline(place, color="0.4", linewidth=1.0)
    ax.set_xlabel(over)
    ax.set_ylabel(column)


def theory_axes(ax: Axes, theory: Theory) -> None:
    """Draw a closed form over the horizontal range of the curves already drawn."""
    xs = [x for line in ax.get_lines() for x in line.get_xdata() if isinstance(x, Real)]
    places = [float(x) for x in xs]
    if not places or min(places) == max(places):
        return
    low, high = min(places), max(places)
    fine = np.geomspace(low, high, 200) if low > 0 else np.linspace(low, high, 200)
    ax.plot(fine, [theory.at(float(x)) for x in fine], color="0.5", linewidth=2.5, alpha=0.6)
    ax.get_lines()[-1].set_label("closed form")


def pause_axes(ax: Axes, results: Runs) -> None:
    """Draw the share of time that PFC pauses links: a group per kind of link, a bar per label.

    A label has no bar for links that its runs have no share of.
    """
    lists = as_lists(results)
    shares = {label: [_by_link(run) for run in runs] for label, runs in lists.items()}
    links = list(dict.fromkeys(link for runs in shares.values() for run in runs for link in run))
    if not links:
        # Runs of an older xoff, or without PFC.
        shares = {label: [_overall(run) for run in runs] for label, runs in lists.items()}
        links = ["all"]
    width = 0.8 / max(1, len(lists))
    for index, (label, runs) in enumerate(shares.items()):
        found = [mean([run.get(link) for run in runs]) for link in links]
        heights = [math.nan if share is None else 100 * share for share in found]
        places = [i + (index - (len(lists) - 1) / 2) * width for i in range(len(links))]
        ax.bar(places, heights, width, label=named(label), **_bar_style(index))
    ax.set_xticks(range(len(links)), [literal(link) for link in links])
    ax.set_xlabel("links")
    ax.set_ylabel("time paused by PFC (%)")


def _by_link(run: Result) -> dict[str, float | None]:
    return (run.summary.get("pfc") or {}).get("pause_time_share_by_link") or {}


def _overall(run: Result) -> dict[str, float | None]:
    return {"all": (run.summary.get("pfc") or {}).get("pause_time_share")}


def _bar_style(index: int) -> dict[str, Any]:
    greys = ("0.95", "0.75", "0.55", "0.85", "0.35", "0.65", "0.45")
    return {
        "color": greys[index % len(greys)],
        "edgecolor": "black",
        "hatch": _HATCHES[index % len(_HATCHES)],
        "linewidth": 0.8,
    }


def _read(
    case: str, term: Mapping[str, Any], x: Any, runs: Sequence[Result], relative: Relative | None
) -> float | None:
    """Return a case's number at sweep value `x` (None without a sweep)."""
    wanted = Term(case, **term)
    return wanted.over_seeds(runs) if relative is None else relative.read(wanted, x, runs)


def _whisker(ax: Axes, case: str, term: Mapping[str, Any], x: Any, runs: Sequence[Result]) -> float:
    """Draw a whisker at `x` from the minimum to the maximum of the runs, if both are finite.

    Returns its upper end.
    """
    low, high = (Term(case, **{**term, "seeds": end}).over_seeds(runs) for end in ("min", "max"))
    if low is None or high is None or not math.isfinite(high):
        return 0.0
    look: dict[str, Any] = {
        "fmt": "none",
        "ecolor": "black",
        "elinewidth": 1.2,
        "capsize": 3,
        "zorder": 5,
    }
    ax.errorbar([x], [(low + high) / 2], yerr=[(high - low) / 2], **look)
    return high


def or_gap(y: float | None) -> float:
    """Return a number for a line, which has a gap where it is missing or infinite."""
    return y if y is not None and math.isfinite(y) else math.nan


def named(label: str) -> str:
    """Return a label for legends, which leave out labels with a leading underscore."""
    return f" {label}" if label.startswith("_") else label


def literal(text: str) -> str:
    """Return text for a tick of an axis, where `$` would begin a formula."""
    return text.replace("$", r"\$")


def _name_spots(ax: Axes, names: Sequence[str], *, slanted: bool) -> None:
    """Write names below bars; slanted names end at their bar, so that they do not overlap."""
    ax.set_xticks(range(len(names)), [literal(name) for name in names])
    if slanted:
        for name in ax.get_xticklabels():
            name.set(rotation=30, ha="right", rotation_mode="anchor")


def bars_axes(
    ax: Axes,
    results: Runs,
    term: Mapping[str, Any],
    y_label: str,
    relative: Relative | None = None,
    *,
    whiskers: bool = False,
) -> None:
    """Draw one bar per label; a missing or infinite value is only written."""
    lists = as_lists(results)
    for index, (label, runs) in enumerate(lists.items()):
        found = _read(label, term, None, runs, relative)
        drawn = found if found is not None and math.isfinite(found) else 0.0
        ax.bar(index, drawn, 0.7, **_bar_style(index))
        shown = "too few\nsamples" if found is None else f"{found:.3g}"
        top = _whisker(ax, label, term, index, runs) if whiskers else drawn
        _write_above(ax, shown, index, drawn, top)
    _name_spots(ax, list(lists), slanted=len(lists) > 4)
    ax.set_ylabel(y_label)


def _number(found: float | None) -> str:
    """Return the text of a number above a bar."""
    return "none" if found is None else f"{found:.3g}"


def _write_above(ax: Axes, text: str, x: float, y: float, top: float) -> None:
    """Write a number above a bar and its whisker."""
    ax.annotate(text, (x, max(y, top)), ha="center", va="bottom", fontsize=8, zorder=6)


def class_bars_axes(
    ax: Axes,
    results: Runs,
    term: Mapping[str, Any],
    classes: Sequence[str],
    y_label: str,
    *,
    whiskers: bool = False,
) -> None:
    """Draw a group of bars per traffic class, with one bar per label.

    A missing or infinite value is only written.
    """
    lists = as_lists(results)
    width = 0.8 / max(1, len(lists))
    for index, (label, runs) in enumerate(lists.items()):
        places = [i + (index - (len(lists) - 1) / 2) * width for i in range(len(classes))]
        own = [{**term, "cls": name} for name in classes]
        heights = [_read(label, one, None, runs, None) for one in own]
        drawn = [h if h is not None and math.isfinite(h) else 0.0 for h in heights]
        ax.bar(places, drawn, width, label=named(label), **_bar_style(index))
        for place, height, found, one in zip(places, drawn, heights, own, strict=True):
            top = _whisker(ax, label, one, place, runs) if whiskers else height
            _write_above(ax, _number(found), place, height, top)
    _name_spots(ax, classes, slanted=len(classes) > 6)
    ax.set_ylabel(y_label)


def grouped_bars_axes(
    ax: Axes,
    curves: Mapping[str, Mapping[Any, Sequence[Result]]],
    term: Mapping[str, Any],
    level: float | None = None,
    relative: Relative | None = None,
    *,
    y_label: str = "",
    whiskers: bool = False,
) -> None:
    """Draw a sweep as bars: a group per value, with one bar per case.

    A missing or infinite value is only written.
    `level` is the position of a horizontal line, in the unit of the bars.
    """
    spots = list(dict.fromkeys(x for points in curves.values() for x in points))
    width = 0.8 / max(1, len(curves))
    for index, (case, points) in enumerate(curves.items()):
        heights = [
            _read(case, term, x, points[x], relative) if x in points else None for x in spots
        ]
        drawn = [h if h is not None and math.isfinite(h) else 0.0 for h in heights]
        places = [i + (index - (len(curves) - 1) / 2) * width for i in range(len(spots))]
        ax.bar(places, drawn, width, label=named(case), **_bar_style(index))
        for place, x, found in zip(places, spots, heights, strict=True):
            if x in points and (found is None or math.isinf(found)):
                _write_above(ax, _number(found), place, 0, 0)
            if whiskers and x in points:
                _whisker(ax, case, term, place, points[x])
    _name_spots(ax, [str(x) for x in spots], slanted=len(spots) > 6)
    ax.set_ylabel(y_label)
    if level is not None:
        ax.axhline(level, color="black", linewidth=1.5)


def curve_axes(
    ax: Axes,
    curves: Mapping[str, Mapping[Any, Sequence[Result]]],
    term: Mapping[str, Any],
    x_label: str,
    y_label: str,
    relative: Relative | None = None,
    *,
    whiskers: bool = False,
) -> None:
    """Draw a sweep: one curve per case over the sweep values.

    A curve has a gap where its number is missing or infinite. Values that are not numbers are
    evenly spaced, in their order.
    """
    for index, (case, points) in enumerate(curves.items()):
        spots = [(x, _read(case, term, x, runs, relative)) for x, runs in points.items()]
        numeric = all(isinstance(x, (int, float)) for x, _ in spots)
        xs = [x if numeric else literal(str(x)) for x, _ in spots]
        ys = [or_gap(y) for _, y in spots]
        ax.plot(xs, ys, label=named(case), **line_style(index))
        for x, y, value in zip(xs, ys, points, strict=True):
            if whiskers and not math.isnan(y):
                _whisker(ax, case, term, x, points[value])
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)


def with_unit(label: str, term: Mapping[str, Any]) -> str:
    """Return a label of an axis with the unit of a term, or with its scale if that has none."""
    unit, scale = units.of_term(Term("", **term)), term.get("scale", 1.0)
    if "*" in unit:
        return f"{label} * {scale:g}"
    return units.after(label, f"({unit})") if units.after("", unit) else label


def number_label(term: Mapping[str, Any], relation: str = "", base: str | None = None) -> str:
    """Return an axis label for the number of a term, or for its relation to a case."""
    if base is None:
        return with_unit(term_label(term), term)
    label = f"{term_label(term)}, {relation} to {base}"
    return with_unit(label, term) if relation == "difference" else label


def term_label(term: Mapping[str, Any]) -> str:
    """Return an axis label for the number of a term."""
    if term.get("path") or term.get("cdf"):
        return str(term.get("path") or f"{term['cdf']} at or below {term.get('at', 0):g}")
    where = term.get("range", "all")
    if not isinstance(where, str):
        keys, unit = (PACKETS, "packets") if PACKETS & where.keys() else ({"low", "high"}, "B")
        low, high = (where.get(key) for key in sorted(keys, reverse=True))
        where = f"{low or ''}-{high or ''} {unit}"
    return f"FCT slowdown, {_NAMES[term.get('statistic', 'p99')]}, {where} flows"
