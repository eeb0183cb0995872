"""Flow-size tables: share of bytes by flow size (BFC, Fig. 2), and random sizes.

A table is a list of (size in bytes, cumulative share of flows).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from xoff import engine
from xoff.computed.found import Found
from xoff.errors import UsageError

Array = NDArray[np.float64]


def size_bytes(sizes: str, rtt_us: float = 12.0, link_gbps: float = 100.0) -> Found:
    """Return the share of all bytes in flows below a size, for many sizes.

    `below_100kb` is the share at 100 KB, `below_bdp` the share at one BDP (`rtt_us`, `link_gbps`),
    `mean_bytes` the mean size. Raises `UsageError`.
    """
    if rtt_us <= 0 or link_gbps <= 0:
        raise UsageError("`rtt_us` and `link_gbps` must be above 0")
    points = engine.size_table(sizes)
    most = points[-1][0]
    at = np.geomspace(1.0, most, 200)
    bdp = link_gbps * rtt_us * 1e3 / 8
    return Found(
        {
            "below_100kb": byte_share(points, 100e3),
            "below_bdp": byte_share(points, bdp),
            "mean_bytes": mean(points),
        },
        {"bytes": at, "share": np.array([byte_share(points, float(x)) for x in at])},
    )


def mean(points: list[tuple[float, float]]) -> float:
    """Return the mean size in bytes, interpolating linearly between the table's points."""
    sizes, shares = np.array(points).T
    return float(((sizes[1:] + sizes[:-1]) / 2 * np.diff(shares)).sum())


def byte_share(points: list[tuple[float, float]], limit: float) -> float:
    """Return the share of all bytes in flows shorter than `limit` bytes."""
    sizes, shares = np.array(points).T
    low, high, weight = sizes[:-1], sizes[1:], np.diff(shares)
    cut = np.clip(limit, low, high)
    width = np.where(high > low, high - low, 1.0)
    inside = weight * (cut * cut - low * low) / (2 * width)
    whole = np.where(low < limit, weight * low, 0.0)
    return float(np.where(high > low, inside, whole).sum() / mean(points))


def draw(points: list[tuple[float, float]], uniform: Array) -> Array:
    """Return the sizes (bytes) at quantiles `uniform`, an array of numbers between 0 and 1."""
    sizes, shares = np.array(points).T
    return np.asarray(np.maximum(1.0, np.interp(uniform, shares, sizes)), dtype=np.float64)
