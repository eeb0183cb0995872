"""What a trace says: where a quantity over time settles, when, and whether it swings."""

from __future__ import annotations

from typing import Any

import numpy as np

# The level a trace ends on is its mean over this last share of the time.
FINAL_SHARE = 0.25
# It has settled where it stays this close to that level: a share of it, or of the peak if more.
BAND = 0.2
PEAK_BAND = 0.05

Trace = tuple[Any, Any]
"""Times in picoseconds and values, as arrays of the same length."""


def peak(trace: Trace) -> float:
    """Return the largest value."""
    return float(trace[1].max())


def final(trace: Trace) -> float:
    """Return the level the trace ends on: the mean over the last quarter of its time."""
    times, values = trace
    begin = times[-1] - FINAL_SHARE * (times[-1] - times[0])
    return float(values[times >= begin].mean())


def settled_ms(trace: Trace) -> float:
    """Return when the trace comes close to its final level to stay, in milliseconds.

    Close is a fifth of that level or, where it is next to nothing, a twentieth of the peak. Time
    counts from the first sample. A trace that never stays there settles with its end.
    """
    times, values = trace
    level = final(trace)
    band = max(BAND * level, PEAK_BAND * peak(trace))
    outside = np.flatnonzero(np.abs(values - level) > band)
    first_inside = 0 if not len(outside) else min(outside[-1] + 1, len(times) - 1)
    return float(times[first_inside] - times[0]) * 1e-9


def swing(trace: Trace) -> float:
    """Return how far the second half swings: 95th less 5th percentile, over the mean."""
    times, values = trace
    late = values[times >= (times[0] + times[-1]) / 2]
    level = late.mean()
    low, high = np.percentile(late, (5, 95))
    return float((high - low) / level) if level > 0 else 0.0


def mean(trace: Trace) -> float:
    """Return the mean over all samples."""
    return float(trace[1].mean())


MEASURES = {
    "mean": mean,
    "peak": peak,
    "final": final,
    "settled_ms": settled_ms,
    "swing": swing,
}
"""Measures by the name that follows a column in `samples.COLUMN.MEASURE`."""
