"""Collects what the page shows from the rows of a run, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from xoff.html_report import paths, rates
from xoff.html_report.distributions import CompletionTimes
from xoff.html_report.fabric import FabricStates, draw
from xoff.html_report.frames import Frames
from xoff.html_report.scenarios import interval_ps
from xoff.tables import as_batch

Array = Any

TRACE_POINTS = 400
"""Points of the trace of buffers, at most twice as many."""
WHOLE_SWITCH = 65_535
"""The port of rows of `samples` that stand for a whole switch."""
FLOW_COLUMNS = ("class", "size_bytes", "fct_ps")
TRACE_COLUMNS = ("time_ps", "port", "bytes")
FABRIC_COLUMNS = ("time_ps", "queue_bytes", "held_bytes", "tx_bytes", "paused_ps")


def columns(rows: Any, names: tuple[str, ...]) -> dict[str, Array]:
    """Return columns of a batch or a table as arrays. Classes are numbers."""
    found = {name: rows.column(name) for name in names}
    if "class" in found:
        found["class"] = _numbers(found["class"])
    return {name: column.to_numpy(zero_copy_only=False) for name, column in found.items()}


def _numbers(column: Any) -> Any:
    """Return classes, which a table may have by name, as their numbers."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32())


class Recorder:
    """Takes the rows of one run's tables in their order.

    `ports` is the table of ports at any time of the run: it has the links of the network.
    `names` are those of its nodes. `runs` is the number of runs on the page, and `most_rows` the
    number of rows of flows over time that are kept.
    """

    def __init__(
        self,
        scenario: str,
        ports: dict[str, Array],
        names: dict[int, str],
        runs: int = 1,
        most_rows: int | None = None,
    ) -> None:
        self.names = names
        drawing, sampled = draw(ports, names), interval_ps(scenario, "port_samples")
        self.too_large = drawing is None
        """Whether the network has too many links to be drawn."""
        self.fabric = FabricStates(drawing, sampled, runs) if drawing and sampled else None
        self.paths = paths.FlowPaths(drawing, ports, runs) if drawing and self.fabric else None
        self.times = CompletionTimes()
        self.rates = rates.FlowRates(interval_ps(scenario, "flow_series"), most_rows)
        self.trace = Frames(TRACE_POINTS, {"most": np.max, "mean": _mean})
        self._tables = {
            "flows": self._flows,
            "samples": self._samples,
            "flow_series": self._flow_series,
            "port_samples": self._port_samples,
            "paths": self._paths,
        }

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables whose rows are used."""
        return tuple(self._tables)

    def add(self, table: str, rows: Any) -> None:
        """Take rows of a table: a batch, a table, or anything that Arrow imports."""
        if take := self._tables.get(table):
            batch = rows if hasattr(rows, "column") else as_batch(rows)
            if batch.num_rows:
                take(batch)

    def _flows(self, batch: Any) -> None:
        found = columns(batch, FLOW_COLUMNS)
        self.times.add(found["class"], found["size_bytes"], found["fct_ps"])

    def _samples(self, batch: Any) -> None:
        found = columns(batch, TRACE_COLUMNS)
        whole = found["port"] == WHOLE_SWITCH
        times, held = found["time_ps"][whole].astype(np.int64), found["bytes"][whole]
        if not len(times):
            return
        starts = np.flatnonzero(np.diff(times, prepend=-1))
        switches = np.diff([*starts, len(times)])
        most = np.maximum.reduceat(held, starts).astype(float)
        mean = np.add.reduceat(held, starts) / switches
        self.trace.add(times[starts], {"most": most, "mean": mean})

    def _flow_series(self, batch: Any) -> None:
        found = columns(batch, rates.COLUMNS)
        self.rates.add(found)

    def _port_samples(self, batch: Any) -> None:
        if self.fabric is not None:
            self.fabric.add(columns(batch, FABRIC_COLUMNS))

    def _paths(self, batch: Any) -> None:
        if self.paths is not None:
            self.paths.add(columns(batch, paths.COLUMNS))


def _mean(values: Array, axis: int) -> Array:
    return np.mean(values, axis=axis)
