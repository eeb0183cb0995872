"""Numbers stated in a paper, from a CSV file of the experiment."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from xoff.computed.found import Found
from xoff.errors import UsageError


def listed(file: Path) -> Found:
    """Read a CSV file with a header; `COLUMN_ratio` is a column's last number over its first.

    Raises `UsageError` if the file is unreadable or not numeric.
    """
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    except OSError as error:
        raise UsageError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
    except (IndexError, TypeError, ValueError):
        raise UsageError(f"{file}: expected a header and rows of numbers") from None
    ratios = {f"{name}_ratio": float(xs[-1] / xs[0]) for name, xs in columns.items() if xs[0]}
    return Found(ratios, columns)
