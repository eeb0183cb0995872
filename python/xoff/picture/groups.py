"""What a picture shows of a network: boxes for nodes or hosts with the same links, and lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HOSTS = ("host", "attached")
"""Layers of hosts; `attached` is the host of an allocator."""


@dataclass(frozen=True)
class Box:
    """A switch, a host, or several hosts with links to the same switches."""

    name: str
    layer: str
    count: int

    @property
    def is_host(self) -> bool:
        """Whether it stands for hosts."""
        return self.layer in HOSTS


@dataclass
class Line:
    """Links of one speed between two boxes, which are given by their places."""

    ends: tuple[int, int]
    speed: str
    rate_bps: int
    delay_ps: int
    links: int = 0
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Drawn:
    """Boxes and lines."""

    boxes: list[Box]
    lines: list[Line]

    def switches_of_hosts(self) -> dict[int, list[int]]:
        """Return the switches of each box of hosts, in the order of its links."""
        found: dict[int, list[int]] = defaultdict(list)
        for one, other in (line.ends for line in self.lines):
            for host, switch in ((one, other), (other, one)):
                if self.boxes[host].is_host and not self.boxes[switch].is_host:
                    found[host].append(switch)
        return found

    def servers(self) -> set[int]:
        """Return the switches within servers: linked to hosts only, which have other links too."""
        uplinks = {end for line in self.lines for end in line.ends if self.joins_switches(line)}
        several = [set(switches) for switches in self.switches_of_hosts().values()]
        inner = {at for switches in several if len(switches) > 1 for at in switches} - uplinks
        return inner if uplinks else set()

    def joins_switches(self, line: Line) -> bool:
        """Whether both ends of a line are switches."""
        return not any(self.boxes[end].is_host for end in line.ends)


def grouped(network: Mapping[str, Any], most_hosts: int) -> Drawn:
    """Return what to draw; with more than `most_hosts` hosts, join those with the same switches."""
    nodes, links = network["nodes"], network["links"]
    hosts = [at for at, node in enumerate(nodes) if node["layer"] in HOSTS]
    box_of = {at: at for at in range(len(nodes))}
    if len(hosts) > most_hosts:
        neighbours = defaultdict(set)
        for link in links:
            for end, other in (link["ends"], link["ends"][::-1]):
                neighbours[end].add(other)
        first: dict[Any, int] = {}
        for host in hosts:
            key = (nodes[host]["layer"], frozenset(neighbours[host]))
            box_of[host] = first.setdefault(key, host)
    members = Counter(box_of.values())
    shown = sorted(members)
    index = {node: at for at, node in enumerate(shown)}
    boxes = [Box(nodes[node]["name"], nodes[node]["layer"], members[node]) for node in shown]
    return Drawn(boxes, lines_between(links, {node: index[box] for node, box in box_of.items()}))


def lines_between(links: list[Mapping[str, Any]], box_of: Mapping[int, int]) -> list[Line]:
    """Join links of one speed between the same two boxes; `box_of` has the box of each node."""
    found: dict[Any, Line] = {}
    for link in links:
        one, other = sorted(box_of[end] for end in link["ends"])
        speed = link["rate_bps"], link["delay_ps"]
        line = found.setdefault((one, other, speed), Line((one, other), link["speed"], *speed))
        line.links += 1
        line.faults.update(link["faults"])
    return list(found.values())
