"""`claims.toml`: what a paper says, checked against what was measured.

A claim is one or more checks; a check takes numbers from cases (`metrics.Term`) through a
relation (`relations.RELATIONS`). A claim that cannot run yet carries `needs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xoff.errors import UsageError
from xoff.metrics import Term, bins
from xoff.relations import RELATIONS, Bounds, Outcome, every
from xoff.result import Result
from xoff.strict import Reader, read_term, read_toml

# Relations whose verdict is nothing but bounds, and those that one number is enough for.
BOUNDED = ("value", "ratio", "max-ratio", "difference", "sum", "count")
SINGLE = ("value", "sum", "count")
TERM_KEYS = ("class", "range", "statistic", "path", "cdf", "at", "scale", "seeds")
CHECK_KEYS = (*TERM_KEYS, "metric", "cases", "terms", "low", "high", "factor")

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

    def expand(self, labels: Sequence[str], missing: list[str]) -> Check:
        """Replace `case@*` by the case's sweep points; note cases that are not there."""
        terms = []
        for term in self.terms:
            found = [label for label in labels if label == term.case]
            if term.case.endswith("@*"):
                found = [label for label in labels if label.startswith(term.case[:-1])]
            if not found:
                missing.append(term.case)
            terms += [replace(term, case=label) for label in found]
        return replace(self, terms=tuple(terms))

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
    return replace(term, range={"low": low, "high": high})


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
    checks: tuple[Check, ...]


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
    own = {key: reader.get(key, object) for key in CHECK_KEYS if key in reader}
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
        checks=tuple(_check(own, part, where) for part in parts),
    )
    reader.done()
    if not claim.checks and not claim.needs:
        raise UsageError(f"{where}: give a `metric` (or `[[claim.check]]`), or what it `needs`")
    if claim.checks and not claim.experiments:
        raise UsageError(f"{where}: `experiment` is missing")
    return claim


def _check(own: dict[str, Any], part: Any, where: str) -> Check:
    extra = Reader(part, f"{where}: check")
    for key in CHECK_KEYS:
        extra.get(key, object)
    extra.done()
    reader = Reader({**own, **part}, where)
    shared = read_term(reader, bins_too=True)
    terms = [{"case": case} for case in reader.strings("cases")]
    terms += reader.get("terms", list, [])
    metric = reader.choice("metric", RELATIONS)
    bounds = Bounds(reader.number("low"), reader.number("high"))
    if bounds == Bounds() and metric in BOUNDED:
        raise UsageError(f"{where}: `{metric}` wants `low`, `high` or both")
    if len(terms) < (1 if metric in SINGLE else 2) and "@*" not in str(terms):
        raise UsageError(f"{where}: `{metric}` wants more `cases` (or `terms`)")
    by_bin = shared.get("range") == "bins"
    if by_bin:
        del shared["range"]
    return Check(
        metric=metric,
        terms=tuple(_own_term(table, shared, where) for table in terms),
        bounds=bounds,
        factor=reader.number("factor", 1.0) or 1.0,
        by_bin=by_bin,
    )


def _own_term(table: Any, shared: dict[str, Any], where: str) -> Term:
    reader = Reader(table, f"{where}: term")
    own = read_term(reader)
    case = reader.need("case", str)
    reader.done()
    return Term(**{**shared, **own, "case": case})


def evaluate(
    claims: Sequence[Claim], experiment: str, results: Results
) -> tuple[list[Verdict], list[NotRun]]:
    """Check the claims on one experiment against its results.

    Claims about other experiments are left out, unless they name none (they miss one).
    """
    verdicts: list[Verdict] = []
    rest: list[NotRun] = []
    for claim in claims:
        if claim.experiments and experiment not in claim.experiments:
            continue
        missing = list(claim.needs)
        checks = [check.expand(list(results), missing) for check in claim.checks]
        if missing:
            rest.append(NotRun(claim, tuple(dict.fromkeys(missing))))
            continue
        outcomes = [check.run(results) for check in checks]
        verdicts.append(Verdict(claim, _join(outcomes), every([o.holds for o in outcomes])))
    return verdicts, rest


def _join(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Put the numbers of all checks together, numbering names that come twice."""
    joined: dict[str, float | None] = {}
    for outcome in outcomes:
        for name, value in outcome.measured.items():
            key, copy = name, 2
            while key in joined:
                key, copy = f"{name} ({copy})", copy + 1
            joined[key] = value
    return joined
