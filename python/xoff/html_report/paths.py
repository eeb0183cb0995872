"""Paths of flows through the drawn network, from the rows of `paths`."""

from __future__ import annotations

from typing import Any

import numpy as np

from xoff.html_report.fabric import Drawing

Array = Any

COLUMNS = ("flow", "since_ps", "hop", "node", "port")
MOST_FLOWS = 10_000
"""Flows of a page whose paths it has: the first ones. It keeps the page below 3 MB."""
_PORTS = 1 << 16
"""More ports than a node has."""


class FlowPaths:
    """Collects the paths of the first flows as lists of drawn links.

    `ports` is the table of ports. The flows of a page are shared among its `runs`.
    """

    def __init__(self, drawing: Drawing, ports: dict[str, Array], runs: int = 1) -> None:
        keys = _keys(ports)
        order = np.argsort(keys)
        self._keys, self._links = keys[order], drawing.link_of_port[order]
        self._most = max(1, MOST_FLOWS // runs)
        self._parts: list[dict[str, Array]] = []
        self._is_cut = False

    def add(self, rows: dict[str, Array]) -> None:
        """Append rows: an array for each of `COLUMNS`."""
        kept = rows["flow"] < self._most
        self._is_cut = self._is_cut or not kept.all()
        if kept.any():
            self._parts.append({name: rows[name][kept] for name in COLUMNS})

    def payload(self) -> dict[str, Any] | None:
        """Return the paths by flow: each a list of (ms, links), by the time they began.

        `most`: flows from this number on are left out; None if there are none. None without rows.
        """
        if not self._parts:
            return None
        rows = {name: np.concatenate([part[name] for part in self._parts]) for name in COLUMNS}
        order = np.lexsort((rows["hop"], rows["since_ps"], rows["flow"]))
        links = self._links[np.searchsorted(self._keys, _keys(rows))]
        flows: dict[str, list[tuple[float, list[int]]]] = {}
        before = None
        each = (values[order].tolist() for values in (rows["flow"], rows["since_ps"], links))
        for flow, since, link in zip(*each, strict=True):
            if before != (flow, since):
                flows.setdefault(str(flow), []).append((round(since * 1e-9, 6), []))
                before = flow, since
            flows[str(flow)][-1][1].append(link)
        return {"flows": flows, "most": self._most if self._is_cut else None}


def _keys(ports: dict[str, Array]) -> Array:
    """Return one number for each pair of a node and its port."""
    return ports["node"].astype(np.int64) * _PORTS + ports["port"].astype(np.int64)
