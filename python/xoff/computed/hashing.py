"""Collisions of flows that are hashed to queues (BFC, §3.2)."""

from __future__ import annotations

import numpy as np

from xoff.computed.found import Found, uniform
from xoff.errors import UsageError


def collisions(
    flows: int = 32, queues_per_flow: float = 100.0, trials: int = 20_000, seed: int = 1
) -> Found:
    """Hash flows to queues many times.

    `collided` is the share of flows that share their queue, `any` the share of trials with a
    collision. Raises `UsageError`.
    """
    queues = round(flows * queues_per_flow)
    if flows < 2 or queues < 1 or trials < 1:
        raise UsageError("requires flows >= 2, trials >= 1 and flows * queues_per_flow >= 1")
    taken = np.sort(np.floor(uniform(seed).random((trials, flows)) * queues), axis=1)
    same = taken[:, 1:] == taken[:, :-1]
    shared = np.zeros_like(taken, dtype=bool)
    shared[:, 1:] |= same
    shared[:, :-1] |= same
    return Found({"collided": float(shared.mean()), "any": float(same.any(axis=1).mean())})
