"""A finished run as a trace for Perfetto: flows, jobs, queues and pauses over time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from xoff.drafts import draft_of
from xoff.errors import IncompleteRunError, UsageError, writing
from xoff.manifest import table_file
from xoff.perfetto import BYTES, TIME_NS, Lanes, Trace
from xoff.result import Result
from xoff.tables import GROUP_ROWS, names_of_nodes

WHOLE_SWITCH = 65_535
"""The port of samples of a whole switch."""
COUNTERS = {"queue_bytes": ("queue", BYTES), "held_bytes": ("held by pauses", BYTES)}
"""Columns of port samples, with the names and units of their tracks."""

Row = dict[str, Any]


def write(result: Result, path: Path, most: int) -> list[str]:
    """Write the trace of a run; return what is left out, in words.

    Tables are read in parts. The trace has at most `most` flows, the first ones by start, and at
    most `most` values of counters, the first ones. Raises `RunError` if the file cannot be written,
    `UsageError` for a run without packets, and `IncompleteRunError` if a table is damaged.
    """
    if result.summary.get("engine", "packets") != "packets":
        raise UsageError("only a run with packets has flows and queues over time")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(path) as draft, draft.open("wb") as file:
            timeline = _Timeline(result, Trace(file), most)
            timeline.jobs()
            timeline.flows()
            timeline.ports()
            timeline.samples()
    return timeline.left_out


class _Timeline:
    def __init__(self, result: Result, trace: Trace, most: int) -> None:
        self._result, self._trace, self._most = result, trace, most
        self._names: dict[int, str] = {}
        for batch in self._batches("nodes", ["node", "name", "label"]):
            self._names |= names_of_nodes(batch)
        self._tracks: dict[tuple[int, int, str], tuple[int, int]] = {}
        self._counters = 0
        self.left_out: list[str] = []

    def _batches(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        if not self._result.has_table(name):
            return
        assert self._result.files is not None, "a loaded run has files"
        path = self._result.files.path(table_file(name))
        try:
            with pq.ParquetFile(path) as file:
                # A table that got no rows may have no columns.
                if file.metadata.num_rows:
                    yield from file.iter_batches(batch_size=GROUP_ROWS, columns=columns)
        except (OSError, ValueError) as error:
            raise IncompleteRunError(f"cannot read {path}: {error}; run it again") from error

    def _rows(self, name: str, columns: list[str]) -> Iterator[Row]:
        for batch in self._batches(name, columns):
            for part in range(0, batch.num_rows, 4096):
                yield from batch.slice(part, 4096).to_pylist()

    def _class(self, number: int) -> str:
        return self._result.classes[number]

    def _node(self, number: int) -> str:
        return self._names.get(number, f"node {number}")

    def jobs(self) -> None:
        """Add rounds and steps, on tracks for each job."""
        columns = ["job", "round", "class", "begin_ps", "end_ps"]
        rounds = [
            (row, f"round {row['round']}", {"slowest": self._node(row["slowest"])})
            for row in self._rows("rounds", [*columns, "slowest"])
        ]
        steps = [
            (row, f"step {row['step']}", {"round": row["round"], "messages": row["messages"]})
            for row in self._rows("steps", [*columns, "step", "messages"])
        ]
        lanes: dict[tuple[int, str], Lanes] = {}
        groups: dict[int, int] = {}
        for kind, found in (("rounds", rounds), ("steps", steps)):
            for row, name, about in sorted(found, key=lambda one: one[0]["begin_ps"]):
                job = row["job"]
                if job not in groups:
                    groups[job] = self._trace.group(f"job {job}: {self._class(row['class'])}")
                own = lanes.setdefault((job, kind), Lanes(self._trace, groups[job], kind))
                own.slice(name, row["begin_ps"], row["end_ps"], about)

    def flows(self) -> None:
        """Add a slice for each flow, on tracks of its sender."""
        kept, total = self._first_flows()
        if kept is None:
            return
        if total > len(kept):
            since = kept["start_ps"][-1].as_py() / 1e6
            self.left_out.append(
                f"{total - len(kept):,} of {total:,} flows, which begin at {since:,.3f} us or later"
            )
        group = self._trace.group("flows by sender")
        hosts: dict[int, Lanes] = {}
        for part in range(0, len(kept), 4096):
            for row in kept.slice(part, 4096).to_pylist():
                name = self._node(row["src"])
                lanes = hosts.setdefault(row["src"], Lanes(self._trace, group, name))
                about = {"flow": row["flow"], "to": self._node(row["dst"])}
                about |= {"bytes": row["size_bytes"], "class": self._class(row["class"])}
                about["slowdown"] = f"{row['slowdown']:.3f}"
                end = row["start_ps"] + row["fct_ps"]
                lanes.slice(f"to {about['to']}", row["start_ps"], end, about)

    def _first_flows(self) -> tuple[pa.Table | None, int]:
        """Return the flows that begin first, in that order, and the number of all."""
        columns = ["flow", "src", "dst", "size_bytes", "start_ps", "fct_ps", "slowdown", "class"]
        order = [("start_ps", "ascending"), ("flow", "ascending")]
        kept: pa.Table | None = None
        total = 0
        for batch in self._batches("flows", columns):
            total += batch.num_rows
            more = pa.Table.from_batches([batch])
            kept = more if kept is None else pa.concat_tables([kept, more])
            if kept.num_rows > self._most:
                kept = kept.sort_by(order).slice(0, self._most).combine_chunks()
        return None if kept is None else kept.sort_by(order), total

    def ports(self) -> None:
        """Add the queue of each port that was sampled, and its pauses."""
        peers = {
            (row["node"], row["port"]): row["peer"]
            for row in self._rows("ports", ["node", "port", "peer"])
        }
        columns = ["time_ps", "node", "port", *COUNTERS, "paused_ps"]
        left = 0
        for row in self._rows("port_samples", columns):
            node, port = row["node"], row["port"]
            peer = peers.get((node, port))
            place = f"port {port}" if peer is None else f"to {self._node(peer)}"
            for column, (name, unit) in COUNTERS.items():
                left += self._count(row, name, f"{place}: {name}", unit, row[column])
            name = "paused in the interval"
            left += self._count(row, name, f"{place}: {name}", TIME_NS, row["paused_ps"] // 1000)
        self._tell(left, "port samples")

    def samples(self) -> None:
        """Add the buffer of each switch and the watched queues."""
        left = 0
        for row in self._rows("samples", ["time_ps", "node", "port", "bytes"]):
            whole = row["port"] == WHOLE_SWITCH
            name = "buffer" if whole else f"port {row['port']}: data queues"
            left += self._count(row, f"watched {row['port']}", name, BYTES, row["bytes"])
        self._tell(left, "samples")

    def _count(self, row: Row, key: str, name: str, unit: int, value: int) -> bool:
        """Add a value of a counter, if it has changed; return whether it is left out."""
        place = (row["node"], row["port"], key)
        # A counter begins at 0; a track without another value is not shown.
        track, last = self._tracks.get(place, (0, 0))
        if value == last:
            return False
        if self._counters == self._most:
            return True
        if not track:
            track = self._trace.counter(self._group_of(row["node"]), name, unit)
            self._trace.value(track, 0, 0)
        self._counters += 1
        self._trace.value(track, row["time_ps"], value)
        self._tracks[place] = (track, value)
        return False

    def _group_of(self, node: int) -> int:
        place = (node, -1, "")
        if place not in self._tracks:
            self._tracks[place] = (self._trace.group(self._node(node)), 0)
        return self._tracks[place][0]

    def _tell(self, left: int, what: str) -> None:
        if left:
            self.left_out.append(f"values of {what} after the first {self._most:,} changes")
