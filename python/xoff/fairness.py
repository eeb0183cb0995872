"""Proportional-fairness score: the mean of log2 of the flows' rates.

Flowtune §5.3.3 (K): a proportionally fair network maximises the sum of log2(rate) over its flows,
so of two networks with the same flows the one with the higher score is fairer. A flow's rate is
its size divided by its completion time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xoff.result import Result
from xoff.tables import of_class

Array = Any


def _log_rates(result: Result, cls: str | None) -> tuple[Array, Array]:
    """Return the ids of finished flows, ascending, and log2 of their rates in bit/s."""
    table = result.flows
    columns = {key: table[key].to_numpy() for key in ("flow", "size_bytes", "fct_ps")}
    own = np.ones(len(columns["flow"]), dtype=bool)
    if cls is not None:
        own = of_class(table, cls)
    order = np.argsort(columns["flow"][own])
    rates = columns["size_bytes"][own] * 8e12 / columns["fct_ps"][own]
    return columns["flow"][own][order], np.log2(rates)[order]


def score(result: Result, cls: str | None = None) -> float | None:
    """Return the mean over finished flows of log2 of their rates in bit/s; None without any."""
    _, logs = _log_rates(result, cls)
    return float(logs.mean()) if len(logs) else None


def difference(one: Result, other: Result, cls: str | None = None) -> float | None:
    """Return the mean of log2(rate in `one`) - log2(rate in `other`) over flows finished in both.

    Flows are matched by id, which is the same under every scheme. None without any.
    """
    (flows, logs), (other_flows, other_logs) = _log_rates(one, cls), _log_rates(other, cls)
    _, here, there = np.intersect1d(flows, other_flows, assume_unique=True, return_indices=True)
    return float((logs[here] - other_logs[there]).mean()) if len(here) else None
