"""Buffer and delay of Source Flow Control in closed form (SFC, §2.1, §3.4 and App. C).

The propagation delay is T_A from senders to a bottleneck of rate R, T_B from there to the
receiver, and T_ToR from a sender to its own switch. A full packet takes T_S to send. Control
packets take no time, and a sender sets the right rate upon its first notification (App. C). A
buffer's threshold is k packets.

Times are in seconds, rates in bit/s, buffers in bytes.
"""

from __future__ import annotations

import math

__all__ = [
    "b_ack",
    "b_bts",
    "b_cache_hit",
    "b_incast",
    "b_second_sender",
    "bandwidth_delay",
    "bts_saving",
    "bts_saving_share",
    "bts_time",
    "cache_gain",
    "cache_saving",
    "halvings",
    "limits_to_two_flows",
    "rtt",
    "serialisation",
    "t_cache",
    "t_cache_miss",
    "t_f",
    "underrun_target",
]

_BITS = 8.0


def _bytes(rate_bps: float, seconds: float) -> float:
    return rate_bps * seconds / _BITS


def bandwidth_delay(rate_bps: float, seconds: float) -> float:
    """Return the bandwidth-delay product (§1: 500 KB at 400 Gb/s; §5.3.2: 125 KB at 100 Gb/s)."""
    return _bytes(rate_bps, seconds)


def halvings(senders: float, rtt_s: float) -> float:
    """Return the time until rates halved every RTT match the drain rate (§2.1)."""
    return math.log2(senders) * rtt_s


def serialisation(packet_bytes: float, rate_bps: float) -> float:
    """Return T_S, the transmission time of a packet (App. C)."""
    return packet_bytes * _BITS / rate_bps


def rtt(t_a: float, t_b: float, t_s: float) -> float:
    """Return RTT = 2 T_A + 2 T_B + 2 T_S (App. C)."""
    return 2 * t_a + 2 * t_b + 2 * t_s


def t_f(t_a: float, t_s: float) -> float:
    """Return T_F = 2 T_A + T_S, from sending a packet to receiving its BTS (App. C)."""
    return 2 * t_a + t_s


def underrun_target(rate_bps: float, t_a: float, t_s: float) -> float:
    """Return R T_F, the smallest target depth at which the link does not idle (§3.3)."""
    return _bytes(rate_bps, t_f(t_a, t_s))


def b_ack(rate_bps: float, t_a: float, t_b: float, t_s: float, k: float) -> float:
    """Return the buffer two flows need if the receiver signals congestion (eq. 1)."""
    return _bytes(rate_bps, 2 * t_a + 2 * k * t_s + 2 * t_b)


def b_bts(rate_bps: float, t_a: float, t_s: float, k: float) -> float:
    """Return the buffer two flows need if the switch signals congestion with BTS (eq. 2)."""
    return _bytes(rate_bps, bts_time(t_a, t_s, k))


def bts_time(t_a: float, t_s: float, k: float) -> float:
    """Return B_bts / R, the smallest gap between flows that keeps an incast at B_bts (eq. 6)."""
    return 2 * t_a + k * t_s


def bts_saving(rate_bps: float, t_b: float, t_s: float, k: float) -> float:
    """Return B_ack - B_bts = R (2 T_B + k T_S) (App. C.1)."""
    return _bytes(rate_bps, 2 * t_b + k * t_s)


def bts_saving_share(t_a: float, t_b: float, t_s: float, k: float) -> float:
    """Return the saving as a share of B_ack (App. C.1)."""
    return bts_saving(1.0, t_b, t_s, k) / b_ack(1.0, t_a, t_b, t_s, k)


def b_incast(flows: float, rate_bps: float, t_a: float, t_s: float) -> float:
    """Return the buffer of N flows that start together, N R T_F (eq. 3)."""
    return flows * _bytes(rate_bps, t_f(t_a, t_s))


def limits_to_two_flows(gap_s: float, t_a: float, t_s: float, k: float) -> bool:
    """Return whether flows starting `gap_s` apart need no more buffer than two (eqs. 4 to 6).

    The paper writes the gap as m RTT, and m RTT as m B_ack / R (eq. 5). That is not the RTT of its
    own definition; the condition on the gap needs neither.
    """
    return gap_s > bts_time(t_a, t_s, k)


def t_cache(t_a: float, t_s: float, t_tor: float) -> float:
    """Return T_cache = T_F - T_ToR, when the sender's switch learns of congestion (eq. 7)."""
    return t_f(t_a, t_s) - t_tor


def t_cache_miss(t_a: float, t_tor: float) -> float:
    """Return the latest start at which a second sender's first packet misses the cache (App. C.3).

    It is T_cache - (T_ToR + T_S) = 2 (T_A - T_ToR).
    """
    return 2 * (t_a - t_tor)


def b_second_sender(rate_bps: float, t_a: float, t_s: float, start_s: float) -> float:
    """Return the bytes a second sender sends before it pauses on a cache miss (App. C.3)."""
    return _bytes(rate_bps, t_f(t_a, t_s) - start_s)


def b_cache_hit(rate_bps: float, t_tor: float, t_s: float) -> float:
    """Return the bytes a sender sends before it pauses on a cache hit (eq. 8)."""
    return _bytes(rate_bps, 2 * t_tor + t_s)


def cache_saving(t_a: float, t_tor: float) -> float:
    """Return the share of congestion that caching avoids, 1 - T_ToR / T_A (§3.4)."""
    return 1 - t_tor / t_a


def cache_gain(t_a: float, t_tor: float) -> float:
    """Return the ratio of buffers without and with caching, T_A / T_ToR (App. C.3)."""
    return t_a / t_tor
