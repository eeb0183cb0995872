"""How flows share their receiver's link over time, from the bytes of each flow and interval.

Time is divided into phases: consecutive intervals at whose ends the same flows to one receiver are
active. A flow's fair share is the payload capacity of the receiver's link divided by the number
of these flows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xoff.errors import UsageError
from xoff.result import Result
from xoff.text import suggestion

Array = Any

# A flow has settled when it stays this close to its fair share, in percent of the share.
BAND_PERCENT = 10.0

SUMMARIES: dict[str, Callable[[Array], Any]] = {
    "mean": np.mean,
    "p50": np.median,
    "p95": lambda values: np.percentile(values, 95),
    "max": np.max,
}
"""Functions that reduce many numbers to one."""


@dataclass(frozen=True)
class Phase:
    """A period in which the same flows to one receiver are active.

    `received` and `delivered` are in bytes, shape `(intervals, flows)`. `full` is the payload
    capacity of the receiver's link in one interval, in bytes.
    """

    flows: tuple[int, ...]
    interval_us: float
    full: float
    received: Array
    delivered: Array

    @property
    def shares(self) -> Array:
        """Received bytes as a multiple of the fair share, shape `(intervals, flows)`."""
        return self.received / (self.full / len(self.flows))


@dataclass(frozen=True)
class Table:
    """The rows of one receiver.

    `times` are the ends of intervals (ps); `present`, `received` and `delivered` (bytes) have the
    shape `(intervals, flows)`.
    """

    times: Array
    flows: Array
    present: Array
    received: Array
    delivered: Array


def tables(result: Result) -> dict[int, Table]:
    """Return the table of each receiver, by receiver."""
    source = result.flow_series
    columns = {name: source[name].to_numpy() for name in source.column_names}
    times = _ends_of_intervals(columns["time_ps"], result.summary)
    found = {}
    for dst in np.unique(columns["dst"]):
        own = columns["dst"] == dst
        flows, flow_at = np.unique(columns["flow"][own], return_inverse=True)
        time_at = np.searchsorted(times, columns["time_ps"][own])
        shape = (len(times), len(flows))
        present = np.zeros(shape, dtype=bool)
        present[time_at, flow_at] = True
        received, delivered = np.zeros(shape), np.zeros(shape)
        received[time_at, flow_at] = columns["received_bytes"][own]
        delivered[time_at, flow_at] = columns["delivered_bytes"][own]
        found[int(dst)] = Table(times, flows, present, received, delivered)
    return found


def _ends_of_intervals(times: Array, summary: Mapping[str, Any]) -> Array:
    """Return the ends (ps) of all intervals, from the first interval with a row.

    In intervals without rows, possibly the last of the measured time, no flow is active.
    """
    known = np.unique(times.astype(np.int64))
    if len(known) < 2:
        return known
    measured_until = summary.get("warmup_ps", 0) + summary.get("measured_ps", 0)
    last = max(int(known[-1]), measured_until)
    return np.arange(known[0], last + 1, np.diff(known).min())


def _payload_rate(result: Result, host: int) -> float:
    """Return the payload capacity of a host's link, in bytes per second."""
    frame = result.summary["frame"]
    share = frame["payload_bytes"] / (frame["payload_bytes"] + frame["overhead_bytes"])
    ports = result.ports
    own = ports["node"].to_numpy() == host
    rate_bps = float(ports["rate_bps"].to_numpy()[own][0])
    return rate_bps / 8 * float(share)


def phases(result: Result) -> Iterator[Phase]:
    """Yield the phases of all receivers in which at least one flow is active."""
    for dst, table in tables(result).items():
        interval_ps = int(np.diff(table.times).min()) if len(table.times) > 1 else 0
        # A flow without a row in the next interval ended in this one.
        alive = table.present.copy()
        alive[:-1] &= table.present[1:]
        changes = np.flatnonzero((alive[1:] != alive[:-1]).any(axis=1)) + 1
        for first, end in zip([0, *changes], [*changes, len(alive)], strict=True):
            active = np.flatnonzero(alive[first])
            if end < len(alive) and (alive[end - 1] & ~alive[end]).any():
                # A flow ends at its last ACK, so its last bytes may be from an earlier interval.
                end -= 1
            if not len(active) or first == end or interval_ps == 0:
                continue
            yield Phase(
                flows=tuple(int(flow) for flow in table.flows[active]),
                interval_us=interval_ps * 1e-6,
                full=_payload_rate(result, dst) * interval_ps * 1e-12,
                received=table.received[first:end][:, active],
                delivered=table.delivered[first:end][:, active],
            )


def settled_us(phase: Phase, percent: float = BAND_PERCENT) -> float:
    """Return the time (us) from the start of the phase until all flows have settled.

    Flows have settled once each stays within `percent` of its fair share. The time is that of the
    end of the first such interval, or of the phase if there is none.
    """
    outside = np.flatnonzero((np.abs(phase.shares - 1) > percent / 100).any(axis=1))
    intervals = outside[-1] + 2 if len(outside) else 1
    return float(min(intervals, len(phase.received)) * phase.interval_us)


def _settling(found: Sequence[Phase], percent: float) -> Array:
    return np.array([settled_us(phase, percent) for phase in found])


def _deviation(found: Sequence[Phase], percent: float) -> Array:
    """Return the deviation of each flow's mean from its share, without the first interval."""
    means = [np.abs(phase.shares[1:].mean(axis=0) - 1) for phase in _long(found)]
    return np.concatenate(means) if means else np.array([])


def _swing(found: Sequence[Phase], percent: float) -> Array:
    """Return each flow's coefficient of variation, without the first interval of a phase."""
    swings = []
    for phase in _long(found):
        delivered = phase.delivered[1:]
        means = delivered.mean(axis=0)
        swings.append(delivered.std(axis=0)[means > 0] / means[means > 0])
    return np.concatenate(swings) if swings else np.array([])


def _top_share(found: Sequence[Phase], percent: float) -> Array:
    """Return the largest flow's share of an interval's bytes, in phases of several flows."""
    received = [phase.received for phase in found if len(phase.flows) > 1]
    shares = [r.max(axis=1) / r.sum(axis=1) for r in map(_nonempty, received) if len(r)]
    return np.concatenate(shares) if shares else np.array([])


def _nonempty(received: Array) -> Array:
    return received[received.sum(axis=1) > 0]


def _idle(found: Sequence[Phase], percent: float) -> Array:
    """Return 1 for each flow and interval without delivered bytes, else 0."""
    parts = [(phase.delivered[1:] == 0).ravel() for phase in _long(found)]
    return np.concatenate(parts).astype(float) if parts else np.array([])


def _utilisation(found: Sequence[Phase], percent: float) -> Array:
    """Return each interval's received bytes over the link's payload capacity."""
    parts = [phase.received.sum(axis=1) / phase.full for phase in found]
    return np.concatenate(parts) if parts else np.array([])


def _long(found: Sequence[Phase]) -> list[Phase]:
    return [phase for phase in found if len(phase.received) > 1]


MEASURES: dict[str, Callable[[Sequence[Phase], float], Array]] = {
    "settle_us": _settling,
    "deviation": _deviation,
    "swing": _swing,
    "top_share": _top_share,
    "idle_share": _idle,
    "utilisation": _utilisation,
}
"""The measures of `series.MEASURE`: arrays by phase, by flow and phase, or by interval."""


def parse(what: str) -> tuple[str, str, float]:
    """Parse `MEASURE[.SUMMARY[.PERCENT]]`; defaults are the mean and a band of 10 %.

    Raises `UsageError`.
    """
    measure, _, rest = what.partition(".")
    summary, _, percent = rest.partition(".")
    summary = summary or "mean"
    _refuse_unknown(measure, MEASURES)
    _refuse_unknown(summary, SUMMARIES)
    if percent and (measure != "settle_us" or not percent.isdigit() or int(percent) == 0):
        raise UsageError(f"`series.{what}`: only settle_us takes a band, in whole percent")
    return measure, summary, float(percent or BAND_PERCENT)


def _refuse_unknown(word: str, known: Mapping[str, Any]) -> None:
    if word not in known:
        hint = suggestion(word, known) or f"; known: {', '.join(known)}"
        raise UsageError(f"unknown measure `{word}` of series{hint}")


def read(result: Result, what: str) -> float | None:
    """Read a measure (`parse`); None if there is nothing to measure."""
    measure, summary, percent = parse(what)
    values = MEASURES[measure](list(phases(result)), percent)
    return float(SUMMARIES[summary](values)) if len(values) else None
