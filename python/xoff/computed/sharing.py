"""Number of active flows on an equally shared link, without packets (BFC, §2.1 and §2.3).

Flows of a workload arrive at one link and share its capacity equally, as in an M/G/1-PS queue.
Events are arrivals and departures, so results are exact up to the finite simulated time.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xoff import engine
from xoff.computed import sizes as size_tables
from xoff.computed.found import Found, uniform
from xoff.errors import UsageError

Array = NDArray[np.float64]

# Share of the simulated time left out at the start, because the link starts empty.
WARM_UP = 0.1
# Number of samples of the state, evenly spaced over the remaining time.
SAMPLES = 400_000
INTERVALS_US = (1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)


def active_flows(
    sizes: str,
    load: float = 0.8,
    link_gbps: float = 100.0,
    arrivals: str = "poisson",
    flows: int = 400_000,
    seed: int = 1,
) -> Found:
    """Sample the number of flows at a link (`active`); `mean_active` is its mean over time.

    `sizes` names a flow-size table, `flows` is the number of arrivals. Raises `UsageError`.
    """
    times, counts = _occupancy(sizes, load, link_gbps, arrivals, flows, seed, others=0)
    at = np.linspace(times[0] + WARM_UP * (times[-1] - times[0]), times[-1], SAMPLES)
    seen = counts[np.searchsorted(times, at, side="right") - 1]
    columns: dict[str, NDArray[Any]] = {
        "time_ps": np.round(at * 1e12).astype(np.int64),
        "port": np.zeros(len(at), dtype=np.int32),
        "active": seen,
    }
    return Found({"mean_active": float(seen.mean())}, columns)


def fair_share(
    sizes: str,
    load: float = 0.6,
    link_gbps: float = 100.0,
    arrivals: str = "lognormal",
    flows: int = 100_000,
    seed: int = 1,
) -> Found:
    """Measure how much a long flow's fair share changes within an interval under cross traffic.

    With N(t) flows including the long one, its share is f(t) = C / N(t). `change` is the mean of
    |f(t + I) - f(t)| / f(t) in percent, by `interval_us`; the numbers `change_8us` etc. repeat it.
    Raises `UsageError`.
    """
    times, counts = _occupancy(sizes, load, link_gbps, arrivals, flows, seed, others=1)
    begin = times[0] + WARM_UP * (times[-1] - times[0])
    at = np.linspace(begin, times[-1] - INTERVALS_US[-1] * 1e-6, SAMPLES)
    before = counts[np.searchsorted(times, at, side="right") - 1] + 1
    changes = []
    for interval in INTERVALS_US:
        later = counts[np.searchsorted(times, at + interval * 1e-6, side="right") - 1] + 1
        changes.append(100 * float(np.abs(before / later - 1).mean()))
    columns = {"interval_us": np.array(INTERVALS_US), "change": np.array(changes)}
    pairs = zip(INTERVALS_US, changes, strict=True)
    return Found({f"change_{interval:g}us": change for interval, change in pairs}, columns)


def _occupancy(
    sizes: str, load: float, link_gbps: float, arrivals: str, flows: int, seed: int, others: int
) -> tuple[Array, NDArray[np.int64]]:
    """Return the times (s) of all arrivals and departures, and the number of flows after each."""
    if not 0 < load < 1 or link_gbps <= 0 or flows < 1000:
        raise UsageError("load must be between 0 and 1, link_gbps above 0, flows at least 1000")
    points = engine.size_table(sizes)
    stream = uniform(seed)
    mean_gap = size_tables.mean(points) * 8 / (link_gbps * 1e9 * load)
    gaps = _gaps(stream, arrivals, flows) * mean_gap
    work = size_tables.draw(points, stream.random(flows)) * 8 / (link_gbps * 1e9)
    times, counts = share(np.cumsum(gaps).tolist(), work.tolist(), others)
    return np.array(times), np.array(counts)


def _gaps(stream: np.random.Generator, arrivals: str, flows: int) -> Array:
    """Return gaps between arrivals with a mean of 1."""
    if arrivals == "poisson":
        return -np.log(1 - stream.random(flows))
    if arrivals == "lognormal":
        # Sigma is 2, as in all traffic of the paper (§6.2.1); Box-Muller transform.
        radius = np.sqrt(-2 * np.log(1 - stream.random(flows)))
        return np.asarray(np.exp(2 * radius * np.cos(2 * np.pi * stream.random(flows)) - 2))
    raise UsageError(f"`arrivals` must be poisson or lognormal, not {arrivals!r}")


def share(
    arrivals: Sequence[float], work: Sequence[float], others: int
) -> tuple[list[float], list[int]]:
    """Share a link between arriving flows and `others` flows that never end.

    `arrivals` are times and `work` the seconds each flow needs with the link alone. Returns the
    times of events and the number of arriving flows after each. All active flows receive the same
    service, so a heap of the cumulative service at which each flow finishes orders the departures.
    """
    times: list[float] = []
    counts: list[int] = []
    ends: list[float] = []
    now = had = 0.0
    for arrival, need in zip(arrivals, work, strict=True):
        while ends:
            leaves = now + (ends[0] - had) * (len(ends) + others)
            if leaves > arrival:
                had += (arrival - now) / (len(ends) + others)
                break
            had, now = heapq.heappop(ends), leaves
            times.append(now)
            counts.append(len(ends))
        now = arrival
        had = had if ends else 0.0  # small values keep the precision
        heapq.heappush(ends, had + need)
        times.append(now)
        counts.append(len(ends))
    return times, counts
