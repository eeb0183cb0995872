"""Closed forms of Backpressure Flow Control (BFC, §2.3, §3.2, §3.3, §6.2.1 and App. C).

App. C considers a flow alone in its queues: it arrives at x times its drain rate at the switch and
is paused above a threshold. Thresholds are in 1-hop BDPs at the drain rate, `Th / (HRTT mu)`.
Times are in seconds, rates in bit/s, buffers in bytes.
"""

from __future__ import annotations

import math

__all__ = [
    "active_flows",
    "active_flows_cdf",
    "bandwidth_delay",
    "buffer_time",
    "busy_share",
    "collision_share",
    "idle_share",
    "pause_counters",
    "pause_threshold",
    "peak_queue",
    "recirculated_share",
    "round_trip",
    "table_entries",
    "worst_busy_share",
    "worst_idle_share",
    "worst_rate_ratio",
]

_BITS = 8.0


def active_flows(load: float) -> float:
    """Return the mean number of flows on an equally shared link, M/G/1-PS (§2.3)."""
    return load / (1 - load)


def active_flows_cdf(load: float, flows: float) -> float:
    """Return the probability of at most `flows` flows on such a link, geometric (§2.3)."""
    return float(1 - load ** (math.floor(flows) + 1))


def collision_share(flows: float, queues_per_flow: float) -> float:
    """Return the probability that a flow shares its queue if queues are hashed (§3.2)."""
    return float(1 - (1 - 1 / (flows * queues_per_flow)) ** (flows - 1))


def table_entries(queues: float, factor: float) -> float:
    """Return the size of a flow table with `factor` entries per queue (§3.3.1)."""
    return queues * factor


def pause_counters(queues: float, ports: float) -> float:
    """Return the number of pause counters, one per upstream queue and port (§3.3.2)."""
    return queues * ports


def pause_threshold(hrtt_s: float, rate_bps: float, active: float) -> float:
    """Return Th = HRTT (mu / N_active) (§3.3.2)."""
    return bandwidth_delay(rate_bps, hrtt_s) / active


def bandwidth_delay(rate_bps: float, seconds: float) -> float:
    """Return a bandwidth-delay product (§6.2.1: 100 KB at 100 Gb/s; App. A.9: 500 KB a flow)."""
    return rate_bps * seconds / _BITS


def buffer_time(buffer_bytes: float, rate_bps: float) -> float:
    """Return the time to send data at a rate (§6.2.1: a buffer, 40 us; §6.2.2: incast, 1.6 ms)."""
    return buffer_bytes * _BITS / rate_bps


def round_trip(links: float, delay_s: float) -> float:
    """Return the round-trip time over `links` links, without serialisation (§6.2.1)."""
    return 2 * links * delay_s


def recirculated_share(header_bytes: float, packet_bytes: float) -> float:
    """Return the share of a switch's capacity that the headers of all packets take (§4)."""
    return header_bytes / packet_bytes


def idle_share(x: float, threshold: float) -> float:
    """Return E_f, the share of time in which a flow has run out of packets (App. C, eq. 4)."""
    return (x - 1) / (threshold * x + x * x - 1)


def busy_share(x: float, threshold: float) -> float:
    """Return the share of time in which the flow's queue is in use, 1 - E_f."""
    return 1 - idle_share(x, threshold)


def worst_rate_ratio(threshold: float) -> float:
    """Return the x at which a flow runs out of packets most (App. C)."""
    return math.sqrt(threshold) + 1


def worst_idle_share(threshold: float) -> float:
    """Return the largest E_f over all x (App. C, eq. 5)."""
    return 1 / ((math.sqrt(threshold) + 1) ** 2 + 1)


def worst_busy_share(threshold: float) -> float:
    """Return the least share of time in which the flow's queue is in use, over all x."""
    return 1 - worst_idle_share(threshold)


def peak_queue(x: float, threshold: float) -> float:
    """Return the queue at the end of phase 1, in 1-hop BDPs: Th + HRTT mu (x - 1) (App. C)."""
    return threshold + x - 1
