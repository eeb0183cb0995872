"""The table `batches`: histograms of slowdowns and completion times per batch of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
# Resolution of the values.
STEP = 0.001
Group = tuple[str, str, str]

COLUMNS = ("batch", "finished", "censored", "sum", "censored_sum")


def by_group(table: pa.Table, classes: Sequence[str]) -> dict[Group, dict[str, Array]]:
    """Split the table into its groups: (kind, class name, group) to columns.

    `middle` is the middle of each row's bucket, shape `(rows,)` like the other columns.
    """
    columns = {name: table[name].to_numpy().astype(np.float64) for name in COLUMNS}
    # Values are whole thousandths, and `high` is the first beyond the bucket.
    columns["middle"] = (table["low"].to_numpy() + table["high"].to_numpy() - STEP) / 2
    keys = [table[name].to_pylist() for name in ("kind", "class", "group")]
    rows: dict[tuple[str, int, str], list[int]] = {}
    for row, key in enumerate(zip(*keys, strict=True)):
        rows.setdefault(key, []).append(row)
    return {
        (kind, classes[cls], group): {name: column[own] for name, column in columns.items()}
        for (kind, cls, group), own in rows.items()
    }
