"""Loses and reorders control messages between agents and allocator.

This file is run by itself on the allocator's host, so it imports nothing of xoff:

    relay.py ADDRESS LOSS REORDERED SEED AGENT_ADDRESS:AGENT_PORT:OUTER:INNER:ALLOCATOR_PORT ...

For each agent it has two sockets: to the agent, OUTER is the allocator; to the allocator, INNER is
the agent. A share LOSS of datagrams is dropped, and a share REORDERED comes 1 ms to 5 ms later.
"""

from __future__ import annotations

import heapq
import random
import selectors
import socket
import sys
import time

Place = tuple[str, int]


def relay(address: str, loss: float, reordered: float, seed: int, routes: list[str]) -> None:
    """Forward datagrams without end."""
    chance = random.Random(seed)
    waiting = selectors.DefaultSelector()
    for route in routes:
        agent, agent_port, outer, inner, allocator_port = route.split(":")
        sides = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(2)]
        ends = (agent, int(agent_port)), (address, int(allocator_port))
        for side, port in zip(sides, (outer, inner), strict=True):
            side.bind((address, int(port)))
            side.setblocking(False)
        waiting.register(sides[0], selectors.EVENT_READ, (sides[1], ends[1]))
        waiting.register(sides[1], selectors.EVENT_READ, (sides[0], ends[0]))
    sys.stdout.write("relaying\n")
    sys.stdout.flush()
    late: list[tuple[float, int, bytes, socket.socket, Place]] = []
    number = 0
    while True:
        timeout = max(0.0, late[0][0] - time.monotonic()) if late else None
        for key, _ in waiting.select(timeout):
            data = key.fileobj.recv(65536)  # type: ignore[union-attr]
            side, to = key.data
            number += 1
            if chance.random() < loss:
                continue
            if chance.random() < reordered:
                at = time.monotonic() + chance.uniform(0.001, 0.005)
                heapq.heappush(late, (at, number, data, side, to))
            else:
                side.sendto(data, to)
        while late and late[0][0] <= time.monotonic():
            _, _, data, side, to = heapq.heappop(late)
            side.sendto(data, to)


if __name__ == "__main__":
    relay(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
