"""Histograms of slowdowns and completion times per batch of time: the table `batches`, or rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from xoff import rows
from xoff.lookup import bins, bins_within_reach

if TYPE_CHECKING:
    import pyarrow as pa

    from xoff.result import Result

Array = NDArray[np.float64]
# Resolution of the values.
STEP = 0.001
# Values keep as many bits below the leading one as those of the table.
MANTISSA_BITS = 8
Group = tuple[str, str, str]

COLUMNS = ("batch", "finished", "censored", "sum", "censored_sum")


def by_group(table: pa.Table) -> dict[Group, dict[str, Array]]:
    """Split the table into its groups: (kind, class name, group) to columns.

    `middle` is the middle of each row's bucket, shape `(rows,)` like the other columns.
    """
    columns = {name: table[name].to_numpy().astype(np.float64) for name in COLUMNS}
    columns["middle"] = _middle(table["low"].to_numpy(), table["high"].to_numpy())
    keys = [table[name].to_pylist() for name in ("kind", "class", "group")]
    places: dict[Group, list[int]] = {}
    for row, key in enumerate(zip(*keys, strict=True)):
        places.setdefault(key, []).append(row)
    return {
        key: {name: column[own] for name, column in columns.items()} for key, own in places.items()
    }


def of_sizes(result: Result, cls: str, low_bytes: float, high_bytes: float) -> dict[str, Array]:
    """Return a histogram of the slowdowns of flows of more than `low_bytes`, up to `high_bytes`.

    Finished flows are rows of `flows`, in the buckets that the table would have. Rows of unfinished
    flows do not exist: those of all size bins that overlap the range count. If a bin is not wholly
    within the range, its unfinished flows may be outside; zero bounds them.
    """
    table, summary = result.flows, result.summary
    own = rows.of_sizes(result, cls, low_bytes, high_bytes)
    values = table["slowdown"].to_numpy()[own]
    # A flow of a job may begin outside the measured time; it counts for the nearest batch.
    warmup, count = np.uint64(summary["warmup_ps"]), np.uint64(result.batch_count)
    since = np.maximum(table["start_ps"].to_numpy()[own], warmup) - warmup
    batch = np.minimum(since * count // np.uint64(summary["measured_ps"]), count - np.uint64(1))
    ones = np.ones(len(values))
    parts = [
        {
            "batch": batch.astype(np.float64),
            "middle": _middles(values),
            "finished": ones,
            "sum": values,
            "censored": 0 * ones,
            "censored_sum": 0 * ones,
        }
    ]
    for index, one in bins_within_reach(bins(result, cls), low_bytes, high_bytes):
        low, high = one.get("low_bytes") or 0, one.get("high_bytes") or np.inf
        group = result.batch_groups.get(("flows", cls, f"bin{index}"))
        if group is not None:
            begins_within = low > low_bytes or low == 0 == low_bytes
            within = begins_within and high <= high_bytes + 1
            parts.append(_unfinished(group, 1.0 if within else 0.0))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _middles(values: Array) -> Array:
    """Return the middle of each value's bucket."""
    thousandths = np.rint(values / STEP)
    width = np.exp2(np.maximum(0, np.frexp(thousandths)[1] - MANTISSA_BITS - 1))
    low = np.floor(thousandths / width) * width
    return _middle(low / 1000, (low + width) / 1000)


def _middle(low: Array, high: Array) -> Array:
    """Return the middle of buckets. Values are whole thousandths, `high` is the first beyond."""
    middle: Array = (low + high - STEP) / 2
    return middle


def _unfinished(group: dict[str, Array], scale: float) -> dict[str, Array]:
    """Return the unfinished flows of a group, with their bounds times `scale`."""
    own = group["censored"] > 0
    left = {name: column[own] for name, column in group.items()}
    bounds = {name: left[name] * scale for name in ("middle", "censored_sum")}
    return {**left, **bounds, "finished": 0 * left["finished"], "sum": 0 * left["sum"]}
