"""Results of the laboratory next to the same experiment in the simulator, in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullLocator

from xoff import api
from xoff.experiment import load_experiment
from xoff.lab.schemes import SCHEMES
from xoff.lab.transfers import INTERVAL_NS, MS
from xoff.panels import line_style
from xoff.papers import find_experiment
from xoff.plots import legends, new_figure
from xoff.series import tables

SIMULATED = {"Flowtune": "flowtune", "Cubic": "tcp-cubic"}
COFLOW = "flowtune/real-fig07"
# Intervals of the simulation that are drawn as one, to have those of the laboratory.
JOINED = INTERVAL_NS // MS
Curves = Sequence[tuple[Any, Any]]


def simulated(scheme: str) -> Curves:
    """Run Fig. 6 in the simulator; return (ms, Gbit/s) of each flow."""
    scenario = find_experiment("flowtune/fig06") / "scenario.toml"
    result = api.run(scenario, set=[f"scheme={SIMULATED[scheme]}"])
    (table,) = tables(result).values()
    whole = len(table.times) // JOINED * JOINED
    times = table.times[:whole:JOINED] * 1e-9
    joined = table.received[:whole].reshape(-1, JOINED, table.received.shape[1]).sum(axis=1)
    curves = []
    for flow in range(joined.shape[1]):
        is_on = joined[:, flow] > 0
        curves.append((times[is_on], joined[is_on, flow] * 8 / (INTERVAL_NS)))
    return curves


def measured(fig06: Mapping[str, Any], scheme: str) -> Curves:
    """Return (ms, Gbit/s) of each flow of the first run."""
    flows = fig06["series"][scheme].values()
    return [tuple(np.array(flow, dtype=float).T * [[1.0], [1e-3]]) for flow in flows]


def simulated_completions() -> dict[str, list[float]]:
    """Run the coflow of Fig. 7 in the simulator; return its times in s, by case."""
    found: dict[str, list[float]] = {}
    for point in load_experiment(find_experiment(COFLOW), COFLOW, "paper").points:
        result = api.run(point.scenario, set=point.overrides, progress=False)
        last_ps = max(result.flows["fct_ps"].to_pylist())
        found.setdefault(point.case, []).append(last_ps * 1e-12)
    return found


def figure(fig06: Mapping[str, Any], fig07: Mapping[str, Any]) -> Figure:
    """Draw Fig. 6 simulated and measured for each scheme, and Fig. 7 likewise."""
    drawn, axes = new_figure(6, columns=3)
    for column, scheme in enumerate(SIMULATED):
        _rates(axes[column], f"{scheme}, simulated, 10 Gb/s", simulated(scheme))
    for column, scheme in enumerate(SCHEMES):
        ax = axes[3 + column]
        if scheme in fig06["series"]:
            _rates(ax, f"{scheme}, on Linux, 1 Gb/s", measured(fig06, scheme))
        else:
            ax.set_visible(False)
    _completion(axes[2], fig07["all_s"], simulated_completions())
    legends(axes[2:3])
    return drawn


def _rates(ax: Any, title: str, curves: Curves) -> None:
    for times, rates in curves:
        ax.plot(times, rates, linewidth=0.8)
    ax.set_title(title)
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("rate (Gbit/s)")


def _completion(
    ax: Any, on_linux: Mapping[str, Sequence[float]], in_simulator: Mapping[str, Sequence[float]]
) -> None:
    sides = {"on Linux": (on_linux, 2.2), "simulated": (in_simulator, 0.9)}
    for where, (found, width) in sides.items():
        for case, unsorted in found.items():
            times = np.sort(unsorted)
            style = {**line_style(_style(case)), "linewidth": width}
            height = np.arange(1, len(times) + 1) / len(times)
            ax.step(times, height, where="post", label=f"{case}, {where}", **style)
    ax.set_title("Coflow of 200 transfers, 1 Gb/s")
    ax.set_xlabel("completion of the last transfer (s)")
    ax.set_ylabel("share of runs")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_locator(NullLocator())


def _style(case: str) -> int:
    """Return the number of a line's style: of a scheme, or one of its own for a variant."""
    return SCHEMES.index(case) if case in SCHEMES else len(SCHEMES)
