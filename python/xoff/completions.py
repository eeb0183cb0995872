"""Completion times of queries and web requests: from one run's summary or several runs' rows.

A number is named `CLASS.GROUP.MEASURE`, such as `query.8000.p99_us`. A group of queries is `all`,
the response's bytes (`8000`), a priority (`priority0`) or both (`8000-priority0`). A group of web
requests is `all` or the number of queries per request (`10`). Unfinished ones count as infinite.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xoff.errors import UsageError
from xoff.percentiles import has_samples, permille
from xoff.result import Result
from xoff.tables import of_class

QUERIES, REQUESTS = "queries.", "requests."
PREFIXES = (QUERIES, REQUESTS)
COUNTS = ("count", "unfinished")
MEASURES = (*COUNTS, "mean_us", "p50_us", "p95_us", "p99_us")
PS_PER_US = 1e6

_GROUPS = {QUERIES: r"all|\d+|priority\d|\d+-priority\d", REQUESTS: r"all|\d+"}

Array = np.ndarray[Any, np.dtype[np.float64]]


def is_completion(what: str | None) -> bool:
    """Return whether a path or CDF name refers to completion times."""
    return what is not None and what.startswith(PREFIXES)


def parse(path: str, measured: bool = True) -> tuple[str, str, str, str]:
    """Split a path into prefix, class, group and measure (empty if not `measured`).

    Raises `UsageError` if it is malformed.
    """
    prefix = next(one for one in PREFIXES if path.startswith(one))
    parts = path.removeprefix(prefix).rsplit(".", 2 if measured else 1)
    if len(parts) == 2 + measured and re.fullmatch(_GROUPS[prefix], parts[1]):
        measure = parts[2] if measured else ""
        if measure in MEASURES or not measured:
            return prefix, parts[0], parts[1], measure
    wanted = f"{prefix}CLASS.GROUP" + (".MEASURE" if measured else "")
    raise UsageError(
        f"`{path}`: expected {wanted}, such as {prefix}query.all{'.p99_us' if measured else ''}; "
        f"measures are {', '.join(MEASURES)}"
    )


def _group(result: Result, prefix: str, cls: str, group: str) -> dict[str, Any] | None:
    summary: Mapping[str, Any] = result.summary
    found = ((summary.get(prefix[:-1]) or {}).get(cls) or {}).get(group)
    return found if isinstance(found, dict) else None


def _permille(measure: str) -> int:
    return permille(measure.removesuffix("_us"))


def read(result: Result, path: str) -> float | None:
    """Read a number (times in us) from a run's summary; None if there are too few samples."""
    prefix, cls, name, measure = parse(path)
    group = _group(result, prefix, cls, name)
    if group is None:
        return None
    if group[measure] is not None:
        return float(group[measure])
    if not group["unfinished"]:
        return None
    enough = measure == "mean_us" or has_samples(group["count"], _permille(measure))
    return math.inf if enough else None


def times(result: Result, prefix: str, cls: str, group: str) -> Array:
    """Return the sorted completion times (us) of the finished queries or requests of a run.

    Raises `UsageError` if not all of them have a row.
    """
    entry = _group(result, prefix, cls, group)
    ended = entry["count"] - entry["unfinished"] if entry else 0
    if ended == 0:
        return np.zeros(0)
    table = result.queries if prefix == QUERIES else result.requests
    own = of_class(table, cls)
    size, _, priority = group.rpartition("-") if "-" in group else (group, "", "")
    if size.isdigit():
        own &= table["size_bytes" if prefix == QUERIES else "queries"].to_numpy() == int(size)
    for part in (size, priority):
        if part.startswith("priority"):
            own &= table["priority"].to_numpy() == int(part.removeprefix("priority"))
    found: Array = np.sort(table["completion_ps"].to_numpy()[own]) / PS_PER_US
    if len(found) != ended:
        raise UsageError(
            f'{prefix}{cls}.{group}: the run did not record all rows; set run.flows = "all"'
        )
    return found


def _all_times(results: Sequence[Result], prefix: str, cls: str, group: str) -> tuple[Array, int]:
    """Return the sorted times of all finished ones, and the count including unfinished ones."""
    parts = [times(result, prefix, cls, group) for result in results]
    entries = [_group(result, prefix, cls, group) or {"count": 0} for result in results]
    return np.sort(np.concatenate([np.zeros(0), *parts])), sum(one["count"] for one in entries)


def pooled(results: Sequence[Result], path: str) -> float | None:
    """Read a number over the pooled rows of all runs; None if there are too few."""
    prefix, cls, group, measure = parse(path)
    found, count = _all_times(results, prefix, cls, group)
    if measure == "count":
        return float(count)
    if measure == "unfinished":
        return float(count - len(found))
    if count == 0:
        return None
    if measure == "mean_us":
        return float(found.mean()) if len(found) == count else math.inf
    share = _permille(measure)
    if not has_samples(count, share):
        return None
    rank = max(1, math.ceil(count * share / 1000))
    return float(found[rank - 1]) if rank <= len(found) else math.inf


def cdf(results: Sequence[Result], path: str) -> list[tuple[float, float]]:
    """Return the step CDF of completion times (us), pooled over runs.

    It ends below 1 if some queries or requests did not finish.
    """
    prefix, cls, group, _ = parse(path, measured=False)
    found, count = _all_times(results, prefix, cls, group)
    points, counts = np.unique(found, return_counts=True)
    shares = np.cumsum(counts) / max(1, count)
    return [(float(x), float(share)) for x, share in zip(points, shares, strict=True)]
