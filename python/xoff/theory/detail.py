"""Closed forms of DeTail's report (§6.1, §7.1, §8.1.1).

Times are in seconds, rates in bit/s, sizes in bytes.
"""

from __future__ import annotations

import math

__all__ = [
    "crossbar_delay",
    "headroom",
    "load_factor",
    "pause_threshold",
    "reaction_time",
    "response_time",
    "switch_delay",
    "total_headroom",
    "transmission",
]

_BITS = 8.0
# "According to the Ethernet standard, the switch has two 512-bit-times to react" (§6.1).
_RESPONSE_BITS = 2 * 512


def transmission(frame_bytes: float, rate_bps: float) -> float:
    """Return T_O, the transmission time of a frame: 12.24 us (§6.1)."""
    return frame_bytes * _BITS / rate_bps


def response_time(rate_bps: float) -> float:
    """Return T_R, the time the recipient of a pause has to react: 1.024 us (§6.1)."""
    return _RESPONSE_BITS / rate_bps


def reaction_time(frame_bytes: float, rate_bps: float, propagation_s: float) -> float:
    """Return T = T_O + T_P + T_R + T_O + T_P until a pause takes effect (eq. 1): 38.7 us."""
    t_o, t_r = transmission(frame_bytes, rate_bps), response_time(rate_bps)
    return t_o + propagation_s + t_r + t_o + propagation_s


def headroom(frame_bytes: float, rate_bps: float, propagation_s: float) -> float:
    """Return the bytes that can arrive after a pause is requested: 4,838 B (§6.1).

    It is the low threshold, too: a queue resumed at this level does not run empty.
    """
    return reaction_time(frame_bytes, rate_bps, propagation_s) * rate_bps / _BITS


def total_headroom(
    frame_bytes: float, rate_bps: float, propagation_s: float, priorities: float
) -> float:
    """Return the headroom of all priorities, each paused separately: 38,704 B (§6.1)."""
    return priorities * headroom(frame_bytes, rate_bps, propagation_s)


def pause_threshold(
    buffer_bytes: float,
    frame_bytes: float,
    rate_bps: float,
    propagation_s: float,
    priorities: float,
) -> float:
    """Return the drain bytes of a priority above which it is paused: 11,546 B (§6.1)."""
    kept = total_headroom(frame_bytes, rate_bps, propagation_s, priorities)
    return math.floor((buffer_bytes - kept) / priorities + 1e-6)


def crossbar_delay(frame_bytes: float, rate_bps: float, speedup: float) -> float:
    """Return the time a crossbar with a speedup needs for a frame: 3.06 us (§7.1)."""
    return transmission(frame_bytes, rate_bps) / speedup


def switch_delay(
    frame_bytes: float,
    rate_bps: float,
    speedup: float,
    propagation_s: float,
    transceivers_s: float,
    forwarding_s: float,
) -> float:
    """Return the unloaded delay of a switch and a link: 25 us (§7.1)."""
    sent = transmission(frame_bytes, rate_bps) + crossbar_delay(frame_bytes, rate_bps, speedup)
    return sent + propagation_s + transceivers_s + forwarding_s


def load_factor(
    queries_per_s: float, response_bytes: float, oversubscription: float, rate_bps: float
) -> float:
    """Return the load of responses on a server's share of the links between racks (§8.1.1).

    All responses count as crossing racks, without headers. The paper: "500 to 2500 queries /
    second [...] represents load factors between 0.17 and 0.85", with a mean response of 14 KB.
    """
    return queries_per_s * response_bytes * _BITS * oversubscription / rate_bps
