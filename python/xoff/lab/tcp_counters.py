"""What TCP of the laboratory's hosts has counted: `nstat` of all hosts together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xoff.lab import network
from xoff.lab.network import Setup, inside

Counts = dict[str, int]

COUNTED = {
    "retransmitted_segments": ("Tcp", "RetransSegs"),
    "timeouts": ("TcpExt", "TCPTimeouts"),
    "tail_loss_probes": ("TcpExt", "TCPLossProbes"),
}
"""Counters by name, and where the kernel has them: a group and a name in it."""

FILES = ("/proc/net/snmp", "/proc/net/netstat")


def read(setup: Setup) -> Counts:
    """Return the counters, summed over the hosts. Raises `RunError`."""
    return added(
        parse(network.call(inside(host, ["cat", *FILES])).splitlines()) for host in setup.hosts
    )


def parse(lines: Sequence[str]) -> Counts:
    """Return the counters of a host: each group is a line of names and a line of values."""
    found: dict[tuple[str, str], int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        group, _, rest = names.partition(":")
        numbers = values.partition(":")[2].split()
        found |= {(group, name): int(n) for name, n in zip(rest.split(), numbers, strict=True)}
    return {name: found.get(place, 0) for name, place in COUNTED.items()}


def added(hosts: Iterable[Mapping[str, int]]) -> Counts:
    """Return the sums over hosts."""
    result = dict.fromkeys(COUNTED, 0)
    for host in hosts:
        for name in result:
            result[name] += host[name]
    return result


def since(before: Mapping[str, int], now: Mapping[str, int]) -> Counts:
    """Return what was counted in between."""
    return {name: now[name] - before[name] for name in COUNTED}
