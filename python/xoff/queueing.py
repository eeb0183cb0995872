"""Queueing delay along paths, from samples of all ports.

As in Flowtune §5.3.3 (I): the queues of all ports are sampled; the delay of a path is the sum of
the times its ports need to drain their queues of the same instant.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from xoff.errors import UsageError
from xoff.result import Result

Array = Any

# Number of random paths of each length; the same paths for every run of a network.
PATHS = 4096

PERCENTILES = {"p50_us": 50.0, "p95_us": 95.0, "p99_us": 99.0}
STATISTICS = ("mean_us", *PERCENTILES)


class _Network:
    """The ports of each node and their peers."""

    def __init__(self, ports: tuple[tuple[int, int, str], ...]) -> None:
        self.by_pair: dict[tuple[int, int], list[int]] = {}
        self.neighbours: dict[int, set[int]] = {}
        for i, (node, peer, _) in enumerate(ports):
            self.by_pair.setdefault((node, peer), []).append(i)
            self.neighbours.setdefault(node, set()).add(peer)
        of_hosts = [(node, peer) for node, peer, link in ports if link.startswith("host-")]
        self.hosts = np.array([node for node, _ in of_hosts])
        self.leaves = np.array([peer for _, peer in of_hosts])

    def paths(self, links: int) -> Array:
        """Draw random paths of two or four links between hosts: indices of the sending ports.

        The shape is `(paths, links)`.
        """
        rng = np.random.default_rng(1)
        src, dst = rng.integers(len(self.hosts), size=(2, PATHS * 64))
        near = self.leaves[src] == self.leaves[dst]
        wanted = np.flatnonzero(((links == 2) == near) & (src != dst))[:PATHS]
        drawn = [self._path(rng, int(src[i]), int(dst[i])) for i in wanted]
        return np.array([path for path in drawn if path is not None], dtype=int)

    def _path(self, rng: Any, src: int, dst: int) -> list[int] | None:
        first, last = int(self.leaves[src]), int(self.leaves[dst])
        between = [first]
        if first != last:
            joint = sorted(self.neighbours[first] & self.neighbours[last])
            if not joint:
                return None
            between = [first, joint[rng.integers(len(joint))], last]
        nodes = [int(self.hosts[src]), *between, int(self.hosts[dst])]
        choices = [self.by_pair[step] for step in itertools.pairwise(nodes)]
        return [ports[rng.integers(len(ports))] for ports in choices]


@lru_cache(maxsize=8)
def _paths(ports: tuple[tuple[int, int, str], ...], links: int) -> Array:
    """Draw the paths of a network, once for all of its runs."""
    return _Network(ports).paths(links)


def path_delays_us(result: Result, links: int) -> Array:
    """Return the queueing delays (us) of paths of `links` links at every sample, flattened."""
    ports = result.ports
    columns = (ports[name].to_pylist() for name in ("node", "peer", "link"))
    paths = _paths(tuple(zip(*columns, strict=True)), links)
    if not len(paths):
        return np.array([])
    rates = ports["rate_bps"].to_numpy().astype(float)
    samples = result.port_samples
    times = np.unique(samples["time_ps"].to_numpy())
    # Rows are in the order (time, node, port); the table of ports has the same order of ports.
    queues = samples["queue_bytes"].to_numpy().reshape(len(times), len(rates))
    delays = queues * 8e6 / rates
    return delays[:, paths].sum(axis=2).ravel()


# By run, so that the panels of a figure do not compute them again for each statistic.
_statistics: WeakKeyDictionary[Result, dict[int, dict[str, float]]] = WeakKeyDictionary()


def statistics(result: Result, links: int) -> dict[str, float]:
    """Return all statistics of the delays of paths of `links` links; none without such paths."""
    known = _statistics.setdefault(result, {})
    if links not in known:
        delays = path_delays_us(result, links)
        known[links] = {}
        if len(delays):
            percents = list(PERCENTILES.values())
            found = np.percentile(delays, percents)
            known[links] = dict(zip(PERCENTILES, map(float, found), strict=True))
            known[links]["mean_us"] = float(delays.mean())
    return known[links]


def parse(what: str) -> tuple[int, str]:
    """Parse `LINKS.STATISTIC`, such as `4.p99_us`. Raises `UsageError`."""
    match = re.fullmatch(r"([24])\.(\w+)", what)
    if not match or match[2] not in STATISTICS:
        names = ", ".join(STATISTICS)
        raise UsageError(
            f"`queueing.{what}`: expected queueing.2.STATISTIC or queueing.4.STATISTIC; "
            f"statistics are {names}"
        )
    return int(match[1]), match[2]


def read(result: Result, what: str) -> float | None:
    """Read a statistic of path delays (`parse`); None without such paths or samples."""
    links, name = parse(what)
    return statistics(result, links).get(name)
