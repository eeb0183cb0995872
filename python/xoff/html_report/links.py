"""Utilisation and pauses of ports, from the rows of `ports`."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

BUSIEST = 10
"""Ports in the table of the busiest ones."""
LEVELS = 200
"""Points of a curve over ports, at most."""


def links(ports: dict[str, Array], names: dict[int, str], measured_ps: int) -> dict[str, Any]:
    """Return what the ports did: by kind of link, and the busiest ones. `names` are of nodes."""
    if measured_ps <= 0 or not len(ports["node"]):
        return {"kinds": [], "busiest": []}
    capacity = ports["rate_bps"].astype(float) * (measured_ps * 1e-12) / 8
    used = np.divide(ports["tx_bytes"], capacity, out=np.zeros(len(capacity)), where=capacity > 0)
    paused = ports["paused_ps"] / measured_ps
    kinds = []
    for kind in dict.fromkeys(ports["link"].tolist()):
        own = ports["link"] == kind
        kinds.append(
            {
                "link": kind,
                "ports": int(own.sum()),
                "used": _spread(used[own]),
                "cdf": _cdf(used[own]),
                "paused": _spread(paused[own]),
                "pauses": int(ports["pauses"][own].sum()),
                "drops": int(ports["drops"][own].sum()),
            }
        )
    top = np.argsort(-used, kind="stable")[:BUSIEST]
    busiest = [
        {
            "from": names[int(ports["node"][at])],
            "to": names[int(ports["peer"][at])],
            "used": _share(used[at]),
            "paused": _share(paused[at]),
            "drops": int(ports["drops"][at]),
        }
        for at in top
    ]
    return {"kinds": kinds, "busiest": busiest}


def _share(value: float) -> float:
    return float(f"{value:.4g}")


def _spread(shares: Array) -> dict[str, float]:
    return {"mean": _share(shares.mean()), "max": _share(shares.max())}


def _cdf(shares: Array) -> dict[str, list[float]]:
    """Return the share of ports up to a utilisation, in at most `LEVELS` steps."""
    ordered = np.sort(shares)
    at = np.unique(np.linspace(0, len(ordered) - 1, min(LEVELS, len(ordered))).astype(int))
    return {
        "used": [_share(ordered[0]), *map(_share, ordered[at])],
        "ports": [0.0, *(round(float(i + 1) / len(ordered), 5) for i in at)],
    }
