"""`experiment.toml`: the cases of a figure, its scales, its sweeps and its plots.

See `Experiment` for what a file holds. A case is one curve or bar of the figure; with a
sweep it becomes one point a value, labelled `CASE@VALUE`; with seeds each point is run
once a seed and averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff.completions import is_completion
from xoff.errors import UsageError
from xoff.metrics import COMPARISONS
from xoff.strict import Reader, read_term, read_toml
from xoff.text import suggestion

SCALES = ("quick", "paper")
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
)
# What may be shown in relation to a case.
RELATED_KINDS = ("bars", "grouped-bars", "curve")
# What may have whiskers from the least to the largest seed.
SPREAD_KINDS = ("bars", "grouped-bars", "class-bars", "curve")

COLUMNS = ("bytes", "active")
SERIES = (
    *("flows", "allocated_gbps", "carried_gbps", "over_capacity_gbps", "optimal_gbps"),
    *("optimum_share", "error_p50", "error_p90", "error_first", "within"),
)
"""What numerical runs have by time or by iteration."""


@dataclass(frozen=True)
class Sweep:
    """One setting (or several moving together) taken through values.

    `sets` has what else is set at a value, for settings that follow it in their own way. Without
    keys a value is a name for what it sets.
    """

    keys: tuple[str, ...]
    values: tuple[Any, ...]
    sets: Mapping[str, Sequence[str]]

    @staticmethod
    def read(table: Any, where: str, scale: str) -> Sweep:
        """Read `{ key, values, set }`; a list named after a scale replaces `values` there.

        `set` has lists of overrides by value, written as text: of every value if there is no `key`.
        """
        reader = Reader(table, where)
        key = reader.get("key", (str, list), [])
        values = reader.need("values", list)
        sets = Reader(reader.get("set", dict, {}), f"{where}: set")
        bare = [value for value in values if not key and _plain(value) not in sets]
        if bare:
            raise UsageError(f"{where}: no `key`, and `set` has nothing for {_plain(bare[0])!r}")
        at_values = {_plain(value): sets.strings(_plain(value)) for value in values}
        sets.done()
        for name in SCALES:
            thinned = reader.get(name, list)
            if name == scale and thinned is not None:
                values = thinned
        reader.done()
        if not values:
            raise UsageError(f"{where}: the sweep has no values")
        return Sweep(tuple([key] if isinstance(key, str) else key), tuple(values), at_values)

    def overrides(self, value: Any) -> list[str]:
        """Return what is set at a value."""
        plain = _plain(value)
        return [*(f"{key}={plain}" for key in self.keys), *self.sets.get(plain, ())]


@dataclass(frozen=True)
class Point:
    """One run of an experiment, before it is checked."""

    case: str
    value: Any
    seed: int | None
    scenario: Path
    overrides: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name of the case and sweep value; the runs of several seeds share it."""
        return self.case if self.value is None else f"{self.case}@{self.value}"

    @property
    def title(self) -> str:
        """Name of this very run."""
        return self.label if self.seed is None else f"{self.label} seed {self.seed}"


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


@dataclass(frozen=True)
class Column:
    """One `[[column]]` of the experiment's table: a number of each case, over its seeds."""

    title: str
    term: dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """An experiment at one scale.

    Top-level keys of the file: `title`, `source` (where in the paper), `scenario` (file
    beside this one), `set` (overrides of every case), `seeds`, `seed_key` (default `seed`),
    `sweep`, and the tables `[scale.quick]`, `[scale.paper]` (`set`, `seeds`), `[[case]]`,
    `[[plot]]`, `[[column]]`. With columns the table has these numbers in place of slowdowns.
    Overrides apply in the order file, scale, case, sweep, seed. A case with `scales` is left out
    at the scales that it does not name.
    """

    name: str
    scale: str
    title: str
    source: str
    points: tuple[Point, ...]
    plots: tuple[Plot, ...]
    columns: tuple[Column, ...] = ()


def load_experiment(folder: Path, name: str, scale: str) -> Experiment:
    """Read the experiment in `folder` at a scale. Raises `UsageError`."""
    file = folder / "experiment.toml"
    top = Reader(read_toml(file), str(file))
    scales = Reader(top.get("scale", dict, {}), f"{file}: [scale]")
    chosen: dict[str, Any] = {}
    for known in SCALES:
        found = scales.get(known, dict, {})
        chosen = found if known == scale else chosen
    scales.done()
    at_scale = Reader(chosen, f"{file}: [scale.{scale}]")
    shared = _Shared(
        file=file,
        scale=scale,
        scenario=top.need("scenario", str),
        seed_key=top.get("seed_key", str, "seed"),
        seeds=at_scale.get("seeds", list, top.get("seeds", list)),
        forced_seeds="seeds" in at_scale,
        overrides=[*top.strings("set"), *at_scale.strings("set")],
        sweep=top.get("sweep", dict),
    )
    at_scale.done()
    cases = top.need("case", list)
    names = [Reader(t, f"{file}: case {i}").need("name", str) for i, t in enumerate(cases, 1)]
    points = [p for i, table in enumerate(cases, 1) for p in _case_points(table, i, shared)]
    _refuse_twins(names, file)
    _refuse_twins((point.title for point in points), file)
    plots = top.get("plot", list, [])
    columns = top.get("column", list, [])
    title, source = top.need("title", str), top.get("source", str, "")
    top.done()
    read = tuple(
        _plot(table, f"{file}: plot {i}", names, points) for i, table in enumerate(plots, 1)
    )
    shown = tuple(_column(table, f"{file}: column {i}") for i, table in enumerate(columns, 1))
    return Experiment(name, scale, title, source, tuple(points), read, shown)


def _column(table: Any, where: str) -> Column:
    reader = Reader(table, where)
    column = Column(reader.need("title", str), read_term(reader))
    reader.done()
    return column


@dataclass(frozen=True)
class _Shared:
    """What every case of the file falls back to."""

    file: Path
    scale: str
    scenario: str
    seed_key: str
    seeds: list[int] | None
    forced_seeds: bool
    overrides: list[str]
    sweep: dict[str, Any] | None


def _case_points(table: Any, number: int, shared: _Shared) -> list[Point]:
    where = f"{shared.file}: case {number}"
    case = Reader(table, where)
    name = case.need("name", str)
    if "@" in name:
        raise UsageError(f"{where}: `@` in a name is kept for sweep values")
    own_seeds = case.get("seeds", list, shared.seeds)
    seeds = shared.seeds if shared.forced_seeds else own_seeds
    scenario = shared.file.parent / case.get("scenario", str, shared.scenario)
    sets = [*shared.overrides, *case.strings("set")]
    sets += case.strings(shared.scale)
    table = case.get("sweep", dict, shared.sweep)
    sweep = Sweep.read(table, f"{where}: sweep", shared.scale) if table else None
    for other in SCALES:
        case.strings(other)
    at_scales = case.strings("scales", SCALES)
    unknown = [scale for scale in at_scales if scale not in SCALES]
    if unknown:
        raise UsageError(f"{where}: no scale `{unknown[0]}`{suggestion(unknown[0], SCALES)}")
    case.done()
    if not scenario.is_file():
        raise UsageError(f"{where}: there is no scenario {scenario}")
    if shared.scale not in at_scales:
        return []
    return [
        Point(name, value, seed, scenario, (*sets, *moved, *_seed(shared.seed_key, seed)))
        for value, moved in _moves(sweep)
        for seed in (seeds or [None])
    ]


def _moves(sweep: Sweep | None) -> list[tuple[Any, list[str]]]:
    if sweep is None:
        return [(None, [])]
    return [(value, sweep.overrides(value)) for value in sweep.values]


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seed(key: str, seed: int | None) -> list[str]:
    return [] if seed is None else [f"{key}={seed}"]


def _refuse_twins(names: Iterable[str], file: Path) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise UsageError(f"{file}: two cases are named `{name}`")
        seen.add(name)


def _plot(table: Any, where: str, names: list[str], points: list[Point]) -> Plot:
    reader = Reader(table, where)
    cases = reader.strings("cases")
    known = list(dict.fromkeys([*names, *(point.label for point in points)]))
    for case in cases:
        # A sweep's values may be thinned at this scale: `case@value` is then left out.
        if case not in known and case.rpartition("@")[0] not in names:
            raise UsageError(f"{where}: no case `{case}`{suggestion(case, known)}")
    term = read_term(reader)
    cls = term.get("cls")
    kind = reader.choice("kind", PLOT_KINDS)
    columns, usual = (SERIES, "optimum_share") if kind == "series" else (COLUMNS, "bytes")
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
        column=reader.choice("column", columns, usual),
        span_us=reader.number("span_us", 200.0) or 200.0,
        y_from=reader.number("y_from", 0.0) or 0.0,
        level=reader.number("level"),
        relative_to=reader.get("relative_to", str),
        relation=reader.choice("relation", COMPARISONS, "ratio"),
        classes=tuple(reader.strings("classes")),
        whiskers=reader.get("whiskers", bool, False),
    )
    reader.done()
    if kind == "completion-cdf" and not is_completion(plot.term.get("cdf")):
        raise UsageError(f'{where}: `{kind}` wants a `cdf` such as "queries.query.8000"')
    if (plot.kind == "class-bars") != bool(plot.classes):
        raise UsageError(f"{where}: `classes` goes with class-bars, which wants them")
    if plot.whiskers and (plot.kind not in SPREAD_KINDS or plot.relative_to is not None):
        kinds = ", ".join(SPREAD_KINDS)
        raise UsageError(f"{where}: `whiskers` goes with {kinds}, without `relative_to`")
    if plot.relative_to is not None and plot.kind not in RELATED_KINDS:
        raise UsageError(f"{where}: `relative_to` goes with {', '.join(RELATED_KINDS)}")
    if plot.relative_to not in (None, *names):
        hint = suggestion(str(plot.relative_to), names)
        raise UsageError(f"{where}: no case `{plot.relative_to}`{hint}")
    return plot
