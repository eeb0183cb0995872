"""Results of the laboratory next to the same experiment in the simulator, in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from xoff import api
from xoff.lab.transfers import INTERVAL_NS, MS
from xoff.papers import find_experiment
from xoff.plots import legends, new_figure
from xoff.series import tables

SCHEMES = {"Flowtune": "flowtune", "Cubic": "tcp-cubic"}
# Intervals of the simulation that are drawn as one, to have those of the laboratory.
JOINED = INTERVAL_NS // MS
Curves = Sequence[tuple[Any, Any]]


def simulated(scheme: str) -> Curves:
    """Run Fig. 6 in the simulator; return (ms, Gbit/s) of each flow."""
    scenario = find_experiment("flowtune/fig06") / "scenario.toml"
    result = api.run(scenario, set=[f"scheme={SCHEMES[scheme]}"])
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


def figure(fig06: Mapping[str, Any], fig07: Mapping[str, Any]) -> Figure:
    """Draw Fig. 6 simulated and measured for each scheme, and Fig. 7 measured."""
    drawn, axes = new_figure(6, columns=3)
    for column, scheme in enumerate(SCHEMES):
        sides = {
            f"{scheme}, simulated, 10 Gb/s": simulated(scheme),
            f"{scheme}, on Linux, 1 Gb/s": measured(fig06, scheme),
        }
        for row, (title, curves) in enumerate(sides.items()):
            ax = axes[row * 3 + column]
            for times, rates in curves:
                ax.plot(times, rates, linewidth=0.8)
            ax.set_title(title)
            ax.set_xlabel("time (ms)")
            ax.set_ylabel("rate (Gbit/s)")
    _completion(axes[2], fig07)
    axes[5].set_visible(False)
    legends(axes[2:3])
    return drawn


def _completion(ax: Any, fig07: Mapping[str, Any]) -> None:
    for scheme, style in zip(SCHEMES, ("-", "--"), strict=True):
        times = np.sort(fig07["all_s"][scheme])
        ax.step(times, np.arange(1, len(times) + 1) / len(times), style, label=scheme)
    ax.set_title("Coflow of 200 transfers, on Linux, 1 Gb/s")
    ax.set_xlabel("completion of the last transfer (s)")
    ax.set_ylabel("share of runs")
