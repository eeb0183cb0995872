"""Contents of the files of random traffic.

A function returns the contents of each file of a source by its ending.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from xoff.torture import chakra
from xoff.torture.scales import Fabric, Times
from xoff.torture.settings import between


def _text(ending: str, lines: Iterable[str]) -> dict[str, bytes]:
    return {ending: ("\n".join(lines) + "\n").encode()}


def _most(fabric: Fabric, at: Times) -> int:
    """Return the most bytes of a message."""
    return max(2, round(fabric.host_rate / 8e12 * at.measure / 10))


def _ranks(rng: random.Random, fabric: Fabric) -> int:
    return rng.randrange(2, max(3, min(8, fabric.hosts + 1)))


def _flow_list(rng: random.Random, fabric: Fabric, at: Times) -> dict[str, bytes]:
    lines = ["src,dst,size_bytes,start_ps"]
    most = fabric.host_rate / 8e12 * at.measure / 10
    # Several flows start at the same instant.
    starts = sorted(round(at.end * rng.randrange(20) / 20) for _ in range(rng.randrange(1, 60)))
    for start in starts:
        src, dst = rng.sample(range(max(2, fabric.hosts)), 2)
        lines.append(f"{src},{dst},{round(between(rng, 1, max(most, 2)))},{start}")
    return _text(".csv", lines)


def _matrix(rng: random.Random, fabric: Fabric, at: Times) -> dict[str, bytes]:
    """Draw a connection matrix; triggers would need a single partition."""
    flows = []
    for line in _flow_list(rng, fabric, at)[".csv"].decode().splitlines()[1:]:
        src, dst, flow_bytes, start = line.split(",")
        flows.append(f"{src}->{dst} start {start} size {flow_bytes}")
    rng.shuffle(flows)
    head = [f"Nodes {max(2, fabric.hosts)}", f"Connections {len(flows)}"]
    return _text(".cm", [*head, *flows])


def _schedule(rng: random.Random, fabric: Fabric, at: Times) -> dict[str, bytes]:
    """Draw a GOAL schedule in which each rank receives after it has computed."""
    ranks = _ranks(rng, fabric)
    most = _most(fabric, at)
    ops: list[list[str]] = [[] for _ in range(ranks)]
    for number in range(rng.randrange(1, 30)):
        source, to = rng.sample(range(ranks), 2)
        ops[source] += [
            f"c{number}: calc {rng.randrange(1 + round(at.measure / 1e4))}",
            f"s{number}: send {rng.randrange(most)}b to {to} tag {number}",
            f"s{number} {rng.choice(('requires', 'irequires'))} c{number}",
        ]
        ops[to].append(f"r{number}: recv 1b from {source} tag {number}")
    lines = [f"num_ranks {ranks}"]
    for rank, own in enumerate(ops):
        lines += [f"rank {rank} {{", *own, "}"]
    return _text(".goal", lines)


def _trace(rng: random.Random, fabric: Fabric, at: Times) -> dict[str, bytes]:
    """Draw a Chakra trace whose ranks take part in all collective operations in one order."""
    ranks, most = _ranks(rng, fabric), _most(fabric, at)
    nodes: list[list[bytes]] = [[] for _ in range(ranks)]

    def add(rank: int, kind: int, *after: int, micros: int = 0, **about: int) -> int:
        nodes[rank].append(chakra.node(len(nodes[rank]), kind, "", after, micros, about))
        return len(nodes[rank]) - 1

    for tag in range(rng.randrange(1, 20)):
        source, to = rng.sample(range(ranks), 2)
        computed = add(source, chakra.COMP, micros=rng.randrange(1 + round(at.measure / 1e7)))
        size = rng.randrange(most)
        add(source, chakra.SEND, computed, comm_dst=to, comm_tag=tag, comm_size=size)
        got = add(to, chakra.RECV, comm_src=source, comm_tag=tag)
        if rng.random() < 0.3:
            kind, size = rng.choice(chakra.COLLECTIVES), rng.randrange(most)
            for rank in range(ranks):
                after = [got] if rank == to else []
                add(rank, chakra.COLLECTIVE, *after, comm_type=kind, comm_size=size)
    return {f".{rank}.et": chakra.file(own) for rank, own in enumerate(nodes)}


def _dependent(rng: random.Random, fabric: Fabric, at: Times) -> dict[str, bytes]:
    """Draw flows that wait for some of the earlier flows that their sender sees."""
    lines = ["id,src,dst,size_bytes,after,delay_ps"]
    most = _most(fabric, at)
    ends: list[list[int]] = []
    for number in range(rng.randrange(1, 40)):
        src, dst = rng.sample(range(max(2, fabric.hosts)), 2)
        seen = [str(one) for one, hosts in enumerate(ends) if src in hosts]
        after = " ".join(one for one in seen if rng.random() < 0.5)
        delay = rng.choice((0, rng.randrange(1 + round(at.measure / 10))))
        lines.append(f"{number},{src},{dst},{rng.randrange(1, most)},{after},{delay}")
        ends.append([src, dst])
    return _text(".csv", lines)


Content = Callable[[random.Random, Fabric, Times], dict[str, bytes]]
CONTENTS: dict[str, tuple[str, Content]] = {
    "list": (".csv", _flow_list),
    "connections": (".cm", _matrix),
    "goal": (".goal", _schedule),
    # A prefix: the files of the ranks have endings.
    "chakra": ("", _trace),
    "dependent": (".csv", _dependent),
}
"""For each kind of traffic with files, the ending of its setting `file`, and the contents."""
