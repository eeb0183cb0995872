"""Measures of a trace: its final level, when it settles, and how much it oscillates."""

from __future__ import annotations

from typing import Any

import numpy as np

# The final level of a trace is its mean over this last share of the time.
FINAL_SHARE = 0.25
# A trace has settled when it stays this close to its final level: the larger of a share of that
# level and a share of the peak.
BAND = 0.2
PEAK_BAND = 0.05

Trace = tuple[Any, Any]
"""Times in picoseconds and values, as arrays of the same length."""


def peak(trace: Trace) -> float:
    """Return the largest value."""
    return float(trace[1].max())


def final(trace: Trace) -> float:
    """Return the final level: the mean over the last quarter of the time."""
    times, values = trace
    begin = times[-1] - FINAL_SHARE * (times[-1] - times[0])
    return float(values[times >= begin].mean())


def settled_ms(trace: Trace) -> float:
    """Return the time, in ms from the first sample, after which the trace stays at its final level.

    The tolerance is a fifth of that level, or a twentieth of the peak if that is more. A trace
    that does not settle returns the time of its last sample.
    """
    times, values = trace
    level = final(trace)
    band = max(BAND * level, PEAK_BAND * peak(trace))
    outside = np.flatnonzero(np.abs(values - level) > band)
    first_inside = 0 if not len(outside) else min(outside[-1] + 1, len(times) - 1)
    return float(times[first_inside] - times[0]) * 1e-9


def swing(trace: Trace) -> float:
    """Return the oscillation of the second half: (p95 - p5) over the mean."""
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
"""Measures by their name in `samples.COLUMN.MEASURE`."""
