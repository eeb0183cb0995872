"""Numbers and distributions over the rows of `flows.parquet`, the finished flows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xoff.result import Result
from xoff.tables import of_class

Array = np.ndarray[Any, np.dtype[np.float64]]

COLUMNS = ("size_bytes", "fct_ps", "rx_fct_ps", "slowdown")
# Columns that are infinite for an unfinished flow.
ENDLESS = ("fct_ps", "rx_fct_ps", "slowdown")


def _percentile(share: float) -> Callable[[Array], float]:
    def of(values: Array) -> float:
        # Interpolation towards infinity is not possible.
        method = "linear" if np.isfinite(values).all() else "higher"
        return float(np.percentile(values, share, method=method))  # type: ignore[call-overload]

    return of


MEASURES: dict[str, Callable[[Array], float]] = {
    "count": lambda values: float(len(values)),
    "mean": lambda values: float(values.mean()),
    "p50": _percentile(50),
    "p90": _percentile(90),
    "p99": _percentile(99),
    "max": lambda values: float(values.max()),
}


def values(result: Result, column: str) -> Array:
    """Return a column of all rows, shape `(rows,)`."""
    found: Array = result.flows[column].to_numpy().astype(np.float64)
    return found


def of_sizes(
    result: Result, cls: str, low_bytes: float, high_bytes: float
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mark the rows of a class with sizes above `low_bytes`, up to `high_bytes`."""
    sizes = result.flows["size_bytes"].to_numpy()
    own = of_class(result.flows, cls)
    marked: np.ndarray[Any, np.dtype[np.bool_]] = own & (sizes > low_bytes) & (sizes <= high_bytes)
    return marked


def read(result: Result, what: str, cls: str | None = None) -> float | None:
    """Read `COLUMN.MEASURE`; None if the run has no rows (`run.flows = "none"`).

    With a class, its unfinished flows count, too, with infinite times.
    """
    column, _, measure = what.partition(".")
    found = values(result, column) if cls is None else _of_class(result, column, cls)
    return MEASURES[measure](found) if len(found) else None


def _of_class(result: Result, column: str, cls: str) -> Array:
    names = [entry.get("class") for entry in result.class_entries]
    if cls not in names:
        return np.empty(0)
    index = names.index(cls)
    found = values(result, column)[of_class(result.flows, cls)]
    left = int(result.class_entries[index].get("unfinished") or 0)
    return np.append(found, [math.inf] * left) if column in ENDLESS else found


def cdf(result: Result, column: str) -> list[tuple[float, float]]:
    """Return the step CDF of a column over all rows as (value, fraction) pairs."""
    points, counts = np.unique(values(result, column), return_counts=True)
    shares = np.cumsum(counts) / max(1, counts.sum())
    return [(float(x), float(share)) for x, share in zip(points, shares, strict=True)]


def is_known(what: str) -> bool:
    """Return whether `what` is a `COLUMN.MEASURE` of `read`."""
    column, _, measure = what.partition(".")
    return column in COLUMNS and measure in MEASURES
