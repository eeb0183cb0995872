"""Evenness of the load that switches send over links of one kind, from samples of all ports."""

from __future__ import annotations

import numpy as np

from xoff.result import Result


def read(result: Result, link: str) -> float | None:
    """Return the coefficient of variation of the bytes a switch sends over links of one kind.

    It is taken over the switch's ports on links such as `leaf-spine` in an interval of
    `run.port_samples`, then averaged over switches and intervals. Intervals in which a switch
    sends nothing there are left out. None without such links.
    """
    ports = result.ports.select(["node", "link"]).to_pylist()
    nodes = sorted({row["node"] for row in ports if row["link"] == link})
    if not nodes:
        return None
    samples = result.port_samples
    times = len(np.unique(samples["time_ps"].to_numpy()))
    # Rows are in the order (time, node, port); the table of ports has the same order of ports.
    sent = samples["tx_bytes"].to_numpy().reshape(times, len(ports)).astype(float)
    spreads = []
    for node in nodes:
        own = [i for i, row in enumerate(ports) if row["node"] == node and row["link"] == link]
        means = sent[:, own].mean(axis=1)
        busy = means > 0
        spreads.append(sent[busy][:, own].std(axis=1) / means[busy])
    found = np.concatenate(spreads)
    return float(found.mean()) if len(found) else None
