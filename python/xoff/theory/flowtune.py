"""What Flowtune's paper computes rather than measures, in closed form.

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
    """Return the RTT over so many links each way; a server takes its time to send and to receive.

    §5.3 states 14 us over two links and 22 us over four: 2 us a link and 1.5 us a server. With the
    two the other way round, as printed, four links take 20 us.
    """
    return 2 * links * link_s + 4 * server_s


def fair_rate(flows: float, rate_bps: float) -> float:
    """Return 1/N of a link: "N flows each get 1/N of bandwidth" (§5.3.1)."""
    return rate_bps / flows


def flowlet_duration(size_bytes: float, rate_bps: float) -> float:
    """Return how long a flowlet takes at a link's rate, if it has the link to itself (§1)."""
    return size_bytes * _BITS / rate_bps


def wire_bytes(message_bytes: float, header_bytes: float) -> float:
    """Return what a message with headers above Ethernet's takes of a link (§6)."""
    frame = max(_SMALLEST_FRAME, message_bytes + header_bytes + _ETHERNET)
    return frame + _PREAMBLE_AND_GAP


def update_bytes(update: float, header_bytes: float) -> float:
    """Return what an update takes of a link in a frame full of them: "an MTU" (§6)."""
    updates = math.floor((_LARGEST_PAYLOAD - header_bytes) / update)
    return wire_bytes(updates * update, header_bytes) / updates


def intermediary_gain(update: float, header_bytes: float) -> float:
    """Return how many times fewer bytes updates take in full frames than one by one (§6)."""
    return wire_bytes(update, header_bytes) / update_bytes(update, header_bytes)


def servers_per_nic(overhead: float, nic_bps: float, server_bps: float) -> float:
    """Return how many servers a NIC can update.

    `overhead` is update traffic as a share of the servers' links. "a throughput overhead of 1.12 %
    at 0.8 load, so each allocator NIC can update 89 servers" (§6) is a NIC as fast as a server's.
    """
    return nic_bps / (overhead * server_bps)


def rate_per_core(servers: float, server_bps: float, cores: float) -> float:
    """Return the network capacity that a core of the allocator looks after (§1)."""
    return servers * server_bps / cores


def throughput_gain(per_core: float, cores: float) -> float:
    """Return what more traffic a core and more cores make together: 10.4 x 8 (§1)."""
    return per_core * cores


def aggregation_steps(blocks: float) -> float:
    """Return the steps that n x n processors need to aggregate their LinkBlocks, log2 n (§4)."""
    return math.log2(blocks)
