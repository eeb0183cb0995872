"""Percentiles of measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, upper percentiles, extremes and spread."""
    if not values:
        return {"count": 0}
    shown = {f"p{part}": float(np.percentile(values, part)) for part in (50, 90, 95, 99)}
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return {"count": len(values), **shown, "max": max(values), "std": spread}
