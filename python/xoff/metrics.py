"""Numbers read from a run: from its summary and its tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xoff import completions, evenness, fairness, queueing, rows, series, shares
from xoff.errors import UsageError
from xoff.lookup import Group, bin_index, bins, bins_within_reach, class_entry, lookup, statistic
from xoff.percentiles import has_samples, permille
from xoff.result import Result
from xoff.traces import MEASURES, Trace

STATISTICS = ("mean", "p50", "p95", "p99", "p999")
RANGES = ("short", "medium", "long", "all")
# Keys of a range in bytes, which names a bin of the summary, and of a range in packets.
BIN = {"low", "high"}
PACKETS = {"low_packets", "high_packets"}
# Mean of a statistic over the size bins that have it.
MEAN_OF_BINS = "mean-of-bins"


def cdf_at(points: Sequence[Sequence[float]], x: float) -> float:
    """Return the fraction at or below `x` of a step CDF given as [value, fraction]."""
    return max((fraction for value, fraction in points if value <= x), default=0.0)


# Port number of samples of a whole switch.
WHOLE_SWITCH = 65535
# Prefixes of a `path` and their source. SAMPLES and FLOWS are prefixes of a `cdf`, too.
SAMPLES = "samples."  # samples of the monitored ports
SENDERS = "senders."  # bytes sent by the hosts' ports (`shares.read`)
PAUSED = "paused."  # share of time that links of a kind are paused (`shares.paused_share`)
FLOWS = "flows."  # rows of finished flows (`rows`)
SERIES = "series."  # bytes received per flow and interval (`series.read`)
QUEUEING = "queueing."  # queueing delay along paths (`queueing.read`)
SPREAD = "spread."  # unevenness of load over links of a kind (`evenness.read`)
# Mean of log2 of flow rates (`fairness.score`).
FAIRNESS = "fairness.score"


def monitored(result: Result, column: str) -> Trace | None:
    """Return times (ps) and a column (`bytes`, `active`) of the samples of monitored ports.

    None if the run has no such column or no monitored ports.
    """
    table = result.samples
    if column not in table.column_names:
        return None
    own = table["port"].to_numpy() != WHOLE_SWITCH
    return (table["time_ps"].to_numpy()[own], table[column].to_numpy()[own]) if own.any() else None


def sampled_cdf(result: Result, column: str) -> list[tuple[float, float]]:
    """Return the step CDF of a column over the samples of monitored ports."""
    trace = monitored(result, column)
    if trace is None:
        return []
    values, counts = np.unique(trace[1], return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    return [(float(x), float(share)) for x, share in zip(values, shares, strict=True)]


def sampled(result: Result, what: str) -> float | None:
    """Return `COLUMN.MEASURE` of the monitored ports' samples; the mean without a measure."""
    column, _, measure = what.partition(".")
    trace = monitored(result, column)
    return None if trace is None else MEASURES[measure or "mean"](trace)


def cdf_points(result: Result, name: str) -> Sequence[Sequence[float]]:
    """Return the step CDF of that name as (value, fraction) pairs; empty if there is none.

    - `samples.COLUMN`: over the samples of the monitored ports.
    - `flows.COLUMN`: over the rows of finished flows.
    - `queries.CLASS.GROUP`, `requests.CLASS.GROUP`: over completion times (us).
    - Any other name: a dotted path of the summary, such as `bfc.sharing_flows`.
    """
    if name.startswith(SAMPLES):
        return sampled_cdf(result, name.removeprefix(SAMPLES))
    if name.startswith(FLOWS):
        return rows.cdf(result, name.removeprefix(FLOWS))
    if completions.is_completion(name):
        return completions.cdf([result], name)
    here: Any = result.summary
    for part in name.split("."):
        here = here.get(part) if isinstance(here, dict) else None
    return (here or {}).get("cdf") or []


def cdf_distance(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float | None:
    """Return the Kolmogorov-Smirnov distance of two step CDFs; None if one is empty."""
    if not a or not b:
        return None
    steps = np.unique([value for value, _ in (*a, *b)])
    return float(np.abs(_heights(a, steps) - _heights(b, steps)).max())


def _heights(points: Sequence[Sequence[float]], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `cdf_at` for an array of values."""
    values, fractions = np.array(sorted(map(tuple, points))).T
    return np.concatenate([[0.0], fractions])[np.searchsorted(values, at, side="right")]


def bytes_of_packets(result: Result, limits: Mapping[str, float]) -> tuple[float, float]:
    """Return the sizes of a range in packets: more than the first (bytes), up to the second."""
    payload = result.summary["frame"]["payload_bytes"]
    low, high = limits.get("low_packets") or 1, limits.get("high_packets") or math.inf
    return (low - 1) * payload, high * payload


def in_packets(
    result: Result, cls: str | None, name: str, limits: Mapping[str, float]
) -> float | None:
    """Return a statistic of the slowdowns of flows of a range of packets (`Term.range`).

    It is computed from the rows of finished flows. In percentiles, all unfinished flows of size
    bins that overlap the range count as infinitely slow; the mean ignores them.
    """
    entry = class_entry(result, cls)
    if entry is None:
        return None
    low_bytes, high_bytes = bytes_of_packets(result, limits)
    own = rows.of_sizes(result, str(entry["class"]), low_bytes, high_bytes)
    slowdowns = np.sort(result.flows["slowdown"].to_numpy()[own])
    if name == "mean":
        return float(slowdowns.mean()) if len(slowdowns) else None
    flows = len(slowdowns) + _unfinished(entry, low_bytes, high_bytes)
    share = permille(name)
    if not len(slowdowns) or not has_samples(flows, share):
        return None
    rank = max(1, math.ceil(flows * share / 1000))
    return float(slowdowns[rank - 1]) if rank <= len(slowdowns) else math.inf


def _unfinished(entry: Group, low_bytes: float, high_bytes: float) -> int:
    """Count the unfinished flows of the size bins that overlap a range of sizes."""
    return sum(
        int(one.get("flows") or 0) - int(one.get("finished") or 0)
        for _, one in bins_within_reach(entry.get("bins") or [], low_bytes, high_bytes)
    )


# The function for each prefix of a `path`; it receives the rest of the path.
READERS: Mapping[str, Callable[[Result, str], float | None]] = {
    SAMPLES: sampled,
    SENDERS: shares.read,
    PAUSED: shares.paused_share,
    FLOWS: rows.read,
    SERIES: series.read,
    QUEUEING: queueing.read,
    SPREAD: evenness.read,
}


@dataclass(frozen=True)
class Term:
    """A number of a case: a CDF at a value, a path, or else a statistic of flow slowdowns.

    - `cdf`: a CDF (`cdf_points`), read at `at`: the fraction at or below.
    - `path`: a dotted path in the summary (`lookup`), or one of
      `samples.COLUMN[.MEASURE]` (monitored ports, `traces.MEASURES`),
      `senders.jain`, `senders.0-3`, `paused.leaf-spine` (ports, `shares`),
      `flows.COLUMN.MEASURE` (finished flows, `rows`; with `cls` all flows of the class, the
      unfinished ones infinitely slow),
      `series.MEASURE` (throughput of flows over time, `series`),
      `queueing.4.p99_us`, `spread.leaf-spine` (samples of all ports, `queueing`, `evenness`),
      `fairness.score` (flow rates, `fairness`),
      `queries.query.8000.p99_us`, `requests.query.10.p99_us` (`completions`).
    - `cls`, `range`, `statistic`: a slowdown statistic of a class of flows. `range` is a name, the
      `low` and `high` bytes of a bin of the summary, or `low_packets` and `high_packets`.

    `scale` multiplies the number. `seeds` selects how the runs of a case become one number.
    """

    case: str
    path: str | None = None
    cdf: str | None = None
    at: float = 0.0
    cls: str | None = None
    range: str | Mapping[str, float] = "all"
    statistic: str = "p99"
    scale: float = 1.0
    seeds: str = "mean"

    def read(self, result: Result) -> float | None:
        """Read the number from one run; None if the run does not have it."""
        found = self._unscaled(result)
        return None if found is None else found * self.scale

    def _unscaled(self, result: Result) -> float | None:
        if self.cdf is not None:
            points = cdf_points(result, self.cdf)
            return cdf_at(points, self.at) if points else None
        if self.path is None:
            return self._flow_statistic(result)
        if self.path.startswith(FLOWS) and self.cls is not None:
            return rows.read(result, self.path.removeprefix(FLOWS), self.cls)
        for prefix, read in READERS.items():
            if self.path.startswith(prefix):
                return read(result, self.path.removeprefix(prefix))
        if completions.is_completion(self.path):
            return completions.read(result, self.path)
        if self.path == FAIRNESS:
            return fairness.score(result, self.cls)
        return lookup(result.summary, self.path)

    def _flow_statistic(self, result: Result) -> float | None:
        if not isinstance(self.range, str) and PACKETS & self.range.keys():
            return in_packets(result, self.cls, self.statistic, self.range)
        entry = class_entry(result, self.cls)
        if entry is None:
            return None
        left = entry.get("unfinished")
        if self.range == MEAN_OF_BINS:
            found = [statistic(group, self.statistic, left) for group in bins(result, self.cls)]
            return mean([value for value in found if value is not None])
        group = self._group(entry)
        return None if group is None else statistic(group, self.statistic, left)

    def _group(self, entry: Group) -> Group | None:
        if isinstance(self.range, str):
            if self.range == "all":
                return entry.get("all")
            return (entry.get("ranges") or {}).get(self.range)
        found = entry.get("bins") or []
        index = bin_index(found, self.range)
        return None if index is None else found[index]

    def over_seeds(self, results: Sequence[Result]) -> float | None:
        """Return one number for the runs of a case; None if any of them has none.

        `seeds = "pooled"` pools the completion times of all runs.
        """
        if self.seeds == POOLED and self.path is not None:
            found = completions.pooled(results, self.path)
            return None if found is None else found * self.scale
        return OVER_SEEDS[self.seeds]([self.read(result) for result in results])


def spread(values: Sequence[float | None]) -> float | None:
    """Return the sample standard deviation; None unless there are two values, all finite."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < max(2, len(values)):
        return None
    middle = sum(known) / len(known)
    return math.sqrt(sum((value - middle) ** 2 for value in known) / (len(known) - 1))


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if any value is missing."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def percentile(share: float) -> Callable[[Sequence[float | None]], float | None]:
    """Return a function that takes a percentile over runs; None if any run has no value.

    Percentiles are interpolated linearly; with an infinite value among the runs, the larger
    neighbour is taken instead.
    """

    def over_runs(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None
        method = "linear" if math.isfinite(max(known)) else "higher"
        return float(np.percentile(known, share, method=method))  # type: ignore[call-overload]

    return over_runs


@dataclass(frozen=True)
class Relative:
    """A baseline case: its runs by sweep value, and the comparison with it."""

    runs: Mapping[Any, Sequence[Result]]
    relation: str = "ratio"

    def read(self, term: Term, x: Any, runs: Sequence[Result]) -> float | None:
        """Return the ratio or difference of a case's term at sweep value `x` to the baseline's.

        Fairness scores are compared flow by flow.
        """
        base = self.runs.get(x, ())
        if self.relation == "difference" and term.path == FAIRNESS:
            return score_difference(runs, base, term.cls)
        above, below = term.over_seeds(runs), term.over_seeds(base)
        if above is None or below is None or (math.isinf(above) and math.isinf(below)):
            return None
        if self.relation == "difference":
            return above - below
        return above / below if below else None


COMPARISONS = ("ratio", "difference")


def score_difference(
    runs: Sequence[Result], others: Sequence[Result], cls: str | None = None
) -> float | None:
    """Return the mean difference of log2 of flow rates between two cases, over flows and seeds.

    Raises `UsageError` if the cases differ in their number of seeds.
    """
    if len(runs) != len(others):
        raise UsageError("a difference of fairness scores requires as many seeds in both cases")
    pairs = zip(runs, others, strict=True)
    return mean([fairness.difference(run, other, cls) for run, other in pairs])


# Pools the rows of all runs; only for completion times.
POOLED = "pooled"
OVER_SEEDS: dict[str, Callable[[Sequence[float | None]], float | None]] = {
    "mean": mean,
    "std": spread,
    "min": percentile(0),
    "median": percentile(50),
    "max": percentile(100),
    "p90": percentile(90),
    "p95": percentile(95),
}
