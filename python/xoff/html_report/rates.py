"""Rates of the largest flows over time, from the rows of `flow_series`."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

COLUMNS = ("time_ps", "flow", "src", "dst", "received_bytes")
FLOWS = 8
"""Number of flows that are shown. They are the flows with most bytes."""
POINTS = 400
"""Points of a curve, at most."""


class FlowRates:
    """Collects rows of flows. With more than `most_rows`, it keeps those of the largest flows."""

    def __init__(self, interval_ps: int, most_rows: int | None = None) -> None:
        self._interval_ps = interval_ps
        self._most_rows = most_rows
        self._parts: list[dict[str, Array]] = []
        self._rows = 0
        self.is_cut = False
        """True once rows were dropped: a flow that grew later lacks its first bytes."""

    def add(self, columns: dict[str, Array]) -> None:
        """Append rows: an array for each of `COLUMNS`."""
        self._parts.append(columns)
        self._rows += len(columns["flow"])
        if self._most_rows is not None and self._rows > self._most_rows:
            self.is_cut = True
            kept = self._joined()
            shown = np.isin(kept["flow"], self._largest(kept))
            self._parts = [{name: values[shown] for name, values in kept.items()}]
            self._rows = int(shown.sum())

    def _joined(self) -> dict[str, Array]:
        return {name: np.concatenate([part[name] for part in self._parts]) for name in COLUMNS}

    @staticmethod
    def _largest(rows: dict[str, Array]) -> Array:
        # Flows are numbered from 0, so counting by number needs no sorting of millions of rows.
        received = np.bincount(rows["flow"].astype(np.int64), weights=rows["received_bytes"])
        enough = np.partition(received, -FLOWS)[-FLOWS] if len(received) > FLOWS else 0.0
        flows = np.flatnonzero((received >= enough) & (received > 0))
        return np.sort(flows[np.argsort(-received[flows], kind="stable")[:FLOWS]])

    def curves(self) -> list[dict[str, Any]]:
        """Return the rate of each of the largest flows: times in ms, rates in Gb/s.

        A point is the mean over one interval, or over several if there are more than `POINTS`.
        """
        if not self._parts or not self._interval_ps:
            return []
        rows = self._joined()
        return [_curve(rows, int(flow), self._interval_ps) for flow in self._largest(rows)]


def _curve(rows: dict[str, Array], flow: int, interval_ps: int) -> dict[str, Any]:
    own = rows["flow"] == flow
    times, received = rows["time_ps"][own].astype(np.int64), rows["received_bytes"][own]
    first = int(times[0])
    at = (times - first) // interval_ps
    filled = np.zeros(int(at[-1]) + 1)
    np.add.at(filled, at, received)
    step = -(-len(filled) // POINTS)
    padded = np.zeros(-(-len(filled) // step) * step)
    padded[: len(filled)] = filled
    parts = np.minimum(step, len(filled) - np.arange(0, len(filled), step))
    gbps = padded.reshape(-1, step).sum(axis=1) * 8e3 / (parts * interval_ps)
    ends = first + (np.arange(0, len(filled), step) + parts - 1) * interval_ps
    return {
        "flow": flow,
        "src": int(rows["src"][own][0]),
        "dst": int(rows["dst"][own][0]),
        "ms": [round(float(end) * 1e-9, 6) for end in ends],
        "gbps": [float(f"{rate:.4g}") for rate in gbps],
    }
