"""Closed forms of Flowtune's paper.

Times are in seconds, rates in bit/s, sizes in bytes.
"""

from __future__ import annotations

import math

__all__ = [
    "aggregation_steps",
    "base_rtt",
    "fair_rate",
    "flowlet_duration",
    "intermediary_gain",
    "rate_per_core",
    "servers_per_nic",
    "throughput_gain",
    "update_bytes",
    "wire_bytes",
]

_BITS = 8.0
# "Ethernet has 64-byte minimum frames and preamble and interframe gaps, which cost 84-bytes" (§6).
_ETHERNET = 18.0
_SMALLEST_FRAME = 64.0
_PREAMBLE_AND_GAP = 20.0
_LARGEST_PAYLOAD = 1500.0


def base_rtt(links: float, link_s: float, server_s: float) -> float:
    """Return the RTT over `links` links each way; `server_s` is spent per send and per receive.

    §5.3 states 14 us over two links and 22 us over four: 2 us per link and 1.5 us per server. With
    these two swapped, as printed, four links would take 20 us.
    """
    return 2 * links * link_s + 4 * server_s


def fair_rate(flows: float, rate_bps: float) -> float:
    """Return 1/N of a link: "N flows each get 1/N of bandwidth" (§5.3.1)."""
    return rate_bps / flows


def flowlet_duration(size_bytes: float, rate_bps: float) -> float:
    """Return the duration of a flowlet alone on a link (§1)."""
    return size_bytes * _BITS / rate_bps


def wire_bytes(message_bytes: float, header_bytes: float) -> float:
    """Return the bytes a message takes on the wire; `header_bytes` excludes Ethernet's (§6)."""
    frame = max(_SMALLEST_FRAME, message_bytes + header_bytes + _ETHERNET)
    return frame + _PREAMBLE_AND_GAP


def update_bytes(update: float, header_bytes: float) -> float:
    """Return the wire bytes per update if updates fill whole frames, "an MTU" (§6)."""
    updates = math.floor((_LARGEST_PAYLOAD - header_bytes) / update)
    return wire_bytes(updates * update, header_bytes) / updates


def intermediary_gain(update: float, header_bytes: float) -> float:
    """Return the ratio of wire bytes of updates sent one by one to updates in full frames (§6)."""
    return wire_bytes(update, header_bytes) / update_bytes(update, header_bytes)


def servers_per_nic(overhead: float, nic_bps: float, server_bps: float) -> float:
    """Return the number of servers a NIC can update.

    `overhead` is the share of update traffic on the servers' links. "a throughput overhead of
    1.12 % at 0.8 load, so each allocator NIC can update 89 servers" (§6) assumes a NIC as fast as
    a server's.
    """
    return nic_bps / (overhead * server_bps)


def rate_per_core(servers: float, server_bps: float, cores: float) -> float:
    """Return the network capacity allocated per core (§1)."""
    return servers * server_bps / cores


def throughput_gain(per_core: float, cores: float) -> float:
    """Return the total gain from more traffic per core and more cores: 10.4 x 8 (§1)."""
    return per_core * cores


def aggregation_steps(blocks: float) -> float:
    """Return the steps that n x n processors need to aggregate their LinkBlocks, log2 n (§4)."""
    return math.log2(blocks)
