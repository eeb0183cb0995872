"""Where the boxes of a picture are, in inches."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xoff.picture.groups import Drawn

LAYERS = ("host", "leaf", "spine", "core", "gateway", "attached")
"""Layers from the lowest to the top; a picture leaves out layers without nodes."""

_ROW, _SWITCH, _HOST, _GAP = 1.4, 0.62, 0.2, 0.25
"""Least height of a layer, least width of a switch, width of a host, and space between racks."""


_BEND, _LANE = 0.18, 0.12
"""How far the control point of a bent line, and of a second line between two boxes, is from
the line, in lengths of the line."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Places:
    """The middle of each box, in their order, and how lines are bent.

    `rows` are labels of layers with their heights. Lines between pairs in `bent` are bent aside,
    those between switches towards the origin by the share `pull`.
    """

    at: Sequence[Point]
    rows: Sequence[tuple[str, float]] = ()
    bent: Container[tuple[int, int]] = ()
    pull: float = 0.0

    def control(self, one: int, other: int, lane: int, *, of_switches: bool) -> Point:
        """Return the control point of a quadratic Bezier curve between two boxes.

        `lane` numbers the lines between the two.
        """
        (x0, y0), (x1, y1) = self.at[one], self.at[other]
        bend = (_BEND if (one, other) in self.bent else 0.0) + _LANE * lane
        middle = (x0 + x1) / 2 + bend * (y1 - y0), (y0 + y1) / 2 - bend * (x1 - x0)
        keep = 1.0 - self.pull if of_switches else 1.0
        return middle[0] * keep, middle[1] * keep


def needs_circle(network: Mapping[str, Any]) -> bool:
    """Whether links join switches of a layer that are not neighbours, so that rows hide them."""
    numbers: dict[int, int] = {}
    counts: dict[str, int] = defaultdict(int)
    nodes = network["nodes"]
    for at, node in enumerate(nodes):
        numbers[at] = counts[node["layer"]]
        counts[node["layer"]] += 1
    return any(
        nodes[one]["layer"] == nodes[other]["layer"] and abs(numbers[one] - numbers[other]) > 1
        for one, other in (link["ends"] for link in network["links"])
    )


def layers(drawn: Drawn) -> Places:
    """Place hosts below their switch, racks side by side, and the layers above spread out.

    Hosts whose server has a switch of its own are above it.
    """
    servers = drawn.servers()
    racks = _racks(drawn, servers)
    rows = ["server" if at in servers else box.layer for at, box in enumerate(drawn.boxes)]
    present = [layer for layer in ("server", *LAYERS) if layer in rows]
    bottom = "server" if servers else "leaf"
    x, left = {}, 0.0
    for at, row in enumerate(rows):
        if row != bottom and at not in racks:
            continue
        hosts = racks[at]
        step = max(
            (_HOST if drawn.boxes[host].count == 1 else _SWITCH for host in hosts), default=0
        )
        width = max(_SWITCH, step * len(hosts))
        x[at] = left + width / 2
        for number, host in enumerate(hosts):
            x[host] = left + width / 2 + step * (number - (len(hosts) - 1) / 2)
        left += width + _GAP
    # Wide networks have higher rows: their lines would be too flat to tell apart.
    row_height = max(_ROW, 0.09 * left)
    height = {layer: row_height * at for at, layer in enumerate(present)}
    for layer in present:
        rest = [at for at, row in enumerate(rows) if row == layer and at not in x]
        total = max(left - _GAP, _SWITCH * len(rest))
        x |= {at: total * (number + 0.5) / len(rest) for number, at in enumerate(rest)}
    places = [(x[at], height[row]) for at, row in enumerate(rows)]
    return Places(places, [(layer, height[layer]) for layer in present])


def _racks(drawn: Drawn, servers: Container[int] = ()) -> dict[int, list[int]]:
    """Return the boxes of hosts of each switch; those of an allocator have no rack."""
    racks: dict[int, list[int]] = defaultdict(list)
    for host, switches in sorted(drawn.switches_of_hosts().items()):
        switch = next((at for at in switches if at in servers), switches[0])
        if drawn.boxes[host].layer == "host":
            racks[switch].append(host)
    return racks


def circle(drawn: Drawn) -> Places:
    """Place the switches on a circle in their order, and their hosts around them."""
    switches = [at for at, box in enumerate(drawn.boxes) if not box.is_host]
    racks = _racks(drawn)
    slots = {at: max(1, len(racks[at])) for at in switches}
    radius = max(1.2, _SWITCH * sum(slots.values()) / (2 * math.pi))
    found, turned = {}, 0
    for at in switches:
        found[at] = _on_circle(radius, turned + slots[at] / 2, sum(slots.values()))
        for number, host in enumerate(racks[at]):
            turn = turned + (number + 0.5) * slots[at] / len(racks[at])
            found[host] = _on_circle(radius + 0.6, turn, sum(slots.values()))
        turned += slots[at]
    return Places([found.get(at, (0.0, 0.0)) for at in range(len(drawn.boxes))], pull=0.35)


def _on_circle(radius: float, turn: float, turns: float) -> Point:
    angle = math.pi / 2 - 2 * math.pi * turn / turns
    return radius * math.cos(angle), radius * math.sin(angle)


def grid(drawn: Drawn, sides: Sequence[int]) -> Places:
    """Place switches in rows and columns, and planes behind each other; hosts at their switch.

    Links between the two ends of a row, a column or the planes are bent.
    """
    rows, columns, planes = sides
    step = 1.3 * max(1.0, 0.75 * planes)
    switches = [at for at, box in enumerate(drawn.boxes) if not box.is_host]
    cell = {
        at: (number // columns % rows, number % columns, number // (rows * columns))
        for number, at in enumerate(switches)
    }
    found = {}
    for at, (row, column, plane) in cell.items():
        found[at] = (step * column + 0.95 * plane, -step * row + 0.75 * plane)
    for switch, hosts in _racks(drawn).items():
        x, y = found[switch]
        found |= dict.fromkeys(hosts, (x + 0.32, y - 0.32))
    pairs = [line.ends for line in drawn.lines if all(end in cell for end in line.ends)]
    wraps = {
        (one, other)
        for one, other in pairs
        if any(abs(a - b) > 1 for a, b in zip(cell[one], cell[other], strict=True))
    }
    outside = (-step, step)
    return Places([found.get(at, outside) for at in range(len(drawn.boxes))], bent=wraps)


def extent(places: Iterable[Point]) -> tuple[float, float, float, float]:
    """Return the least and the greatest x and y."""
    xs, ys = zip(*places, strict=True)
    return min(xs), max(xs), min(ys), max(ys)
