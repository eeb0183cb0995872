"""`experiment.toml`: the cases of a figure, its scales, sweeps and plots.

`Experiment` describes the file. A case is one curve or bar of the figure. A sweep turns it into
one point per value, labelled `CASE@VALUE`; each point runs once per seed, and the runs are
averaged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xoff import derived
from xoff.computed import COMPUTATIONS
from xoff.errors import UsageError
from xoff.metrics import COMPARISONS
from xoff.plot import Plot, read_plot
from xoff.strict import Reader, read_term, refuse_twins
from xoff.text import suggestion

SCALES = ("quick", "paper")


@dataclass(frozen=True)
class Sweep:
    """Values of one setting, or of several settings that change together.

    `sets` holds further overrides per value. Without keys, a value is only a name for its
    overrides.
    """

    keys: tuple[str, ...]
    values: tuple[Any, ...]
    sets: Mapping[str, Sequence[str]]

    @staticmethod
    def read(table: Any, where: str, scale: str) -> Sweep:
        """Read `{ key, values, set }`; a list named after a scale replaces `values` at that scale.

        `set` maps values, written as text, to lists of overrides; without `key` it must have every
        value. Raises `UsageError`.
        """
        reader = Reader(table, where)
        key = reader.get("key", (str, list), [])
        values = reader.need("values", list)
        sets = Reader(reader.get("set", dict, {}), f"{where}: set")
        thinned = {name: reader.get(name, list, values) for name in SCALES}
        reader.done()
        listed = {plain(value): None for some in (values, *thinned.values()) for value in some}
        bare = [value for value in listed if not key and value not in sets]
        if bare:
            hint = suggestion(bare[0], sets.keys)
            raise UsageError(f"{where}: without `key`, `set` needs an entry for {bare[0]!r}{hint}")
        at_values = {value: sets.strings(value) for value in listed}
        sets.done()
        values = thinned.get(scale, values)
        if not values:
            raise UsageError(f"{where}: the sweep has no values")
        return Sweep(tuple([key] if isinstance(key, str) else key), tuple(values), at_values)

    def overrides(self, value: Any) -> list[str]:
        """Return the overrides at a value."""
        text = plain(value)
        return [*(f"{key}={text}" for key in self.keys), *self.sets.get(text, ())]


@dataclass(frozen=True)
class Point:
    """One run of an experiment, not yet validated.

    With `compute`, Python computes it (`computed.COMPUTATIONS`), and `scenario` is the path of
    the experiment file.
    """

    case: str
    value: Any
    seed: int | None
    scenario: Path
    overrides: tuple[str, ...]
    compute: str = ""
    group: str = ""
    seed_key: str = "seed"

    @property
    def label(self) -> str:
        """Case and sweep value; the runs of several seeds share it."""
        return self.case if self.value is None else f"{self.case}@{self.value}"

    @property
    def title(self) -> str:
        """Label and seed: the name of this run."""
        return self.label if self.seed is None else f"{self.label} seed {self.seed}"


@dataclass(frozen=True)
class Column:
    """One `[[column]]` of the experiment's table: one number per case, over its seeds."""

    title: str
    term: dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """An experiment at one scale.

    Top-level keys of the file: `title`, `source` (section or figure of the paper), `scenario`
    (path relative to this file) or `compute` (name of a Python computation), `set` (overrides of
    every case), `seeds`, `seed_key` (default `seed`), `sweep`, and the tables `[scale.quick]` and
    `[scale.paper]` (`set`, `seeds`), `[[case]]`, `[[plot]]`, `[[column]]`. With `[[column]]`s the
    table shows these numbers instead of slowdowns.
    Overrides apply in the order file, scale, case, sweep, seed. A case with `scales` runs only at
    these scales. `group` is a case's heading in plots of kind `dots`, which show columns. `like`
    makes an experiment from another one (`derived`). `relative_to` names a baseline case: a second
    table has the `relation` of each number to it (`ratio` or `difference`). `settings` lists what
    differs from the file and the readings. `shown` is the text of the plots and columns.
    """

    name: str
    scale: str
    title: str
    source: str
    points: tuple[Point, ...]
    plots: tuple[Plot, ...]
    columns: tuple[Column, ...] = ()
    settings: tuple[str, ...] = ()
    relative_to: str = ""
    relation: str = "ratio"
    shown: str = ""

    def relative(self, case: str, relation: str | None = None) -> Experiment:
        """Return it with another baseline. Raises `UsageError` if there is no such case."""
        cases = list(dict.fromkeys(point.case for point in self.points))
        if case not in cases:
            hint = suggestion(case, cases) or f"; it has {', '.join(cases)}"
            raise UsageError(f"{self.name}: `relative_to`: no case is called `{case}`{hint}")
        return replace(self, relative_to=case, relation=relation or self.relation)

    @property
    def heading(self) -> str:
        """Title, source, scale, and what a user has changed."""
        changed = f", changed: {', '.join(self.settings)}" if self.settings else ""
        source = f"{self.source}, " if self.source else ""
        return f"{self.title} ({source}scale {self.scale}{changed})"


def load_experiment(folder: Path, name: str, scale: str) -> Experiment:
    """Read the experiment in `folder` at a scale. Raises `UsageError`."""
    file = folder / "experiment.toml"
    table, last = derived.read(file)
    top = Reader(table, str(file))
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
        scenario=top.get("scenario", str, ""),
        compute=top.get("compute", str, ""),
        seed_key=top.get("seed_key", str, "seed"),
        seeds=at_scale.get("seeds", list, top.get("seeds", list)),
        forced_seeds="seeds" in at_scale,
        overrides=[*top.strings("set"), *at_scale.strings("set")],
        sweep=top.get("sweep", dict),
        last=last,
    )
    at_scale.done()
    cases = top.need("case", list)
    names = [Reader(t, f"{file}: case {i}").need("name", str) for i, t in enumerate(cases, 1)]
    points = [p for i, table in enumerate(cases, 1) for p in _case_points(table, i, shared)]
    refuse_twins(names, f"{file}: two cases are named")
    refuse_twins((point.title for point in points), f"{file}: two cases are named")
    plots = top.get("plot", list, [])
    labels = [point.label for point in points]
    columns = top.get("column", list, [])
    title, source = top.need("title", str), top.get("source", str, "")
    base, relation = top.get("relative_to", str), top.choice("relation", COMPARISONS, "ratio")
    top.done()
    if not columns and any(point.compute for point in points):
        raise UsageError(f"{file}: cases with `compute` need at least one `[[column]]`")
    read = tuple(
        read_plot(table, f"{file}: plot {i}", names, labels) for i, table in enumerate(plots, 1)
    )
    of_table = tuple(_column(table, f"{file}: column {i}") for i, table in enumerate(columns, 1))
    _check_dots(read, of_table, file)
    text = json.dumps([plots, columns], sort_keys=True, default=str)
    found = Experiment(name, scale, title, source, tuple(points), read, of_table, shown=text)
    return found if base is None else found.relative(base, relation)


def _check_dots(plots: Sequence[Plot], columns: Sequence[Column], file: Path) -> None:
    """Check that plots of kind `dots` are among themselves and show columns of the table."""
    dots = [plot for plot in plots if plot.kind == "dots"]
    if dots and len(dots) < len(plots):
        raise UsageError(f"{file}: plots of kind `dots` share their rows: all plots must be `dots`")
    titles = [column.title for column in columns]
    for plot in dots:
        if not 1 <= len(plot.columns) <= 2:
            raise UsageError(f"{file}: kind `dots` requires one or two `columns`")
        for title in plot.columns:
            if title not in titles:
                hint = suggestion(title, titles)
                raise UsageError(f"{file}: kind `dots`: unknown column `{title}`{hint}")


def _column(table: Any, where: str) -> Column:
    reader = Reader(table, where)
    column = Column(reader.need("title", str), read_term(reader))
    reader.done()
    return column


@dataclass(frozen=True)
class _Shared:
    """Settings of the file that apply to every case."""

    file: Path
    scale: str
    scenario: str
    compute: str
    seed_key: str
    seeds: list[int] | None
    forced_seeds: bool
    overrides: list[str]
    sweep: dict[str, Any] | None
    last: list[str]


def _case_points(table: Any, number: int, shared: _Shared) -> list[Point]:
    where = f"{shared.file}: case {number}"
    case = Reader(table, where)
    name = case.need("name", str)
    if "@" in name:
        raise UsageError(f"{where}: `@` in a name is reserved for sweep values")
    own_seeds = case.get("seeds", list, shared.seeds)
    seeds = shared.seeds if shared.forced_seeds else own_seeds
    named, compute = _source(case, shared)
    scenario = shared.file.parent / named if named else shared.file
    sets = [*shared.overrides, *case.strings("set")]
    sets += case.strings(shared.scale)
    group = case.get("group", str, "")
    table = case.get("sweep", dict, shared.sweep)
    sweep = Sweep.read(table, f"{where}: sweep", shared.scale) if table else None
    for other in SCALES:
        case.strings(other)
    at_scales = case.strings("scales", SCALES)
    unknown = [scale for scale in at_scales if scale not in SCALES]
    if unknown:
        raise UsageError(f"{where}: unknown scale `{unknown[0]}`{suggestion(unknown[0], SCALES)}")
    case.done()
    if compute and compute not in COMPUTATIONS:
        raise UsageError(
            f"{where}: unknown computation `{compute}`{suggestion(compute, COMPUTATIONS)}"
        )
    if not scenario.is_file():
        raise UsageError(f"{where}: scenario {scenario} does not exist")
    if shared.scale not in at_scales:
        return []
    return [
        Point(
            name,
            value,
            seed,
            scenario,
            (*sets, *moved, *shared.last, *_seed(shared.seed_key, seed)),
            compute,
            group,
            shared.seed_key,
        )
        for value, moved in _moves(sweep)
        for seed in (seeds or [None])
    ]


def _source(case: Reader, shared: _Shared) -> tuple[str, str]:
    """Return (scenario, computation) of a case, or those of the file if it has neither.

    Raises `UsageError` unless exactly one of the two is given.
    """
    scenario, compute = case.get("scenario", str, ""), case.get("compute", str, "")
    if not (scenario or compute):
        scenario, compute = shared.scenario, shared.compute
    if bool(scenario) == bool(compute):
        raise UsageError(f"{case.where}: give either `scenario` or `compute`")
    return scenario, compute


def _moves(sweep: Sweep | None) -> list[tuple[Any, list[str]]]:
    if sweep is None:
        return [(None, [])]
    return [(value, sweep.overrides(value)) for value in sweep.values]


def plain(value: Any) -> str:
    """Return a TOML value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seed(key: str, seed: int | None) -> list[str]:
    return [] if seed is None else [f"{key}={seed}"]
