"""Paths of the summary and names of classes, compared with what runs have before any run starts.

A plot, column, measure or claim with a misspelt path would show nothing when all runs have ended.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from xoff import completions, declared
from xoff.errors import UsageError
from xoff.jobs import Kind
from xoff.metrics import FAIRNESS, READERS
from xoff.text import suggestion


@dataclass(frozen=True)
class Named:
    """What a number or a distribution is read from, and the place in a file that says so."""

    where: str
    path: str | None
    cdf: str | None
    cls: str | None

    @staticmethod
    def of(where: str, term: Mapping[str, Any]) -> Named:
        """Return it for the arguments of a `metrics.Term`."""
        return Named(where, term.get("path"), term.get("cdf"), term.get("cls"))


SUMMARIES: Mapping[str | None, type] = {
    None: declared.Summary,
    "fluid": declared.FluidSummary,
    "convergence": declared.ConvergenceSummary,
}
"""The declared summary of each engine; None is that of packets."""


def refuse_unknown(named: Iterable[Named], kinds: Iterable[Kind]) -> None:
    """Check paths, distributions and classes of runs of these kinds. Raises `UsageError`.

    One run that has it is enough.
    """
    kinds = list(kinds)
    summaries = [SUMMARIES[engine] for engine in dict.fromkeys(kind.engine for kind in kinds)]
    classes = dict.fromkeys(cls for kind in kinds for cls in kind.classes)
    for one in named:
        if one.path is not None and _is_of_summary(one.path):
            found = _follow(one.path, one.where, summaries)
            if found not in (int, float):
                raise UsageError(f"{one.where}: `{one.path}` of the summary is not a number")
        if one.cdf is not None and _is_of_summary(one.cdf):
            found = _follow(one.cdf, one.where, summaries)
            if "cdf" not in _keys(found):
                raise UsageError(f"{one.where}: `{one.cdf}` of the summary is not a distribution")
        for cls in filter(None, (one.cls, _class_in(one.path), _class_in(one.cdf))):
            if cls not in classes:
                hint = suggestion(cls, classes) or f"; there are {', '.join(classes) or 'none'}"
                raise UsageError(f"{one.where}: no run has a class `{cls}`{hint}")


def _class_in(path: str | None) -> str | None:
    """Return the class in `classes.NAME...` or `queries.NAME...`; None without a name."""
    if path is None:
        return None
    if completions.is_completion(path):
        *_, last = path.split(".")
        return completions.parse(path, measured=last in completions.MEASURES)[1]
    first, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    return name if first == "classes" and name and not name.isdigit() else None


def _is_of_summary(path: str) -> bool:
    """Return whether a path is looked up in the summary, rather than computed from tables."""
    apart = path.startswith(tuple(READERS)) or path == FAIRNESS
    return not apart and not completions.is_completion(path)


def _follow(path: str, where: str, summaries: Sequence[type]) -> Any:
    """Return the declared type at a dotted path of a summary. Raises `UsageError` without one."""
    problems = []
    for summary in summaries:
        try:
            return _type_at(path, summary)
        except LookupError as problem:
            problems.append(problem.args[0])
    raise UsageError(f"{where}: `{path}`: {problems[0]}")


def _type_at(path: str, summary: type) -> Any:
    here: Any = summary
    behind: list[str] = []
    for part in path.split("."):
        keys, more = _keys(here), typing.get_args(here)
        place = f"`{'.'.join(behind)}` of the summary" if behind else "the summary"
        if keys and part not in keys:
            raise LookupError(f"{place} has no key `{part}`{suggestion(part, keys)}")
        if not keys and not more:
            raise LookupError(f"{place} has no keys")
        # A list's elements have an index or a name, and a mapping's keys depend on the run.
        here = _without_none(keys[part] if keys else more[-1])
        behind.append(part)
    return here


@cache
def _keys(kind: Any) -> Mapping[str, Any]:
    """Return the keys of a declared table with their types; none of any other type."""
    return typing.get_type_hints(kind) if typing.is_typeddict(kind) else {}


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind
    return next(one for one in typing.get_args(kind) if one is not type(None))
