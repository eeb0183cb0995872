"""Table columns of runs without packets: the allocator's fluid and convergence studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xoff.lookup import lookup
from xoff.text import number

COLUMNS = {
    "fluid": (
        ("flowlets", "flows.mean"),
        ("over capacity (Gb/s)", "over_capacity.mean_gbps"),
        ("at most", "over_capacity.max_gbps"),
        ("of optimum", "optimum.share.mean"),
        ("by F-NORM", "optimum.f_norm.mean"),
        ("F-NORM as printed", "optimum.f_norm_as_printed.mean"),
        ("by U-NORM", "optimum.u_norm.mean"),
        ("wait (us)", "wait.mean_us"),
        ("slowdown", "slowdown.mean"),
    ),
    "convergence": (
        ("networks", "networks"),
        ("converged", "converged"),
        ("iterations, mean", "iterations.mean"),
        ("p50", "iterations.p50"),
        ("p99", "iterations.p99"),
        ("max", "iterations.max"),
        ("last error, p50", "final_error.p50"),
        ("max error", "final_error.max"),
    ),
}
"""Title and path in the summary of each number in tables, by engine."""


def engine_of(summary: Mapping[str, Any]) -> str | None:
    """Return the numerical engine of a run; None for the packet-level engine."""
    found = summary.get("engine")
    return found if found in COLUMNS else None


def titles(engine: str) -> list[str]:
    """Return the titles of the numbers in tables."""
    return [title for title, _ in COLUMNS[engine]]


def values(summary: Mapping[str, Any]) -> list[str]:
    """Return the numbers in tables, as text, in the order of their titles."""
    return [number(lookup(summary, path)) for _, path in COLUMNS[summary["engine"]]]
