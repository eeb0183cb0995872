"""Runs next to each other: what they measured, and in which settings they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xoff import notebook
from xoff.errors import UsageError
from xoff.html_report.scenarios import differences
from xoff.result import Result
from xoff.sweeps import table
from xoff.sweeps.grid import Combination, Measure, measures_of
from xoff.text import table as aligned

if TYPE_CHECKING:
    import pyarrow as pa

RUN = "run"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs by name, and their measures. A name has several runs if only their seeds differ."""

    runs: Mapping[str, Sequence[Result]]
    measures: tuple[Measure, ...]

    @property
    def rows(self) -> list[table.Row]:
        """One row per name."""
        return [
            table.row(Combination({RUN: name}), runs, self.measures)
            for name, runs in self.runs.items()
        ]

    @property
    def _names(self) -> list[str]:
        return [measure.name for measure in self.measures]

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table.

        Columns: `run`, `seeds`, and for each measure NAME its number, `NAME_low` and `NAME_high`
        (95 % interval) and `NAME_at_least`.
        """
        return table.arrow([RUN], self._names, self.rows)

    @property
    def differences(self) -> pa.Table:
        """The settings that differ, also defaults and derived values, with a column per name."""
        import pyarrow as pa

        found = self._differences()
        columns = {"setting": [row["key"] for row in found]}
        for index, name in enumerate(self.runs):
            columns[name] = [row["values"][index] for row in found]
        return pa.table({name: pa.array(own, pa.string()) for name, own in columns.items()})

    def plot(self, statistic: str = "p99", cls: str | None = None, ax: Any = None) -> Any:
        """Draw slowdown by flow size, a curve per name; return the Matplotlib axes."""
        from xoff import plots

        return plots.slowdown_by_size(self.runs, statistic, cls, ax=ax)

    def _differences(self) -> list[dict[str, Any]]:
        found = differences([runs[0].effective for runs in self.runs.values()])
        return [row for row in found if row["key"] != "seed"]

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        return table.cells([RUN], self._names, self.rows)

    def _settings(self) -> tuple[list[str], list[list[str]]]:
        shown = [[row["key"], *row["values"]] for row in self._differences()]
        return ["setting", *self.runs], shown

    def __repr__(self) -> str:
        head, rows = self._shown()
        return f"{aligned(head, rows)}\n\nsettings that differ: {len(self._differences())}"

    def _repr_html_(self) -> str:
        (head, rows), (names, settings) = self._shown(), self._settings()
        below = notebook.table(names, settings, left=len(names))
        title = f"settings that differ: {len(settings)}"
        return notebook.table(head, rows) + notebook.folded(title, below)


def compare(
    runs: Iterable[Result] | Mapping[str, Result | Sequence[Result]],
    measures: Mapping[str, Any] | None = None,
) -> Comparison:
    """Compare finished runs.

    - `runs`: a list, or a mapping from names. In a list, runs that differ only in their seed are
      together, and names are made of the settings that tell the others apart.
    - `measures`: as in `xoff.sweep`.

    Numbers are over all seeds of a name. They have 95 % intervals if there are several seeds or the
    runs have batches of time (`run.batches`). Raises `UsageError`.
    """
    if isinstance(runs, Mapping):
        named = {
            name: [one] if isinstance(one, Result) else list(one) for name, one in runs.items()
        }
    else:
        named = _named(by_seed(list(runs)))
    if not named or not all(named.values()):
        raise UsageError("there is no run to compare")
    wrong = [one for group in named.values() for one in group if not isinstance(one, Result)]
    if wrong:
        raise UsageError(f"compare takes results, such as `scenario.run()`, not {wrong[0]!r:.60}")
    for name, group in named.items():
        if early := next(filter(None, (one.ended_early for one in group)), None):
            raise UsageError(
                f"{name} is a part of a run, {early.text}: it cannot be compared; run it to its end"
            )
    return Comparison(named, measures_of(measures))


def by_seed(runs: Sequence[Result]) -> list[list[Result]]:
    """Return runs in groups that differ in nothing but their seed."""
    groups: list[list[Result]] = []
    for run in runs:
        for group in groups:
            found = differences([group[0].effective, run.effective])
            if [row["key"] for row in found] == ["seed"]:
                group.append(run)
                break
        else:
            groups.append([run])
    return groups


def _named(groups: Sequence[list[Result]]) -> dict[str, list[Result]]:
    """Name groups by as few settings as tell them apart, and by their number if none do."""
    found = differences([group[0].effective for group in groups])
    rows = [row for row in found if row["key"] not in ("seed", "name")]
    names = [""] * len(groups)
    for row in rows or [{"key": "scheme", "values": [group[0].scheme for group in groups]}]:
        # A scheme's name says enough; other values need the name of their setting.
        prefix = "" if row["key"] == "scheme" else f"{row['key']}="
        parts = [f"{prefix}{value}" for value in row["values"]]
        longer = [", ".join(filter(None, pair)) for pair in zip(names, parts, strict=True)]
        if len(set(longer)) > len(set(names)) or not any(names):
            names = longer
        if len(set(names)) == len(names):
            break
    if len(set(names)) < len(names):
        names = [f"{name} ({index})" for index, name in enumerate(names, 1)]
    return dict(zip(names, groups, strict=True))
