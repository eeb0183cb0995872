"""The file of a sweep: a scenario, the settings that vary, and what is measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xoff import source, units
from xoff.errors import UsageError
from xoff.experiment import Point, plain
from xoff.metrics import COMPARISONS, Term
from xoff.strict import Reader, read_term, read_toml, refuse_twins
from xoff.text import suggestion

DEFAULT_MEASURES: tuple[dict[str, Any], ...] = (
    {"name": "mean", "statistic": "mean"},
    {"name": "p99"},
    {"name": "drops", "path": "dropped.packets"},
)
RATIO = COMPARISONS[0]
# What the columns with a measure's interval are called after its name.
ENDS = ("_low", "_high", "_at_least")
# Columns of the tables besides settings and measures.
RESERVED = ("seed", "seeds", "key", "status", "digest", "error")


@dataclass(frozen=True)
class Axis:
    """Settings that change together: `values` has one tuple per step, a value for each key."""

    keys: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Measure:
    """A number of every point, over its seeds; `level` is a value in `unit` that it may pass."""

    name: str
    term: Mapping[str, Any]
    level: float | None = None

    @property
    def unit(self) -> str:
        """Its unit (`xoff.units`)."""
        return units.of_term(self.of(""))

    def with_level(self, given: float | str, where: str) -> Measure:
        """Return it with a level: a number, or text with a unit. Raises `UsageError`."""
        try:
            level = units.in_unit(given, self.unit) if isinstance(given, str) else float(given)
        except UsageError as error:
            raise UsageError(f"{where}: level of `{self.name}`: {error}") from None
        return replace(self, level=level)

    def of(self, label: str) -> Term:
        """Return the term of a point."""
        return Term(label, **self.term)


@dataclass(frozen=True)
class Combination:
    """One point of the grid: a value for every key."""

    settings: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Its settings as text."""
        return ", ".join(f"{key}={plain(value)}" for key, value in self.settings.items())

    def without(self, key: str) -> str:
        """Return its other settings as text: the name of its curve over `key`."""
        return Combination({k: v for k, v in self.settings.items() if k != key}).label


@dataclass(frozen=True)
class Grid:
    """A sweep: every combination of the values of its axes, each with every seed.

    Keys of the file: `scenario` (path relative to the file), `title`, `set` (overrides of every
    run), `seeds` (a number N for 1 to N, or a list; default: the scenario's seed), `[grid]` (a
    list of values per setting, all combined), `[[zip]]` (settings that change together),
    `[[measure]]` (`name`, the keys of `[[column]]` in an experiment, `level`), `relative_to` (the
    settings of a baseline) and `relation` (`ratio` or `difference` to it).
    """

    file: Path
    title: str
    scenario: Path
    overrides: tuple[str, ...]
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    measures: tuple[Measure, ...]
    relative_to: Mapping[str, Any] = field(default_factory=dict)
    relation: str = RATIO

    @property
    def keys(self) -> list[str]:
        """Every setting that varies, in the order of the file."""
        return [key for axis in self.axes for key in axis.keys]

    @property
    def columns(self) -> list[str]:
        """Every column with an interval: the measures, then the same relative to the baseline."""
        relative = map(self.relative_name, self.measures) if self.relative_to else ()
        return [*(measure.name for measure in self.measures), *relative]

    @property
    def baseline(self) -> str:
        """The settings of the baseline as text."""
        return Combination(self.relative_to).label

    def relative_name(self, measure: Measure) -> str:
        """Return the column of a measure relative to the baseline."""
        return f"{measure.name}_{self.relation}"

    def baseline_of(self, point: Combination) -> Combination | None:
        """Return the point that a point is compared with; None without a baseline."""
        return Combination({**point.settings, **self.relative_to}) if self.relative_to else None

    def combinations(self) -> Iterator[Combination]:
        """Yield the points; the last axis varies first."""
        for steps in itertools.product(*(axis.values for axis in self.axes)):
            values = itertools.chain.from_iterable(steps)
            yield Combination(dict(zip(self.keys, values, strict=True)))

    def points(self) -> list[Point]:
        """Return every run: each combination with each seed."""
        return [
            Point(one.label, None, seed, self.scenario, (*self.overrides, *_sets(one, seed)))
            for one in self.combinations()
            for seed in (self.seeds or (None,))
        ]

    def default_x(self) -> str:
        """Return the setting along which results are drawn: the first with several numbers.

        If no setting has several numbers, the last one.
        """
        return next(filter(self.has_numbers, self.keys), self.keys[-1])

    def has_numbers(self, key: str) -> bool:
        """Return whether a setting has several values, all numbers."""
        values = {plain(one.settings[key]): one.settings[key] for one in self.combinations()}
        return len(values) > 1 and all(map(is_number, values.values()))


def is_number(value: Any) -> bool:
    """Return whether a value can be a place on an axis of numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def read_grid(file: Path) -> Grid:
    """Read the file of a sweep. Raises `UsageError`."""
    table = read_toml(file)
    top = Reader(table, str(file))
    if "scenario" not in table and ("scheme" in table or "traffic" in table):
        raise UsageError(
            f"{file} is a scenario: `xoff run` runs it, and the file of a sweep names it in "
            "`scenario`"
        )
    scenario = file.parent / top.need("scenario", str)
    if not scenario.is_file():
        raise UsageError(f"{file}: scenario {scenario} does not exist")
    axes = _crossed(top.get("grid", dict, {}), f"{file}: [grid]")
    zipped = top.get("zip", list, [])
    axes += [_zipped(table, f"{file}: zip {i}") for i, table in enumerate(zipped, 1)]
    measures = top.get("measure", list, list(DEFAULT_MEASURES))
    grid = Grid(
        file,
        top.get("title", str, file.stem),
        scenario,
        tuple(top.strings("set")),
        tuple(axes),
        seeds_of(top.get("seeds", (int, list), []), str(file)),
        tuple(_measure(table, f"{file}: measure {i}") for i, table in enumerate(measures, 1)),
        _flat(top.get("relative_to", dict, {})),
        top.choice("relation", COMPARISONS, RATIO),
    )
    if "relation" in top and not grid.relative_to:
        raise UsageError(f"{file}: `relation` needs `relative_to`, the settings of a baseline")
    top.done()
    if not axes:
        raise UsageError(f"{file}: nothing varies; add [grid], such as `scheme = ['bfc', 'dctcp']`")
    _refuse_unclear(grid)
    return grid


def grid_of(
    name: str,
    scenario: Path,
    overrides: tuple[str, ...],
    values: Mapping[str, Sequence[Any]],
    seeds: int | Sequence[int] | None,
    measures: Mapping[str, Any] | None,
) -> Grid:
    """Return a sweep that is no file: a scenario with the values of settings. Raises `UsageError`.

    `measures` are as in `measures_of`.
    """
    axes = _crossed({key: _plain_list(found) for key, found in values.items()}, "`grid`")
    if not axes:
        raise UsageError("`grid`: nothing varies; give values, such as {'scheme': ['bfc', 'pfc']}")
    grid = Grid(
        Path(name),
        name,
        scenario,
        overrides,
        tuple(axes),
        () if seeds is None else seeds_of(seeds, "`seeds`"),
        measures_of(measures),
    )
    _refuse_unclear(grid)
    return grid


def measures_of(given: Mapping[str, Any] | None) -> tuple[Measure, ...]:
    """Return measures by name, each a path of the summary or a dict with keys of `[[measure]]`.

    None: mean and p99 of slowdowns, and drops. Raises `UsageError`.
    """
    if given is None:
        return tuple(_measure(table, "measures") for table in DEFAULT_MEASURES)
    tables = {
        name: {"path": found} if isinstance(found, str) else dict(found)
        for name, found in given.items()
    }
    return tuple(
        _measure({**table, "name": name}, f"measure {name!r}") for name, table in tables.items()
    )


def _plain_list(found: Any) -> Any:
    """Return values as a list of plain Python values; NumPy arrays and ranges are sequences."""
    if hasattr(found, "tolist"):
        return found.tolist()
    return found if isinstance(found, (str, Mapping)) else list(found)


def _crossed(table: Mapping[str, Any], where: str) -> list[Axis]:
    found = _lists(table, where)
    return [Axis((key,), tuple((value,) for value in values)) for key, values in found.items()]


def _refuse_unclear(grid: Grid) -> None:
    """Refuse names given twice, and levels that cannot be passed. Raises `UsageError`."""
    file = grid.file
    names = (name + end for name in grid.columns for end in ("", *ENDS))
    refuse_twins([*RESERVED, *grid.keys, *names], f"{file}: two columns of the tables are named")
    refuse_twins((one.label for one in grid.combinations()), f"{file}: given twice:")
    _refuse_unknown_baseline(grid)
    levels = [m.name for m in grid.measures if m.level is not None]
    if levels and not grid.has_numbers(grid.default_x()):
        raise UsageError(f"{file}: `level` of `{levels[0]}` needs a setting with several numbers")


def refuse_dead(grid: Grid) -> None:
    """Refuse overrides of settings that the sweep varies: they have no effect.

    Raises `UsageError`, or `ScenarioError` for an unknown name.
    """
    given = source.read(grid.scenario)
    paths = given.meant(list(grid.overrides))
    seed = (grid.seeds or (None,))[0]
    varied = {one.partition("=")[0] for one in given.meant(_sets(next(grid.combinations()), seed))}
    for override, path in zip(grid.overrides, paths, strict=True):
        if path.partition("=")[0] in varied:
            raise UsageError(f"{grid.file}: `{override}` has no effect: the sweep varies it")


def _refuse_unknown_baseline(grid: Grid) -> None:
    """Refuse a baseline that is no point of the grid for every other setting."""
    for key in grid.relative_to:
        if key not in grid.keys:
            hint = suggestion(key, grid.keys) or f"; it varies {', '.join(grid.keys)}"
            raise UsageError(f"{grid.file}: `relative_to`: `{key}` does not vary{hint}")
    labels = {one.label for one in grid.combinations()}
    for one in grid.combinations():
        base = grid.baseline_of(one)
        if base is not None and base.label not in labels:
            raise UsageError(f"{grid.file}: `relative_to`: no point has {base.label}")


def with_levels(grid: Grid, given: Mapping[str, float | str]) -> Grid:
    """Return the grid with levels of measures by name. Raises `UsageError`."""
    for name, level in given.items():
        choose(grid, None, name)
        measures = (
            m.with_level(level, str(grid.file)) if m.name == name else m for m in grid.measures
        )
        grid = replace(grid, measures=tuple(measures))
    _refuse_unclear(grid)
    return grid


def with_baseline(grid: Grid, given: Mapping[str, Any], relation: str | None) -> Grid:
    """Return the grid with a baseline: values of settings as text or plain. Raises `UsageError`."""
    if relation is not None and relation not in COMPARISONS:
        raise UsageError(f"`relation` must be {' or '.join(COMPARISONS)}, not {relation!r}")
    if relation is not None and not (given or grid.relative_to):
        raise UsageError("`relation` needs `relative_to`, the settings of a baseline")
    known = {
        (key, plain(value)): value
        for one in grid.combinations()
        for key, value in one.settings.items()
    }
    values = {key: known.get((key, plain(value)), value) for key, value in given.items()}
    grid = replace(grid, relative_to=values or grid.relative_to, relation=relation or grid.relation)
    _refuse_unclear(grid)
    return grid


def choose(grid: Grid, x: str | None, y: str | None) -> tuple[str, tuple[Measure, ...]]:
    """Return the setting and the measures to draw; None: the default, all. Raises `UsageError`."""
    if x is not None and x not in grid.keys:
        hint = suggestion(x, grid.keys) or f"; it varies {', '.join(grid.keys)}"
        raise UsageError(f"{grid.file}: `{x}` does not vary{hint}")
    shown = tuple(m for m in grid.measures if y in (None, m.name))
    if not shown:
        names = [m.name for m in grid.measures]
        hint = suggestion(str(y), names) or f"; it has {', '.join(names)}"
        raise UsageError(f"{grid.file}: no measure is called `{y}`{hint}")
    return x or grid.default_x(), shown


def seeds_of(given: int | Sequence[Any], where: str) -> tuple[int, ...]:
    """Return seeds given as their number, as a list or as an array. Raises `UsageError`."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, int):
        given = list(range(1, given + 1)) if given > 0 else [given]
    if not all(isinstance(s, int) and not isinstance(s, bool) and s > 0 for s in given):
        raise UsageError(f"{where}: `seeds` must be whole numbers above 0, not {given!r}")
    if len(set(given)) < len(given):
        raise UsageError(f"{where}: `seeds` has a seed twice")
    return tuple(given)


def _sets(one: Combination, seed: int | None) -> list[str]:
    sets = [f"{key}={plain(value)}" for key, value in one.settings.items()]
    return sets if seed is None else [*sets, f"seed={seed}"]


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values by dotted key, written `"traffic.0.load"` or as nested tables."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return found


def _lists(table: Mapping[str, Any], where: str) -> dict[str, list[Any]]:
    """Return lists of values by dotted key. Raises `UsageError`."""
    found = _flat(table)
    for key, values in found.items():
        if not isinstance(values, list) or not values:
            raise UsageError(f"{where}: `{key}` must be a list of values, not {values!r}")
    return found


def _zipped(table: Any, where: str) -> Axis:
    if not isinstance(table, dict):
        raise UsageError(f"{where}: expected a table, found {table!r}")
    lists = _lists(table, where)
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) != 1:
        said = (
            ", ".join(f"`{key}` has {count}" for key, count in lengths.items()) or "none is given"
        )
        raise UsageError(f"{where}: settings that change together need equally many values: {said}")
    return Axis(tuple(lists), tuple(zip(*lists.values(), strict=True)))


def _measure(table: Any, where: str) -> Measure:
    reader = Reader(table, where)
    found = Measure(reader.need("name", str), read_term(reader))
    level = reader.get("level", (int, float, str))
    reader.done()
    return found if level is None else found.with_level(level, where)
