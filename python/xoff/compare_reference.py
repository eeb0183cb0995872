"""`xoff compare-reference`: runs cases of reference simulators and compares every flow.

A case is a folder in one of two forms: the HPCC simulator's (`config.txt` with its answer,
`fct.txt`), or CSV files (`flows.csv`, `fct.csv`, `params.json`; see `xoff.csv_case`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xoff import api, csv_case, reference
from xoff.errors import RunError, ScenarioError, UsageError, writing
from xoff.reference import Comparison
from xoff.result import Result
from xoff.text import table

CONFIG, ANSWER = "config.txt", "fct.txt"

SIMULATOR = "HPCC simulator"

NANOSECOND_PS = 1000

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
    reference: str
    """The simulator that gave the answer."""
    transport: str
    flows: int
    """Flows in the reference's answer."""
    compared: list[Comparison]
    note: str
    """How the order of next hops was chosen, if only the answer tells, or why it was refused."""
    noise: tuple[float, ...] = ()
    """The absolute relative error of each flow of the reference's other seeds, ascending."""

    def errors(self) -> list[float]:
        """The absolute relative error of each matched flow's completion time, ascending."""
        return sorted(abs(flow.error) for flow in self.compared)

    def exact(self) -> int:
        """Number of flows that end at the same nanosecond."""
        off = (abs(flow.fct_ps - flow.reference_fct_ps) for flow in self.compared)
        return sum(difference < NANOSECOND_PS for difference in off)

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
            "reference": self.reference,
            "transport": self.transport,
            "flows": self.flows,
            "matched": len(errors),
            "exact": self.exact(),
            "error_median": _quantile(errors, 0.5),
            "error_p90": _quantile(errors, 0.9),
            "error_p99": _quantile(errors, 0.99),
            "error_max": _quantile(errors, 1.0),
            "mean_fct_error": ours / theirs - 1 if theirs else None,
            "noise_median": _quantile(self.noise, 0.5),
            "noise_p99": _quantile(self.noise, 0.99),
            "note": self.note,
        }


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` of the values do not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def folders(place: Path) -> list[Path]:
    """Return the cases of a folder: itself, or its sub-folders that hold a case.

    Raises `UsageError` if there is none.
    """
    found = [
        folder
        for folder in (place, *sorted(place.glob("*/")))
        if _is_hpcc(folder) or csv_case.is_case(folder)
    ]
    if not found:
        archives = sorted(one.name for one in place.glob("*.tar*"))
        packed = f"; unpack {archives[0]} first" if archives else ""
        csv_files = f"{csv_case.FLOWS}, {csv_case.ANSWER} and {csv_case.PARAMETERS}"
        raise UsageError(
            f"{place} has no case: neither the folder nor a folder in it has both "
            f"{CONFIG} and {ANSWER} (a case of the {SIMULATOR}, and its answer) or {csv_files}"
            f"{packed}"
        )
    return found


def _is_hpcc(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (CONFIG, ANSWER))


def run(place: Path, out: Path, threads: int | None = None) -> Iterator[Case]:
    """Run the cases of a folder one by one, each into a run directory in `out`.

    A case that is refused has no matched flow, and its note says why. Raises `UsageError` if there
    is no case, `RunError` if a run fails or an answer cannot be read.
    """
    for folder in folders(place):
        compare = _compare if _is_hpcc(folder) else _compare_csv
        yield compare(folder, out / folder.resolve().name, threads)


def _compare_csv(folder: Path, out: Path, threads: int | None) -> Case:
    case = csv_case.read(folder)
    name, flows = folder.resolve().name, len(case.flows)
    noise = sorted(
        abs(other / first - 1)
        for seed in case.seeds
        for other, first in zip(seed, case.fct_ps, strict=True)
    )
    answer = Case(name, case.simulator, case.transport, flows, [], "", tuple(noise))
    file = out.with_name(f"{name}.flows.csv")
    try:
        with writing(file, UsageError):
            out.parent.mkdir(parents=True, exist_ok=True)
            scenario = csv_case.scenario(case, folder, file)
    except RunError as refusal:
        return answer._replace(note=f"refused: {refusal}")
    try:
        result = api.run(scenario, out, progress=False, threads=threads)
    except ScenarioError as refusal:
        return answer._replace(note=f"refused: {refusal}")
    return answer._replace(compared=_matched(case, result))


def _matched(case: csv_case.CsvCase, result: Result) -> list[Comparison]:
    """Compare the flows that finished, in the order of the rows of the case."""
    rows = csv_case.rows_by_flow(case)
    columns = result.flows.select(["flow", "fct_ps"]).to_pydict()
    finished = {
        rows[flow]: fct
        for flow, fct in zip(columns["flow"], columns["fct_ps"], strict=True)
        if fct is not None
    }
    return [
        Comparison(row, *flow, finished[row], theirs)
        for row, (flow, theirs) in enumerate(zip(case.flows, case.fct_ps, strict=True))
        if row in finished
    ]


def _compare(folder: Path, out: Path, threads: int | None) -> Case:
    try:
        case = _run(folder, out, threads, [])
    except ScenarioError as refusal:
        flows = len(reference.read_fct(folder / ANSWER))
        return Case(folder.resolve().name, SIMULATOR, "-", flows, [], f"refused: {refusal}")
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
    result = api.run(folder / CONFIG, out, overrides, progress=False, threads=threads)
    compared = reference.compare(folder / ANSWER, result)
    flows = len(reference.read_fct(folder / ANSWER))
    transport = str(result.summary["scheme"])
    return Case(folder.resolve().name, SIMULATOR, transport, flows, compared, "")


def table_text(cases: Sequence[Case]) -> str:
    """Format the rows as a table; errors in percent."""
    return table(HEADER, [_row(case.figures()) for case in cases])


def _row(figures: dict[str, Any]) -> list[str]:
    counts = [f"{figures[key]:,}" for key in ("flows", "matched", "exact")]
    keys = ("error_median", "error_p90", "error_p99", "error_max", "mean_fct_error")
    return [figures["case"], figures["transport"], *counts, *(_percent(figures[k]) for k in keys)]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.4f} %"
