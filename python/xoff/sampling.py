"""Numbers of several runs with their uncertainty: pooled percentiles, censored flows, resampling.

A number of a case is pooled over all its runs where the runs have `batches` (histograms per batch
of time), else it is taken from each run and averaged over the seeds. Its uncertainty is that of a
bootstrap: all batches of all runs, or the seeds, are drawn with replacement `DRAWS` times. Draws
are common to all cases, so that runs with the same traffic are compared pairwise.

An unfinished flow is censored: its slowdown is at least what it was when the run ended. A number
then has two ends, one with every unfinished flow at its bound, one with it infinitely slow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from xoff import completions
from xoff.batches import of_sizes
from xoff.lookup import bin_index, bins, class_entry
from xoff.metrics import MEAN_OF_BINS, OVER_SEEDS, PACKETS, POOLED, Term, bytes_of_packets
from xoff.percentiles import has_samples, permille
from xoff.result import Result
from xoff.student import NORMAL, student_t

Array = NDArray[np.float64]

DRAWS = 1000
# Share of draws that must agree with an outcome: two-sided 95 % intervals.
AGREEMENT = 0.975


@dataclass(frozen=True)
class Sample:
    """A number between `low` and `high`, which differ if it rests on censored flows.

    None: too few samples. `draws` holds both ends of each draw, shape `(2, DRAWS)`; None if the
    number has no known uncertainty (a closed form, or a single run without batches).
    """

    low: float | None
    high: float | None
    draws: Array | None = None

    @property
    def is_censored(self) -> bool:
        """Whether unfinished flows leave the number open."""
        return self.low != self.high

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval, over both ends; None if many draws have no number."""
        if self.draws is None:
            return None
        lows, highs = self.draws[:, ~np.isnan(self.draws).any(axis=0)]
        return interval(lows, highs)

    def scaled(self, factor: float) -> Sample:
        """Return the number times a positive factor."""
        if self.low is None or self.high is None or factor == 1.0:
            return self
        draws = None if self.draws is None else self.draws * factor
        return Sample(self.low * factor, self.high * factor, draws)


MISSING = Sample(None, None)


def interval(
    lows: Sequence[float] | Array, highs: Sequence[float] | Array
) -> tuple[float, float] | None:
    """Return the 95 % interval of the ends of all draws; None if too many draws are missing."""
    if len(lows) < AGREEMENT * DRAWS:
        return None
    outer = (1 - AGREEMENT) * 100
    low = np.percentile(lows, outer, method="lower")
    high = np.percentile(highs, 100 - outer, method="higher")
    return float(low), float(high)


def exact(value: float | None) -> Sample:
    """Return a number without uncertainty."""
    return Sample(value, value)


def of_term(term: Term, runs: Sequence[Result]) -> Sample:
    """Return a term's number over the runs of its case."""
    if not runs:
        return MISSING
    if all(run.has_table("batches") for run in runs) and term.seeds in ("mean", POOLED):
        found = _pooled(term, runs)
        if found is not None:
            return found.scaled(term.scale)
    if term.seeds == POOLED:
        return exact(term.over_seeds(runs))
    return over_seeds([term.read(run) for run in runs], term.seeds)


def over_seeds(values: Sequence[float | None], how: str = "mean") -> Sample:
    """Return one number for the values of several seeds.

    Draws of a mean are spread by as much as Student's t is wider than the normal distribution for
    so few seeds. So those of a positive number may be negative.
    """
    middle = OVER_SEEDS[how](values)
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if middle is None or len(known) < 2 or not np.isfinite(known).all():
        return exact(middle)
    drawn = known[_choices(len(known))]
    if how == "mean":
        count = len(known)
        wider = student_t(count - 1) / NORMAL * math.sqrt(count / (count - 1))
        draws = middle + (drawn.mean(axis=1) - middle) * wider
    else:
        draws = np.array([_or_nan(OVER_SEEDS[how](row.tolist())) for row in drawn])
    return Sample(middle, middle, np.stack([draws, draws]))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _pooled(term: Term, runs: Sequence[Result]) -> Sample | None:
    """Return a statistic of the pooled histograms; None if the term is not one of those."""
    if completions.is_completion(term.path):
        prefix, cls, group, measure = completions.parse(str(term.path))
        found = _statistic(
            _groups(runs, prefix.rstrip("."), cls, group), measure.removesuffix("_us")
        )
        is_mean_of_counts = measure in completions.COUNTS and term.seeds != POOLED
        return found.scaled(1 / len(runs)) if is_mean_of_counts else found
    if term.path is not None or term.cdf is not None:
        return None
    entry = class_entry(runs[0], term.cls)
    if entry is None:
        return MISSING
    cls = str(entry["class"])
    if term.range == MEAN_OF_BINS:
        return _mean_of_bins(term, runs, cls)
    if not isinstance(term.range, str) and PACKETS & term.range.keys():
        if not all(run.has_every_flow for run in runs):
            return None
        parts = [of_sizes(run, cls, *bytes_of_packets(run, term.range)) for run in runs]
        return _statistic(_pool(runs, parts), term.statistic)
    name = term.range
    if not isinstance(name, str):
        index = bin_index(bins(runs[0], cls), name)
        if index is None:
            return MISSING
        name = f"bin{index}"
    return _statistic(_groups(runs, "flows", cls, name), term.statistic)


def _mean_of_bins(term: Term, runs: Sequence[Result], cls: str) -> Sample:
    """Return the mean of a statistic over the size bins that have it."""
    names = [f"bin{index}" for index in range(len(bins(runs[0], cls)))]
    found = [_statistic(_groups(runs, "flows", cls, name), term.statistic) for name in names]
    known = [one for one in found if one.low is not None and one.high is not None]
    if not known:
        return MISSING
    low = float(np.mean([one.low for one in known]))
    high = float(np.mean([one.high for one in known]))
    drawn = [one.draws for one in known if one.draws is not None]
    return Sample(low, high, np.mean(drawn, axis=0) if len(drawn) == len(known) else None)


@dataclass(frozen=True)
class Histograms:
    """Histograms of one group of flows, one per batch of time of every run.

    `values` has the middle of each bucket, shape `(buckets,)`; `finished` and `censored` count
    flows, shape `(batches, buckets)`; `sums` adds up the values of the finished flows and the
    bounds of the censored ones, shape `(batches,)`.
    """

    values: Array
    finished: Array
    censored: Array
    sums: Array


def _groups(runs: Sequence[Result], kind: str, cls: str, group: str) -> Histograms:
    return _pool(runs, [_of_run(run, kind, cls, group) for run in runs])


def _pool(runs: Sequence[Result], parts: Sequence[Mapping[str, Array]]) -> Histograms:
    """Pool histograms, one per run, whose columns are those of `batch_groups`."""
    middles = np.concatenate([part["middle"] for part in parts])
    values, column = np.unique(middles, return_inverse=True)
    offsets = np.cumsum([0, *[run.batch_count for run in runs]])
    row = np.concatenate([part["batch"] + offsets[i] for i, part in enumerate(parts)])
    row = row.astype(np.int64)
    shape = (int(offsets[-1]), len(values))

    def grid(name: str) -> Array:
        found = np.zeros(shape)
        np.add.at(found, (row, column), np.concatenate([part[name] for part in parts]))
        return found

    sums = np.zeros(shape[0])
    for name in ("sum", "censored_sum"):
        np.add.at(sums, row, np.concatenate([part[name] for part in parts]))
    return Histograms(values, grid("finished"), grid("censored"), sums)


def _of_run(run: Result, kind: str, cls: str, group: str) -> dict[str, Array]:
    columns = run.batch_groups.get((kind, cls, group))
    if columns is not None:
        return columns
    names = ("middle", "batch", "finished", "censored", "sum", "censored_sum")
    return {name: np.zeros(0) for name in names}


def _statistic(found: Histograms, name: str) -> Sample:
    total = float(found.finished.sum() + found.censored.sum())
    if name in completions.COUNTS:
        counts = found.censored.sum(axis=1)
        counts = counts + found.finished.sum(axis=1) if name == "count" else counts
        drawn = _weights(len(counts)) @ counts
        return Sample(float(counts.sum()), float(counts.sum()), np.stack([drawn, drawn]))
    rank = None if name == "mean" else permille(name)
    if total == 0 or (rank is not None and not has_samples(total, rank)):
        return MISSING
    everything = np.ones((1, len(found.sums)))
    low, high = (float(x[0]) for x in _ends(found, rank, everything))
    if len(found.sums) < 2:
        return Sample(low, high)
    return Sample(low, high, np.stack(_ends(found, rank, _weights(len(found.sums)))))


def _ends(found: Histograms, share: int | None, weights: Array) -> tuple[Array, Array]:
    """Return both ends of a percentile for every row of weights of the batches.

    `share` is its permille; None for the mean.
    """
    finished = weights @ found.finished
    both = finished + weights @ found.censored
    count = both.sum(axis=1)
    if share is None:
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (weights @ found.sums) / count
        return mean, np.where(both.sum(axis=1) > finished.sum(axis=1), np.inf, mean)
    # Draws of batches without flows have no percentile.
    rank = np.where(count > 0, np.maximum(1.0, np.ceil(count * share / 1000)), np.nan)
    return _at_rank(found.values, both, rank), _at_rank(found.values, finished, rank)


def _at_rank(values: Array, counts: Array, rank: Array) -> Array:
    """Return the value at a rank of each row; infinite beyond the last, NaN without a rank."""
    reached = counts.cumsum(axis=1) >= rank[:, None]
    first = reached.argmax(axis=1)
    beyond = np.where(np.isnan(rank), np.nan, np.inf)
    return np.where(reached.any(axis=1), values[first], beyond)


@lru_cache(maxsize=32)
def _choices(count: int) -> NDArray[np.int64]:
    """Return draws of `count` items with replacement, shape `(DRAWS, count)`."""
    # Only `random` is the same on all platforms.
    stream = np.random.Generator(np.random.PCG64(1))
    return np.floor(stream.random((DRAWS, count)) * count).astype(np.int64)


@lru_cache(maxsize=32)
def _weights(count: int) -> Array:
    """Return how often each item is drawn, shape `(DRAWS, count)`."""
    found = np.zeros((DRAWS, count))
    np.add.at(found, (np.arange(DRAWS)[:, None], _choices(count)), 1.0)
    return found
