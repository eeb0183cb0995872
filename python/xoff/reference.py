"""Comparison, flow by flow, with the `fct.txt` of an HPCC ns-3 case.

Such a case keeps the reference simulator's answer beside its `config.txt`; after a run of
it the error of every flow completion time is known and its spread is printed.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from xoff.errors import RunError
from xoff.result import Result

Key = tuple[int, int, int]
"""Source, destination, and the flow's place among the flows of that pair."""

FIRST_PORT = 10_000


def read_fct(file: Path) -> dict[Key, tuple[int, int]]:
    """Read `fct.txt`: (source, destination, place) to (size in bytes, FCT in ns).

    Raises `RunError` naming the line that cannot be read.
    """
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            src, dst, port, _, size, _, fct, *_ = line.split()
            key = (_host(src), _host(dst), int(port) - FIRST_PORT)
            found[key] = (int(size), int(fct))
        except ValueError:
            raise RunError(f"{file}:{number}: not a line of a flow: {line!r}") from None
    return found


def _host(address: str) -> int:
    return (int(address, 16) >> 8) & 0xFFFF


def errors(file: Path, result: Result) -> dict[int, float]:
    """Return the relative FCT error of each flow by id, against the reference in `file`.

    A flow that finished here but not there, or the other way, is not in it.
    """
    theirs = read_fct(file)
    flows = result.flows.select(["flow", "src", "dst", "fct_ps"]).to_pydict()
    seen: dict[tuple[int, int], int] = defaultdict(int)
    compared: dict[int, float] = {}
    # A flow's id is its arrival index, so by id the flows of a pair are in their order.
    for flow, src, dst, fct in sorted(zip(*flows.values(), strict=True)):
        key = (src, dst, seen[src, dst])
        seen[src, dst] += 1
        if key in theirs:
            compared[flow] = fct / (theirs[key][1] * 1000) - 1
    return compared


def report(scenario: Path, result: Result) -> str:
    """Return the comparison as text; empty where there is no reference beside `scenario`."""
    file = scenario.parent / "fct.txt"
    if scenario.name != "config.txt" or not file.is_file():
        return ""
    found: Any = np.abs(np.array(list(errors(file, result).values())))
    if not len(found):
        return f"\nno flow in common with {file}\n"
    spread = "  ".join(
        f"{name} {100 * np.quantile(found, q):.2f} %"
        for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
    )
    flows = len(read_fct(file))
    return f"\nFCT error against {file} ({len(found)} of {flows} flows): {spread}\n"
