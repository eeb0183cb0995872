"""Distributions of completion times by class and size, as histograms of bounded size."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

SIZES = (
    ("up to 10 kB", 0, 10_000),
    ("10 kB to 100 kB", 10_000, 100_000),
    ("100 kB to 1 MB", 100_000, 1_000_000),
    ("above 1 MB", 1_000_000, None),
)
"""Ranges of flow sizes: name, lower end (excluded) and upper end (included), in bytes."""

PER_DECADE = 128
FIRST_DECADE = 3
DECADES = 13
"""Buckets cover 1 ns to 10,000 s in picoseconds; each is 1.8 % wide."""


class CompletionTimes:
    """Counts of completion times (ps) by class, range of sizes and logarithmic bucket."""

    def __init__(self) -> None:
        self._counts = np.zeros((0, len(SIZES), DECADES * PER_DECADE), dtype=np.int64)

    def add(self, classes: Array, sizes: Array, fct_ps: Array) -> None:
        """Count flows: the class, the size in bytes and the completion time of each."""
        if not len(classes):
            return
        self._make_room(int(classes.max()) + 1)
        ends = [low for _, low, _ in SIZES[1:]]
        ranges = np.searchsorted(ends, sizes, side="left")
        decades = np.log10(np.maximum(fct_ps, 1)) - FIRST_DECADE
        buckets = np.clip(decades * PER_DECADE, 0, DECADES * PER_DECADE - 1).astype(np.int64)
        flat = (classes.astype(np.int64) * len(SIZES) + ranges) * (DECADES * PER_DECADE) + buckets
        found = np.bincount(flat, minlength=self._counts.size)
        self._counts += found.reshape(self._counts.shape)

    def _make_room(self, classes: int) -> None:
        missing = classes - len(self._counts)
        if missing > 0:
            more = np.zeros((missing, *self._counts.shape[1:]), dtype=np.int64)
            self._counts = np.concatenate([self._counts, more])

    def curves(self, cls: int, finished: int = 0, unfinished: int = 0) -> list[dict[str, Any]]:
        """Return the CDFs of a class, of all sizes and of each range with flows.

        `us` are the upper ends of buckets in microseconds, `share` the shares of flows up to
        them. With unfinished flows, whose sizes are not known here, the curve of all sizes ends
        below 1. The rows may be a sample of the `finished` flows.
        """
        if cls >= len(self._counts):
            return []
        own = self._counts[cls]
        sampled = float(own.sum()) / finished if finished else 1.0
        groups = [("all sizes", own.sum(axis=0), unfinished * sampled)]
        groups += [(name, own[i], 0.0) for i, (name, _, _) in enumerate(SIZES)]
        return [_curve(*group) for group in groups if group[1].any()]


def _curve(name: str, counts: Array, unfinished: float) -> dict[str, Any]:
    filled = np.flatnonzero(counts)
    total = int(counts.sum())
    ends = 10.0 ** ((filled + 1) / PER_DECADE + FIRST_DECADE - 6)
    shares = np.cumsum(counts[filled]) / (total + unfinished)
    # The curve begins at zero, at the lower end of its first bucket.
    start = 10.0 ** (filled[0] / PER_DECADE + FIRST_DECADE - 6)
    return {
        "name": name,
        "flows": total,
        "us": [_short(start), *map(_short, ends)],
        "share": [0.0, *(round(float(share), 6) for share in shares)],
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")
