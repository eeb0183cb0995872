"""Experiments made from another one: `like = "../fig09"`.

The file takes everything from the other experiment and changes it: `cases` keeps only the cases
of these names, `[[case]]` adds cases, `set` overrides settings after those of the cases, and any
other key replaces the other experiment's. Without `[[plot]]`s, the other's are kept where their
cases are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xoff.errors import UsageError
from xoff.strict import Reader, read_toml

# Keys of the file that are not simply replaced.
_OWN = ("like", "cases", "set", "case", "scale")


def read(file: Path, above: Sequence[Path] = ()) -> tuple[dict[str, Any], list[str]]:
    """Read an experiment file; return its whole table and the overrides that come last.

    `above` are the files that are made from it. Raises `UsageError`.
    """
    chain = [*above, file.resolve()]
    if chain[-1] in above:
        cycle = " -> ".join(one.parent.name for one in chain[chain.index(chain[-1]) :])
        raise UsageError(f"{above[-1]}: `like` leads back to itself: {cycle}")
    table = read_toml(file)
    if "like" not in table:
        return table, []
    reader = Reader(table, str(file))
    other = file.parent / reader.need("like", str) / "experiment.toml"
    if not other.is_file():
        raise UsageError(f"{file}: `like`: {other} does not exist")
    base, last = read(other, chain)
    base = _with_whole_paths(base, other.parent)
    kept = _kept(base, reader.strings("cases"), file)
    last = [*last, *reader.strings("set")]
    merged = {**base, **{key: value for key, value in table.items() if key not in _OWN}}
    merged["scale"] = {**base.get("scale", {}), **reader.get("scale", dict, {})}
    merged["case"] = [*kept, *reader.get("case", list, [])]
    if "plot" not in table:
        merged["plot"] = _plots(base, [case.get("name") for case in merged["case"]])
    return merged, last


def _kept(base: dict[str, Any], names: list[str], file: Path) -> list[dict[str, Any]]:
    cases = list(base.get("case", []))
    unknown = set(names) - {case.get("name") for case in cases}
    if unknown:
        raise UsageError(f"{file}: `cases`: the other experiment has no case `{min(unknown)}`")
    return [case for case in cases if not names or case.get("name") in names]


def _with_whole_paths(base: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table with the paths of scenarios independent of the file's folder."""

    def whole(table: dict[str, Any]) -> dict[str, Any]:
        if "scenario" not in table:
            return table
        return {**table, "scenario": str((folder / table["scenario"]).resolve())}

    return {**whole(base), "case": [whole(case) for case in base.get("case", [])]}


def _plots(base: dict[str, Any], names: list[str | None]) -> list[dict[str, Any]]:
    found = []
    for plot in base.get("plot", []):
        shown = [case for case in plot.get("cases", []) if case.split("@")[0] in names]
        if "cases" not in plot or shown:
            found.append({**plot, "cases": shown} if shown else plot)
    return found
