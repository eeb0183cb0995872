"""`claims.toml`: what a paper says, checked against what was measured.

A claim is one or more checks; a check takes numbers from cases (`metrics.Term`) through a
relation (`metrics.RELATIONS`). A claim that cannot run yet carries `needs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xoff.errors import UsageError
from xoff.metrics import (
    OVER_SEEDS,
    RANGES,
    RELATIONS,
    STATISTICS,
    Bounds,
    Outcome,
    Term,
    bins,
    every,
)
from xoff.result import Result
from xoff.strict import Reader, read_toml

Results = Mapping[str, Sequence[Result]]
"""The runs of each label (case, or `case@value`): one a seed."""


@dataclass(frozen=True)
class Check:
    """One relation over the numbers of some cases."""

    metric: str
    terms: tuple[Term, ...]
    bounds: Bounds
    factor: float = 1.0
    by_bin: bool = False

    def run(self, results: Results) -> Outcome:
        """Measure. With `range = "bins"` the relation must hold in every size bin."""
        if not self.by_bin:
            return self._once(results, self.terms)
        outcomes = []
        for low, high in self._bins(results):
            terms = [_in_bin(term, low, high) for term in self.terms]
            found = self._once(results, terms)
            if None not in found.measured.values():
                outcomes.append((f"[{low:g}, {high:g})", found))
        measured = {f"{b} {k}": v for b, o in outcomes for k, v in o.measured.items()}
        return Outcome(measured, every([found.holds for _, found in outcomes]))

    def _once(self, results: Results, terms: Sequence[Term]) -> Outcome:
        values = {}
        for term in terms:
            name = term.case if len({t.case for t in terms}) == len(terms) else _long_name(term)
            values[name] = term.over_seeds(results[term.case])
        return RELATIONS[self.metric](values, self.bounds, self.factor)

    def _bins(self, results: Results) -> list[tuple[float, float]]:
        first = self.terms[0]
        found = bins(results[first.case][0], first.cls)
        return [
            (one["low_bytes"], one["high_bytes"])
            for one in found
            if one.get("low_bytes") is not None and one.get("high_bytes") is not None
        ]


def _in_bin(term: Term, low: float, high: float) -> Term:
    return Term(**{**vars(term), "range": {"low": low, "high": high}})


def _long_name(term: Term) -> str:
    where = term.range if isinstance(term.range, str) else "bin"
    parts = [term.path or term.cdf or f"{where} {term.statistic}", term.cls]
    return " ".join([term.case, *[part for part in parts if part]])


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, numbered as in its specification."""

    id: str
    where: str
    text: str
    paper: str
    explanation: str
    experiments: tuple[str, ...]
    needs: tuple[str, ...]
    checks: tuple[tuple[Reader, ...], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Verdict:
    """A claim that ran. `holds` is None where too few samples leave it undecided."""

    claim: Claim
    measured: dict[str, float | None]
    holds: bool | None


@dataclass(frozen=True)
class NotRun:
    """A claim that did not run, and what it still needs."""

    claim: Claim
    needs: tuple[str, ...]


_TERM_KEYS = ("class", "range", "statistic", "path", "cdf", "at", "scale", "seeds")
_CHECK_KEYS = (*_TERM_KEYS, "metric", "cases", "terms", "low", "high", "factor")


def load_claims(file: Path) -> list[Claim]:
    """Read a claims file. Raises `UsageError` naming the claim with a mistake."""
    top = Reader(read_toml(file), str(file))
    tables = top.get("claim", list, [])
    top.done()
    claims = [_claim(table, file, i) for i, table in enumerate(tables, 1)]
    seen = set()
    for claim in claims:
        if claim.id in seen:
            raise UsageError(f"{file}: claim {claim.id} is there twice")
        seen.add(claim.id)
    return claims


def _claim(table: Any, file: Path, number: int) -> Claim:
    name = table.get("id", f"number {number}") if isinstance(table, dict) else f"number {number}"
    where = f"{file}: claim {name}"
    reader = Reader(table, where)
    own = {key: table[key] for key in _CHECK_KEYS if key in table}
    for key in own:
        reader.get(key, object)
    parts = reader.get("check", list, [{}] if "metric" in own else [])
    named = reader.get("experiment", (str, list), [])
    claim = Claim(
        id=reader.need("id", str),
        where=reader.get("where", str, ""),
        text=reader.need("text", str),
        paper=str(reader.get("paper", (str, int, float), "")),
        explanation=reader.get("explanation", str, ""),
        experiments=(named,) if isinstance(named, str) else tuple(named),
        needs=tuple(reader.strings("needs")),
        checks=tuple(_merge(own, part, where) for part in parts),
    )
    reader.done()
    if not claim.checks and not claim.needs:
        raise UsageError(f"{where}: give a `metric` (or `[[claim.check]]`), or what it `needs`")
    if claim.checks and not claim.experiments:
        raise UsageError(f"{where}: `experiment` is missing")
    for check in claim.checks:
        _read_check(check, list)  # finds mistakes before anything runs
    return claim


def _merge(own: dict[str, Any], part: Any, where: str) -> tuple[Reader, ...]:
    extra = Reader(part, f"{where}: check")
    for key in _CHECK_KEYS:
        extra.get(key, object)
    extra.done()
    return (Reader({**own, **part}, where),)
