"""Flow-by-flow comparison with the `fct.txt` of an HPCC ns-3 case.

Such a case can hold the results of the reference simulator next to its `config.txt`. A run of the
case then prints the distribution of the errors of its flow completion times.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xoff.errors import RunError
from xoff.manifest import REFERENCE
from xoff.result import Result

Key = tuple[int, int, int]
"""Source, destination, and index of the flow among the flows of that pair."""

FIRST_PORT = 10_000


def read_fct(file: Path) -> dict[Key, tuple[int, int]]:
    """Read `fct.txt`: (source, destination, index) to (size in bytes, FCT in ns).

    Raises `RunError` with the number of a malformed line.
    """
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            src, dst, port, _, size, _, fct, *_ = line.split()
            key = (_host(src), _host(dst), int(port) - FIRST_PORT)
            found[key] = (int(size), int(fct))
        except ValueError:
            raise RunError(
                f"{file}:{number}: expected `src dst sport dport size start fct standalone_fct`, "
                f"found {line!r}"
            ) from None
    return found


def _host(address: str) -> int:
    return (int(address, 16) >> 8) & 0xFFFF


class Comparison(NamedTuple):
    """A flow that finished in both simulators."""

    flow: int
    src: int
    dst: int
    size_bytes: int
    start_ps: int
    fct_ps: int
    reference_fct_ps: int

    @property
    def error(self) -> float:
        """Relative error of the FCT."""
        return self.fct_ps / self.reference_fct_ps - 1


def compare(file: Path, result: Result) -> list[Comparison]:
    """Compare the flows that finished in both simulators, in the order of their ids.

    Raises `RunError` if `file` is malformed.
    """
    theirs = read_fct(file)
    columns = ["flow", "src", "dst", "size_bytes", "start_ps", "fct_ps"]
    flows = result.flows.select(columns).to_pydict()
    rows = sorted(zip(*flows.values(), strict=True))
    keys = _keys(file, rows, result)
    compared = []
    for row in rows:
        key = keys[row[0]]
        if key in theirs:
            compared.append(Comparison._make((*row, theirs[key][1] * 1000)))
    return compared


def _keys(file: Path, rows: Sequence[tuple[int, ...]], result: Result) -> dict[int, Key]:
    """Return the key of each flow. A flow's id is its arrival index."""
    pairs = {row[0]: (row[1], row[2]) for row in rows}
    if result.summary["flows_finished"] < result.summary["flows_started"]:
        # Flows that did not finish count among those of their pairs too.
        pairs |= enumerate(_listed(file.parent))
    seen: dict[tuple[int, int], int] = defaultdict(int)
    keys = {}
    for flow, pair in sorted(pairs.items()):
        keys[flow] = (*pair, seen[pair])
        seen[pair] += 1
    return keys


def _listed(folder: Path) -> list[tuple[int, int]]:
    """Return source and destination of each flow that a case lists."""
    config = (folder / "config.txt").read_text(encoding="utf-8").splitlines()
    # The last of several lines counts.
    names = [
        words[1] for words in map(str.split, config) if words[:1] == ["FLOW_FILE"] and words[1:]
    ]
    if not names:
        raise RunError(f"{folder / 'config.txt'}: FLOW_FILE is missing")
    file = folder / names[-1]
    lines = (file if file.is_file() else Path(names[-1])).read_text(encoding="utf-8").split()
    ends = zip(lines[1::6], lines[2::6], strict=False)
    try:
        return [(int(src), int(dst)) for src, dst in ends][: int(lines[0])]
    except (IndexError, ValueError):
        raise RunError(f"{file}: expected the number of flows, then six words per flow") from None


def report(scenario: Path, result: Result) -> str:
    """Return the distribution of the errors as text; empty without a reference for `scenario`.

    Writes the error of each flow to `reference.csv` in the run directory.
    """
    file = scenario.parent / "fct.txt"
    if scenario.name != "config.txt" or not file.is_file():
        return ""
    compared = compare(file, result)
    if result.files is not None:
        result.files.add(REFERENCE, as_csv(compared))
    import numpy as np  # most runs have no reference, and numpy takes longer than a short run

    found: Any = np.abs(np.array([flow.error for flow in compared]))
    if not len(found):
        return f"\nno flow in common with {file}\n"
    spread = "  ".join(
        f"{name} {100 * np.quantile(found, q):.2f} %"
        for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
    )
    flows = len(read_fct(file))
    return f"\nFCT error against {file} ({len(found)} of {flows} flows): {spread}\n"


def as_csv(compared: list[Comparison]) -> str:
    """Return one CSV line per flow: both FCTs (ps) and the relative error."""
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow((*Comparison._fields, "error"))
    rows.writerows((*flow, f"{flow.error:.9f}") for flow in compared)
    return stream.getvalue()
