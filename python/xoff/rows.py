"""Numbers and distributions over the rows of `flows.parquet`: flows that have finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xoff.result import Result

Array = np.ndarray[Any, np.dtype[np.float64]]

COLUMNS = ("size_bytes", "fct_ps", "rx_fct_ps", "slowdown")
MEASURES: dict[str, Callable[[Array], float]] = {
    "count": lambda values: float(len(values)),
    "mean": lambda values: float(values.mean()),
    "p50": lambda values: float(np.percentile(values, 50)),
    "p90": lambda values: float(np.percentile(values, 90)),
    "p99": lambda values: float(np.percentile(values, 99)),
    "max": lambda values: float(values.max()),
}


def values(result: Result, column: str) -> Array:
    """Return a column over all rows."""
    found: Array = result.flows[column].to_numpy().astype(np.float64)
    return found


def read(result: Result, what: str) -> float | None:
    """Read `COLUMN.MEASURE`; None where the run has no rows (`run.flows = "none"`)."""
    column, _, measure = what.partition(".")
    found = values(result, column)
    return MEASURES[measure](found) if len(found) else None


def cdf(result: Result, column: str) -> list[tuple[float, float]]:
    """Return the step CDF of a column over all rows."""
    points, counts = np.unique(values(result, column), return_counts=True)
    shares = np.cumsum(counts) / max(1, counts.sum())
    return [(float(x), float(share)) for x, share in zip(points, shares, strict=True)]


def is_known(what: str) -> bool:
    """Tell whether `read` knows what is asked for."""
    column, _, measure = what.partition(".")
    return column in COLUMNS and measure in MEASURES
