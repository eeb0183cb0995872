"""The drawing of the network, and the state of its links over time."""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from xoff.html_report.frames import Frames

Array = Any

LAYERS = ("host", "leaf", "spine", "core", "gateway", "attached")
"""Layers of nodes from the lowest to the top; `attached` is the host of an allocator."""

MOST_HOSTS = 256
"""With more hosts, those of a rack are drawn as one node."""
MOST_LINKS = 6000
"""With more drawn links, one way, the network is not drawn."""
FRAMES = 300
"""Frames of the time slider, at least; at most twice as many."""
FRAME_BYTES = 1_200_000
"""Size of all frames of a page before they are encoded."""
RACK_GAP = 0.7
"""Space between racks, in hosts."""


@dataclass(frozen=True)
class Node:
    """A node of the drawing. `x` is from 0 to 1; `hosts` counts hosts drawn as one node.

    `mark` is what its box shows: its label, or its number in its layer.
    """

    name: str
    mark: str
    tier: int
    x: float
    hosts: int


@dataclass(frozen=True)
class Drawing:
    """Nodes, and links one way: each a row (from, to, Gb/s, lane, lanes).

    `link_of_port` has the link of each port, in the order of the table of ports. Lanes number
    parallel links.
    """

    nodes: list[Node]
    links: list[tuple[int, int, float, int, int]]
    link_of_port: Array


def layers_of_nodes(ports: dict[str, Array]) -> dict[int, str]:
    """Return the layer of each node, in the order of their numbers."""
    found = {}
    for node, kind in zip(ports["node"].tolist(), ports["link"].tolist(), strict=True):
        found[node] = kind.split("-")[0]
    return dict(sorted(found.items()))


def draw(ports: dict[str, Array], names: dict[int, str]) -> Drawing | None:
    """Lay out the network, whose nodes have these names; None if it has too many links."""
    layers = layers_of_nodes(ports)
    leaf_of = _leaves(ports, layers)
    merged = len(leaf_of) > MOST_HOSTS
    # Hosts of a rack that are drawn as one node share the key of their rack.
    key_of = {n: ("rack", leaf_of[n]) if merged and n in leaf_of else ("node", n) for n in layers}
    placed = _place(layers, names, leaf_of, merged)
    index = {key: at for at, key in enumerate(placed)}
    ends = zip(ports["node"].tolist(), ports["peer"].tolist(), strict=True)
    pairs = [(index[key_of[node]], index[key_of[peer]]) for node, peer in ends]
    links, link_of_port = _links(pairs, ports["rate_bps"], merged_nodes=len(leaf_of) * merged)
    if len(links) > MOST_LINKS:
        return None
    return Drawing(list(placed.values()), links, link_of_port)


def _leaves(ports: dict[str, Array], layers: dict[int, str]) -> dict[int, int]:
    """Return the switch of each host; of a host with several links, the first one's."""
    found: dict[int, int] = {}
    for node, peer in zip(ports["node"].tolist(), ports["peer"].tolist(), strict=True):
        if layers[node] == "host":
            found.setdefault(node, peer)
    return found


def _place(
    layers: dict[int, str], names: dict[int, str], leaf_of: dict[int, int], merged: bool
) -> dict[tuple[str, int], Node]:
    """Place nodes: hosts below their switch, racks side by side, the layers above spread out."""
    racks: dict[int, list[int]] = defaultdict(list)
    for host, leaf in leaf_of.items():
        racks[leaf].append(host)
    # Switches of the lowest layer and those with hosts are placed with their racks.
    bottom = [n for n, layer in layers.items() if layer == "leaf" or n in racks]
    widths = {leaf: 1.0 if merged else max(1.0, len(racks[leaf])) for leaf in bottom}
    total = sum(widths.values()) + RACK_GAP * len(widths)
    placed, left = {}, 0.0
    for leaf in bottom:
        left += RACK_GAP / 2
        if merged and racks[leaf]:
            count, x = len(racks[leaf]), (left + widths[leaf] / 2) / total
            placed["rack", leaf] = Node(f"{count} hosts of {names[leaf]}", "", 0, x, count)
        for at, host in enumerate(racks[leaf] if not merged else []):
            placed["node", host] = Node(names[host], "", 0, (left + at + 0.5) / total, 1)
        x = (left + widths[leaf] / 2) / total
        placed["node", leaf] = _switch(names[leaf], layers[leaf], x)
        left += widths[leaf] + RACK_GAP / 2
    above: dict[str, list[int]] = defaultdict(list)
    for node, layer in layers.items():
        if ("node", node) not in placed and layer != "host":
            above[layer].append(node)
    for layer, nodes in above.items():
        for at, node in enumerate(nodes):
            placed["node", node] = _switch(names[node], layer, (at + 0.5) / len(nodes))
    return placed


def _switch(name: str, layer: str, x: float) -> Node:
    return Node(name, name.removeprefix(f"{layer} "), LAYERS.index(layer), x, 0)


def _links(
    pairs: list[tuple[int, int]], rates: Array, merged_nodes: int
) -> tuple[list[tuple[int, int, float, int, int]], Array]:
    """Return the links one way and the link of each port.

    Ports between the same two nodes are parallel lanes, or one link if hosts are merged.
    """
    lanes, lane_of = Counter[tuple[int, int]](), []
    for pair in pairs:
        lane_of.append(0 if merged_nodes else lanes[pair])
        lanes[pair] += 1
    number: dict[tuple[int, int, int], int] = {}
    gbps: list[float] = []
    link_of_port = np.empty(len(pairs), dtype=np.int64)
    for port, ((start, end), lane) in enumerate(zip(pairs, lane_of, strict=True)):
        at = number.setdefault((start, end, lane), len(number))
        if at == len(gbps):
            gbps.append(0.0)
        gbps[at] += float(rates[port]) * 1e-9
        link_of_port[port] = at
    links = [
        (start, end, round(rate, 3), lane, 1 if merged_nodes else lanes[start, end])
        for (start, end, lane), rate in zip(number, gbps, strict=True)
    ]
    return links, link_of_port


class FabricStates:
    """Collects the states of all links over time, from the rows of `port_samples`."""

    def __init__(self, drawing: Drawing, interval_ps: int, runs: int = 1) -> None:
        self._drawing = drawing
        self._interval_ps = interval_ps
        self._order = np.argsort(drawing.link_of_port, kind="stable")
        ordered = drawing.link_of_port[self._order]
        self._starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._ports_of_link = np.diff([*self._starts, len(ordered)])
        per_frame = 4 * len(drawing.links) * runs
        most = min(FRAMES, max(4, FRAME_BYTES // (2 * max(1, per_frame))))
        sums = dict.fromkeys(("sent", "paused", "span"), np.sum)
        largest = dict.fromkeys(("queue", "held", "total", "held_total", "held_ports"), np.max)
        self._frames = Frames(most, {**sums, **largest})

    def add(self, rows: dict[str, Array]) -> None:
        """Append whole intervals: rows of all ports, in the order (time, node, port)."""
        ports = len(self._order)
        times = rows["time_ps"].reshape(-1, ports)[:, 0].astype(np.int64)

        def by_link(name: str, merge: Any) -> Array:
            values = rows[name].reshape(-1, ports)[:, self._order]
            return merge.reduceat(values.astype(np.int64), self._starts, axis=1)

        def whole(name: str, count: Any) -> Array:
            return count(rows[name].reshape(-1, ports).astype(np.int64), axis=1)[:, None]

        self._frames.add(
            times,
            {
                "queue": by_link("queue_bytes", np.maximum),
                "held": by_link("held_bytes", np.maximum),
                "sent": by_link("tx_bytes", np.add),
                "paused": by_link("paused_ps", np.add),
                "total": whole("queue_bytes", np.sum),
                "held_total": whole("held_bytes", np.sum),
                "held_ports": whole("held_bytes", np.count_nonzero),
                "span": np.full((len(times), 1), self._interval_ps, dtype=np.int64),
            },
        )

    def payload(self) -> dict[str, Any]:
        """Return the drawing and its frames.

        Each state is a byte a link and frame. Bytes in queues are on a square-root scale up to
        `most_bytes`; the share of the capacity used and the share of the time paused are linear.
        """
        times, columns = self._frames.read()
        drawing = {
            "nodes": [
                [n.name, n.tier, round(n.x, 5), n.hosts, n.mark] for n in self._drawing.nodes
            ],
            "links": self._drawing.links,
        }
        if not len(times):
            return {**drawing, "ms": []}
        most = int(columns["queue"].max()) or 1
        gbps = np.array([link[2] for link in self._drawing.links])
        # Gb/s times picoseconds are milli-bits.
        used = columns["sent"] * 8e3 / (columns["span"] * gbps)
        paused = columns["paused"] / (columns["span"] * self._ports_of_link)
        return {
            **drawing,
            "ms": [round(float(time) * 1e-9, 6) for time in times],
            "frame_ms": round(self._frames.stride * self._interval_ps * 1e-9, 6),
            "most_bytes": most,
            "total_bytes": columns["total"][:, 0].tolist(),
            "held_bytes": columns["held_total"][:, 0].tolist(),
            "held_ports": columns["held_ports"][:, 0].tolist(),
            "queue": _encoded(np.sqrt(columns["queue"] / most)),
            "held": _encoded(np.sqrt(columns["held"] / most)),
            "used": _encoded(used),
            "paused": _encoded(paused),
        }


def _encoded(shares: Array) -> str:
    """Encode values from 0 to 1 as one byte each, in base 64."""
    as_bytes = np.clip(np.rint(shares * 255), 0, 255).astype(np.uint8)
    return base64.b64encode(as_bytes.tobytes()).decode("ascii")
