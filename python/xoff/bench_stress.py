"""`xoff bench stress`: every preset on hard shapes, to find costs that grow with a dimension."""

from __future__ import annotations

import fnmatch
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xoff import engine
from xoff.errors import UsageError
from xoff.progress import Line
from xoff.text import fixed, table

# The preset that others are compared with.
BASELINE = "dctcp"

# Seconds after which a case is given up. `dctcp` takes 5 s at most.
LIMIT_S = 60

# What is too slow: time per packet-hop relative to the baseline's, and the exponent with which the
# time of a packet-hop's work grows with a dimension, plus 1.
MOST_RELATIVE = 4.0
MOST_EXPONENT = 1.1


@dataclass
class Row:
    """A preset on a shape: ns of processor time per packet-hop, and why some are missing."""

    preset: str
    shape: str
    ns: dict[int, float] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    baseline: Row | None = None

    def relative(self) -> float | None:
        """Return the largest time relative to the baseline's, over the factors that both ran."""
        base = self.baseline.ns if self.baseline else {}
        found = [ns / base[factor] for factor, ns in self.ns.items() if factor in base]
        return max(found, default=None)

    def exponent(self) -> float | None:
        """Return the exponent with which the whole time grows if packet-hops grow as the factor.

        1 is a constant time per packet-hop. Least squares over logarithms; None with one factor.
        """
        if len(self.ns) < 2:
            return None
        points = [(math.log(factor), math.log(ns)) for factor, ns in self.ns.items()]
        x_mean, y_mean = (sum(column) / len(points) for column in zip(*points, strict=True))
        above = math.fsum((x - x_mean) * (y - y_mean) for x, y in points)
        return 1 + above / math.fsum((x - x_mean) ** 2 for x, _ in points)

    def complaint(self) -> str:
        """Return what is too slow; empty if nothing is."""
        found = [text for text in self.missing.values() if text.startswith("over ")]
        if (self.relative() or 0) > MOST_RELATIVE:
            found.append(f"above {MOST_RELATIVE:.0f} x {BASELINE}")
        if (self.exponent() or 0) > MOST_EXPONENT:
            found.append(f"exponent above {MOST_EXPONENT}")
        return "; ".join(found)

    def as_json(self) -> str:
        """Return the row as a JSON object."""
        found: dict[str, Any] = {"preset": self.preset, "shape": self.shape}
        found["ns_per_packet_hop"], found["missing"] = self.ns, self.missing
        relative, exponent = self.relative(), self.exponent()
        found["relative"] = None if relative is None else round(relative, 3)
        found["exponent"] = None if exponent is None else round(exponent, 3)
        return json.dumps({**found, "too_slow": self.complaint()})


def cases(patterns: Sequence[str]) -> list[tuple[str, str]]:
    """Return shapes and presets whose `PRESET-SHAPE` matches a pattern; all without patterns.

    Raises `UsageError` if a pattern matches nothing.
    """
    shapes, _ = engine.stress_shapes()
    known = [(shape, preset) for shape, _ in shapes for preset, _ in engine.presets()]
    chosen: dict[tuple[str, str], None] = {}
    for pattern in patterns or ["*"]:
        found = [(s, p) for s, p in known if fnmatch.fnmatch(f"{p}-{s}", pattern)]
        if not found:
            words = ", ".join(shape for shape, _ in shapes)
            raise UsageError(
                f"no stress case matches `{pattern}`; a case is PRESET-SHAPE, such as bfc-queue; "
                f"shapes are {words}"
            )
        chosen.update(dict.fromkeys(found))
    return [case for case in known if case in chosen]


def measure(chosen: Sequence[tuple[str, str]], repeat: int) -> Iterator[Row]:
    """Yield a row for each shape and preset, shape by shape. The baseline is measured first."""
    baselines: dict[str, Row] = {}
    line = Line()
    for number, (shape, preset) in enumerate(chosen, start=1):
        line.show(f"stress {preset}-{shape}, {number} of {len(chosen)}")
        if shape not in baselines:
            baselines[shape] = _row(BASELINE, shape, repeat)
        row = baselines[shape] if preset == BASELINE else _row(preset, shape, repeat)
        row.baseline = baselines[shape]
        line.clear()
        yield row


def _row(preset: str, shape: str, repeat: int) -> Row:
    row = Row(preset, shape)
    for factor in engine.stress_shapes()[1]:
        found = _fastest(f"{preset}-{shape}-x{factor}", repeat)
        if isinstance(found, str):
            row.missing[factor] = found
            if found.startswith("over "):
                break  # a larger factor takes even longer
        else:
            row.ns[factor] = found
    return row


def _fastest(case: str, repeat: int) -> float | str:
    """Return the least ns per packet-hop of some runs on one thread, or why there is none.

    It is processor time, which other programs on the machine affect less than wall time.
    """
    command = [sys.executable, "-m", "xoff", "bench", case, "--json", "--threads", "1"]
    fastest = math.inf
    for _ in range(repeat):
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return f"over {LIMIT_S} s"
        if done.returncode == 130:
            raise KeyboardInterrupt
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            first = (said or [f"exit code {done.returncode}"])[0]
            return first.removeprefix("error: ").removeprefix("error: ")
        found = json.loads(done.stdout)
        fastest = min(fastest, found["processor_s"] * 1e9 / found["packet_hops"])
    return fastest


def table_text(rows: Sequence[Row]) -> str:
    """Format the rows as a table, and the reasons for missing figures below it."""
    factors = engine.stress_shapes()[1]
    times = [f"x{factor} (ns)" for factor in factors]
    header = ("shape", "preset", *times, f"of {BASELINE}", "exponent", "too slow")
    grid = [
        [
            row.shape,
            row.preset,
            *(fixed(row.ns.get(factor), 1) for factor in factors),
            fixed(row.relative()),
            fixed(row.exponent()),
            row.complaint(),
        ]
        for row in rows
    ]
    parts = [f"{name}: {dimension}" for name, dimension in engine.stress_shapes()[0]]
    reasons = [
        f"{row.preset}-{row.shape}-x{factor}: {reason}"
        for row in rows
        for factor, reason in row.missing.items()
    ]
    return "\n".join(
        [*parts, "", table(header, grid, left=2), *([""] if reasons else []), *reasons]
    )
