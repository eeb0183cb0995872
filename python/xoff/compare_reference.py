"""`xoff compare-reference`: runs cases of a reference simulator and compares every flow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xoff import api, reference
from xoff.errors import ScenarioError, UsageError
from xoff.reference import Comparison
from xoff.text import table

CONFIG, ANSWER = "config.txt", "fct.txt"

SIMULATOR = "HPCC simulator"

HEADER = (
    "case",
    "transport",
    "flows",
    "matched",
    "exact",
    "median",
    "p90",
    "p99",
    "max",
    "mean FCT",
)


class Case(NamedTuple):
    """A case that was run."""

    name: str
    transport: str
    flows: int
    """Flows in the reference's answer."""
    compared: list[Comparison]
    note: str
    """How the order of next hops was chosen, if only the answer tells, or why it was refused."""

    def errors(self) -> list[float]:
        """The absolute relative error of each matched flow's completion time, ascending."""
        return sorted(abs(flow.error) for flow in self.compared)

    def exact(self) -> int:
        """Number of flows that end at the same picosecond."""
        return sum(flow.fct_ps == flow.reference_fct_ps for flow in self.compared)

    def within(self, tolerance: float) -> bool:
        """Whether all flows matched, each with an error of at most `tolerance`."""
        errors = self.errors()
        return len(errors) == self.flows > 0 and errors[-1] <= tolerance

    def figures(self) -> dict[str, Any]:
        """The row of the case; errors are shares, None without a matched flow."""
        errors = self.errors()
        ours = sum(flow.fct_ps for flow in self.compared)
        theirs = sum(flow.reference_fct_ps for flow in self.compared)
        return {
            "case": self.name,
            "reference": SIMULATOR,
            "transport": self.transport,
            "flows": self.flows,
            "matched": len(errors),
            "exact": self.exact(),
            "error_median": _quantile(errors, 0.5),
            "error_p90": _quantile(errors, 0.9),
            "error_p99": _quantile(errors, 0.99),
            "error_max": _quantile(errors, 1.0),
            "mean_fct_error": ours / theirs - 1 if theirs else None,
            "note": self.note,
        }


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of the values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def folders(place: Path) -> list[Path]:
    """Return the cases of a folder: itself, or its sub-folders with a configuration and an answer.

    Raises `UsageError` if there is none.
    """
    found = [
        folder
        for folder in (place, *sorted(place.glob("*/")))
        if all((folder / name).is_file() for name in (CONFIG, ANSWER))
    ]
    if not found:
        raise UsageError(
            f"{place} has no case: neither the folder nor a folder in it has both "
            f"{CONFIG} and {ANSWER} (a case of the {SIMULATOR}, and its answer)"
        )
    return found


def run(place: Path, out: Path, threads: int | None = None) -> Iterator[Case]:
    """Run the cases of a folder one by one, each into a run directory in `out`.

    A case that is refused has no matched flow, and its note says why. Raises `UsageError` if there
    is no case, `RunError` if a run fails or an answer cannot be read.
    """
    for folder in folders(place):
        yield _compare(folder, out / folder.resolve().name, threads)


def _compare(folder: Path, out: Path, threads: int | None) -> Case:
    try:
        case = _run(folder, out, threads, [])
    except ScenarioError as refusal:
        flows = len(reference.read_fct(folder / ANSWER))
        return Case(folder.resolve().name, "-", flows, [], f"refused: {refusal}")
    if case.within(0):
        return case
    # The simulator lists next hops by memory address; its answer says which way, whatever recorded
    # paths say.
    both = {
        order: _run(folder, out.with_name(f"{out.name}-{order}"), threads, [f"next_hops={order}"])
        for order in ("ascending", "descending")
    }
    order = max(both, key=lambda order: both[order].exact())
    if len({each.exact() for each in both.values()}) == 1:
        return case
    return both[order]._replace(
        note=f"next hops {order}: more flows are exact than in the other order"
    )


def _run(folder: Path, out: Path, threads: int | None, overrides: list[str]) -> Case:
    result = api.run(folder / CONFIG, out, overrides, threads=threads)
    compared = reference.compare(folder / ANSWER, result)
    flows = len(reference.read_fct(folder / ANSWER))
    return Case(folder.resolve().name, str(result.summary["scheme"]), flows, compared, "")


def table_text(cases: Sequence[Case]) -> str:
    """Format the rows as a table; errors in percent."""
    return table(HEADER, [_row(case.figures()) for case in cases])


def _row(figures: dict[str, Any]) -> list[str]:
    counts = [f"{figures[key]:,}" for key in ("flows", "matched", "exact")]
    keys = ("error_median", "error_p90", "error_p99", "error_max", "mean_fct_error")
    return [figures["case"], figures["transport"], *counts, *(_percent(figures[k]) for k in keys)]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.4f} %"
