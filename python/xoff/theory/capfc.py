"""Closed forms of CaPFC's paper (§II-G, §III), and its Table III.

Times are in seconds, rates in bit/s, sizes in bytes.
"""

from __future__ import annotations

__all__ = [
    "counter_bytes",
    "counters",
    "headroom",
    "load",
    "query_floor",
    "table3",
    "table3_best",
    "table3_worst",
]

_BITS = 8.0

# Table III: the longest FCT of long flows in ms, by technique (in the paper's order) and scenario.
_TABLE3 = (
    (52.56, 51.08, 55.13, 58.55, 50.87, 58.32),
    (53.21, 55.34, 51.77, 57.80, 49.32, 55.55),
    (50.67, 49.80, 62.42, 56.78, 51.57, 56.08),
    (55.22, 55.87, 52.17, 53.46, 61.02, 59.75),
)


def counters(ports: float, classes: float) -> float:
    """Return the number of counters C_p^{i,o}: 18,432 with 48 ports and 8 priorities (§II-G)."""
    return ports**2 * classes


def counter_bytes(ports: float, classes: float, bytes_each: float) -> float:
    """Return the memory of the counters: "approximately 36 KB" with 2 bytes each (§II-G)."""
    return counters(ports, classes) * bytes_each


def headroom(rate_bps: float, rtt_s: float) -> float:
    """Return the headroom above XOFF: "link capacity times RTT between two links" (§III)."""
    return rate_bps * rtt_s / _BITS


def load(mean_gap_s: float, event_bytes: float, sources: float, capacity_bps: float) -> float:
    """Return the load on a capacity from the payload of `sources`, without headers."""
    return sources * event_bytes * _BITS / mean_gap_s / capacity_bps


def query_floor(senders: float, flow_bytes: float, rate_bps: float, header_share: float) -> float:
    """Return the time a query's responses, with headers, occupy the aggregator's link."""
    return senders * flow_bytes * (1 + header_share) * _BITS / rate_bps


def table3(technique: float, scenario: float) -> float:
    """Return an entry of Table III in ms: techniques 0 to 3 in its order, scenarios 1 to 6."""
    return _TABLE3[int(technique)][int(scenario) - 1]


def table3_best(technique: float, base: float) -> float:
    """Return the technique's largest reduction against the base over all scenarios, as a share."""
    pairs = zip(_TABLE3[int(technique)], _TABLE3[int(base)], strict=True)
    return max(1 - own / other for own, other in pairs)


def table3_worst(technique: float, base: float) -> float:
    """Return the technique's largest increase over the base over all scenarios, as a share."""
    pairs = zip(_TABLE3[int(technique)], _TABLE3[int(base)], strict=True)
    return max(own / other - 1 for own, other in pairs)
