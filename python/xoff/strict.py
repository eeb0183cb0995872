"""Strict TOML reader: an unknown key or a wrong type is an error with its location."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xoff import completions, queueing, rows, series
from xoff.errors import UsageError
from xoff.metrics import (
    BIN,
    FAIRNESS,
    FLOWS,
    MEAN_OF_BINS,
    OVER_SEEDS,
    PACKETS,
    POOLED,
    QUEUEING,
    RANGES,
    SAMPLES,
    SENDERS,
    SERIES,
    STATISTICS,
)
from xoff.text import suggestion
from xoff.traces import MEASURES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises `UsageError` with the location of a mistake."""
    try:
        read: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: its values are nested too deeply") from None
    return read


class Reader:
    """Reads one TOML table key by key; `done` rejects the keys that were not read.

    `where` is the location that starts every error message.
    """

    def __init__(self, table: Any, where: str) -> None:
        self.where = where
        if not isinstance(table, dict):
            raise UsageError(f"{where}: expected a table, found {table!r}")
        self._table: Mapping[str, Any] = table
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._table

    @property
    def keys(self) -> list[str]:
        """Every key of the table."""
        return list(self._table)

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """Return a value of type `kind`, or the default. Raises `UsageError` on another type."""
        self._asked.append(key)
        if key not in self._table:
            return default
        found = self._table[key]
        if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            wanted = " or ".join(_NAMES.get(k, k.__name__) for k in kinds)
            raise UsageError(f"{self.where}: `{key}` must be {wanted}, not {found!r}")
        return found

    def need(self, key: str, kind: type | tuple[type, ...]) -> Any:
        """Return a required value. Raises `UsageError`."""
        found = self.get(key, kind)
        if found is None:
            raise UsageError(f"{self.where}: `{key}` is missing")
        return found

    def number(self, key: str, default: float | None = None) -> float | None:
        """Return a number or the default."""
        found = self.get(key, (int, float), default)
        return None if found is None else float(found)

    def strings(self, key: str, default: Iterable[str] = ()) -> list[str]:
        """Return a list of strings."""
        found = self.get(key, list, list(default))
        if not all(isinstance(item, str) for item in found):
            raise UsageError(f"{self.where}: `{key}` must be a list of strings, not {found!r}")
        return list(found)

    def choice(self, key: str, known: Iterable[str], default: str | None = None) -> str:
        """Return one of the known words. Raises `UsageError` with a suggestion."""
        found = self.need(key, str) if default is None else self.get(key, str, default)
        names = list(known)
        if found not in names:
            hint = suggestion(found, names) or f"; known: {', '.join(names)}"
            raise UsageError(f"{self.where}: unknown {key} `{found}`{hint}")
        return str(found)

    def done(self) -> None:
        """Check that every key of the table was read. Raises `UsageError`."""
        for key in self._table:
            if key not in self._asked:
                hint = suggestion(key, self._asked)
                raise UsageError(f"{self.where}: unknown key `{key}`{hint}")


def refuse_twins(names: Iterable[str], problem: str) -> None:
    """Check that no name comes twice. Raises `UsageError` with `problem` and the name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UsageError(f"{problem} `{name}`")
        seen.add(name)


BY_BIN = ("bins", "any-bin", "least-bin")
"""Ranges that apply a relation to every size bin, any bin, or the bin with the least number."""


def read_term(reader: Reader, bins_too: bool = False) -> dict[str, Any]:
    """Read the keys that select a number, as arguments of `metrics.Term`.

    `bins_too` also accepts the ranges `BY_BIN`. Raises `UsageError`.
    """
    term: dict[str, Any] = {
        "cls": reader.get("class", str),
        "path": reader.get("path", str),
        "cdf": reader.get("cdf", str),
        "at": reader.number("at"),
        "range": reader.get("range", (str, dict)),
        "statistic": reader.choice("statistic", STATISTICS, "p99"),
        "scale": reader.number("scale"),
        "seeds": reader.choice("seeds", (*OVER_SEEDS, POOLED), "mean"),
    }
    if isinstance(term["range"], str):
        ranges = (*RANGES, MEAN_OF_BINS)
        reader.choice("range", (*ranges, *BY_BIN) if bins_too else ranges)
    elif term["range"] is not None and not any(
        term["range"].keys() <= keys for keys in (BIN, PACKETS)
    ):
        raise UsageError(
            f"{reader.where}: `range` takes `low` and `high`, or `low_packets` and `high_packets`"
        )
    _refuse_unknown_measure(reader, term["path"])
    _refuse_unknown_rows(reader, term)
    _refuse_unknown_completions(reader, term)
    for key, default in (("statistic", "p99"), ("seeds", "mean")):
        if term[key] == default and key not in reader:
            del term[key]
    return {key: value for key, value in term.items() if value is not None}


def _refuse_unknown_measure(reader: Reader, path: str | None) -> None:
    if path is not None and path.startswith(SAMPLES) and path.count(".") > 1:
        measure = path.split(".", 2)[2]
        if measure not in MEASURES:
            hint = suggestion(measure, MEASURES) or f"; known: {', '.join(MEASURES)}"
            raise UsageError(f"{reader.where}: unknown measure `{measure}` in `path`{hint}")
    for prefix, parse in ((SERIES, series.parse), (QUEUEING, queueing.parse)):
        if path is not None and path.startswith(prefix):
            try:
                parse(path.removeprefix(prefix))
            except UsageError as error:
                raise UsageError(f"{reader.where}: {error}") from None
    if path is not None and path.startswith("fairness.") and path != FAIRNESS:
        raise UsageError(f"{reader.where}: unknown path `{path}`; did you mean `{FAIRNESS}`?")
    if path is not None and path.startswith(SENDERS):
        what = path.removeprefix(SENDERS)
        if what != "jain" and not re.fullmatch(r"\d+(-\d+)?", what):
            raise UsageError(f"{reader.where}: `{path}`: expected senders.jain or senders.0-3")


def _refuse_unknown_rows(reader: Reader, term: Mapping[str, Any]) -> None:
    path, cdf = term["path"] or "", term["cdf"] or ""
    if path.startswith(FLOWS) and not rows.is_known(path.removeprefix(FLOWS)):
        known = f"columns {', '.join(rows.COLUMNS)}; measures {', '.join(rows.MEASURES)}"
        raise UsageError(f"{reader.where}: `{path}`: expected flows.COLUMN.MEASURE: {known}")
    if cdf.startswith(FLOWS) and cdf.removeprefix(FLOWS) not in rows.COLUMNS:
        known = ", ".join(rows.COLUMNS)
        raise UsageError(f"{reader.where}: `{cdf}`: expected flows.COLUMN: columns {known}")


def _refuse_unknown_completions(reader: Reader, term: Mapping[str, Any]) -> None:
    try:
        if completions.is_completion(term["path"]):
            completions.parse(term["path"])
        elif term["seeds"] == POOLED:
            raise UsageError('`seeds = "pooled"` requires a `path` of queries or requests')
        if completions.is_completion(term["cdf"]):
            completions.parse(term["cdf"], measured=False)
    except UsageError as error:
        raise UsageError(f"{reader.where}: {error}") from None


_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
