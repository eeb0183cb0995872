"""Random worlds: a preset on a small random fabric, with several kinds of traffic and faults.

A world is a scenario as sections of settings. It runs in a fraction of a second: its duration
follows from the rates and delays of its links.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xoff.torture.contents import CONTENTS
from xoff.torture.scales import Fabric, Times
from xoff.torture.settings import (
    DELAYS_PS,
    RATES_BPS,
    Value,
    between,
    duration,
    kind_of,
    quantity,
    rate,
    size,
)

PAYLOADS = (64, 200, 512, 1000, 1460, 1500, 4096, 8192, 9000)
TABLES = (
    *("google", "hadoop", "hadoop-hpcc", "websearch"),
    *("alistorage", "fb-web", "fb-cache", "fb-hadoop"),
)
# Packets that all hosts of a world can send together: some 100,000 packet-hops.
PACKETS = 20_000
# Grid steps in the measured time, and at most in the drain.
STEPS = 40
MOST_STEPS = 2000

Section = dict[str, Value]


@dataclass
class World:
    """A scenario: top-level settings, sections, traffic sources, faults, and files they name."""

    top: Section = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    traffic: list[Section] = field(default_factory=list)
    faults: list[Section] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def copy(self) -> World:
        """Return a deep copy."""
        return copy.deepcopy(self)

    def set(self, section: str, key: str, value: Value) -> None:
        """Set one setting."""
        self.sections.setdefault(section, {})[key] = value

    def renamed(self, stem: str) -> World:
        """Return the same world with file names that start with `stem`."""
        world = self.copy()
        world.files = {f"{stem}-{name}": content for name, content in self.files.items()}
        for section in (*world.traffic, *world.sections.values()):
            if "file" in section:
                section["file"] = f"{stem}-{section['file']}"
        return world

    def text(self) -> str:
        """Return the scenario as TOML."""
        parts = [_lines(self.top)]
        parts += [f"[{name}]\n{_lines(one)}" for name, one in self.sections.items() if one]
        parts += [f"[[traffic]]\n{_lines(one)}" for one in self.traffic]
        parts += [f"[[fault]]\n{_lines(one)}" for one in self.faults]
        return "".join(parts)


def _lines(section: Section) -> str:
    # JSON and TOML share the syntax of strings, numbers and booleans.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in section.items())


def base(rng: random.Random, presets: list[str], schema: Mapping[str, Any]) -> World:
    """Draw a preset, a topology and its size, with placeholder traffic."""
    properties = schema["properties"]
    world = World(
        {"name": "world", "scheme": rng.choice(presets), "seed": rng.randrange(1, 10_000)}
    )
    topologies = properties["network"]["properties"]["topology"]["enum"]
    topology = rng.choices(topologies, [_WEIGHTS.get(name, 2) for name in topologies])[0]
    world.set("network", "topology", topology)
    section, sizes = section_of(topology), _SIZES.get(topology)
    declared = properties[section]["properties"]
    if topology == "graph":
        world.sections[section] = {"file": "network.txt"}
        world.files["network.txt"] = _edges(rng).encode()
    else:
        world.sections[section] = sizes(rng) if sizes else _small(rng, declared)
    world.traffic = [{"kind": "permutation", "bytes": "10KB"}]
    if world.sections[section].get("spines") == 0:
        # Rails without spines join the hosts of a server and of a rail only.
        in_steps: Section = {"operation": "all-to-all", "algorithm": "hierarchical"}
        world.traffic = [{"kind": "collective", **in_steps, "bytes": "10KB"}]
    return world


def section_of(topology: str) -> str:
    """Return the name of a topology's section."""
    return topology.replace("-", "_")


def _small(rng: random.Random, declared: Mapping[str, Any]) -> Section:
    return {key: rng.randrange(2, 5) for key in declared if kind_of(declared[key]) == "whole"}


def _leaf_spine(rng: random.Random) -> Section:
    leaves = rng.randrange(1, 6)
    return {
        "leaves": leaves,
        "spines": rng.randrange(1, 5),
        "hosts_per_leaf": rng.randrange(1 if leaves > 1 else 2, 9),
        "links": rng.choice((1, 1, 2)),
    }


def _dumbbell(rng: random.Random) -> Section:
    return {
        "left_hosts": rng.randrange(1, 9),
        "right_hosts": rng.randrange(1, 9),
        "side_hosts": rng.choice((0, rng.randrange(1, 5))),
    }


def _two_dc(rng: random.Random) -> Section:
    return {
        "leaves": rng.randrange(1, 4),
        "spines": rng.randrange(2, 5),
        "hosts_per_leaf": rng.randrange(1, 5),
    }


def _dragonfly(rng: random.Random) -> Section:
    routers, links = rng.randrange(1, 5), rng.randrange(1, 4)
    return {
        "groups": rng.randrange(2, min(routers * links + 1, 6) + 1),
        "routers_per_group": routers,
        "hosts_per_router": rng.randrange(1, 4),
        "global_links_per_router": links,
    }


def _rail(rng: random.Random) -> Section:
    pods = rng.randrange(1, 3)
    spines = rng.randrange(pods - 1, 4)
    return {
        "pods": pods,
        "servers_per_pod": rng.randrange(1, 4),
        "gpus_per_server": rng.randrange(2, 5),
        "spines": spines,
        **({"links_per_spine": rng.choice((1, 1, 2))} if spines else {}),
    }


def _edges(rng: random.Random) -> str:
    """Draw a list of edges: a tree of switches with some more links, and hosts with one or two."""
    switches = rng.randrange(1, 8)
    pairs = [(f"s{rng.randrange(own)}", f"s{own}") for own in range(1, switches)]
    for _ in range(rng.randrange(4) if switches > 1 else 0):
        ends = rng.sample(range(switches), 2)
        pairs.append((f"s{ends[0]}", f"s{ends[1]}"))
    # A switch with a single link would be taken for a host.
    hosts = [f"s{number % switches}" for number in range(2 * switches + rng.randrange(8))]
    lines = [f"h{number} {switch}" for number, switch in enumerate(hosts)]
    for one, other in pairs:
        cost = rng.choice(("", "", f" cost={rng.randrange(1, 4)}"))
        speed = rng.choice(("", "", f" {rate(rng.choice(RATES_BPS))}"))
        lines.append(f"{one} {other}{speed}{cost}")
    return "\n".join(lines) + "\n"


# Topologies whose sizes are not drawn alike.
_SIZES: dict[str, Callable[[random.Random], Section]] = {
    "leaf-spine": _leaf_spine,
    "fat-tree": lambda rng: {"k": 4, "hosts_per_edge": rng.randrange(1, 4)},
    "star": lambda rng: {"hosts": rng.randrange(2, 25)},
    "dumbbell": _dumbbell,
    "two-dc": _two_dc,
    "dragonfly": _dragonfly,
    "rail": _rail,
}
_WEIGHTS = {"leaf-spine": 5, "star": 1}


def links(rng: random.Random, topology: Iterable[str]) -> Section:
    """Draw link rates and delays for a topology, given the names of its settings."""
    drawn: Section = {}
    common_rate = rng.choice(RATES_BPS)
    common_delay = between(rng, *DELAYS_PS)
    for key in topology:
        if key.endswith("rate"):
            drawn[key] = rate(min(common_rate * rng.choice((1, 1, 1, 0.5, 2, 4)), 800e9))
        if key.endswith("delay"):
            drawn[key] = duration(min(common_delay * rng.choice((1, 1, 1, 0.1, 3)), DELAYS_PS[1]))
    return drawn


def fabric(topology: str, section: Section, hosts: int) -> Fabric:
    """Derive rates and the longest RTT from a topology's settings."""
    number = {key: int(value) for key, value in section.items() if isinstance(value, int)}
    if topology == "fat-tree":
        racks, spines = number["k"] ** 2 // 2, number["k"]
    elif "leaves" in number:
        centres = 2 if topology == "two-dc" else 1
        racks, spines = centres * number["leaves"], number["spines"]
    else:
        racks, spines = 1, 0
    rates = {key: quantity("rate", str(section[key])) for key in section if key.endswith("rate")}
    delays = [quantity("duration", str(section[key])) for key in section if key.endswith("delay")]
    keys = ("host_rate", "nic_rate", "rate")
    host_rate = next(rates[key] for key in keys if key in rates)
    return Fabric(hosts, racks, spines, host_rate, 4 * sum(delays))


def times(fabric: Fabric, payload: float) -> Times:
    """Choose times in which hosts send some 20,000 packets, and a few RTTs to finish."""
    packet_ps = max(payload, 200) * 8e12 / fabric.host_rate
    shortest = packet_ps * max(PACKETS / fabric.hosts, 50)
    drain = max(2 * shortest, 10 * fabric.round_trip_ps)
    # A drain of many RTTs has longer grid steps instead of more.
    grid = max(1e3, round(max(shortest / STEPS, drain / MOST_STEPS) / 1e3) * 1e3)
    measure = grid * max(1, round(shortest / grid))
    warmup = grid * max(1, round(measure / grid / 10))
    return Times(warmup, measure, drain, grid)


def run_section(at: Times, fabric: Fabric) -> Section:
    """Return the section `run` with the times of a run."""
    return {
        "warmup": duration(at.warmup),
        "measure": duration(at.measure),
        "drain": duration(at.drain),
        "grid": duration(at.grid),
        # A few RTTs without progress do not mean that a run is stuck.
        "watchdog": duration(max(5e10, 20 * fabric.round_trip_ps, 20 * at.grid)),
    }


def outputs(rng: random.Random, at: Times) -> Section:
    """Draw additional outputs of a run."""
    section: Section = {}
    if rng.random() < 0.3:
        section["flows"] = rng.choice(("all", "sample", "none"))
    for key in ("monitor", "capture"):
        if rng.random() < 0.15:
            section[key] = "0"
    for key in ("flow_series", "port_samples"):
        if rng.random() < 0.15:
            section[key] = duration(at.grid * rng.randrange(1, 5))
    if rng.random() < 0.1:
        section["link_delays"] = True
    return section


def traffic_kinds(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of each kind of traffic."""
    entries = schema["properties"]["traffic"]["items"]["anyOf"]
    settings = [entry["properties"] for entry in entries]
    return {kind: entry for entry in settings for kind in entry["kind"]["enum"]}


def add_source(
    rng: random.Random, world: World, kinds: Iterable[str], fabric: Fabric, at: Times
) -> None:
    """Add a traffic source.

    A kind known here sends no more than hosts can send in the measured time; other kinds have their
    defaults.
    """
    number = len(world.traffic)
    kind = rng.choice(tuple(kinds))
    source = _SOURCES.get(kind, _defaults)
    drawn = {"kind": kind, **source(rng, fabric, at)}
    if kind in CONTENTS:
        ending, content = CONTENTS[kind]
        drawn["file"] = f"flows-{number}{ending}"
        found = content(rng, fabric, at)
        world.files |= {f"flows-{number}{end}": data for end, data in found.items()}
    elif "start" not in drawn and rng.random() < 0.3:
        drawn["start"] = duration(at.warmup)
    drawn["class"] = f"c{number}"
    # Web requests take a list of priorities instead.
    if kind != "queries" and rng.random() < 0.2:
        drawn["priority"] = rng.randrange(0, 8)
    world.traffic.append(drawn)


def _flow_bytes(rng: random.Random, fabric: Fabric, at: Times) -> str:
    most = fabric.host_rate / 8e12 * at.measure
    return size(between(rng, 1, max(most, 2)))


def _open_loop(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    return {
        "sizes": rng.choice(TABLES),
        "load": round(rng.uniform(0.02, 0.95), 3),
        "load_on": rng.choice(("core", "hosts")) if fabric.spines else "hosts",
        "arrivals": rng.choice(("poisson", "poisson", "lognormal")),
        "stop": duration(at.end),
    }


def _incast(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    degree = rng.randrange(1, max(2, fabric.hosts))
    most = fabric.host_rate / 8e12 * at.measure
    drawn: Section = {
        "degree": degree,
        "bytes": size(max(degree, between(rng, most / 100, most))),
        "period": duration(at.measure / rng.randrange(1, 7)),
        "stop": duration(at.end),
    }
    if rng.random() < 0.3:
        drawn["spread"] = duration(at.measure / 20)
    return drawn


def _long(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    src, dst = rng.sample(range(fabric.hosts), 2) if fabric.hosts > 1 else (0, 0)
    count = rng.choice((1, 1, 2, 4))
    return {
        "src": src,
        "dst": dst,
        "count": count,
        "bytes": _flow_bytes(rng, fabric, at),
    }


def _permutation(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    return {"bytes": _flow_bytes(rng, fabric, at)}


def _staggered(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    senders = rng.randrange(1, max(2, min(fabric.hosts, 6)))
    return {
        "senders": f"1-{senders}" if senders > 1 else "1",
        "receiver": 0,
        "interval": duration(at.measure / (2 * senders)),
        "stop_order": rng.choice(("first", "last")),
    }


def _elephants(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    half = max(1, fabric.hosts // 2)
    return {
        "count": rng.randrange(1, 6),
        "senders": f"0-{half - 1}" if half > 1 else "0",
        "receivers": f"{half}-{fabric.hosts - 1}" if fabric.hosts - half > 1 else f"{half}",
        "start": duration(at.warmup),
    }


def _queries(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    return {
        "workflow": rng.choice(("single", "sequential", "parallel")),
        "queries": rng.choice(("1", "2", "1,4")),
        "sizes": rng.choice(("2KB,8KB,32KB", "1KB")),
        "rate": float(f"{1e12 / at.measure * rng.randrange(1, 9):.4g}"),
        "stop": duration(at.end),
    }


def _successive(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    return {
        "bytes": _flow_bytes(rng, fabric, at),
        "flows": rng.randrange(1, 4),
        "stop": duration(at.end),
    }


# The algorithms of each collective operation.
_ALGORITHMS = {
    "all-reduce": ("ring", "both-ways", "halving-doubling", "tree", "double-tree", "hierarchical"),
    "reduce-scatter": ("ring", "both-ways", "halving-doubling"),
    "all-gather": ("ring", "both-ways", "halving-doubling"),
    "all-to-all": ("direct", "pairwise", "hierarchical"),
    "broadcast": ("ring", "tree"),
    "barrier": ("dissemination",),
}


def _collective(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    operation = rng.choice(tuple(_ALGORITHMS))
    algorithm = rng.choice(_ALGORITHMS[operation])
    # A power of two fits every algorithm.
    ranks = 2 ** rng.randrange(1, max(2, min(5, fabric.hosts.bit_length())))
    drawn: Section = {
        "operation": operation,
        "algorithm": algorithm,
        "hosts": f"0-{ranks - 1}",
        "placement": rng.choice(("packed", "random", "spread", "listed", "rail")),
        "rounds": rng.randrange(1, 4),
        "start": duration(rng.uniform(0, at.end)),
    }
    if algorithm == "hierarchical":
        # The servers of a fabric with rails, or pairs.
        drawn["hosts"], drawn["ranks_per_server"] = rng.choice((("all", 0), (f"0-{ranks - 1}", 2)))
    if operation != "barrier":
        drawn["lanes"] = rng.randrange(2, 4)
        drawn["bytes"] = f"{64 + round(fabric.host_rate / 8e12 * at.measure * rng.random())}B"
    if operation == "all-to-all" and rng.random() < 0.5:
        drawn["skew"] = round(rng.uniform(0.1, 3), 3)
        drawn["redraw"] = rng.random() < 0.5
    if rng.random() < 0.5:
        drawn["jitter"] = duration(rng.uniform(0, at.measure / 10))
        drawn["stragglers"] = str(rng.randrange(ranks))
        drawn["straggle"] = duration(rng.uniform(0, at.measure / 10))
    return drawn


def _pipeline(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    return {
        "schedule": rng.choice(("gpipe", "1f1b")),
        "micro_batches": rng.randrange(1, 6),
        "hosts": ",".join(map(str, rng.sample(range(fabric.hosts), min(fabric.hosts, 5)))),
        "placement": rng.choice(("packed", "listed", "spread", "rail")),
        "forward": duration(rng.uniform(0, at.measure / 20)),
        "backward": duration(rng.uniform(0, at.measure / 20)),
        "bytes": f"{64 + round(fabric.host_rate / 8e12 * at.measure / 5 * rng.random())}B",
        "rounds": rng.randrange(1, 3),
        "start": duration(rng.uniform(0, at.end)),
    }


def _defaults(rng: random.Random, fabric: Fabric, at: Times) -> Section:
    del rng, fabric, at
    return {}


_SOURCES: dict[str, Callable[[random.Random, Fabric, Times], Section]] = {
    "open-loop": _open_loop,
    "incast": _incast,
    "long": _long,
    "permutation": _permutation,
    "staggered": _staggered,
    "elephants": _elephants,
    "queries": _queries,
    "successive": _successive,
    "collective": _collective,
    "pipeline": _pipeline,
}


def _link(rng: random.Random, topology: str, fabric: Fabric) -> str:
    leaf = rng.randrange(fabric.racks)
    # First spine linked to this leaf, and number of such spines.
    first, count = 0, fabric.spines
    if topology == "fat-tree":
        first, count = leaf // 2 * 2, 2
    elif topology == "two-dc":
        first = leaf // (fabric.racks // 2) * fabric.spines
    if count == 0 or rng.random() < 0.2:
        # All links of a torus's rows are alike.
        return "leaf:0,leaf:1" if topology in ("dumbbell", "torus") else "0,leaf:0"
    return f"leaf:{leaf},spine:{first + rng.randrange(count)}"


def watchdog(rng: random.Random, fabric: Fabric) -> Section:
    """Draw a watchdog of PFC, which releases queues after some round trips."""
    times = ("watchdog_detection", "watchdog_restoration")
    drawn: Section = {
        key: duration(fabric.round_trip_ps * rng.choice((0.5, 2, 10))) for key in times
    }
    return {"watchdog": rng.choice(("drop", "forward")), **drawn}


def shares(rng: random.Random, pauses: bool) -> Section:
    """Draw shares of some traffic classes in the memory of switches, with PFC or without."""
    drawn = []
    for number in sorted(rng.sample(range(8), rng.randrange(1, 9))):
        lossy = not pauses or rng.random() < 0.5
        words = {
            "alpha": str(rng.choice((0.01, 0.125, 0.5, 1, 8, 64))),
            "reserve": size(rng.choice((0, 1000, 20_000))),
            **({} if lossy else {"headroom": size(rng.choice((0, 5000, 100_000)))}),
            **({} if lossy else {"resume_offset": size(rng.choice((0, 3000)))}),
        }
        kept = rng.sample(list(words), rng.randrange(1, len(words) + 1))
        parts = ["lossy"] * (pauses and lossy) + [f"{word} {words[word]}" for word in kept]
        drawn.append(f"{number}: {' '.join(parts)}")
    return {"by_class": ", ".join(drawn)}


# Losses and dead hosts have more kinds of consequences than other faults.
FAULTS = (
    *("link-down", "switch-down", "flap"),
    *("loss", "loss", "bit-errors", "degrade", "host-down", "host-down"),
)


def fault(rng: random.Random, topology: str, fabric: Fabric, at: Times) -> Section:
    """Draw a link, a switch or a host that fails, or a link that loses packets or is slow."""
    link = _link(rng, topology, fabric)
    begin = rng.uniform(0, at.end)
    drawn: Section = {
        "at": duration(begin),
        "until": duration(begin + at.measure * rng.uniform(0.05, 0.5)),
    }
    kind = rng.choice(FAULTS)
    if kind == "host-down":
        drawn["host"] = str(rng.randrange(fabric.hosts))
        if rng.random() < 0.5:
            del drawn["until"]
        return {"kind": kind, **drawn}
    if kind == "degrade":
        drawn["link"] = link
        drawn["direction"] = rng.choice(("both", "both", "there", "back"))
        drawn["rate"] = rate(fabric.host_rate * rng.choice((0.9, 0.5, 0.25, 0.1)))
        return {"kind": kind, **drawn}
    if kind in ("loss", "bit-errors"):
        drawn["link"] = link
        drawn["direction"] = rng.choice(("both", "both", "there", "back"))
        drawn["keep_pauses"] = rng.random() < 0.5
        key, ratio = ("share", 0.5) if kind == "loss" else ("ratio", 1e-5)
        drawn[key] = between(rng, ratio / 5000, ratio)
        return {"kind": kind, **drawn}
    drawn["detection"] = duration(at.measure * rng.uniform(0.01, 0.3))
    drawn["local_repair"] = rng.random() < 0.3
    if kind == "switch-down":
        in_core = fabric.spines and rng.random() < 0.7
        drawn["switch"] = f"spine:{rng.randrange(fabric.spines)}" if in_core else "leaf:0"
    else:
        drawn["link"] = link
    if kind == "flap":
        period = at.measure * rng.uniform(0.05, 0.5)
        drawn["period"] = duration(period)
        drawn["down"] = duration(period * rng.uniform(0.1, 0.9))
    return {"kind": kind, **drawn}
