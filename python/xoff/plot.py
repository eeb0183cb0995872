"""`[[plot]]` of an experiment: its kind and its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from xoff.completions import is_completion
from xoff.errors import UsageError
from xoff.metrics import COMPARISONS
from xoff.strict import Reader, read_term
from xoff.text import suggestion
from xoff.theory import FORMULAS

PLOT_KINDS = (
    "slowdown-by-size",
    "buffer-cdf",
    "watermark-cdf",
    "throughput-cdf",
    "active-flows-cdf",
    "size-cdf",
    "completion-cdf",
    "pause-share",
    "bars",
    "grouped-bars",
    "class-bars",
    "curve",
    "trace",
    "flow-series",
    "series",
    "columns",
    "cdf",
    "dots",
)
# Kinds that accept `relative_to`.
RELATED_KINDS = ("bars", "grouped-bars", "curve")
# Kinds that accept `theory`, a closed form drawn over the curves.
THEORY_KINDS = ("curve", "columns")
# Kinds that accept `whiskers` from the smallest to the largest seed.
SPREAD_KINDS = ("bars", "grouped-bars", "class-bars", "curve")

COLUMNS = ("bytes", "active")
SERIES = (
    *("flows", "allocated_gbps", "carried_gbps", "over_capacity_gbps", "optimal_gbps"),
    *("optimum_share", "error_p50", "error_p90", "error_first", "within"),
)
"""Columns of numerical runs, by time or by iteration."""


@dataclass(frozen=True)
class Theory:
    """A closed form (`theory.FORMULAS`) whose argument `over` is the horizontal axis."""

    name: str
    over: str
    arguments: Mapping[str, float]
    scale: float = 1.0

    def at(self, x: float) -> float:
        """Return the value at `x`."""
        return self.scale * float(FORMULAS[self.name](**{**self.arguments, self.over: x}))


@dataclass(frozen=True)
class Plot:
    """One `[[plot]]`: a kind and its options."""

    kind: str
    title: str | None = None
    cases: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ("mean", "p95", "p99")
    cls: str | None = None
    queues: int | None = None
    term: dict[str, Any] = field(default_factory=dict)
    x_label: str | None = None
    y_label: str | None = None
    log_x: bool = False
    log_y: bool = False
    monitored: bool = False
    column: str = "bytes"
    span_us: float = 200.0
    y_from: float = 0.0
    level: float | None = None
    relative_to: str | None = None
    relation: str = "ratio"
    classes: tuple[str, ...] = ()
    whiskers: bool = False
    over: str = ""
    marks: tuple[float, ...] = ()
    theory: Theory | None = None
    columns: tuple[str, ...] = ()


def read_plot(table: Any, where: str, names: list[str], labels: list[str]) -> Plot:
    """Read a `[[plot]]`, given the names of cases and labels of points. Raises `UsageError`."""
    reader = Reader(table, where)
    cases = reader.strings("cases")
    known = list(dict.fromkeys([*names, *labels]))
    for case in cases:
        # A scale can drop values of a sweep, so `case@value` may have no point here.
        if case not in known and case.rpartition("@")[0] not in names:
            raise UsageError(f"{where}: unknown case `{case}`{suggestion(case, known)}")
    term = read_term(reader)
    cls = term.get("cls")
    kind = reader.choice("kind", PLOT_KINDS)
    plot = Plot(
        kind=kind,
        title=reader.get("title", str),
        cases=tuple(cases),
        statistics=tuple(reader.strings("statistics", ("mean", "p95", "p99"))),
        cls=cls,
        queues=reader.get("queues", int),
        term=term,
        x_label=reader.get("x", str),
        y_label=reader.get("y", str),
        log_x=reader.get("log_x", bool, False),
        log_y=reader.get("log_y", bool, False),
        monitored=reader.get("monitored", bool, False),
        column=_column(reader, kind),
        span_us=reader.number("span_us", 200.0) or 200.0,
        y_from=reader.number("y_from", 0.0) or 0.0,
        level=reader.number("level"),
        relative_to=reader.get("relative_to", str),
        relation=reader.choice("relation", COMPARISONS, "ratio"),
        classes=tuple(reader.strings("classes")),
        whiskers=reader.get("whiskers", bool, False),
        over=reader.need("over", str) if kind == "columns" else "",
        marks=tuple(reader.get("marks", list, []) if kind == "columns" else ()),
        theory=_theory(reader, where) if kind in THEORY_KINDS else None,
        columns=tuple(reader.strings("columns") if kind == "dots" else ()),
    )
    reader.done()
    if kind == "cdf" and "cdf" not in plot.term:
        raise UsageError(f'{where}: kind `cdf` requires `cdf`, e.g. "bfc.sharing_flows"')
    if kind == "completion-cdf" and not is_completion(plot.term.get("cdf")):
        raise UsageError(f'{where}: kind `{kind}` requires `cdf`, e.g. "queries.query.8000"')
    if (plot.kind == "class-bars") != bool(plot.classes):
        raise UsageError(
            f"{where}: `classes` is required by kind `class-bars` and only allowed there"
        )
    if plot.whiskers and (plot.kind not in SPREAD_KINDS or plot.relative_to is not None):
        kinds = ", ".join(SPREAD_KINDS)
        raise UsageError(f"{where}: `whiskers` requires kind {kinds}, without `relative_to`")
    if plot.relative_to is not None and plot.kind not in RELATED_KINDS:
        raise UsageError(f"{where}: `relative_to` requires kind {', '.join(RELATED_KINDS)}")
    if plot.relative_to not in (None, *names):
        hint = suggestion(str(plot.relative_to), names)
        raise UsageError(f"{where}: unknown case `{plot.relative_to}`{hint}")
    return plot


def _column(reader: Reader, kind: str) -> str:
    if kind == "columns":
        return str(reader.need("column", str))
    if kind == "series":
        return reader.choice("column", SERIES, "optimum_share")
    return reader.choice("column", COLUMNS, "bytes")


def _theory(reader: Reader, where: str) -> Theory | None:
    """Read `{ name, over, arguments, scale }`."""
    table = reader.get("theory", dict)
    if table is None:
        return None
    own = Reader(table, f"{where}: theory")
    name = own.choice("name", FORMULAS)
    known = signature(FORMULAS[name]).parameters
    over = own.choice("over", known)
    arguments = Reader(own.get("arguments", dict, {}), f"{where}: {name}")
    given = {key: arguments.number(key) for key in known if key != over}
    arguments.done()
    scale = own.number("scale", 1.0)
    own.done()
    missing = [key for key, value in given.items() if value is None]
    if missing:
        raise UsageError(f"{where}: {name}: `{missing[0]}` is missing")
    return Theory(name, over, {key: value or 0.0 for key, value in given.items()}, scale or 1.0)
